package claims

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// outside calls f with the index of each byte outside quotes, until f returns true.
func outside(s string, f func(i int) bool) {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case quote == 0 && (ch == '\'' || ch == '"'):
			quote = ch
		case quote == 0 && ch == '\\', quote == '"' && ch == '\\':
			i++
		case ch == quote:
			quote = 0
		case quote == 0 && f(i):
			return
		}
	}
}

// cutComment splits a command line into the command and the comment after it.
func cutComment(s string) (command, comment string, ok bool) {
	outside(s, func(i int) bool {
		if ok = s[i] == '#' && i > 0 && s[i-1] == ' '; ok {
			command, comment = s[:i-1], s[i+1:]
		}
		return ok
	})
	return command, comment, ok
}

// splitOutside splits a text at a character, except within quotes.
func splitOutside(s string, at byte) (parts []string) {
	from := 0
	outside(s, func(i int) bool {
		if s[i] == at {
			parts = append(parts, s[from:i])
			from = i + 1
		}
		return false
	})
	return append(parts, s[from:])
}

// split splits a command line into words as a shell does, as far as [safetext.Command]
// needs: both kinds of quotes, backslashes, and $'…' with its escapes. It expands
// nothing.
func split(s string) (words []string, err error) {
	var word []byte
	has := false
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == ' ' || ch == '\t':
			if has {
				words = append(words, string(word))
			}
			word, has = nil, false
		case ch == '\\' && i+1 < len(s):
			i++
			word, has = append(word, s[i]), true
		case ch == '$' && i+1 < len(s) && s[i+1] == '\'':
			end := i + 2
			for end < len(s) && s[end] != '\'' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				return nil, errors.New("unterminated quote in the command")
			}
			if word, err = unescape(word, s[i+2:end]); err != nil {
				return nil, err
			}
			i, has = end, true
		case ch == '\'' || ch == '"':
			end := i + 1
			for end < len(s) && s[end] != ch {
				if ch == '"' && s[end] == '\\' && end+1 < len(s) {
					end++
				}
				word = append(word, s[end])
				end++
			}
			if end >= len(s) {
				return nil, errors.New("unterminated quote in the command")
			}
			i, has = end, true
		case strings.IndexByte("|&;<>()`", ch) >= 0:
			return nil, fmt.Errorf("the command contains %c, which needs a shell", ch)
		default:
			word, has = append(word, ch), true
		}
	}
	if has {
		words = append(words, string(word))
	}
	return words, nil
}

// unescape appends the text inside $'…' to a word.
func unescape(word []byte, s string) ([]byte, error) {
	for s != "" {
		r, multi, tail, err := strconv.UnquoteChar(s, '\'')
		if err != nil {
			return nil, fmt.Errorf("the command has an invalid $'…': %w", err)
		}
		if multi {
			word = append(word, string(r)...)
		} else {
			word = append(word, byte(r))
		}
		s = tail
	}
	return word, nil
}
