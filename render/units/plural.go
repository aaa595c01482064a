package units

import (
	"strings"
)

// Plural counts things: 1 span, 2 spans.
func Plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") && what != "day" {
		return Count(n) + " " + what[:len(what)-1] + "ies"
	}
	return Count(n) + " " + what + "s"
}
