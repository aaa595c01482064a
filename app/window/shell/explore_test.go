package shell

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/window/panel/details"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// bench is a shell without a window that receives keys and pointer events.
type bench struct {
	t *testing.T
	*Shell
	router input.Router
	ops    op.Ops
	now    time.Time
	size   image.Point // of the window
}

const someTrace = `[{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"server"}},{"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"net"}},
{"ph":"X","pid":1,"tid":7,"ts":1000,"dur":400,"name":"main","args":{"path":"/tmp/x","n":3}},{"ph":"X","pid":1,"tid":7,"ts":1100,"dur":50,"name":"read"},
{"ph":"X","pid":1,"tid":7,"ts":1200,"dur":100,"name":"read"},{"ph":"X","pid":2,"tid":8,"ts":1300,"dur":50,"name":"other"},
{"ph":"i","s":"t","pid":1,"tid":7,"ts":1350,"name":"note","args":{"why":"because"}},
{"ph":"s","pid":1,"tid":7,"ts":1120,"id":1,"name":"send"},{"ph":"f","bp":"e","pid":2,"tid":8,"ts":1310,"id":1,"name":"send"},
{"ph":"C","pid":1,"ts":1000,"name":"bytes","args":{"used":10}},{"ph":"C","pid":1,"ts":1250,"name":"bytes","args":{"used":12.5}}]`

func newBench(t *testing.T, content string) *bench {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	t.Cleanup(b.Close)
	b.Open(path)
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	b.frame()
	b.frame()
	return b
}

func (b *bench) frame() {
	b.now = b.now.Add(20 * time.Millisecond)
	b.ops.Reset()
	b.Layout(layout.Context{Ops: &b.ops, Now: b.now, Source: b.router.Source(),
		Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(b.window())})
	b.router.Frame(&b.ops)
}

// window returns the size of the window.
func (b *bench) window() image.Point {
	if b.size == (image.Point{}) {
		return image.Pt(1280, 800)
	}
	return b.size
}

func (b *bench) press(name key.Name, mods key.Modifiers) {
	b.router.Queue(key.Event{Name: name, Modifiers: mods, State: key.Press})
	b.frame()
	b.frame()
}

// at returns the pixel of a time, in µs of the trace's clock, at height y of the lanes.
func (b *bench) at(us float64, y int) f32.Point {
	p := b.Pane
	t := p.Rec.Start + int64((us-1000)*1e6)
	return f32.Pt(float32(p.Bounds.Lanes.Min.X+p.Bounds.Gutter)+float32(p.View.X(t, p.LaneWidth())), float32(p.Bounds.Lanes.Min.Y+y))
}

func (b *bench) pointer(kind pointer.Kind, at f32.Point, mods key.Modifiers) {
	e := pointer.Event{Kind: kind, Source: pointer.Mouse, Position: at, Modifiers: mods, Time: time.Duration(b.now.UnixNano())}
	if kind == pointer.Press || kind == pointer.Drag || kind == pointer.Move && b.Pane != nil && b.Pane.Lanes.Pressed {
		e.Buttons = pointer.ButtonPrimary
	}
	b.router.Queue(e)
	b.frame()
}

func (b *bench) drag(from, to f32.Point, mods key.Modifiers) {
	b.pointer(pointer.Move, from, mods)
	b.pointer(pointer.Press, from, mods)
	for i := range 5 {
		b.pointer(pointer.Move, from.Add(to.Sub(from).Mul(float32(i+1)/5)), mods)
	}
	b.pointer(pointer.Release, to, mods)
	b.frame()
}

// selected returns the selected range, in µs of the trace's clock.
func (b *bench) selected() [2]float64 {
	p := b.Pane
	if !p.Scope.Ranged {
		return [2]float64{}
	}
	return [2]float64{1000 + float64(p.Scope.From-p.Rec.Start)/1e6, 1000 + float64(p.Scope.To-p.Rec.Start)/1e6}
}

func TestTimesThatATextMeans(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	for _, x := range []struct {
		text string
		from float64 // µs after the start
		to   float64
		any  bool
	}{
		{"100us", 100, 0, true}, {" 0.1 ms ", 100, 0, true}, {"25%", 100, 0, true}, {"100us..150us", 100, 150, true},
		{"1100", 100, 0, true}, // as seconds, this is past the end, so it is a time in the file's µs
		{"+10us", 210, 0, true}, {"-10 us", 190, 0, true}, {"soon", 0, 0, false}, {"1..", 0, 0, false}, {"5 parsec", 0, 0, false},
	} {
		p.View.From, p.View.To = p.Rec.Start+150e6, p.Rec.Start+250e6 // its middle is at 200 µs
		js := p.Times(x.text)
		if !x.any {
			if len(js) > 0 {
				t.Errorf("%q is understood as %+v", x.text, js)
			}
			continue
		}
		if len(js) == 0 {
			t.Errorf("%q is not understood", x.text)
			continue
		}
		from, to := float64(js[0].At-p.Rec.Start)/1e6, 0.0
		if js[0].To != 0 {
			to = float64(js[0].To-p.Rec.Start) / 1e6
		}
		if from != x.from || to != x.to || !js[0].Possible {
			t.Errorf("%q is %v to %v, want %v to %v (%+v)", x.text, from, to, x.from, x.to, js[0])
		}
	}
}

// TestSelectionSnaps drags near the edges of bars: the selection takes exactly their
// times, unless Alt is held. With Ctrl it is limited to one thread.
func TestSelectionSnaps(t *testing.T) {
	b := newBench(t, someTrace)
	shift := key.ModShift
	b.drag(b.at(1100.9, 60), b.at(1199.2, 60), shift)
	if got := b.selected(); got != [2]float64{1100, 1200} {
		t.Errorf("a drag from 1100.9 to 1199.2 selects %v, want 1100 to 1200", got)
	}
	b.drag(b.at(1100.9, 60), b.at(1199.2, 60), shift|key.ModAlt)
	if got := b.selected(); got[0] < 1100.5 || got[0] > 1101.5 || got[1] < 1198.5 || got[1] > 1199.5 {
		t.Errorf("a drag with Alt from 1100.9 to 1199.2 selects %v", got)
	}
	if b.Pane.Scope.Tracks != nil {
		t.Errorf("a drag selects the threads %v", b.Pane.Scope.Tracks)
	}
	b.drag(b.at(1060, 60), b.at(1199.2, 60), shift|key.ModCtrl)
	if got := b.selected(); got[1] != 1200 || len(b.Pane.Scope.Tracks) != 1 {
		t.Errorf("a drag within a thread selects %v of %v", got, b.Pane.Scope.Tracks)
	}
}

// TestPointingAtThings clicks a counter, an instant and a span, and checks their details.
func TestPointingAtThings(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	has := func(key, value string) {
		t.Helper()
		_, _, ds := p.Details.Lines(&b.Host)
		for _, d := range ds {
			if d.Key == key && (d.Value == value || d.Copied() == value) {
				return
			}
		}
		t.Errorf("the panel does not say %s %s: %+v", key, value, ds)
	}
	row := func(kind timeline.RowKind, index int) int {
		for i := range p.Plan.Rows {
			if r := &p.Plan.Rows[i]; r.Kind == kind && r.Index == index {
				return r.Y
			}
		}
		t.Fatalf("there is no row of kind %d for %d", kind, index)
		return 0
	}
	click := func(at f32.Point) {
		b.pointer(pointer.Move, at, 0)
		b.pointer(pointer.Press, at, 0)
		b.pointer(pointer.Release, at, 0)
		b.now = b.now.Add(time.Second)
		b.frame()
	}
	thread := slices.IndexFunc(p.Rec.Tracks, func(t *recording.Track) bool { return t.TID == 7 })
	y := row(timeline.TrackRow, thread)
	click(b.at(1270, row(timeline.CounterRow, 0)+20))
	has("Value", "12.5")
	has("Change", "2.5")
	has("Min", "10")
	click(b.at(1350, y+2))
	has("why", "because")
	click(b.at(1010, y+10))
	has("path", "/tmp/x")
	has("n", "3")
}

// TestRankAndArrows selects a span with an arrow: the details show its rank among the
// spans of its function and where the arrow leads.
func TestRankAndArrows(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	thread := slices.IndexFunc(p.Rec.Tracks, func(t *recording.Track) bool { return t.TID == 7 })
	h, ok := lanes.BarAt(p.Rec.Tracks[thread], thread, 1, p.Rec.Start+110e6)
	if !ok {
		t.Fatal("there is no span at 1110")
	}
	p.PickShown(h)
	b.frame()
	_, _, ds := p.Details.Lines(&b.Host)
	rank := slices.IndexFunc(ds, func(d details.Detail) bool { return d.Key == "Rank" && d.Value == "2nd longest of 2" })
	to := slices.IndexFunc(ds, func(d details.Detail) bool { return d.Key == "Arrow to" })
	if rank < 0 || to < 0 {
		t.Fatalf("the panel lacks the rank (%d) or the arrow (%d): %+v", rank, to, ds)
	}
	ds[to].To()
	if name := p.Rec.FuncName(p.Pick.Hit.Call); name != "other" {
		t.Errorf("the arrow leads to %s, want other", name)
	}
	p.Flows.Update(&b.Shell.Host, &p.Timeline)
	p.FollowFlow(&b.Shell.Host, true)
	if name := p.Rec.FuncName(p.Pick.Hit.Call); name != "read" {
		t.Errorf("back along the arrow is %s, want read", name)
	}
}

// TestThrowingTheView checks how far the view coasts after a throw. Without a window to request
// frames, it must reach the final position at once.
func TestThrowingTheView(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	u := &ui.UI{Context: layout.Context{Ops: &b.ops, Now: b.now, Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}}
	p.View = p.View.Zoom(.1, 500, p.LaneWidth(), p.Rec.Start, p.Rec.End)
	for _, still := range []bool{false, true} {
		b.Do.Wake = func() {}
		if still {
			b.Do.Wake = nil
		}
		before := p.View
		for i := range 5 {
			p.Motion.Follow(f32.Pt(float32(-10*i), 0), time.Duration(i)*10*time.Millisecond)
		}
		p.Motion.Throw(&p.Timeline, u, 45*time.Millisecond)
		steps := 0
		for p.Motion.Kind != lanes.AtRest && steps < 1000 {
			steps++
			u.Now = u.Now.Add(5 * time.Millisecond)
			p.Motion.Step(&b.Shell.Host, &p.Timeline, u)
		}
		// 1,000 pixels a second times the brake's 90 ms are 90 pixels.
		px := float64(p.View.From-before.From) / float64(before.Span()) * float64(p.LaneWidth())
		if px < 88 || px > 92 {
			t.Errorf("a throw of 1,000 pixels a second goes %v pixels, want about 90", px)
		}
		if still != (steps == 1) {
			t.Errorf("without motion %v: it takes %d steps", still, steps)
		}
	}
}

// TestTabGoesRound moves the keyboard focus through all parts of the window, forwards and
// back.
func TestTabGoesRound(t *testing.T) {
	b := newBench(t, someTrace)
	var there []string
	for range 9 {
		b.press(key.NameTab, 0)
		there = append(there, b.focused())
	}
	// The timeline has the focus at first, without a focus ring.
	want := []string{"timeline", "tabs", "Flamegraph", "details", "status", "toolbar", "filter", "timeline", "tabs"}
	want = slices.DeleteFunc(want, func(s string) bool { return s == "status" && !slices.Contains(there, s) })
	if !slices.Equal(there[:len(want)], want) {
		t.Errorf("Tab goes to %q, want %q", there, want)
	}
	at := b.focused()
	b.press(key.NameTab, 0)
	b.press(key.NameTab, key.ModShift)
	if b.focused() != at {
		t.Errorf("Tab and Shift-Tab lead from %s to %s", at, b.focused())
	}
	b.pointer(pointer.Move, b.at(1010, 60), 0)
	b.pointer(pointer.Press, b.at(1010, 60), 0)
	b.pointer(pointer.Release, b.at(1010, 60), 0)
	if b.focused() != "" {
		t.Errorf("a click leaves the ring on %s", b.focused())
	}
}

// TestFilterChoosesByNames checks which threads each filter text leaves.
func TestFilterChoosesByNames(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	for filter, want := range map[string][]string{
		"": {"net", "Thread 8"}, "NET": {"net"}, "8": {"Thread 8"}, "server": {"net"}, "thread 8": {"Thread 8"}, "x": nil, "2": {"Thread 8"},
	} {
		p.Filter = filter
		b.frame()
		if have := p.Plan.Names(timeline.TrackRow); !slices.Equal(have, want) {
			t.Errorf("%q leaves %q, want %q", filter, have, want)
		}
	}
}
