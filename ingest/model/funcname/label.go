package funcname

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Label is the text that stands for a name in pictures and lists.
type Label struct {
	Text string
	// Mark is the offset in Text of what has to be left when it is shortened: the first
	// character that no other label has there after the same beginning. Where the first
	// of all tells the label, it is the beginning of the function's own name.
	Mark int
	// Own is the offset in Text of what people call the function, 0 for other names.
	Own int
}

// Labels are the labels of the names of one or more recordings: each name has one
// label, and different names have different ones. The zero value and nil label each name
// as if there were no other.
type Labels struct{ of map[string]Label }

// Of returns the label of a name.
func (l *Labels) Of(name string) Label {
	if l != nil {
		if label, ok := l.of[name]; ok {
			return label
		}
	}
	return newLabel(name, level(name, 0), 0)
}

// newLabel makes a label of a name's text, which shares its first bytes with another.
func newLabel(name, text string, shared int) Label {
	l := Label{Text: text, Mark: shared}
	if p := Split(name); !p.Text && !IsPath(name) {
		l.Own = max(0, strings.LastIndex(text, name[p.Leaf:p.End]))
	}
	if shared == 0 {
		l.Mark = l.Own
	}
	return l
}

// levels is how many texts a name has that could be its label, each with more of it.
const levels = 4

// level returns such a text: the function with its type, or with its package where that is
// one word or a path, then with the last part of its package, then with all of it, then
// the name as it is.
func level(name string, n int) string {
	p := Split(name)
	if p.Text || n >= levels-1 || IsPath(name) {
		return name
	}
	from := p.Start
	switch {
	case n == 2:
	case n == 1 || strings.IndexByte(name[p.Start:p.Type], '/') >= 0:
		from = p.Short
	case p.Start < p.Short && p.Type < p.Leaf:
		from = p.Type
	case p.Start < p.Short:
		from = p.Short
	}
	return name[from:p.End]
}

// mostMarked is how many names get marks: of more, only those get a label of their own
// whose short one is another's, too.
const mostMarked = 1 << 18

// NewLabels finds the labels of names, which may come more than once.
func NewLabels(names iter.Seq[string]) *Labels {
	at := map[string]int32{} // -1 where several names have this text
	var all []string
	seen := map[string]struct{}{}
	for name := range names {
		if _, ok := seen[name]; ok {
			continue
		}
		seen[name] = struct{}{}
		all = append(all, name)
	}
	text := make([]string, len(all))
	open := make([]int32, len(all))
	for i := range open {
		open[i] = int32(i)
	}
	l := &Labels{of: map[string]Label{}}
	for n := 0; n < levels && len(open) > 0; n++ {
		for _, i := range open {
			text[i] = level(all[i], n)
			if other, ok := at[text[i]]; ok && other != i && (other < 0 || all[other] != all[i]) {
				at[text[i]] = -1
			} else {
				at[text[i]] = i
			}
		}
		rest := open[:0]
		for _, i := range open {
			if at[text[i]] < 0 {
				rest = append(rest, i)
			} else if n > 0 {
				l.of[all[i]] = newLabel(all[i], text[i], 0)
			}
		}
		open = rest
	}
	if len(all) <= mostMarked {
		l.mark(all, text)
	}
	return l
}

// mark finds the marks of labels: sorted, each has its longest common beginning with a
// neighbour.
func (l *Labels) mark(all, text []string) {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(text[a], text[b]) })
	before := 0
	for k, i := range order {
		after := 0
		if k+1 < len(order) {
			after = common(text[i], text[order[k+1]])
		}
		if mark := max(before, after); mark > 0 {
			l.of[all[i]] = newLabel(all[i], text[i], mark)
		}
		before = after
	}
}

// common is how many bytes two texts begin with alike, in whole characters.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// IsPath reports whether a name is the path or the address of a file, which its end tells.
func IsPath(name string) bool {
	return name != "" && strings.IndexByte(name, ' ') < 0 && (strings.IndexByte("/.~", name[0]) >= 0 || strings.Contains(name, ":/") || strings.Contains(name, `:\`))
}

// Word returns the offset at which the word begins that holds the character at an offset of
// a text: behind a blank or another sign, or at a capital behind a small letter. A number is
// a word.
func Word(text string, at int) int {
	for i := min(at, len(text)-1); i > 0; i-- {
		if begins(text, i) {
			return i
		}
	}
	return 0
}

// begins reports whether a word begins at text[i], i > 0.
func begins(text string, i int) bool {
	c, last := text[i], text[i-1]
	switch {
	case !isWord(c):
		return false
	case !isWord(last):
		return true
	case isDigit(c) != isDigit(last):
		return isDigit(c)
	case isCapital(c):
		return !isCapital(last) || i+1 < len(text) && text[i+1] >= 'a' && text[i+1] <= 'z'
	}
	return false
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// WordEnds reports whether a text can be cut at an offset without parting a word.
func WordEnds(text string, at int) bool {
	return at > 0 && at <= len(text) && (at == len(text) || !isWord(text[at]) || begins(text, at))
}
