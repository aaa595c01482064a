package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/desktop/drop"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/trend"
	"ashlar/app/window/workspace"
	"ashlar/render/theme"
)

// seriesOfRuns writes n runs. From run at on, hash takes half as much again; the rest is noise.
func seriesOfRuns(t *testing.T, n, at int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		hash := 1000 + i*37%50
		if i >= at {
			hash += 500
		}
		text := fmt.Sprintf("main;hash %d\nmain;sort %d\nmain;draw %d\n", hash, 2000+i*53%90, 300+i*29%20)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// showTrend drops a folder on an empty window and chooses its trend.
func showTrend(t *testing.T, dir string) *bench {
	t.Helper()
	s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	t.Cleanup(s.Close)
	s.Do.Wake = func() {}
	s.frame()
	s.Dropped(drop.Drop{Files: drop.Files{Paths: []string{dir}}, At: s.window().Div(2)})
	s.until("the choice", func() bool { return s.Chooser != nil })
	i := slices.Index(s.listed(), "Show trend")
	if i < 0 {
		t.Fatalf("the choice is %q", s.listed())
	}
	s.Chooser.Take(i)
	s.until("the trend", func() bool { return s.Pane.Rec.Done && s.trend().Table(nil) != nil })
	s.frame()
	return s
}

func (b *bench) trend() *trend.Panel {
	return panel.Find[*trend.Panel](b.Pane.Deck.All)
}

// TestTrend shows the trend of a folder and clicks on its change: the runs before it are
// compared with those from it on. Undo leads back to the trend, without reading the runs
// again.
func TestTrend(t *testing.T) {
	dir := seriesOfRuns(t, 12, 7)
	s := showTrend(t, dir)
	marks := s.trend().Marks()
	if shapes := s.shapes(); len(marks) != 1 || !strings.Contains(shapes, ">run-8.folded<") || !strings.Contains(shapes, ">Total +") {
		t.Fatalf("there are changes at %v", marks)
	}
	if line, _ := s.CommandOf(workspace.OfLower); !strings.HasPrefix(line, "ashlar trend "+filepath.Join(dir, "run-1.folded")+" ") {
		t.Errorf("the command is %s", line)
	}
	for range 30 { // the view becomes a step of history
		s.frame()
	}
	at := marks[0]
	s.click(f32.Pt(float32(at.Min.X+at.Max.X)/2, float32(at.Min.Y+4)), 0, pointer.ButtonPrimary)
	s.until("the comparison", func() bool { return s.runsCounted() == [2]int{7, 5} })
	if c := s.Versus; s.compares() != [2]string{"run-1.folded", "run-8.folded"} || c.Panes[1].Runs[3].Name() != "run-12.folded" || c.Chosen != nil {
		t.Errorf("the comparison is of %q", s.compares())
	}
	for i := range 12 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1))); err != nil && i > 0 {
			t.Fatal(err)
		}
	}
	s.Undo()
	s.until("the trend again", func() bool {
		return s.Versus == nil && s.Pane.Tab == panel.Trend && len(s.Pane.Runs) == 11 && s.trend().Table(nil) != nil
	})
	if got := s.trend().Marks(); !slices.Equal(got, marks) {
		t.Errorf("the changes are now at %v, not %v", got, marks)
	}
}

// TestTrendByKeys chooses a function with the keyboard and opens its comparison. The
// function is selected there.
func TestTrendByKeys(t *testing.T) {
	s := showTrend(t, seriesOfRuns(t, 12, 7))
	s.Focus.Give(&s.Pane.Tab, true)
	s.press(key.NameDownArrow, 0)
	if f, ok := s.Pane.PickedFunction(); !ok || f.Name != "hash" {
		t.Fatalf("%q is selected", f.Name)
	}
	s.press(key.NameReturn, 0)
	s.until("the comparison", func() bool { return s.runsCounted() == [2]int{7, 5} && s.Versus.Chosen != nil })
	if f := s.Versus.Chosen.Name; f != "hash" {
		t.Errorf("%s is selected in the comparison", f)
	}
	s.Undo()
	s.until("the trend", func() bool { return s.Versus == nil && s.trend().Table(nil) != nil })
	address := s.Address().String()
	o := &bench{t: t, Shell: New(theme.Dark), now: s.now}
	defer o.Close()
	o.Open(address)
	o.until("the trend of the address", func() bool { return o.Pane.Rec.Done && o.trend().Table(nil) != nil })
	if x, y := o.trend().Table(nil)(), s.trend().Table(nil)(); !slices.EqualFunc(x.Rows, y.Rows, slices.Equal) {
		t.Errorf("the address shows\n%q, not\n%q", x.Rows, y.Rows)
	}
}

// TestTrendOfNoise checks that runs without a change have none, and that Return does
// nothing there.
func TestTrendOfNoise(t *testing.T) {
	s := showTrend(t, seriesOfRuns(t, 20, 20))
	if shapes := s.shapes(); len(s.trend().Marks()) != 0 || !strings.Contains(shapes, ">No lasting change.<") {
		t.Errorf("there are changes at %v", s.trend().Marks())
	}
	s.Focus.Give(&s.Pane.Tab, true)
	s.press(key.NameReturn, 0)
	if s.Versus != nil {
		t.Error("a comparison was opened")
	}
}

// TestTrendLeavesOutRuns checks that a file that cannot be read is left out and named, and
// that an excluded run does not count.
func TestTrendLeavesOutRuns(t *testing.T) {
	dir := seriesOfRuns(t, 8, 8)
	s := showTrend(t, dir)
	if n := len(s.trend().Table(nil)().Head); n != 5+8 {
		t.Errorf("the table has %d columns", n)
	}
	s.Pane.Runs[2].Off = true
	bad := filepath.Join(t.TempDir(), "bad.folded")
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.AddFiles(0, []string{bad})
	s.until("the other trend", func() bool {
		table := s.trend().Table(nil)
		return table != nil && len(table().Head) == 5+7
	})
	if shapes := s.shapes(); !strings.Contains(shapes, "1 run left out") || !strings.Contains(shapes, "bad.folded") {
		t.Error("the file that cannot be read is not named")
	}
}

// TestTrendOfManyRuns checks that a series may have more runs than a comparison holds in
// memory, and that opening B keeps only as many as it may.
func TestTrendOfManyRuns(t *testing.T) {
	dir := seriesOfRuns(t, 130, 60)
	s := showTrend(t, dir)
	if n := len(s.Pane.Runs); n != 129 || len(s.trend().Marks()) != 1 {
		t.Errorf("the series has %d further runs, with changes at %v", n, s.trend().Marks())
	}
	s.OpenBeside(filepath.Join(dir, "run-130.folded"))
	if n := len(s.Versus.Panes[0].Runs); n != 99 {
		t.Errorf("the comparison has %d further runs", n)
	}
}

// TestTrendOfTwo shows the runs of both sides of a comparison as one series, A before B. The
// change may be elsewhere than between the sides; opening it compares the runs around it.
func TestTrendOfTwo(t *testing.T) {
	dir := seriesOfRuns(t, 12, 7)
	var files []string
	for i := range 12 {
		files = append(files, filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1)))
	}
	s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	defer s.Close()
	s.Do.Wake = func() {}
	s.compareRuns(files[:5], files[5:])
	s.until("the comparison", func() bool { return s.runsCounted() == [2]int{5, 7} })
	s.Versus.Tab = panel.Trend
	two := func() *trend.OfTwo { return panel.Find[*trend.OfTwo](s.Versus.Deck.All) }
	s.until("the trend", func() bool { return two().Table(nil) != nil && len(two().Marks()) == 1 })
	if line, rest := s.CommandOf(workspace.OfLower); line != "ashlar trend "+strings.Join(files, " ") || rest != "" {
		t.Errorf("the command is %s without %q", line, rest)
	}
	for range 30 { // the view becomes a step of history
		s.frame()
	}
	s.Focus.Give(&s.Versus.Tab, true)
	s.press(key.NameDownArrow, 0)
	if f := s.Versus.Chosen; f == nil || f.Name != "hash" {
		t.Errorf("%v is selected", f)
	}
	s.press(key.NameReturn, 0)
	s.until("the runs around the change", func() bool { return s.runsCounted() == [2]int{7, 5} && s.Versus.Chosen != nil })
	if f := s.Versus.Chosen.Name; f != "hash" || s.compares() != [2]string{"run-1.folded", "run-8.folded"} {
		t.Errorf("%s is selected, comparing %q", f, s.compares())
	}
	s.Undo()
	s.until("the trend again", func() bool { return s.runsCounted() == [2]int{5, 7} && s.Versus.Tab == panel.Trend })
}

// TestTrendWithTwoChanges opens the second change of a function with the keyboard.
func TestTrendWithTwoChanges(t *testing.T) {
	dir := seriesOfRuns(t, 30, 10)
	for i := 20; i < 30; i++ { // hash is faster again
		f := filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1))
		if err := os.WriteFile(f, fmt.Appendf(nil, "main;hash %d\nmain;sort %d\nmain;draw %d\n", 1200+i*37%50, 2000+i*53%90, 300+i*29%20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := showTrend(t, dir)
	s.Focus.Give(&s.Pane.Tab, true)
	s.press(key.NameDownArrow, 0)
	if n := len(s.trend().Marks()); n != 2 {
		t.Fatalf("there are %d changes", n)
	}
	s.press(key.NameLeftArrow, 0)
	s.press(key.NameRightArrow, 0)
	s.press(key.NameReturn, 0)
	s.until("the comparison", func() bool { return s.runsCounted() == [2]int{10, 10} })
	if got := s.compares(); got != [2]string{"run-11.folded", "run-21.folded"} {
		t.Errorf("compared are %q", got)
	}
	s.Undo()
	s.until("the trend again", func() bool {
		return s.Versus == nil && s.Pane.Doc.Name == "run-1.folded" && len(s.Pane.Runs) == 29 && s.Pane.Tab == panel.Trend
	})
}
