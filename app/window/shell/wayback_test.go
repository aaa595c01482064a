package shell

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ashlar/app/window/panel"
	"ashlar/testdata/twins"
)

// besideBench opens a trace and writes two more to compare with; it returns the three
// paths.
func besideBench(t *testing.T) (b *bench, one, two, three string) {
	t.Helper()
	b = newBench(t, string(twins.Trace(false)))
	one = b.Pane.Path
	dir := t.TempDir()
	two, three = filepath.Join(dir, "after.json"), filepath.Join(dir, "later.json")
	for _, f := range []string{two, three} {
		if err := os.WriteFile(f, twins.Trace(true), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b, one, two, three
}

// rest waits, on the test's clock, until the view becomes a step of history.
func (b *bench) rest() {
	b.t.Helper()
	if err := b.Finish(); err != nil {
		b.t.Fatal(err)
	}
	for range 2 {
		b.frame()
		b.now = b.now.Add(time.Minute)
		b.frame()
	}
}

// TestUndoTakesBackFiles: undo takes back a swap, a replaced side and the comparison
// itself, in this order; redo repeats the swap.
func TestUndoTakesBackFiles(t *testing.T) {
	b, one, two, three := besideBench(t)
	order := func(step, a, other string) {
		t.Helper()
		if c := b.Versus; c == nil || c.Panes[0].Path != a || c.Panes[1].Path != other {
			t.Fatalf("%s: open is %s, want %s and %s", step, b.OpenName(), a, other)
		}
	}
	b.rest()
	b.OpenBeside(two)
	b.rest()
	b.Swap()
	b.rest()
	order("swapped", two, one)
	b.Undo()
	b.rest()
	order("undone", one, two)
	b.Redo()
	b.rest()
	order("redone", two, one)
	b.Undo()
	b.rest()
	b.OpenBeside(three)
	b.rest()
	order("replaced", one, three)
	b.Undo()
	b.rest()
	order("replacement undone", one, two)
	b.Undo()
	b.rest()
	if b.Versus != nil || b.Pane.Path != one {
		t.Errorf("after undoing the comparison, open is %s", b.OpenName())
	}
}

// TestCloseLeadsBack: closing a comparison shows the recording that was open before as it
// was, whichever side has the focus.
func TestCloseLeadsBack(t *testing.T) {
	for name, leave := range map[string]func(b *bench){
		"close comparison": func(b *bench) { b.Run("Close comparison") },
		"close B":          func(b *bench) { b.Run("Close B") },
		"undo": func(b *bench) {
			for range 5 {
				if b.Versus != nil {
					b.Undo()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, one, two, _ := besideBench(t)
			p := b.Pane
			p.SelectRange(p.Rec.Start+p.Rec.Duration()/4, p.Rec.Start+p.Rec.Duration()/2)
			p.Tab = panel.Functions
			b.rest()
			was := b.ViewState().String()
			b.OpenBeside(two)
			b.rest()
			b.Versus.FocusOn(&b.Workspace, 1)
			p.Scope.Ranged = false
			b.rest()
			leave(b)
			b.rest()
			if b.Versus != nil || b.Pane.Path != one {
				t.Fatalf("open is %s", b.OpenName())
			}
			if is := b.ViewState().String(); is != was {
				t.Errorf("the view was\n%s\nand is\n%s", was, is)
			}
		})
	}
	b, _, two, _ := besideBench(t)
	b.rest()
	b.OpenBeside(two)
	b.rest()
	b.Run("Close A")
	b.rest()
	if b.Versus != nil || b.Pane.Path != two {
		t.Errorf("with A closed, open is %s", b.OpenName())
	}
	b = newBench(t, `[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":90000000,"name":"long"}]`)
	b.rest()
	b.OpenBeside(two)
	b.rest()
	b.Run("Close A")
	b.rest()
	if all := b.Pane.View.Fit(b.Pane.Extent()); b.Pane.View.To > all.To {
		t.Errorf("with the longer A closed, the view ends at %d, of %d", b.Pane.View.To, all.To)
	}
}
