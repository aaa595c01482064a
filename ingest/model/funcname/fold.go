package funcname

import (
	"regexp"
	"strings"
)

// FoldDigits replaces each run of digits with #, so that numbered names become one:
// "frame 12" and "frame 13" are "frame #". Digits within a word stay, as in utf8 and
// SHA256.
func FoldDigits(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		if !isDigit(name[i]) {
			b.WriteByte(name[i])
			i++
			continue
		}
		end := i
		for end < len(name) && isDigit(name[end]) {
			end++
		}
		if i > 0 && isLetter(name[i-1]) {
			b.WriteString(name[i:end])
		} else {
			b.WriteByte('#')
		}
		i = end
	}
	return b.String()
}

// FoldedPattern returns a regular expression for the names that FoldDigits turns into a
// folded one.
func FoldedPattern(folded string) string {
	var b strings.Builder
	for i := 0; i < len(folded); {
		end := i + 1
		switch {
		case folded[i] != '#':
			for end < len(folded) && folded[end] != '#' {
				end++
			}
			b.WriteString(regexp.QuoteMeta(folded[i:end]))
		case i > 0 && isLetter(folded[i-1]): // digits there would have stayed
			b.WriteByte('#')
		default:
			b.WriteString("(#|[0-9]+)")
		}
		i = end
	}
	return "^" + b.String() + "$"
}

// OfFoldedPattern returns the folded name of a FoldedPattern; ok is false for another
// regular expression.
func OfFoldedPattern(pattern string) (folded string, ok bool) {
	var b strings.Builder
	text := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$"), "(#|[0-9]+)", "#")
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	folded = b.String()
	return folded, FoldedPattern(folded) == pattern && strings.Contains(pattern, "(#|[0-9]+)")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
