package shell

import (
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/app/window/scopebar"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/timeline"
	"ashlar/testdata/rounds"
)

// cross returns the position of a chip's cross.
func cross(box image.Rectangle) f32.Point {
	return f32.Pt(float32(box.Max.X-8), float32(box.Min.Y+box.Dy()/2))
}

// remembered waits, on the test's clock, until the view becomes a step of history.
func (b *bench) remembered() {
	b.now = b.now.Add(time.Second)
	b.frame()
	b.now = b.now.Add(time.Second)
	b.frame()
}

// limited opens a recording with a limit of every kind, and so a chip for each.
func limited(t *testing.T) *bench {
	b := newBench(t, twoProcesses)
	p := b.Pane
	p.Scope = recording.Between(p.Rec.Start, p.Rec.Start+10e6).On([]int{1})
	p.Scope.Calls = &recording.CallSet{Text: "serve[1ns..]"}
	p.Scope.Async = recording.In
	p.Transform(analyze.Focus(analyze.Named("serve")))
	p.Transform(analyze.Transform{Op: analyze.OpInvert})
	p.SearchFor("serve")
	b.settled()
	b.remembered()
	return b
}

// TestScopeBarSaysAllAndTakesOff checks that each limit has a chip, that its cross
// removes only that limit, that undo restores it, and that nothing below moves.
func TestScopeBarSaysAllAndTakesOff(t *testing.T) {
	rounds.Unraced(t)
	kinds := []string{"time", "thread", "calls", "with async", "focus", "invert", "search"}
	b := limited(t)
	all, lower := b.State().Scope, b.Pane.Bounds.Lower
	if len(all) != len(kinds) || len(b.Pane.ScopeBar.Boxes) != len(kinds) {
		t.Fatalf("the chips are %q in %v, want %q", all, b.Pane.ScopeBar.Boxes, kinds)
	}
	for i, kind := range kinds {
		if !strings.HasPrefix(all[i], kind) {
			t.Errorf("chip %d is %q, want %s …", i, all[i], kind)
		}
		at := cross(b.Pane.ScopeBar.Boxes[i])
		b.drag(at, at, 0)
		b.settled()
		if want := slices.Delete(slices.Clone(all), i, i+1); !slices.Equal(b.State().Scope, want) {
			t.Errorf("without %q there are %q", all[i], b.State().Scope)
		}
		b.remembered()
		b.Undo()
		b.settled()
		if !slices.Equal(b.State().Scope, all) {
			t.Fatalf("after undoing there are %q, want %q", b.State().Scope, all)
		}
	}
	for len(b.State().Scope) > 0 { // Esc removes the last one
		was := b.State().Scope
		b.press(key.NameEscape, 0)
		b.settled()
		if got := b.State().Scope; !slices.Equal(got, was[:len(was)-1]) {
			t.Fatalf("Esc makes %q of %q", got, was)
		}
	}
	if b.Pane.Bounds.Lower != lower {
		t.Errorf("without chips what is below lies at %v, with them at %v", b.Pane.Bounds.Lower, lower)
	}
}

// TestScopeBarLeadsThere checks that a click on a chip shows its limit.
func TestScopeBarLeadsThere(t *testing.T) {
	rounds.Unraced(t)
	for i, there := range []func(b *bench) bool{
		func(b *bench) bool { // with a margin around the range
			p := b.Pane
			return p.View.From <= p.Scope.From && p.View.To >= p.Scope.To && p.View.Span() < 2*(p.Scope.To-p.Scope.From)
		},
		func(b *bench) bool { return b.Pane.Moved || b.Pane.View.Scroll >= 0 },
		func(b *bench) bool { return b.Pane.Tab == panel.Calls },
		nil,
		func(b *bench) bool { return b.Chooser != nil && b.Chooser.Editor.Text() == "serve" },
		nil,
		func(b *bench) bool { return b.State().Focus == "text" },
	} {
		b := limited(t)
		all := b.State().Scope
		box := b.Pane.ScopeBar.Boxes[i]
		b.click(f32.Pt(float32(box.Min.X+12), float32(box.Min.Y+10)), 0, pointer.ButtonPrimary)
		b.settled()
		if there != nil && !there(b) {
			t.Errorf("a click on %q leads elsewhere: %+v", all[i], b.State())
		}
		if !slices.Equal(b.State().Scope, all) {
			t.Errorf("a click on %q makes %q", all[i], b.State().Scope)
		}
	}
}

// TestScopeBarOfTwo checks that each side of a comparison in place has its chips, and
// that removing B's last one ends the comparison.
func TestScopeBarOfTwo(t *testing.T) {
	b := newBench(t, twoProcesses)
	p := b.Pane
	was := p.Scope
	p.Scope = p.Scope.On([]int{1})
	b.settled()
	p.CompareTracks([]int{2})
	b.settled()
	gs := b.Scoped()
	if got := scopebar.Texts(gs); len(gs) != 3 || len(got) != 2 || !strings.HasPrefix(got[0], "A thread") || !strings.HasPrefix(got[1], "B thread") {
		t.Fatalf("two threads are compared as %q", got)
	}
	at := cross(p.ScopeBar.Boxes[1])
	b.drag(at, at, 0)
	b.settled()
	if p.Against != nil || p.Scope.Equal(was) {
		t.Errorf("without B, %+v is compared with %+v", p.Scope, p.Against)
	}
}

// TestScopeBarWithoutRoom checks the count of the chips without room: its tooltip names
// them, and its menu can remove one.
func TestScopeBarWithoutRoom(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, twoProcesses)
	p := b.Pane
	var want []string
	for i := range 40 {
		name := fmt.Sprintf("a function of a name that is long enough to want much room %d", i)
		p.Transform(analyze.Transform{Op: analyze.OpHide, Ref: analyze.Named(name)})
		want = append(want, name)
	}
	b.frame()
	b.frame()
	bar := &p.ScopeBar
	left := len(want) - len(bar.Boxes)
	if left < 10 || bar.Rest.Empty() || bar.Rest.Max.X > p.Bounds.Tabs.Max.X || bar.Rest.Min.X < bar.Boxes[len(bar.Boxes)-1].Max.X {
		t.Fatalf("%d chips of %d have room, the rest is counted at %v", len(bar.Boxes), len(want), bar.Rest)
	}
	at := f32.Pt(float32(bar.Rest.Min.X+8), float32(bar.Rest.Min.Y+8))
	b.pointer(pointer.Move, at, 0)
	b.frame()
	if shown := b.drawn(); !strings.Contains(shown, "+"+strconv.Itoa(left)) || !strings.Contains(shown, strconv.Itoa(left)) {
		t.Errorf("%d are left, which is not said", left)
	}
	b.click(at, 0, pointer.ButtonPrimary)
	if b.Menu == nil {
		t.Fatal("a click on the count opens no menu")
	}
	var off func()
	for _, it := range b.Menu.Items {
		if it.Detail == "Remove" {
			off = it.Do
		}
	}
	off()
	if n := len(p.Transforms); n != len(want)-1 {
		t.Errorf("taking the last one off leaves %d", n)
	}
}

// TestRowsGrowToWhatIsFound checks that a thread shows more lanes if the search has hits
// in them, and fewer again after the search.
func TestRowsGrowToWhatIsFound(t *testing.T) {
	var events []string
	for tid := 1; tid <= 2; tid++ {
		for k := range 20 {
			events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"level %d of %d"}`, tid, k, 100-2*k, k, tid))
		}
	}
	b := newBench(t, "["+strings.Join(events, ",")+"]")
	lanes := func() (n [2]int) {
		for _, r := range b.Pane.Plan.Rows {
			if r.Kind == timeline.TrackRow {
				n[r.Index] = r.SpanLanes
			}
		}
		return n
	}
	was := lanes()
	b.Pane.SearchFor("level 16 of 2")
	b.until("the rows to grow", func() bool { return lanes() != was })
	if got := lanes(); was[1] >= 17 || got != [2]int{was[0], 17} {
		t.Errorf("the rows have %v lanes, before %v", got, was)
	}
	b.Pane.SearchFor("")
	b.until("the rows to be as before", func() bool { return lanes() == was })
}
