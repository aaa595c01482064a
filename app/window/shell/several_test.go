package shell

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/io/pointer"

	"ashlar/render/theme"
	"ashlar/render/widget"
	"ashlar/testdata/twins"
)

// TestOpenSeveral: two files of one format open side by side; files of different formats
// open in windows of their own.
func TestOpenSeveral(t *testing.T) {
	dir := t.TempDir()
	path := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := path("a.json", string(twins.Trace(false))), path("b.json", string(twins.Trace(true)))
	c := path("c.folded", "main;work 3\nmain 1\n")
	for _, x := range []struct {
		files    []string
		fails    bool
		compares bool
		others   []string
		says     string
	}{
		{files: []string{a, b}, compares: true},
		{files: []string{a, c}, others: []string{c}, says: "1 other window opened"},
		{files: []string{a, b, c}, others: []string{b, c}, says: "2 other windows opened"},
		{files: []string{a, c}, fails: true, says: "No other window can be opened: no display"},
		{files: []string{c}},
	} {
		s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
		var others []string
		s.Do.Other = func(p string) error {
			if x.fails {
				return errors.New("no display")
			}
			others = append(others, p)
			return nil
		}
		s.OpenSeveral(x.files)
		s.until("what was opened", func() bool {
			return (s.Versus != nil) == x.compares && len(others) == len(x.others) && strings.Contains(s.State().Note, x.says)
		})
		if s.Pane == nil || (s.Versus != nil) != x.compares || !slices.Equal(others, x.others) {
			t.Errorf("%v: compares is %v, other windows %v", x.files, s.Versus != nil, others)
		}
		s.Close()
	}
}

// TestCompareElsewhere: a window offers to compare with the recording of the window used
// before, until it does.
func TestCompareElsewhere(t *testing.T) {
	b, _ := recentBench(t)
	recent := b.Keep.Recents()
	b.Elsewhere = recent[1].Path
	if b.ElsewhereTitle() != "" {
		t.Error("it offers to compare nothing")
	}
	b.Open(recent[0].Path)
	const title = "Compare with b.json (open in another window)"
	// Once the recording is read and added up, the offer stays where it is.
	b.until("the offer", func() bool { return strings.Contains(b.shapes(), title) && b.Pane.Rec.Done && b.total() != "" })
	if !slices.ContainsFunc(b.paletteLines("compare with b", nil), func(l widget.Line) bool { return l.Title == title }) {
		t.Error("the palette does not offer it")
	}
	b.click(b.written(title), 0, pointer.ButtonPrimary)
	b.until("the comparison", func() bool { return b.compares() == [2]string{"a.json", "b.json"} })
	b.frame()
	if strings.Contains(b.shapes(), title) {
		t.Error("it is still offered")
	}
	b.EndComparison()
	b.Elsewhere = recent[0].Path
	if got := b.ElsewhereTitle(); got != "" {
		t.Errorf("of the recording shown itself: %q", got)
	}
}
