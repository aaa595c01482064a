package raster

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"ashlar/ingest/model/funcname"
)

// Ellipsis stands for what was left out of a label.
const Ellipsis = "…"

// Fit shortens a function's name to w pixels so that it can still be told from
// its neighbours: whole if it fits, else without its parameters, then without
// what its package lies in, then without the package, and then with the middle
// left out, where the function itself goes last. It is "" where fewer than
// fewestLetters would be left.
func (f *Face) Fit(name string, w float32) string {
	if w < 3*f.Advance('n') {
		return ""
	}
	full := name
	if len(name) > longestLabel { // no bar is that wide; measuring all of it is waste
		name = strings.ToValidUTF8(name[:longestLabel], "")
	}
	if !f.simple(name) {
		return f.fitShaped(fitKey{name, w, true}, full)
	}
	if f.fits(name, w) {
		return name
	}
	if len(full) > longestLabel {
		full = full[len(full)-longestLabel:] // who it is stands at the end
		return f.fitSimple(name, full, w)
	}
	// A picture of many bars asks for few names and widths, and for them in each frame.
	k := fitKey{name, w, true}
	s, ok := f.labels[k]
	if !ok {
		s = f.fitSimple(name, full, w)
		if f.labels == nil || len(f.labels) >= mostLabels {
			f.labels = map[fitKey]string{}
		}
		f.labels[k] = s
	}
	return s
}

// fitSimple is Fit for simple names that are too wide; full has the end of a name that
// name begins.
func (f *Face) fitSimple(name, full string, w float32) string {
	if name == full && strings.HasPrefix(full, "[") && strings.HasSuffix(full, "]") {
		return f.fitState(full[1:len(full)-1], w)
	}
	p := funcname.Split(full)
	if !f.simple(full) {
		return f.cut(name, w)
	}
	if p.Text {
		least := 1
		if p.Leaf > 0 && (full[p.Leaf] < '0' || full[p.Leaf] > '9') {
			least = 3 // of what happens to the file, which may have the same letter
		}
		return f.elide(full, cut{leaf: p.Leaf, end: len(full), least: least}, w)
	}
	for _, from := range []int{p.Start, p.Short} {
		if p.End-from < len(full) && f.fits(full[from:p.End], w) {
			return full[from:p.End]
		}
	}
	dots := f.Advance('…')
	if p.Short < p.Type && p.Type < p.Leaf && f.fits(full[p.Type:p.End], w-dots) {
		return Ellipsis + full[p.Type:p.End]
	}
	head := p.Type
	if head == p.Leaf {
		head = p.Short
	}
	if typ, ok := strings.CutPrefix(full[head:p.Leaf], "(*"); ok { // (*T).f is T.f
		typ = strings.TrimSuffix(typ, ").") + "."
		return f.elide(typ+full[p.Leaf:p.End], cut{leaf: len(typ), end: len(typ) + p.End - p.Leaf, least: 1}, w)
	}
	return f.elide(full, cut{head, p.Type, p.Leaf, p.End, 1}, w)
}

// fitState is Fit for the state of a thread, which stands in brackets: what the thread
// waits for goes before that it waits, which its colour tells, and keeps its beginning.
func (f *Face) fitState(state string, w float32) string {
	if _, reason, ok := strings.Cut(state, ": "); ok && len(reason) >= fewestLetters {
		state = reason
	}
	w -= f.Advance('[') + f.Advance(']')
	if f.fits(state, w) {
		return "[" + state + "]"
	}
	short := f.cut(state, w)
	if utf8.RuneCountInString(short) <= fewestLetters { // the ellipsis is one
		return ""
	}
	return "[" + strings.TrimRight(strings.TrimSuffix(short, Ellipsis), " ") + Ellipsis + "]"
}

// mostLabels bounds the labels that are kept: some megabytes.
const mostLabels = 1 << 14

// fewestLetters is how many letters a shortened name has at least: of fewer,
// nobody tells what they stand for.
const fewestLetters = 4

// cut says where the parts of a name lie that is too wide: all of it that counts,
// its type and the function itself, and how many letters of what is before the
// function are left at least where all of the function is.
type cut struct{ head, typ, leaf, end, least int }

// elide leaves out the middle of s[c.head:c.end]. What stands from leaf on is kept
// whole if a few letters of what is before it fit as well. Else a type keeps its
// beginning and the function its end, which is where those of one type or one
// name differ; a package goes, and of the function itself each word keeps its
// beginning, or both ends of all are kept.
func (f *Face) elide(s string, c cut, w float32) string {
	head, leaf, end := c.head, c.leaf, c.end
	if f.fits(s[head:end], w) {
		return s[head:end]
	}
	room := w - f.Advance('…')
	own := f.width(s[leaf:end], room)
	first := float32(0)
	for i, r := range s[head:leaf] {
		if utf8.RuneCountInString(s[head:head+i]) == c.least {
			break
		}
		first += f.Advance(r)
	}
	switch {
	case own+first <= room && head < leaf:
	case c.typ < leaf:
		own = room * .6
	default:
		if head, own = leaf, room*.4; own > 0 {
			if short := f.words(s[head:end], w); short != "" {
				return short
			}
		}
	}
	to := end
	for used := float32(0); to > head; {
		r, n := utf8.DecodeLastRuneInString(s[head:to])
		if used += f.Advance(r); used > own+.01 {
			break
		}
		to -= n
		if to == leaf && head < leaf {
			break
		}
	}
	room -= f.width(s[to:end], room)
	from := head
	for from < to {
		r, n := utf8.DecodeRuneInString(s[from:])
		if room -= f.Advance(r); room < 0 {
			break
		}
		from += n
	}
	if utf8.RuneCountInString(s[head:from])+utf8.RuneCountInString(s[to:end]) < fewestLetters {
		return ""
	}
	return strings.TrimRight(s[head:from], " .:/") + Ellipsis + strings.TrimLeft(s[to:end], " ")
}

// width is how wide a simple text is; the sum ends once it is more than most.
func (f *Face) width(s string, most float32) (w float32) {
	for _, r := range s {
		if w += f.Advance(r); w > most {
			break
		}
	}
	return w
}

// Middle shortens a text that is no name to w pixels by leaving out its middle: of
// several threads or conditions, either end tells them from others.
func (f *Face) Middle(s string, w float32) string {
	if len(s) <= longestLabel && f.simple(s) && !f.fits(s, w) {
		if short := f.elide(s, cut{end: len(s)}, w); short != "" {
			return short
		}
	}
	return f.Cut(s, w)
}

// Cut shortens a text to w pixels by cutting its end; see Fit for names.
func (f *Face) Cut(s string, w float32) string {
	if len(s) > longestLabel {
		s = strings.ToValidUTF8(s[:longestLabel], "")
	}
	if !f.simple(s) {
		return f.fitShaped(fitKey{s, w, false}, s)
	}
	if f.fits(s, w) {
		return s
	}
	return f.cut(s, w)
}

// cut is a simple text that is too wide, with as much of it as fits before the
// ellipsis.
func (f *Face) cut(s string, w float32) string {
	left := w - f.Advance('…')
	for i, r := range s {
		if left -= f.Advance(r); left < 0 {
			return s[:i] + Ellipsis
		}
	}
	return s
}

// fitKey has everything that a shortened text depends on.
type fitKey struct {
	name  string
	w     float32
	short bool // its short form may do
}

// fitShaped is Fit and Cut for texts that have to be shaped to be measured; full
// is all of the name.
func (f *Face) fitShaped(k fitKey, full string) string {
	f.fresh()
	s, ok := f.short[k]
	if !ok {
		short := k.name
		if k.short {
			short = funcname.Short(full)
		}
		s = f.fit(k.name, short, k.w)
		if f.short == nil || len(f.short) >= mostLines {
			f.short = map[fitKey]string{}
		}
		f.short[k] = s
	}
	return s
}

func (f *Face) fit(name, short string, w float32) string {
	// Not one in a hundred characters is narrower than a fifth of an em. What is
	// looked at is rounded up, so that most widths look at the same.
	whole := true
	if most := 32 << bits.Len(uint(w/f.size*5)/32); len(name) > most {
		n := 0
		for i := range name {
			if n++; n > most {
				name, whole = name[:i], false
				break
			}
		}
	}
	all := f.shaped(name)
	if whole && all.width <= w {
		return name
	}
	if len(short) < int(w) && short != name && f.shaped(Ellipsis+short).width <= w {
		return Ellipsis + short
	}
	// Where it may be cut: not before a mark of a letter. Letters may look
	// different at the end, so the widths in the whole are only nearly right.
	var ends []int
	cut := 0
	used, n := f.Advance('…'), 0
	for i, r := range name {
		if i > 0 && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			ends = append(ends, i)
			if used <= w {
				cut = len(ends)
			}
		}
		used += all.advances[n]
		n++
	}
	at := func(k int) string { return name[:ends[k-1]] + Ellipsis }
	for cut < len(ends) && f.shaped(at(cut+1)).width <= w {
		cut++
	}
	for cut > 0 && f.shaped(at(cut)).width > w {
		cut--
	}
	if cut < 2 {
		return ""
	}
	return at(cut)
}

// longestLabel is how many bytes of a name are looked at: no bar is as wide.
const longestLabel = 1024

// fits reports whether a text is no wider than w, as soon as that is known.
func (f *Face) fits(s string, w float32) bool {
	for _, r := range s {
		if w -= f.Advance(r); w < 0 {
			return false
		}
	}
	return true
}
