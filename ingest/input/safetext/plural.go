package safetext

import (
	"fmt"
	"strings"
)

// Noun returns the word for n things, given the word for one: span or spans, row of
// windows or rows of windows.
func Noun(n int64, one string) string {
	if n == 1 {
		return one
	}
	head, rest := one, ""
	if i := strings.Index(one, " of "); i >= 0 {
		head, rest = one[:i], one[i:]
	}
	switch {
	case strings.HasSuffix(head, "y") && !strings.HasSuffix(head, "day"):
		head = head[:len(head)-1] + "ies"
	case strings.HasSuffix(head, "s"), strings.HasSuffix(head, "ch"):
		head += "es"
	default:
		head += "s"
	}
	return head + rest
}

// Plural formats a count with its noun, in plain digits: 1 span, 12000 spans.
func Plural[N ~int | ~int32 | ~int64 | ~uint64](n N, one string) string {
	return fmt.Sprint(n, " ", Noun(int64(n), one))
}
