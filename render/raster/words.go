package raster

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostWords is how many words a name has at most that is shortened word by word: of
// more, too little of each would be left to read.
const mostWords = 4

// word is a word of a name, text[from:to], of which text[from:cut] is kept. The separator
// after it is text[to:next], of which text[gap:until] is kept.
type word struct {
	from, cut, to    int
	gap, until, next int
	letters          int // that are kept
	number           bool
}

// words shortens a text that is too wide by the ends of its words, the longest first,
// until it fits: neighbours differ in one word mostly, and any may be that one
// (InstantiateFunction (detail), InstantiateClass (detail), InstantiateFunction
// (total)). Numbers stay whole. The last word that is shortened has the ellipsis, and
// if it is the last of all, its end behind that. It is "" if too little of words
// would be left, for paths, and for a word alone.
func (f *Face) words(text string, w float32) string {
	if strings.IndexByte(text, '/') >= 0 {
		return ""
	}
	var room [mostWords]word
	ws := wordsOf(text, room[:0])
	if len(ws) < 2 {
		return ""
	}
	used, longest := f.Advance('…'), 0
	for _, r := range text {
		used += f.Advance(r)
	}
	for i := range ws {
		if !ws[i].number {
			longest = max(longest, ws[i].letters)
		}
	}
	used = f.shorten(text, ws, longest, 3, used, w)
	for _, signs := range []int{1, 0} { // are left of what is between words
		if used <= w || len(ws) == 2 { // both ends of all show one of each
			break
		}
		for i := range ws {
			last := i == len(ws)-1
			if signs > 0 || last || text[ws[i].gap] != '_' && !(ws[i].number && ws[i+1].number) {
				used -= ws[i].thin(f, text, signs > 0 && !last)
			}
		}
		used = f.shorten(text, ws, longest, 2, used, w)
	}
	if used > w {
		return ""
	}
	return f.joined(text, ws, w-used)
}

// shorten takes letters from the longest words until all is no wider than w or the
// words have least letters; it returns how wide that is.
func (f *Face) shorten(text string, ws []word, longest, least int, used, w float32) float32 {
	for ; longest > least && used > w; longest-- {
		for i := range ws {
			if x := &ws[i]; !x.number && x.letters == longest {
				r, n := utf8.DecodeLastRuneInString(text[x.from:x.cut])
				x.cut, x.letters = x.cut-n, x.letters-1
				used -= f.Advance(r)
			}
		}
	}
	return used
}

// thin reduces the separator after a word to one sign or none, and returns the width it
// saved.
func (x *word) thin(f *Face, text string, one bool) (less float32) {
	for _, r := range text[x.gap:x.until] {
		less += f.Advance(r)
	}
	between := strings.TrimLeft(text[x.gap:x.until], " ")
	switch {
	case !one || x.gap == x.until:
		x.until = x.gap
		return less
	case between == "": // a space
		x.until = x.gap + 1
	default:
		_, n := utf8.DecodeRuneInString(between)
		x.gap = x.until - len(between)
		x.until = x.gap + n
	}
	r, _ := utf8.DecodeRuneInString(text[x.gap:])
	return less - f.Advance(r)
}

// joined puts together what is left of words; spare is how much room there is still.
func (f *Face) joined(text string, ws []word, spare float32) string {
	at := -1 // of the ellipsis
	for i := range ws {
		if ws[i].cut < ws[i].to {
			at = i
		}
	}
	var b strings.Builder
	for i := range ws {
		x := &ws[i]
		if i != at {
			b.WriteString(text[x.from:x.cut])
			b.WriteString(text[x.gap:x.until])
			continue
		}
		end, cut := x.to, x.cut
		if i == len(ws)-1 { // its end tells Worker from Workers
			for range 1 + x.letters/5 {
				in, n := utf8.DecodeLastRuneInString(text[x.from:end])
				out, m := utf8.DecodeLastRuneInString(text[x.from:cut])
				end, cut, spare = end-n, cut-m, spare+f.Advance(out)-f.Advance(in)
			}
			if spare < 0 {
				end, cut = x.to, x.cut
			}
		}
		b.WriteString(text[x.from:cut])
		b.WriteString(Ellipsis)
		b.WriteString(text[end:x.to])
		b.WriteString(strings.TrimLeft(text[x.gap:x.until], " "))
	}
	if at < 0 { // only what is between words is shorter
		b.WriteString(Ellipsis)
	}
	return b.String()
}

// wordsOf finds the words of a text: runs of letters, those that begin with a capital
// within one too, and of digits. It returns none if there are too many.
func wordsOf(text string, ws []word) []word {
	const (
		other = iota
		lower
		upper
		digit
	)
	was := other
	for i, r := range text {
		is := other
		switch {
		case r >= '0' && r <= '9':
			is = digit
		case unicode.IsUpper(r):
			is = upper
		case unicode.IsLetter(r):
			is = lower
		}
		n := len(ws)
		begins := is != other && is != was && !(was == upper && is == lower)
		if n > 0 && was != other && (is == other || begins) {
			ws[n-1].to = i
		}
		if begins {
			if n > 0 {
				ws[n-1].next = i
			}
			if n == mostWords {
				return nil
			}
			ws = append(ws, word{from: i, to: len(text), next: len(text), number: is == digit})
			n++
		}
		if is != other && n > 0 {
			ws[n-1].letters++
		}
		was = is
	}
	if len(ws) > 0 && ws[0].from > 0 {
		ws[0].from = 0 // what is before it goes with it
	}
	for i := range ws {
		x := &ws[i]
		x.cut, x.gap, x.until = x.to, x.to, x.next
	}
	return ws
}
