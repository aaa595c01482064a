package raster

import (
	"sort"
	"strings"
	"unicode"
)

// Wrap breaks a text into at most most lines of up to w pixels: at a blank if there is
// one, else after a comma or the like in the second half of the line, else at the end of
// the line. The last line is shortened if more text follows.
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

// fill returns how many bytes of s fit into a line, at least those of one character.
func (f *Face) fill(s string, w float32) int {
	if f.Measure(s) <= w {
		return len(s)
	}
	var ends []int // possible line ends if there are no blanks
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
	// JSON values have no blanks: after a comma is better than inside a word.
	if after := strings.LastIndexAny(s[:ends[n-1]], ",;{[&"); after >= ends[n-1]/2 {
		return after + 1
	}
	return ends[n-1]
}
