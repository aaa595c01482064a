package funcname

import "strings"

// FoldDigits writes # for each run of digits, so that what counts on is one name:
// "frame #" of "frame 12" and "frame 13". Digits within a word stay, as those of
// utf8 and SHA256 do.
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

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
