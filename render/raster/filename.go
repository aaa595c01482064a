package raster

import (
	"slices"
	"strings"

	"ashlar/ingest/model/funcname"
)

// FileName shortens a file's name to w pixels by leaving out words of its middle. It keeps
// the ending, then the words that differ from the name of the file beside it, if any, then
// the beginning.
func (f *Face) FileName(name, beside string, w float32) string {
	if len(name) > longestLabel || !f.simple(name) || f.fits(name, w) {
		return f.Cut(name, w)
	}
	words := nameWords(name)
	keep := make([]bool, len(words))
	order := []int{len(words) - 1}
	from, to := 0, 0
	if beside != "" {
		from, to = differing(words, nameWords(beside))
	}
	for i := from; i < to; i++ {
		order = append(order, i)
	}
	for i := range words {
		order = append(order, i)
	}
	short, kept := "", 0
	for _, i := range order {
		if keep[i] {
			continue
		}
		keep[i] = true
		text := withGaps(words, keep)
		if !f.fits(text, w) {
			break
		}
		short, kept = text, kept+1
	}
	switch {
	case kept > 1:
		return short
	case from > 0 && from < to: // cut the part that differs, which is one long word
		if part := f.FitText(strings.Join(words[from:], ""), w-f.Advance('…')); part != "" {
			return Ellipsis + part
		}
	}
	return f.FitText(name, w)
}

// nameWords splits a name before its words.
func nameWords(name string) (words []string) {
	for len(name) > 0 {
		end := 1
		for end < len(name) && funcname.Word(name, end) != end {
			end++
		}
		words, name = append(words, name[:end]), name[end:]
	}
	return words
}

// differing returns the range of words that two names do not have in common at their
// beginning and end.
func differing(words, beside []string) (from, to int) {
	for from < min(len(words), len(beside)) && words[from] == beside[from] {
		from++
	}
	to = len(words)
	for past := len(beside); to > from && past > from && words[to-1] == beside[past-1]; past-- {
		to--
	}
	return from, to
}

// withGaps joins the words to keep, with an ellipsis for those between them.
func withGaps(words []string, keep []bool) string {
	var text string
	for i := 0; i < len(words); i++ {
		if keep[i] {
			text += words[i]
			continue
		}
		text = strings.TrimRight(text, " .:/_-") + Ellipsis
		i += slices.Index(append(keep[i:len(words):len(words)], true), true) - 1
	}
	return text
}
