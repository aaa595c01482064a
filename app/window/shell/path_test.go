package shell

import (
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/app/window/panel/critical"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/widget"
)

// waiting is an ftrace recording of a client that waits for a server.
const waiting = `# tracer: nop
#
          client-11    (   10) [000] d..2  1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=client next_pid=11 next_prio=120
          client-11    (   10) [000] ...1  1.000100: tracing_mark_write: B|10|request
          client-11    (   10) [000] d..2  1.000900: sched_waking: comm=server pid=12 prio=120 target_cpu=001
          client-11    (   10) [000] d..2  1.001000: sched_switch: prev_comm=client prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
          server-12    (   10) [001] d..2  1.001500: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=server next_pid=12 next_prio=120
          server-12    (   10) [001] d..2  1.003000: sched_waking: comm=client pid=11 prio=120 target_cpu=000
          client-11    (   10) [000] d..2  1.003200: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=client next_pid=11 next_prio=120
          server-12    (   10) [001] d..2  1.003300: sched_switch: prev_comm=server prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          client-11    (   10) [000] ...1  1.004000: tracing_mark_write: E|10
`

// onStrip returns the point where the state of a thread at a time is drawn.
func (b *bench) onStrip(thread string, at int64) f32.Point {
	p := b.Pane
	for i := range p.Plan.Rows {
		if r := &p.Plan.Rows[i]; r.Kind == timeline.TrackRow && p.Rec.Tracks[r.Index].Name == thread && p.Rec.Tracks[r.Index].States.Len() > 0 {
			x0, y0, _, y1 := p.Plan.Box(p.View, i, recording.StateLane, at, at, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
			return f32.Pt(float32(p.Bounds.Lanes.Min.X+x0), float32(p.Bounds.Lanes.Min.Y+(y0+y1)/2))
		}
	}
	b.t.Fatalf("no thread %s has states", thread)
	return f32.Point{}
}

// TestStatesAndCriticalPath clicks a thread state, goes to its waker with a key, and
// follows the critical path with keys.
func TestStatesAndCriticalPath(t *testing.T) {
	b := newBench(t, waiting)
	p := b.Pane
	at := b.onStrip("client", p.Rec.Start+3.1e9)
	b.pointer(pointer.Move, at, 0)
	b.pointer(pointer.Press, at, 0)
	b.pointer(pointer.Release, at, 0)
	b.frame()
	if h := &p.Pick.Hit; !h.IsState() || p.Rec.FuncName(h.Call) != "[runnable]" || p.Rec.Tracks[h.Track].Name != "client" {
		t.Fatalf("a click on the strip picks %q", p.Rec.FuncName(h.Call))
	}
	b.press("[", key.ModCtrl)
	if h := &p.Pick.Hit; !h.IsState() || p.Rec.FuncName(h.Call) != "[running]" || p.Rec.Tracks[h.Track].Name != "server" {
		t.Errorf("the key to the waker picks %q of %s", p.Rec.FuncName(h.Call), p.Rec.Tracks[h.Track].Name)
	}
	b.ShowPanel(panel.Path)
	b.settled()
	var way []string
	c := p.Doc.Answer().Critical
	for i := range c.Steps {
		s := &c.Steps[i]
		way = append(way, p.Rec.Tracks[s.Track].Name+" "+s.Words(p.Rec))
	}
	if got, want := strings.Join(way, ", "), "client running, server runnable, server running, client runnable, client running"; got != want {
		t.Errorf("the path is %s, want %s", got, want)
	}
	if svg := b.shapes(); !strings.Contains(svg, "Critical path to the end on client") || !strings.Contains(svg, "By function") {
		t.Error("the panel does not show it")
	}
	x := panel.Find[*critical.Panel](p.Deck.All)
	p.Pick = panel.Picked{}
	for _, want := range []string{"client", "server", "server"} {
		if !x.Key(&p.Side, key.Event{Name: key.NameDownArrow}, 24) {
			t.Error("a key does nothing")
		}
		if got := p.Rec.Tracks[p.Pick.Hit.Track].Name; got != want {
			t.Errorf("the key goes to a step of %s, not of %s", got, want)
		}
		b.frame()
	}
	if g := x.Table(&p.Side)(); len(g.Rows) != 5 || strings.Join(g.Rows[1], " ") != "900000 600000 server 12 runnable  client 11" {
		t.Errorf("the table has %q", g.Rows)
	}
	if line, rest := b.AsCommand(); !strings.Contains(line, "ashlar path ") || rest != "" {
		t.Errorf("the command is %s, without %s", line, rest)
	}
}

// TestBlockedBy checks the panel of locks: clicks go to the waiting thread and to the one
// it waited for. The list of calls shows a blocked state with its waker.
func TestBlockedBy(t *testing.T) {
	b := newBench(t, waiting)
	p := b.Pane
	b.ShowPanel(panel.Blocked)
	b.settled()
	if l := p.Doc.Answer().Locks; l.Blocked != 2.7e9 || len(l.All) != 2 || len(l.All[0].Pairs) != 1 {
		t.Fatalf("the locks are %+v", l)
	}
	svg := b.shapes()
	for _, want := range []string{"2.700 ms blocked", "client 11", "→ server 12"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the panel does not show %s", want)
		}
	}
	lower := p.Bounds.Lower
	second := f32.Pt(float32(lower.Min.X+100), float32(lower.Min.Y+28)+2.5*widget.RowHeight)
	b.pointer(pointer.Move, second, 0)
	b.frame()
	// The frame that handles the click must show its effect, because no other frame may
	// follow.
	for _, kind := range []pointer.Kind{pointer.Press, pointer.Release} {
		b.router.Queue(pointer.Event{Kind: kind, Source: pointer.Mouse, Buttons: pointer.ButtonPrimary, Position: second, Time: time.Duration(b.now.UnixNano())})
	}
	if first := b.shapes(); first == svg || first != b.shapes() {
		t.Error("the picture after a click on a lock is not the last one")
	}
	b.click(f32.Pt(second.X, second.Y-widget.RowHeight), 0, pointer.ButtonPrimary)
	row := float32(lower.Min.Y+28+(lower.Max.Y-lower.Min.Y-28)/2) + 1.5*widget.RowHeight
	for x, want := range map[float32]string{.1: "client [blocked: sleeping]", .4: "server [running]"} {
		at := f32.Pt(float32(lower.Min.X)+x*float32(lower.Dx()), row)
		b.pointer(pointer.Move, at, 0)
		b.pointer(pointer.Press, at, 0)
		b.pointer(pointer.Release, at, 0)
		b.frame()
		if got := p.Rec.Tracks[p.Pick.Hit.Track].Name + " " + p.Rec.FuncName(p.Pick.Hit.Call); got != want {
			t.Errorf("a click goes to %s, want %s", got, want)
		}
	}
	if line, rest := b.AsCommand(); !strings.Contains(line, "ashlar locks ") || rest != "" {
		t.Errorf("the command is %s, without %s", line, rest)
	}
	at := b.onStrip("client", p.Rec.Start+2e9)
	b.pointer(pointer.Move, at, 0)
	b.pointer(pointer.Press, at, 0)
	b.pointer(pointer.Release, at, 0)
	b.ShowPanel(panel.Calls)
	b.settled()
	if svg := b.shapes(); !strings.Contains(svg, "waker did") || !strings.Contains(svg, "server 12") || !strings.Contains(svg, "running since") {
		t.Error("the list of states does not tell their wakers")
	}
}
