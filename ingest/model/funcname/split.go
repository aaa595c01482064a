// Package funcname handles the names of functions: their parts (package or namespace, type and
// short name), mangled symbols, and names for code of which only the address is known. It knows
// the syntax of some ten languages and leaves other names whole.
package funcname

import "strings"

// Parts are the parts of a name, as byte offsets into it with
//
//	0 <= Start <= Short <= Type <= Leaf <= End <= len(name)
//
// name[Leaf:End] is the function's own name, name[Type:End] includes its type,
// name[Short:End] also the last part of its package, and name[Start:End] the whole
// package. The result type stands before Start; parameters, template arguments and
// compilers' suffixes follow End. Neither identifies the function.
type Parts struct {
	Start, Short, Type, Leaf, End int
	// Text means that the name is plain text and not the name of a function, so it has no
	// parts that could be left out.
	Text bool
}

// Package returns a function's package, namespace or crate as the name gives it, "" if it
// gives none: "encoding/json" of encoding/json.(*decodeState).object, "blink" of
// blink::LocalFrameView::performLayout, "java.util" of java.util.HashMap.put.
func Package(name string) string {
	p := Split(name)
	if p.Text {
		return ""
	}
	return strings.TrimRight(name[p.Start:p.Type], ".:/")
}

// Short returns a function's own name, without package, namespace, type, template
// arguments and parameters.
func Short(name string) string {
	p := Split(name)
	if p.Text {
		return name
	}
	return name[p.Leaf:p.End]
}

// InSentence is the length from which names in sentences are given briefly: for Brief.
const InSentence = 60

// Brief returns a name of more than n bytes without result type and parameters, and with …
// for its template arguments: std::vector<…>::push_back, <Vec<…> as Index<…>>::index.
func Brief(name string, n int) string {
	p := Split(name)
	if p.Text || len(name) <= n {
		return name
	}
	end := p.End
	if end < len(name) && name[end] == '<' {
		end++ // there are arguments
	}
	path, own := name[p.Start:end], ""
	if i := strings.Index(path, "operator"); i >= 0 { // operator<, operator>>
		path, own = path[:i], path[i:]
	}
	var b strings.Builder
	depth := 0 // of the brackets of arguments
	for i, r := range path {
		switch {
		case r == '<' && depth == 0 && (i == 0 || strings.IndexByte("<& (", path[i-1]) >= 0):
			b.WriteRune(r) // of <T as Trait>
		case r == '<':
			if depth++; depth == 1 {
				b.WriteString("<…>")
			}
		case r == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String() + own
}

// Split splits a name into its parts.
func Split(name string) Parts {
	whole := Parts{End: len(name), Text: true}
	if at := placeAt(name); at > 0 {
		whole.Short, whole.Type, whole.Leaf = at, at, at
		return whole
	}
	s, ok := scan(name)
	if !ok || s.n == 0 {
		return whole
	}
	if s.spaced && !s.returns {
		whole.Leaf = distinct(name)
		whole.Type, whole.Short = whole.Leaf, whole.Leaf
		return whole
	}
	leaf := s.lastOwn(name)
	end := s.parts[leaf].to
	if leaf == s.n-1 {
		end = argumentsAt(name, s.parts[leaf].from, end)
	}
	made := leaf
	for made > 0 && belongs(name[s.parts[made].from:s.parts[made].end(end)], s.parts[made].sep, end == len(name)) {
		made--
	}
	p := Parts{Start: s.parts[0].from, Leaf: s.parts[made].from, End: end}
	p.Type = p.Leaf
	first := made // index of the first part after the package
	if s.hasType(name, made) {
		first = made - 1
		p.Type = s.parts[first].from
	}
	p.Short = p.Type
	if first > 0 {
		p.Short = s.parts[first-1].from
		// A hidden class of the JVM has an address or a number: App$$Lambda$75.0x0000000800c22a28
		if first > 1 && (strings.HasPrefix(name[p.Short:], "0x") || isNumber(name[p.Short:s.parts[first-1].to])) {
			p.Short = s.parts[first-2].from
		}
	}
	return p
}

// part is one part of a name between separators: its bytes and the separator
// before it, '.', ':' or '/', 0 for the first.
type part struct {
	from, to int
	sep      byte
}

// end returns the end of a part in a name that was cut at an offset.
func (p part) end(cut int) int { return max(p.from, min(p.to, cut)) }

// mostParts is the greatest number of parts of a name that are distinguished; if there are
// more, the first ones are joined.
const mostParts = 24

type scanned struct {
	parts [mostParts]part
	n     int
	// spaced means that there is a space outside of all brackets; returns means that a
	// result type precedes it.
	spaced, returns bool
}

func (s *scanned) add(p part) {
	if s.n == mostParts {
		copy(s.parts[1:], s.parts[2:])
		s.n--
		s.parts[0].to = s.parts[1].from
	}
	s.parts[s.n] = p
	s.n++
}

// scan finds the parts of a name: between dots, double colons and slashes outside of
// brackets. It fails if brackets do not match.
func scan(name string) (s scanned, ok bool) {
	depth, from := 0, 0
	var sep byte
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case i == from && depth == 0 && isOperator(name[i:]):
			// operator(), operator<, operator new: all of it is the last part.
			s.add(part{from, len(name), sep})
			return s, true
		case c == '(' || c == '[' || c == '{' || c == '<':
			depth++
		case c == '>' && i > 0 && (name[i-1] == '-' || name[i-1] == '='): // an arrow
		case c == ')' || c == ']' || c == '}' || c == '>':
			if depth--; depth < 0 {
				return s, false
			}
		case depth > 0:
		case c == ' ':
			if attached(name[from:i]) { // const, &, [clone …] after the parameters
				s.add(part{from, i, sep})
				return s, true
			}
			s.spaced = true
			if rest := name[i+1:]; strings.Contains(rest, "::") && !strings.ContainsAny(name[:i], "/'\"") && name[max(0, i-1)] != ':' || returnsInJava(name[:i], rest) {
				s.n, from, sep, s.returns = 0, i+1, 0, true
			}
		case c == '.' || c == '/' || c == ':' && i+1 < len(name) && name[i+1] == ':':
			if i > from {
				s.add(part{from, i, sep})
			}
			if c == ':' {
				i++
			}
			from, sep = i+1, c
		}
	}
	if depth != 0 {
		return s, false
	}
	if from < len(name) {
		s.add(part{from, len(name), sep})
	}
	return s, true
}

// returnsInJava reports whether a text is the result type before a Java method with its
// parameters, as in int java.util.Random.next(int).
func returnsInJava(text, rest string) bool {
	method, _, ok := strings.Cut(rest, "(")
	if text = strings.TrimRight(text, "[]"); !ok || rest[len(rest)-1] != ')' || strings.ContainsAny(method, " /") || strings.IndexByte(method, '.') < 0 {
		return false
	}
	switch text {
	case "void", "boolean", "byte", "char", "short", "int", "long", "float", "double":
		return true
	}
	return strings.IndexByte(text, '.') > 0 && !strings.ContainsAny(text, " /:'\"")
}

// isOperator reports whether a part begins with a C++ operator's name.
func isOperator(p string) bool {
	rest, ok := strings.CutPrefix(p, "operator")
	return ok && rest != "" && strings.IndexByte(" ()[]<>=!+-*/%&|^~,\"", rest[0]) >= 0
}

// attached reports whether a part has parameters: f(int), and not (int).
func attached(p string) bool {
	i := strings.IndexByte(p, '(')
	return i > 0 && p[len(p)-1] == ')' && p[i-1] != ' '
}

// argumentsAt returns where the arguments of the part from..to begin, or to if it has
// none.
func argumentsAt(name string, from, to int) int {
	p := name[from:to]
	if isOperator(p) {
		if i := strings.LastIndexByte(p, '('); i > len("operator") && i+1 < len(p) {
			return from + i
		}
		return to
	}
	if i := strings.IndexAny(p, "(<["); i > 0 {
		return from + i
	}
	return to
}

// hasType reports whether the part before a function's own name is a type rather than a
// package. A type is in brackets, has template arguments or begins with a capital. In Go, a
// part between the package and the own name is a type too, if the package follows a path or
// the own name begins with a capital.
func (s *scanned) hasType(name string, own int) bool {
	if own == 0 || s.parts[own].sep == '/' || s.parts[own-1].sep == '/' {
		return false
	}
	p := name[s.parts[own-1].from:s.parts[own-1].to]
	if p == "" || p == "(anonymous namespace)" {
		return false
	}
	if strings.IndexByte(p, '<') >= 0 || strings.IndexByte(p, '[') > 0 || p[0] == '(' || isCapital(p[0]) {
		return true
	}
	if own < 2 || s.parts[own].sep != '.' {
		return false
	}
	return s.parts[own-2].sep == '/' || isCapital(name[s.parts[own].from])
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

// lastOwn returns the index of the last part that is the function's own name. After it,
// compilers and linkers add isra, constprop, cold and numbers, and Rust adds a hash.
func (s *scanned) lastOwn(name string) int {
	last := s.n - 1
	for k := last; k > 0; k-- {
		switch p := name[s.parts[k].from:s.parts[k].to]; {
		case isNumber(p): // number of a clone, or of a closure, which has no other name
		case added[p], isHash(p):
			last = k - 1
		default:
			return last
		}
	}
	return last
}

// added lists the suffixes that compilers add to a name.
var added = map[string]bool{"isra": true, "constprop": true, "part": true, "cold": true, "llvm": true, "lto_priv": true, "abi0": true, "abiinternal": true}

func isNumber(p string) bool { return strings.Trim(p, "0123456789") == "" }

func isHash(p string) bool {
	return len(p) == 17 && p[0] == 'h' && strings.Trim(p[1:], "0123456789abcdef") == ""
}

// belongs reports whether a last part means nothing without the part before it: Go's
// func1 and gowrap2, Rust's closures, file extensions.
func belongs(p string, sep byte, last bool) bool {
	if p == "{{closure}}" || p == "{closure}" || p == "operator()" || strings.HasPrefix(p, "{lambda") || isNumber(p) {
		return true
	}
	if sep == '.' && last && fileEnding[p] {
		return true
	}
	for _, made := range []string{"func", "gowrap", "deferwrap"} {
		if n, ok := strings.CutPrefix(p, made); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return true
		}
	}
	return false
}

// placeAt returns the index of the address sign in the name of a function without a symbol,
// such as the + in libc.so.6+0x12af; 0 for all other names.
func placeAt(name string) int {
	i := strings.LastIndex(name, "+0x")
	if i < 0 || i+3 == len(name) || strings.Trim(name[i+3:], "0123456789abcdef") != "" {
		return 0
	}
	return i
}

// distinct returns the offset of the part at the end of a text that distinguishes it from
// others: the last name of a path, or a number; 0 if it has neither.
func distinct(text string) int {
	if n := len(strings.TrimRight(text, "0123456789")); n < len(text) {
		return n
	}
	i := strings.LastIndexByte(text, '/')
	if i < 0 || i+2 > len(text)-1 || strings.IndexByte(text[i:], ' ') >= 0 {
		return 0
	}
	return i + 1
}

// fileEnding lists the extensions of files that spans are named after: compiled, loaded
// or fetched ones.
var fileEnding = map[string]bool{
	"c": true, "h": true, "cc": true, "cpp": true, "cxx": true, "hh": true, "hpp": true, "inc": true,
	"go": true, "rs": true, "py": true, "rb": true, "java": true, "kt": true, "swift": true, "zig": true, "odin": true,
	"js": true, "mjs": true, "ts": true, "tsx": true, "css": true, "html": true, "json": true, "wasm": true, "so": true, "a": true, "o": true,
	"dll": true, "exe": true, "png": true, "jpg": true, "svg": true, "woff2": true,
}
