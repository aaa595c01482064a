package shell

import (
	"slices"
	"testing"

	"ashlar/render/theme"
)

func TestHelpHasEveryKey(t *testing.T) {
	blocks := helpLines()
	if len(blocks) != len(helpSections)+1 {
		t.Errorf("the page has %d sections, want %d: each must begin with a command of the list, in its order", len(blocks), len(helpSections)+1)
	}
	var texts []string
	for _, b := range blocks {
		if len(b) < 2 {
			t.Errorf("the section %q is empty", b[0].keys)
		}
		for _, l := range b {
			texts = append(texts, l.text)
		}
	}
	for _, c := range Commands {
		if has := slices.Contains(texts, c.Title); has != (len(c.Keys) > 0) {
			t.Errorf("%q has %d keys; on the page: %v", c.Title, len(c.Keys), has)
		}
	}
}

// TestHelpColumnsAreLevel compares the columns' height with the best of all ways to split
// the sections.
func TestHelpColumnsAreLevel(t *testing.T) {
	blocks := helpLines()
	tall := func(from, to int) int {
		n := 0
		for _, b := range blocks[from:to] {
			n += len(b) + 1
		}
		return n
	}
	for columns := 1; columns <= 3; columns++ {
		at, heights := helpColumns(blocks, columns)
		best := tall(0, len(blocks))
		for i := range len(blocks) + 1 {
			for k := i; columns > 1 && k <= len(blocks); k++ {
				if columns == 2 && k != len(blocks) {
					continue
				}
				best = min(best, max(tall(0, i), tall(i, k), tall(k, len(blocks))))
			}
		}
		if got := slices.Max(heights); got > best+1 {
			t.Errorf("in %d columns the page is %d lines high, %d would do", columns, got, best)
		}
		for i := range at[1:] {
			if at[i+1].column < at[i].column {
				t.Errorf("in %d columns section %d stands before the one before", columns, i+1)
			}
		}
	}
}

// TestHelpIsNotCutOff checks that every line of the help fits into its column.
func TestHelpIsNotCutOff(t *testing.T) {
	face := New(theme.Dark).Fonts.Regular(12)
	for _, b := range helpLines() {
		for _, l := range b[1:] {
			if w := face.Measure(l.text); w > helpColumn-20-helpKeys {
				t.Errorf("%q is %.0f wide", l.text, w)
			}
			if w := face.Measure(l.keys); w > helpKeys-8 {
				t.Errorf("the keys %q are %.0f wide", l.keys, w)
			}
		}
	}
}
