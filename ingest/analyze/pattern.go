package analyze

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ashlar/ingest/recording"
)

// Pattern is what people search for.
type Pattern struct {
	text string
	re   *regexp.Regexp
	// fold is set for text without capitals, which matches in any case; ascii
	// when it also has only ASCII, which is quicker.
	fold, ascii bool
}

// ParsePattern reads text to search for. /…/ is a regular expression (Go's
// syntax) and taken as it is. Other text is found anywhere; capitals only
// matter when it has some. The error is one sentence.
func ParsePattern(text string) (*Pattern, error) {
	if text == "" {
		return nil, errors.New("there is no text to search for")
	}
	if src, ok := expression(text); ok {
		re, err := regexp.Compile(src)
		if err != nil {
			return nil, fmt.Errorf("%s is not a regular expression: %w", text, err)
		}
		return &Pattern{text: text, re: re}, nil
	}
	p := &Pattern{text: text, fold: true, ascii: true}
	for _, r := range text {
		p.fold = p.fold && !unicode.IsUpper(r)
		p.ascii = p.ascii && r < utf8.RuneSelf
	}
	return p, nil
}

// expression returns what stands between the slashes of /…/.
func expression(s string) (string, bool) {
	if len(s) < 3 || s[0] != '/' || s[len(s)-1] != '/' {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// String is the pattern as it was typed.
func (p *Pattern) String() string { return p.text }

// Match reports whether a text matches.
func (p *Pattern) Match(s string) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(s)
	case p.fold && p.ascii:
		return containsFold(s, p.text)
	case p.fold:
		return strings.Contains(strings.ToLower(s), p.text)
	}
	return strings.Contains(s, p.text)
}

// MatchFunction reports whether a function's name, symbol, module or file
// matches.
func (p *Pattern) MatchFunction(f *recording.Function) bool {
	return p.Match(f.Name) || f.Symbol != "" && p.Match(f.Symbol) || f.Module != "" && p.Match(f.Module) || f.File != "" && p.Match(f.File)
}

// containsFold finds lower-case ASCII in any case, without making a copy.
func containsFold(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if lowered(s[i]) == lower[0] && equalFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

func equalFold(s, lower string) bool {
	for k := range len(lower) {
		if lowered(s[k]) != lower[k] {
			return false
		}
	}
	return true
}

func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
