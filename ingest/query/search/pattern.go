package search

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// Pattern is a text to search for.
type Pattern struct {
	text  string // as it was typed
	field Field
	want  string // the text without its field
	re    *regexp.Regexp
	// fold is set if the text has no capitals: it then matches in any case. ascii is set
	// if it also has only ASCII characters, which is quicker.
	fold, ascii bool
}

// A Field tells where a pattern looks.
type Field string

// Fields. Without one, a pattern looks in the names, modules and files of functions.
const (
	InFunctions Field = ""
	InName      Field = "name"
	InPackage   Field = "package"
	InModule    Field = "module"
	InFile      Field = "file"
	InThread    Field = "thread"
	InArgs      Field = "arg"
)

// Of returns a text that searches for a name in the field.
func (f Field) Of(name string) string { return string(f) + ":" + name }

// Parse parses a text to search for. /…/ is a case-sensitive regular expression in Go's
// syntax. Other text matches anywhere in a name; case matters only if it has capitals. A
// field and a colon in front limit the search: name:, package: (a package, namespace or
// crate by its whole name, with those below it), module:, file:, thread: (names of threads)
// or arg: (arguments of spans). Errors are one sentence.
func Parse(text string) (*Pattern, error) {
	p := &Pattern{text: text, want: text}
	for _, f := range []Field{InName, InPackage, InModule, InFile, InThread, InArgs} {
		// name::space is a name, not a field.
		if rest, ok := strings.CutPrefix(text, string(f)+":"); ok && !strings.HasPrefix(rest, ":") {
			p.field, p.want = f, rest
		}
	}
	if p.want == "" {
		return nil, errors.New("the search text is empty")
	}
	if src, ok := Expression(p.want); ok {
		re, err := Compile(src)
		if err != nil {
			return nil, fmt.Errorf("%s is not a regular expression: %w", safetext.Middle(p.want, mostQuoted), err)
		}
		p.re = re
		return p, nil
	}
	p.fold, p.ascii = true, true
	for _, r := range p.want {
		p.fold = p.fold && !unicode.IsUpper(r)
		p.ascii = p.ascii && r < utf8.RuneSelf
	}
	return p, nil
}

// Equal reports whether two patterns have the same text; either may be nil.
func (p *Pattern) Equal(o *Pattern) bool {
	return p == o || p != nil && o != nil && p.text == o.text
}

// Field returns where the pattern looks.
func (p *Pattern) Field() Field { return p.field }

// OfFunctions reports whether the pattern matches functions. A pattern for threads or
// arguments may match some spans of a function and not others.
func (p *Pattern) OfFunctions() bool { return p.field != InThread && p.field != InArgs }

// Expression returns the text between the slashes of /…/ and true, or false if s has
// another form.
func Expression(s string) (string, bool) {
	if len(s) < 3 || s[0] != '/' || s[len(s)-1] != '/' {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// String returns the pattern as typed.
func (p *Pattern) String() string { return p.text }

// Match reports whether a text matches, ignoring the field.
func (p *Pattern) Match(s string) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(s)
	case p.fold && p.ascii:
		return containsFold(s, p.want)
	case p.fold:
		return strings.Contains(strings.ToLower(s), p.want)
	}
	return strings.Contains(s, p.want)
}

// MatchFunction reports whether a function matches: its name, symbol, module or file,
// depending on the field.
func (p *Pattern) MatchFunction(f *recording.Function) bool {
	switch p.field {
	case InFunctions:
		return p.Match(f.Name) || f.Symbol != "" && p.Match(f.Symbol) || f.Module != "" && p.Match(f.Module) || f.File != "" && p.Match(f.File)
	case InName:
		return p.Match(f.Name) || f.Symbol != "" && p.Match(f.Symbol)
	case InPackage:
		return p.inPackage(funcname.Package(f.Name))
	case InModule:
		return f.Module != "" && p.Match(f.Module)
	case InFile:
		return f.File != "" && p.Match(f.File)
	}
	return false
}

// inPackage reports whether the pattern matches a package: its whole name, or that of a
// package around it.
func (p *Pattern) inPackage(name string) bool {
	if p.re != nil {
		return p.re.MatchString(name)
	}
	rest, ok := strings.CutPrefix(name, p.want)
	return ok && (rest == "" || strings.ContainsRune(".:/", rune(rest[0])))
}

// MatchTrack reports whether a thread's name, or its number, matches.
func (p *Pattern) MatchTrack(t *recording.Track) bool {
	return p.field == InThread && (p.Match(t.Title()) || t.TID != 0 && p.Match(strconv.FormatInt(t.TID, 10)))
}

// containsFold reports whether s contains lower, which is lower-case ASCII, in any case,
// without making a copy.
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
