package funcname

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// The longest symbols to demangle, and the longest names to make of them (as a power of
// 2). Names of templates can grow without bound.
const (
	longestSymbol = 16 << 10
	longestName   = 14
)

// Demangled returns the readable form of a mangled name; ok is false if symbol is not
// one.
func Demangled(symbol string) (name string, ok bool) {
	s := symbol
	if strings.HasPrefix(s, "__Z") || strings.HasPrefix(s, "__R") {
		s = s[1:] // macOS adds one underscore
	}
	if len(s) < 4 || s[0] != '_' || s[1] != 'Z' && s[1] != 'R' || len(s) > longestSymbol {
		return "", false
	}
	defer func() {
		if recover() != nil { // the library panics on some invalid names
			name, ok = "", false
		}
	}()
	name, err := demangle.ToString(s, demangle.MaxLength(longestName))
	return name, err == nil && name != ""
}
