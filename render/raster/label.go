package raster

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"ashlar/ingest/model/funcname"
)

// Ellipsis stands for what was left out of a label.
const Ellipsis = funcname.Ellipsis

// Fit shortens a function's name to w pixels so that it can still be told from
// its neighbours: whole if it fits, else without its parameters, then without
// what its package is in, then without the package, and then with the middle
// left out, where the function itself goes last. It is "" if fewer than
// fewestLetters would be left.
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
		l := f.names.OfText(k.name)
		if k.function {
			l = f.names.Of(k.name)
		}
		s = f.shorten(l, k.w)
		if f.labels == nil || len(f.labels) >= mostLabels {
			f.labels = map[fitKey]string{}
		}
		f.labels[k] = s
	}
	return s
}

// shorten returns the label, or as much of it as fits into w pixels.
func (f *Face) shorten(l funcname.Label, w float32) string {
	if len(l.Text) > longestLabel { // no bar is wide enough to show more
		l.Text = strings.ToValidUTF8(l.Text[:longestLabel], "")
		l.From, l.Own = min(l.From, len(l.Text)), min(l.Own, len(l.Text))
	}
	switch {
	case !f.simple(l.Text):
		return f.fitShaped(l.Text, w)
	case strings.HasPrefix(l.Text, "[") && strings.HasSuffix(l.Text, "]") && !f.fits(l.Text, w):
		return f.fitState(l.Text[1:len(l.Text)-1], w)
	}
	return l.Cut(w, f.Advance)
}

// fitState is Fit for the state of a thread, which is in brackets: what the thread
// waits for goes before that it waits, which its colour tells, and keeps its beginning.
func (f *Face) fitState(state string, w float32) string {
	if _, reason, ok := strings.Cut(state, ": "); ok && len(reason) >= funcname.Fewest {
		state = reason
	}
	w -= f.Advance('[') + f.Advance(']')
	if f.fits(state, w) {
		return "[" + state + "]"
	}
	short := funcname.Label{Text: state}.Cut(w, f.Advance)
	if short == "" {
		return ""
	}
	return "[" + short + "]"
}

// mostLabels bounds the labels that are kept: some megabytes.
const mostLabels = 1 << 14

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
	from := f.prefix(s[:to], room-funcname.Widths(f.Advance).Width(s[to:], room))
	if utf8.RuneCountInString(s[:from])+utf8.RuneCountInString(s[to:]) < funcname.Fewest {
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

// fits reports whether a text is no wider than w.
func (f *Face) fits(s string, w float32) bool { return funcname.Widths(f.Advance).Fits(s, w) }

// prefix is how many bytes of a text fit into w pixels.
func (f *Face) prefix(s string, w float32) int { return funcname.Widths(f.Advance).Prefix(s, w) }
