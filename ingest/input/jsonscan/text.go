package jsonscan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape decodes the escapes of a JSON string without its quotes. Invalid escapes stay
// as they are, and invalid UTF-8 becomes U+FFFD.
func Unescape(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			s.WriteByte(b[i])
			continue
		}
		i++
		switch b[i] {
		case 'b':
			s.WriteByte('\b')
		case 'f':
			s.WriteByte('\f')
		case 'n':
			s.WriteByte('\n')
		case 'r':
			s.WriteByte('\r')
		case 't':
			s.WriteByte('\t')
		case '"', '\\', '/':
			s.WriteByte(b[i])
		case 'u':
			r, ok := hex4(b[i+1:])
			if !ok {
				s.WriteString(`\u`)
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				if i+2 < len(b) && b[i+1] == '\\' && b[i+2] == 'u' {
					if low, ok := hex4(b[i+3:]); ok {
						if c := utf16.DecodeRune(r, low); c != utf8.RuneError {
							r = c
							i += 6
						}
					}
				}
				if utf16.IsSurrogate(r) {
					r = utf8.RuneError
				}
			}
			s.WriteRune(r)
		default:
			s.WriteByte('\\')
			s.WriteByte(b[i])
		}
	}
	return strings.ToValidUTF8(s.String(), "\uFFFD")
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Plain returns the text of a raw value: a string's decoded content, "" for null, and
// anything else as it is.
func Plain(raw []byte) string {
	switch {
	case len(raw) >= 2 && raw[0] == '"':
		return Unescape(raw[1 : len(raw)-1])
	case string(raw) == "null":
		return ""
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// Unquoted removes the quotes of a raw value; a value without quotes is returned as it
// is.
func Unquoted(raw []byte) []byte {
	if len(raw) >= 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}
