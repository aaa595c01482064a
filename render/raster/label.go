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

// Fit returns the label of a function's name, shortened to w pixels where it is wider: cut
// at its end between words, or at its start where it is a path. Where that would leave out
// what tells it from other labels, the word with that stays instead. So a name reads the same
// everywhere. It is "" where fewer than fewestLetters would be left.
func (f *Face) Fit(name string, w float32) string {
	return f.fitLabel(fitKey{name, w, true})
}

// FitText is Fit for names that are no function's, such as those of threads: nothing is
// taken off before they are shortened.
func (f *Face) FitText(text string, w float32) string {
	return f.fitLabel(fitKey{text, w, false})
}

func (f *Face) fitLabel(k fitKey) string {
	if k.w < 3*f.Advance('n') {
		return ""
	}
	if f.labelsOf != f.names {
		f.labels, f.short, f.labelsOf = nil, nil, f.names
	}
	// A picture of many bars asks for few names and widths, and for them in each frame.
	s, ok := f.labels[k]
	if !ok {
		s = f.shorten(f.label(k), k.w)
		if f.labels == nil || len(f.labels) >= mostLabels {
			f.labels = map[fitKey]string{}
		}
		f.labels[k] = s
	}
	return s
}

// label returns the label of a name or text, cut where no bar is wide enough to show more.
func (f *Face) label(k fitKey) funcname.Label {
	l := f.names.Of(k.name)
	if !k.function {
		if l.Text != k.name {
			l.Mark, l.Own = 0, 0
		}
		l.Text = k.name
	}
	if len(l.Text) > longestLabel {
		l.Text = strings.ToValidUTF8(l.Text[:longestLabel], "")
		l.Mark = min(l.Mark, len(l.Text))
	}
	return l
}

// shorten returns the label, or as much of it as fits into w pixels.
func (f *Face) shorten(l funcname.Label, w float32) string {
	text := l.Text
	if !f.simple(text) {
		return f.fitShaped(text, w)
	}
	if f.fits(text, w) {
		return text
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		return f.fitState(text[1:len(text)-1], w)
	}
	room := w - f.Advance('…')
	if funcname.IsPath(text) {
		if at := f.pathFrom(text, room); at > 0 {
			return Ellipsis + text[at:]
		}
	}
	end := f.words(text, room)
	if l.Mark > 0 && end <= l.Mark {
		return f.told(l, room)
	}
	if utf8.RuneCountInString(text[:end]) < fewestLetters {
		return ""
	}
	return trimmed(text[:end]) + Ellipsis
}

// trimmed is a text without the signs at its end that stand between words.
func trimmed(s string) string { return strings.TrimRight(s, " .:/_-(<[,*&") }

// words is where a text is cut to fit into w pixels: between words, or within the first one
// where that alone is too wide.
func (f *Face) words(text string, w float32) int {
	n := f.prefix(text, w)
	for end := n; end > 0; end-- {
		if funcname.WordEnds(text, end) && utf8.RuneCountInString(trimmed(text[:end])) >= fewestLetters {
			return end
		}
	}
	return n
}

// prefix is how many bytes of a text fit into w pixels.
func (f *Face) prefix(text string, w float32) int {
	for i, r := range text {
		if w -= f.Advance(r); w < 0 {
			return i
		}
	}
	return len(text)
}

// told shortens a label so that the character at its mark is left, with its word and, before
// that, as many words from the beginning as fit. room is what is there beside an ellipsis. It
// is "" where too little is left.
func (f *Face) told(l funcname.Label, room float32) string {
	text, mark := l.Text, min(l.Mark, len(l.Text)-1)
	from := funcname.Word(text, mark)
	if from < l.Own && l.Own <= mark {
		from = l.Own
	}
	dots := Ellipsis
	if from == l.Own { // a function's own name is one without its package, too
		room, dots = room+f.Advance('…'), ""
	}
	end := len(text)
	if !f.fits(text[from:], room) {
		room -= f.Advance('…') // a second one, at the end
		end = from + f.prefix(text[from:], room)
		if end <= mark { // the word is too long: the part of it with the mark
			for from = mark; from > 0 && f.fits(text[from-1:mark+1], room*.6); from-- {
			}
			for from < mark && !utf8.RuneStart(text[from]) {
				from++
			}
			end = from + f.prefix(text[from:], room)
		} else if cut := from + f.words(text[from:], room); cut > mark {
			end = cut
		}
	}
	s := text[from:end]
	if end < len(text) {
		s = trimmed(s)
	}
	if end <= mark || end < len(text) && utf8.RuneCountInString(s) < fewestLetters-1 {
		return ""
	}
	if end < len(text) {
		s += Ellipsis
	}
	if dots == "" {
		room -= f.Advance('…')
	}
	room -= f.width(text[from:end], room)
	for head := f.prefix(text[:from], room); head > 0; head-- {
		if funcname.WordEnds(text, head) {
			return trimmed(text[:head]) + Ellipsis + s
		}
	}
	if s = dots + s; utf8.RuneCountInString(s) < fewestLetters {
		return ""
	}
	return s
}

// pathFrom is where the end of a path begins that fits into w pixels, at a slash; 0 where not
// even its last part fits.
func (f *Face) pathFrom(text string, w float32) int {
	from := 0
	for at := len(text); ; {
		if at = strings.LastIndexByte(text[:at], '/'); at < 0 || !f.fits(text[at:], w) {
			return from
		}
		from = at
	}
}

// fitState shortens the state of a thread, which stands in brackets: what the thread waits
// for goes before that it waits, which its colour tells, and keeps its beginning.
func (f *Face) fitState(state string, w float32) string {
	if _, reason, ok := strings.Cut(state, ": "); ok && len(reason) >= fewestLetters {
		state = reason
	}
	w -= f.Advance('[') + f.Advance(']')
	if f.fits(state, w) {
		return "[" + state + "]"
	}
	short := trimmed(state[:f.words(state, w-f.Advance('…'))])
	if utf8.RuneCountInString(short) < fewestLetters {
		return ""
	}
	return "[" + short + Ellipsis + "]"
}

// mostLabels bounds the labels that are kept: some megabytes.
const mostLabels = 1 << 14

// fewestLetters is how many letters a shortened name has at least: of fewer,
// nobody tells what they stand for.
const fewestLetters = 4

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
	if len(s) > longestLabel || !f.simple(s) || f.fits(s, w) {
		return f.Cut(s, w)
	}
	room := w - f.Advance('…')
	to := len(s)
	for used := float32(0); to > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:to])
		if used += f.Advance(r); used > room*.4 {
			break
		}
		to -= n
	}
	from := f.prefix(s[:to], room-f.width(s[to:], room))
	if utf8.RuneCountInString(s[:from])+utf8.RuneCountInString(s[to:]) < fewestLetters {
		return f.Cut(s, w)
	}
	return strings.TrimRight(s[:from], " .:/") + Ellipsis + strings.TrimLeft(s[to:], " ")
}

// Cut shortens a text to w pixels by cutting its end; see Fit for names.
func (f *Face) Cut(s string, w float32) string {
	if len(s) > longestLabel {
		s = strings.ToValidUTF8(s[:longestLabel], "")
	}
	if !f.simple(s) {
		return f.fitShaped(s, w)
	}
	if f.fits(s, w) {
		return s
	}
	return f.cut(s, w)
}

// cut is a simple text that is too wide, with as much of it as fits before the
// ellipsis.
func (f *Face) cut(s string, w float32) string {
	return s[:f.prefix(s, w-f.Advance('…'))] + Ellipsis
}

// fitKey has everything that a shortened text depends on.
type fitKey struct {
	name     string
	w        float32
	function bool // it has a label, of which names has more
}

// fitShaped shortens a text that has to be shaped to be measured, by its end.
func (f *Face) fitShaped(text string, w float32) string {
	f.fresh()
	k := fitKey{text, w, false}
	s, ok := f.short[k]
	if !ok {
		s = f.fit(text, w)
		if f.short == nil || len(f.short) >= mostLines {
			f.short = map[fitKey]string{}
		}
		f.short[k] = s
	}
	return s
}

func (f *Face) fit(name string, w float32) string {
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
