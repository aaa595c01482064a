package funcname

import (
	"iter"
	"slices"
	"strings"
)

// Label is the text shown for a name in pictures and lists, with the data to shorten it. A
// label that does not fit is shortened to the function's own name if that is distinct. If
// that is still too wide, it is cut between words. The visible part starts at the same
// place at any width: at the beginning if that is distinct, otherwise at the word that
// distinguishes the label. Paths, and names that differ only at their end, are cut at their
// start. Overloads of a function show its name, whether or not the part that differs fits.
type Label struct {
	Text string
	// Own is the offset of the function's own name, or of its type, which stands for a
	// label that does not fit whole; 0 if neither is distinct.
	Own int
	// Tail means that the end of the label is shown.
	Tail bool
	// Start is the offset of the word from which the label is shown if neither its
	// beginning nor its end is distinct; 0 for none.
	Start int
}

// Labels holds the labels of the names of one or more recordings: each name has one
// label, and different names have different ones, though overloads may look the same where
// they are cut. A zero or nil Labels labels each name
// as if there were no other.
type Labels struct{ names, texts map[string]Label }

// Of returns the label of a function's name.
func (l *Labels) Of(name string) Label {
	if l != nil {
		if label, ok := l.names[name]; ok {
			return label
		}
	}
	text, own, _ := level(name, 0)
	return label(name, text, own)
}

// OfText returns the label of a name that is not a function's, such as a thread's. It is
// the whole name, shortened only if it is too wide.
func (l *Labels) OfText(text string) Label {
	if l != nil {
		if label, ok := l.texts[text]; ok {
			return label
		}
	}
	return label(text, text, 0)
}

// label returns the label of a name as if there were no other. The function's own name
// begins at own.
func label(name, text string, own int) Label {
	return Label{Text: text, Own: own, Tail: IsPath(name)}
}

// levels is the number of texts that can be a name's label, from short to long.
const levels = 4

// level returns text n of a name, and the offsets in it of the function's own name and of
// its type. Text 0 is the function with its type, or with its package if that is one word
// or a path; text 1 adds the last part of its package, text 2 the whole package; text 3
// is the name as it is.
func level(name string, n int) (text string, own, typ int) {
	p := Split(name)
	if p.Text || IsPath(name) {
		return name, 0, 0
	}
	if n >= levels-1 {
		return name, p.Leaf, p.Type
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
	return name[from:p.End], p.Leaf - from, max(0, p.Type-from)
}

// mostTold is the maximum number of names whose shortened labels are made distinct. If
// there are more, only a name whose shortest text is also another name's gets a distinct
// label.
const mostTold = 1 << 18

// NewLabels returns the labels of functions' names and of other texts. Both may contain
// duplicates.
func NewLabels(names, texts iter.Seq[string]) *Labels {
	return &Labels{labelsOf(names, 0), labelsOf(texts, levels)}
}

// labelsOf returns the labels of names, with texts of level first or higher.
func labelsOf(names iter.Seq[string], first int) map[string]Label {
	var all []labelled
	seen := map[string]struct{}{}
	for name := range names {
		if _, ok := seen[name]; !ok {
			seen[name] = struct{}{}
			all = append(all, labelled{name: name})
		}
	}
	of := map[string]Label{}
	tellApart(len(all), levels-min(first, levels-1), func(i, n int) string {
		x := &all[i]
		if x.text = x.name; first < levels {
			x.text, x.own, x.typ = level(x.name, n)
		}
		if n > 0 {
			of[x.name] = label(x.name, x.text, x.own)
		}
		return x.text
	}, func(int) {})
	if len(all) > mostTold {
		return of
	}
	findOwn(all)
	overloaded := overloads(all)
	tellApart(len(all), ways, func(i, way int) string {
		x := &all[i]
		if overloaded[i] {
			of[x.name] = Label{Text: x.text, Own: x.own}
			return x.name // distinct: nothing more is tried
		}
		l, ok := x.label(way)
		if !ok {
			return ""
		}
		short := l.Cut(Narrow, roughly)
		if way > 0 || short != l.Text {
			of[x.name] = l
		}
		return short
	}, func(i int) {
		of[all[i].name], _ = all[i].label(last)
	})
	return of
}

// overloads returns which names differ from others only in their parameters, template
// arguments or result: overloads and instances of one C++ function. Their shortened labels are the
// function's own name rather than what tells them apart.
func overloads(all []labelled) []bool {
	first := map[string]int{}
	is := make([]bool, len(all))
	for i := range all {
		p := Split(all[i].name)
		name := all[i].name
		if p.Text || IsPath(name) || p.End == len(name) || name[p.End] != '(' && name[p.End] != '<' {
			continue
		}
		text := name[p.Start:p.End]
		if j, ok := first[text]; ok {
			is[i], is[j] = true, true
		} else {
			first[text] = i
		}
	}
	return is
}

// labelled is a name and its label's text, with offsets in the text: own of the function's
// own name, typ of its type, and whole of whichever of these is distinct, 0 for neither.
type labelled struct {
	name, text      string
	own, typ, whole int
}

// The ways to shorten a label, best first: to its distinct own name, with or without its
// type; to its beginning; to its end; from each of its words on, those of its own name
// first. If none is distinct, a label is cut at its start.
const (
	ownName = iota
	typeName
	beginning
	end
	nextWord
	last = nextWord + 24
	ways = last
)

// label returns the label of x, to be shortened in the given way. It fails if x has no such
// part.
func (x *labelled) label(way int) (l Label, ok bool) {
	l = Label{Text: x.text, Own: x.whole}
	switch path := IsPath(x.name); {
	case path && way <= nextWord:
		l.Tail = true
	case path:
		l.Start = x.word(way - nextWord)
	case way == ownName:
		return l, l.Own > 0
	case way == typeName:
		l.Own = x.typ
		return l, x.typ > 0 && x.typ < x.whole
	case way == beginning:
		l.Own = 0
		return l, true
	case way == end, way == last:
		l.Tail = true
	default:
		l.Start = x.word(way - nextWord + 1)
	}
	return l, l.Tail || l.Start > 0
}

// word returns the offset of the n-th word, from 1, after the beginning of the own name.
// After the last word comes 0, and then the words before the own name.
func (x *labelled) word(n int) int {
	at := x.own
	for range n {
		at = nextWordAt(x.text, at)
	}
	return at
}

// nextWordAt returns the offset of the word after an offset, 0 if there is none.
func nextWordAt(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		if begins(text, i) {
			return i
		}
	}
	return 0
}

// tellApart finds distinct texts for n things. For each thing, it calls text with rising
// try until the text is unique. It calls left for things without a unique text; "" means
// that it has no text.
func tellApart(n, tries int, text func(i, try int) string, left func(i int)) {
	at := map[string]int{} // -1 if several have this text
	texts := make([]string, n)
	open := make([]int, n)
	for i := range open {
		open[i] = i
	}
	for try := 0; try < tries && len(open) > 0; try++ {
		for _, i := range open {
			texts[i] = text(i, try)
			if other, ok := at[texts[i]]; ok && other != i || texts[i] == "" {
				at[texts[i]] = -1
			} else {
				at[texts[i]] = i
			}
		}
		rest := open[:0]
		for _, i := range open {
			if at[texts[i]] < 0 {
				rest = append(rest, i)
			}
		}
		open = rest
	}
	for _, i := range open {
		left(i)
	}
}

// findOwn finds the own names that no other text has.
func findOwn(all []labelled) {
	ends := map[string]int{}
	for i := range all {
		ends[all[i].text]++
		for _, at := range all[i].names() {
			ends[all[i].text[at:]]++
		}
	}
	for i := range all {
		for _, at := range all[i].names() {
			if ends[all[i].text[at:]] == 1 {
				all[i].whole = at
				break
			}
		}
	}
}

// names returns the offsets of the function's own name and of its type, except the
// beginning of the text.
func (x *labelled) names() []int {
	n := slices.Compact([]int{x.own, x.typ})
	return slices.DeleteFunc(n, func(at int) bool { return at == 0 })
}

// IsPath reports whether a name is the path or address of a file. The end of such a name
// identifies it.
func IsPath(name string) bool {
	return name != "" && strings.IndexByte(name, ' ') < 0 && (strings.IndexByte("/.~", name[0]) >= 0 || strings.Contains(name, ":/") || strings.Contains(name, `:\`))
}

// Word returns the offset of the beginning of the word around the character at an offset.
// Words begin after a blank or another sign, or at a capital after a small letter. A
// number is a word.
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
		return isDigit(c) && !hexadecimal(text[:i])
	case isCapital(c):
		return !isCapital(last) || i+1 < len(text) && text[i+1] >= 'a' && text[i+1] <= 'z'
	}
	return false
}

// hexadecimal reports whether a text ends in a digit and letters, so that following
// digits belong to the same number, as in 0x2714b.
func hexadecimal(text string) bool {
	n := len(text)
	for n > 0 && isLetter(text[n-1]) {
		n--
	}
	return n > 0 && isDigit(text[n-1])
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// WordEnds reports whether a text can be cut at an offset without parting a word.
func WordEnds(text string, at int) bool {
	return at > 0 && at <= len(text) && (at == len(text) || !isWord(text[at]) || begins(text, at))
}
