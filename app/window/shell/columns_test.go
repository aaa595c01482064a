package shell

import (
	"image"
	"slices"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/workspace"
)

// resize changes the window's size.
func (b *bench) resize(w, h int) {
	b.size = image.Pt(w, h)
	b.frame()
	b.frame()
}

// TestColumnsAreDragged widens the columns of names and of details. The widths are stored
// and used by the next window; a double click restores the default.
func TestColumnsAreDragged(t *testing.T) {
	k := new(keptNote)
	b := newBench(t, someTrace)
	b.Keep = k
	p := b.Pane
	names := f32.Pt(float32(p.Bounds.Lanes.Min.X+p.Bounds.Gutter), float32(p.Bounds.Lanes.Min.Y+40))
	details := f32.Pt(float32(p.Bounds.Side.Min.X), float32(p.Bounds.Side.Min.Y+60))
	was := [2]int{p.Bounds.Gutter, p.Bounds.Side.Dx()}
	b.drag(names, names.Add(f32.Pt(90, 0)), 0)
	b.drag(details, details.Sub(f32.Pt(70, 0)), 0)
	b.frame()
	want := [2]int{was[0] + 90, was[1] + 70}
	if got := [2]int{p.Bounds.Gutter, p.Bounds.Side.Dx()}; got != want {
		t.Errorf("the columns are %d wide, want %d", got, want)
	}
	if p.Scope.Ranged || p.Order != nil {
		t.Error("the drag also selects or moves something")
	}
	if c := (panel.Columns{Gutter: float32(want[0]), Details: float32(want[1])}); k.now.Columns != c {
		t.Errorf("kept are %+v, want %+v", k.now.Columns, c)
	}
	next := newBench(t, someTrace)
	next.Prefer(k.now)
	next.frame()
	next.frame()
	if got := [2]int{next.Pane.Bounds.Gutter, next.Pane.Bounds.Side.Dx()}; got != want {
		t.Errorf("in the next window they are %d wide, want %d", got, want)
	}
	names.X += 90
	for range 2 {
		for _, kind := range []pointer.Kind{pointer.Press, pointer.Release} {
			b.pointer(kind, names, 0)
		}
	}
	b.frame()
	if p.Bounds.Gutter != was[0] || p.Bounds.Side.Dx() != want[1] {
		t.Errorf("after a double click the columns are %d and %d wide", p.Bounds.Gutter, p.Bounds.Side.Dx())
	}
}

// TestColumnsFollowTheWindow checks that default widths grow with the window and that a
// chosen width takes at most half of a narrow window.
func TestColumnsFollowTheWindow(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	b.resize(1400, 900)
	usual := [2]int{p.Bounds.Gutter, p.Bounds.Side.Dx()}
	b.resize(2560, 1000)
	if g, d := p.Bounds.Gutter, p.Bounds.Side.Dx(); g < usual[0]*3/2 || d < usual[1]*3/2 {
		t.Errorf("at 2560 dp they are %d and %d wide, at 1400 %d", g, d, usual)
	}
	b.Columns = panel.Columns{Gutter: 900, Details: 900}
	b.resize(600, 800)
	if g, d := p.Bounds.Gutter, p.Bounds.Side.Dx(); g > 300 || d > 300 {
		t.Errorf("of 600 dp they take %d and %d", g, d)
	}
}

// TestNoTabVanishes checks that in a narrow window the tabs without room are in a menu.
func TestNoTabVanishes(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	b.resize(1400, 900)
	if b.has(moreText)[0] {
		t.Error("in a wide window there is a menu")
	}
	for _, w := range []int{480, 600} {
		p.Tab = panel.Flamegraph
		b.resize(w, 800)
		b.click(b.written(moreText), 0, pointer.ButtonPrimary)
		if b.Menu == nil {
			t.Fatalf("at %d dp nothing opens", w)
		}
		texts := b.texts()
		for _, r := range workspace.Panels {
			inMenu := false
			for _, it := range b.Menu.Items {
				if it.Title == r.Title {
					inMenu = true
					it.Do()
				}
			}
			if !inMenu && !slices.Contains(texts, r.Title) {
				t.Errorf("at %d dp %s is neither a tab nor in the menu", w, r.Title)
			}
			if inMenu && p.Tab != r.Name {
				t.Errorf("%s shows %s", r.Title, p.Tab)
			}
		}
		b.Menu = nil
	}
}

// moreText is the title of the menu of tabs.
const moreText = "More"

// TestScopeOfPick checks the switch that limits the lower half to the selected call or
// its thread. Return selects a call's time on its thread.
func TestScopeOfPick(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	if b.has("This call")[0] {
		t.Error("without a selected bar there is a switch")
	}
	b.click(b.at(1120, 52), 0, pointer.ButtonPrimary)
	if p.Pick.Kind != panel.PickBar {
		t.Fatal("no bar is selected")
	}
	track, h := p.Pick.Hit.Track, p.Pick.Hit
	b.click(b.written("This thread"), 0, pointer.ButtonPrimary)
	if p.Scope.Ranged || !slices.Equal(p.Scope.Tracks, []int{track}) {
		t.Errorf("the thread is %+v", p.Scope)
	}
	b.click(b.written("This call"), 0, pointer.ButtonPrimary)
	if !p.Scope.Ranged || p.Scope.From != h.Start || p.Scope.To != h.End || !slices.Equal(p.Scope.Tracks, []int{track}) {
		t.Errorf("the call is %+v", p.Scope)
	}
	b.click(b.written("Everything"), 0, pointer.ButtonPrimary)
	if !p.Scope.IsWhole() {
		t.Errorf("everything is %+v", p.Scope)
	}
	b.press(key.NameReturn, 0)
	if !p.Scope.Ranged || p.Scope.From != h.Start || !slices.Equal(p.Scope.Tracks, []int{track}) {
		t.Errorf("Return selects %+v", p.Scope)
	}
}

// TestListOfFunctions checks that a search for several functions lists one line per
// function, and that a click switches to single hits.
func TestListOfFunctions(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	b.lookFor("/read|main/")
	b.press("L", key.ModCtrl)
	b.until("the sums", func() bool { return b.has("Longest")[0] && b.has("150.0 µs")[0] })
	if there := b.has("2", "100.0 µs", "400.0 µs"); slices.Contains(there, false) {
		t.Errorf("the list lacks some numbers: %v", there)
	}
	b.click(b.written("Single hits"), 0, pointer.ButtonPrimary)
	b.until("single hits", func() bool { return b.has("Duration")[0] })
	b.click(b.written("By function"), 0, pointer.ButtonPrimary)
	b.press(key.NameDownArrow, 0)
	b.press(key.NameReturn, 0)
	if h := p.Pick.Hit; p.Pick.Kind != panel.PickBar || p.Rec.FuncName(h.Call) != "read" || h.End-h.Start != 50e6 {
		t.Errorf("the second line leads to %s", p.Rec.FuncName(p.Pick.Hit.Call))
	}
}

// TestSyntaxIsRemembered checks that the syntax of instructions is kept for the next window, and
// that an address has it.
func TestSyntaxIsRemembered(t *testing.T) {
	k := new(keptNote)
	b := newBench(t, someTrace)
	b.Keep = k
	b.Pane.Syntax = "intel"
	b.frame()
	b.frame()
	if got := k.now.Look["syntax"]; got != "intel" {
		t.Errorf("kept is %q", got)
	}
	if st := b.Address(); st.Syntax != "intel" {
		t.Errorf("the address is %s", st)
	}
	next := newBench(t, someTrace)
	next.Prefer(k.now)
	next.frame()
	if next.Pane.Syntax != "intel" {
		t.Errorf("the next window has %q", next.Pane.Syntax)
	}
	if _, err := view.Parse("ashlar:1?file=a&syntax=masm"); err == nil {
		t.Error("an unknown syntax is no error")
	}
}
