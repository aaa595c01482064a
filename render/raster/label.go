package raster

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"ashlar/ingest/model/funcname"
)

// Ellipsis replaces omitted parts of a label.
const Ellipsis = funcname.Ellipsis

// Fit shortens a function's label to w pixels by the rule of [funcname.Label]: at its end,
// between words. Fit returns "" if fewer than funcname.Fewest letters would be left.
func (f *Face) Fit(name string, w float32) string {
	return f.fitLabel(fitKey{name, w, true})
}

// FitText is Fit for names that are not functions', such as names of threads; no part is
// removed before the text is cut.
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
	// A picture of many bars asks for few names and widths, and for the same ones in each
	// frame.
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
		l.Start, l.Own = min(l.Start, len(l.Text)), min(l.Own, len(l.Text))
	}
	switch {
	case !f.simple(l.Text):
		return f.fitShaped(l.Text, w)
	case isState(l.Text) && !f.fits(l.Text, w):
		return f.fitState(l.Text, w)
	}
	return l.Cut(w, f.Advance)
}

// isState reports whether a label is of a thread's state, such as [running], or of what a
// profiler names in the place of a function, such as (idle).
func isState(text string) bool {
	if n := len(text); n < 3 || text[0] != '[' && text[0] != '(' || text[n-1] != closing[text[0]] {
		return false
	}
	return text[0] == '[' || !strings.ContainsAny(text[1:len(text)-1], "()*")
}

var closing = map[byte]byte{'[': ']', '(': ')'}

// fitState is Fit for a state that is too wide. It keeps the reason and drops the state,
// which the colour shows; if that is too wide, it keeps the beginning, but at least the
// first word.
func (f *Face) fitState(text string, w float32) string {
	from, to := text[:1], text[len(text)-1:]
	state, all := text[1:len(text)-1], w
	if _, reason, ok := strings.Cut(state, ": "); ok && len(reason) >= funcname.Fewest {
		state = reason
	}
	w -= f.Advance(rune(from[0])) + f.Advance(rune(to[0]))
	if f.fits(state, w) {
		return from + state + to
	}
	short := funcname.Label{Text: state}.Cut(w, f.Advance)
	word := 1
	for !funcname.WordEnds(state, word) {
		word++
	}
	switch {
	case len(strings.TrimSuffix(short, Ellipsis)) < word && from == "(" && f.fits(state, all):
		return state
	case len(strings.TrimSuffix(short, Ellipsis)) < word:
		return "" // running and runnable begin alike, and the colour shows the state
	case from == "(":
		return from + short
	}
	return from + short + to
}

// mostLabels limits the number of cached labels: some megabytes.
const mostLabels = 1 << 14

// Middle shortens a text that is not a name to w pixels by leaving out words in its middle,
// because either end may distinguish it from similar texts.
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
	for to < len(s) && !funcname.WordEnds(s, to) {
		to++
	}
	from := f.prefix(s[:to], room-funcname.Widths(f.Advance).Width(s[to:], room))
	for from > 0 && !funcname.WordEnds(s, from) {
		from--
	}
	if to == len(s) || from == 0 {
		return f.Cut(s, w)
	}
	if utf8.RuneCountInString(s[:from])+utf8.RuneCountInString(s[to:]) < funcname.Fewest {
		return f.Cut(s, w)
	}
	return strings.TrimRight(s[:from], " .:/") + Ellipsis + strings.TrimLeft(s[to:], " .")
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

// cut shortens a simple text that is too wide to the part that fits before an ellipsis.
func (f *Face) cut(s string, w float32) string {
	return s[:f.prefix(s, w-f.Advance('…'))] + Ellipsis
}

// fitKey holds everything on which a shortened text depends.
type fitKey struct {
	name     string
	w        float32
	function bool // name is a function's name, which has a label in names
}

// fitShaped shortens a text at the end, if it must be shaped to be measured.
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
	name = f.readable(name)
	// Fewer than one in a hundred characters is narrower than a fifth of an em, so a
	// limited prefix suffices. Its length is rounded up, so that most widths use the same
	// prefix.
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
	// The possible ends, none of them before a combining mark. Letters may take another
	// form at the end, so widths from the whole text are only approximate.
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

// longestLabel is the number of bytes of a name to consider: no bar is wider.
const longestLabel = 1024

// fits reports whether a text is at most w pixels wide.
func (f *Face) fits(s string, w float32) bool { return funcname.Widths(f.Advance).Fits(s, w) }

// prefix returns the number of bytes of a text that fit into w pixels.
func (f *Face) prefix(s string, w float32) int { return funcname.Widths(f.Advance).Prefix(s, w) }
