package raster

import (
	"sort"
	"strings"
	"unicode"
)

// Wrap breaks a text into lines of up to w pixels: where it has blanks, else
// behind a comma or the like in the line's second half, else wherever it is full. What goes beyond the most lines is cut from the last.
func (f *Face) Wrap(s string, w float32, most int) (lines []string) {
	for _, part := range strings.Split(s, "\n") {
		for {
			part = strings.TrimRightFunc(part, unicode.IsSpace)
			n := f.fill(part, w)
			if n == len(part) || len(lines) == most-1 {
				break
			}
			lines = append(lines, strings.TrimRightFunc(part[:n], unicode.IsSpace))
			part = strings.TrimLeftFunc(part[n:], unicode.IsSpace)
		}
		lines = append(lines, f.Cut(part, w))
		if len(lines) == most {
			return lines
		}
	}
	return lines
}

// fill is how many bytes of a text make a line: at least a character.
func (f *Face) fill(s string, w float32) int {
	if f.Measure(s) <= w {
		return len(s)
	}
	var ends []int // where a line may end, if there are no blanks
	for i, r := range s {
		if i > 0 && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			ends = append(ends, i)
		}
	}
	if len(ends) == 0 {
		return len(s)
	}
	n := max(1, sort.Search(len(ends), func(k int) bool { return f.Measure(s[:ends[k]]) > w }))
	if blank := strings.LastIndexFunc(s[:ends[n-1]], unicode.IsSpace); blank > 0 && !unicode.IsSpace(rune(s[ends[n-1]])) {
		return blank
	}
	// Values of JSON have no blanks: behind a comma is better than within a word.
	if after := strings.LastIndexAny(s[:ends[n-1]], ",;{[&"); after >= ends[n-1]/2 {
		return after + 1
	}
	return ends[n-1]
}
