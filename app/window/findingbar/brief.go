package findingbar

import (
	"strings"
	"unicode/utf8"

	"ashlar/ingest/model/funcname"
)

// Lengths of quoted names in a sentence without room, in characters: they are cut to
// shorter and shorter ones before anything is left out.
var nameLengths = []int{60, 40, 28, 18}

// brief returns a sentence that fits. It cuts quoted names, which the tooltip has in full,
// before it drops clauses from the end; so no number and no word is cut. whole reports
// whether all clauses are left. What fits nowhere is returned as its first clause.
func brief(text string, fits func(string) bool) (shown string, whole bool) {
	if fits(text) {
		return text, true
	}
	cut := text
	for _, n := range nameLengths {
		if cut = cutNames(text, n); fits(cut) {
			return cut, true
		}
	}
	for end := lastClause(cut); end > 0; end = lastClause(cut[:end]) {
		if shown = cut[:end] + "…"; fits(shown) {
			break
		}
	}
	if shown == "" {
		shown = cut
	}
	return shown, false
}

// shortest returns a sentence with its names as short as they get.
func shortest(text string) string { return cutNames(text, nameLengths[len(nameLengths)-1]) }

// cutNames cuts the quoted names of a sentence to n characters.
func cutNames(text string, n int) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "“")
		name, after, closed := strings.Cut(rest, "”")
		if !ok || !closed {
			b.WriteString(text)
			return b.String()
		}
		if utf8.RuneCountInString(name) > n {
			var labels *funcname.Labels
			name = labels.OfText(name).Cut(float32(n), func(rune) float32 { return 1 })
		}
		b.WriteString(before + "“" + name + "”")
		text = after
	}
}

// lastClause returns the offset of the end of a sentence's last clause but one, outside
// quoted names; 0 if there is only one.
func lastClause(text string) int {
	end, quoted := 0, 0
	for i, r := range text {
		switch {
		case r == '“':
			quoted++
		case r == '”':
			quoted--
		case quoted > 0 || i+1 >= len(text) || i == 0:
		case strings.ContainsRune(",.;:", r) && text[i+1] == ' ':
			end = i
		case r == ' ' && text[i+1] == '(' && strings.IndexByte(",.;:", text[i-1]) < 0:
			end = i
		}
	}
	return end
}
