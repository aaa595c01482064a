package funcname

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Label is the text shown for a name in pictures and lists, with the data to shorten it.
// A label is cut at its end, between words, as long as the rest differs from other
// labels. Otherwise one of the other fields tells which part to keep instead.
type Label struct {
	Text string
	// Unique is the number of leading bytes that another label shares. Cut after them,
	// the label still differs from all others.
	Unique int
	// Own is the offset of the function's own name or of its type, whichever is distinct
	// without the text before it; 0 if neither is.
	Own int
	// From is the offset of the word that sets a narrow label apart from others with the
	// same beginning; 0 if the beginning is distinct. The text from Head on precedes that
	// word as far as it fits.
	From, Head int
	// Both means that some of the beginning is kept before the word at From, even if less
	// of the word fits.
	Both bool
	// Path means that the label is a path, which is cut at its start.
	Path bool
}

// Labels holds the labels of the names of one or more recordings: each name has one
// label, and different names have different ones. A zero or nil Labels labels each name
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
	return Label{Text: text, Unique: own, Own: own, Path: IsPath(name)}
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
	share(all)
	tellApart(len(all), ways, func(i, way int) string {
		x := &all[i]
		l := x.label(way)
		short := l.Cut(Narrow, roughly)
		if way > beginning && l.From == 0 {
			return ""
		}
		if way > 0 || short != l.Text {
			of[x.name] = l
		}
		return short
	}, func(i int) {
		of[all[i].name] = all[i].label(withOther)
	})
	return of
}

// labelled is a name and its label's text. same is the number of its leading bytes that
// another text shares.
type labelled struct {
	name, text string
	own, typ   int
	same       int
}

// The ways to shorten a label, best first: to the function's own name, to the own name
// with its type, to its beginning, or around one word that is kept. That word is the own
// name, the word that differs from the nearest label, or any other word, from the last
// one on. Before it comes as much as fits of the label's beginning or of the function's
// own name, or at least a little of it.
const (
	ownName = iota
	typeName
	beginning
	withOwn
	withOther
	withLast
	ways = withLast + 3*12
)

// label returns the label of x, to be shortened in the given way.
func (x *labelled) label(way int) Label {
	l := Label{Text: x.text, Unique: x.same}
	switch way {
	case ownName:
		l = label(x.name, x.text, x.own)
	case typeName:
		l.Own = x.typ
	case beginning:
	case withOwn:
		l.From = x.own
	case withOther:
		l.From = Word(x.text, x.same)
	default:
		l.From = len(x.text)
		for range (way-withLast)/3 + 1 {
			l.From = Word(x.text, l.From-1)
		}
		switch (way - withLast) % 3 {
		case 1:
			if l.Head = x.own; x.own == 0 || l.From <= x.own {
				l.From = 0
			}
		case 2:
			l.Both = true
		}
	}
	l.Unique = max(x.same, l.Own)
	if way > beginning { // cut to its beginning, it could equal another label
		l.Unique = max(l.Unique, Widths(roughly).words(x.text, Narrow-roughly('…')))
	}
	return l
}

// tellApart finds distinct texts for n things. For each thing, it calls text with rising
// try until the text is unique. It calls left for things without a unique text; "" is no
// text.
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

// share finds the length of the beginning that each text shares with another. In sorted
// order, the longest common beginning is with a neighbour.
func share(all []labelled) {
	order := make([]*labelled, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortFunc(order, func(a, b *labelled) int { return strings.Compare(a.text, b.text) })
	before := 0
	for k, x := range order {
		after := 0
		if k+1 < len(order) {
			after = common(x.text, order[k+1].text)
		}
		x.same, before = max(before, after), after
	}
}

// common returns the length in bytes of the common beginning of two texts, in whole
// characters.
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
