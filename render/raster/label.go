package raster

import (
	"math/bits"
	"strings"
	"unicode"
)

// Ellipsis stands for what was left out of a label.
const Ellipsis = "…"

// Fit shortens a function's name to w pixels: whole if it fits, else without
// its package (…ServeHTTP), else with its end cut; "" when not even three
// characters fit.
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
	dots := f.Advance('…')
	if short := Short(full); short != full && len(short) < longestLabel {
		if f.fits(short, w-dots) {
			return Ellipsis + short
		}
	}
	cut := f.cut(name, w)
	if len([]rune(cut)) < 3 {
		return ""
	}
	return cut
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
			short = Short(full)
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

// Short is a function's name without package, namespace, receiver, template
// arguments and parameters: what people call it.
func Short(name string) string {
	depth := 0
	end := len(name)
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')', ']', '>':
			if name[i] == '>' && name[i-1] == '-' {
				continue
			}
			depth++
		case '(', '[', '<':
			depth--
			if depth == 0 && i > 0 && !strings.ContainsRune(".:/", rune(name[i-1])) {
				end = i // parameters or template arguments of what stands before
			}
		case '.', ':', '/':
			if depth == 0 && i+1 < end {
				part := strings.TrimLeft(name[i+1:end], ":")
				if anonymous(part) || name[i] == '.' && end == len(name) && fileEnding[part] {
					continue // says nothing without what it is part of
				}
				return name[i+1 : end]
			}
		}
		if depth < 0 {
			return name
		}
	}
	if end > 0 && end < len(name) {
		return name[:end]
	}
	return name
}

// fileEnding has the endings of files that spans are named after: of what was
// compiled, loaded or fetched.
var fileEnding = map[string]bool{
	"c": true, "h": true, "cc": true, "cpp": true, "cxx": true, "hh": true, "hpp": true, "inc": true,
	"go": true, "rs": true, "py": true, "rb": true, "java": true, "kt": true, "swift": true, "zig": true, "odin": true,
	"js": true, "mjs": true, "ts": true, "tsx": true, "css": true, "html": true, "json": true, "wasm": true,
	"dll": true, "exe": true, "png": true, "jpg": true, "svg": true, "woff2": true,
}

// anonymous reports whether the last part of a name is one that a compiler
// made up: Go's func1, gowrap2, abi0 and 1, Rust's h0123456789abcdef.
func anonymous(part string) bool {
	for _, made := range []string{"func", "gowrap", "abi", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(part, made); ok && rest != "" && strings.Trim(rest, "0123456789.") == "" {
			return true
		}
	}
	if len(part) > 0 && strings.Contains(part, ".") {
		head, tail, _ := strings.Cut(part, ".")
		return anonymous(head) && anonymous(tail)
	}
	return part == "{{closure}}" || len(part) == 17 && part[0] == 'h' && strings.Trim(part[1:], "0123456789abcdef") == ""
}
