package shell

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/window/workspace"
	"ashlar/render/theme"
	"ashlar/render/timeline"
)

// deepThreads returns a Chrome trace of 40 threads. Thread busy has long calls, 20 deep;
// the others have short ones.
func deepThreads(busy int) []byte {
	type event struct {
		Name string  `json:"name"`
		Ph   string  `json:"ph"`
		PID  int     `json:"pid"`
		TID  int     `json:"tid"`
		TS   float64 `json:"ts"`
		Dur  float64 `json:"dur"`
	}
	var all []event
	for tid := 1; tid <= 40; tid++ {
		depth, length := 12, 100.
		if tid == busy {
			depth, length = 20, 1000
		}
		for d := range depth {
			all = append(all, event{fmt.Sprintf("f%d", d), "X", 1, tid, float64(d), length - 2*float64(d)})
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return b
}

// opened opens one file, or two for a comparison, and waits until they are read.
func opened(t *testing.T, files ...string) *bench {
	b := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	t.Cleanup(b.Close)
	b.Open(files[0])
	if len(files) > 1 {
		b.OpenBeside(files[1])
	}
	b.until("the recordings", func() bool {
		return !slices.ContainsFunc(b.Shown(), func(p *workspace.Pane) bool { return !p.Rec.Done || p.Plan == nil })
	})
	b.frame()
	return b
}

// TestFirstSight checks that the first view shows the busiest thread with its lanes, also
// on both sides of a comparison, and that undo does not go back further.
func TestFirstSight(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, busy := range []int{37, 35} {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%d.json", i)))
		if err := os.WriteFile(files[i], deepThreads(busy), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := opened(t, files[0])
	p := b.Pane
	r := &p.Plan.Rows[p.Plan.Opened]
	if p.Rec.Tracks[r.Index].TID != 37 || r.Lanes < 12 {
		t.Fatalf("the opened thread is %d with %d lanes", p.Rec.Tracks[r.Index].TID, r.Lanes)
	}
	if top := p.Plan.Top(r, p.View.Scroll); top < 0 || top > p.Bounds.Lanes.Dy()/4 {
		t.Errorf("the busiest thread is at %d of %d", top, p.Bounds.Lanes.Dy())
	}
	below := 0 // the header of the process, which stays at the top
	if head, y := p.Plan.Sticky(p.View.Scroll); head >= 0 {
		below = y + p.Plan.Rows[head].Height
	}
	if first := p.Plan.RowAt(below, p.View.Scroll); p.Plan.Top(&p.Plan.Rows[first], p.View.Scroll) != below {
		t.Errorf("row %d is cut at the top", first)
	}
	scroll := p.View.Scroll
	b.remembered()
	b.Undo()
	b.remembered()
	if b.Pane.View.Scroll != scroll {
		t.Errorf("undo scrolls from %d to %d", scroll, b.Pane.View.Scroll)
	}
	c := opened(t, files...)
	for i, p := range c.Versus.Panes {
		if p.Plan.Opened < 0 || p.Rec.Tracks[p.Plan.Rows[p.Plan.Opened].Index].TID != int64([]int{37, 35}[i]) {
			t.Errorf("side %d opens row %d", i, p.Plan.Opened)
		}
	}
}

// TestDoubleClickKeepsTheThread checks that a double click zooms to a call and limits the
// lower half to its thread.
func TestDoubleClickKeepsTheThread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, deepThreads(1), 0o644); err != nil {
		t.Fatal(err)
	}
	b := opened(t, path)
	p := b.Pane
	i := slices.IndexFunc(p.Plan.Rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow && r.Index == 0 })
	at := f32.Pt(float32(p.Bounds.Lanes.Min.X+p.Bounds.Gutter+(p.Bounds.Lanes.Dx()-p.Bounds.Gutter)/2), float32(p.Bounds.Lanes.Min.Y+p.Plan.Top(&p.Plan.Rows[i], p.View.Scroll)+30))
	for range 2 {
		for _, kind := range []pointer.Kind{pointer.Move, pointer.Press, pointer.Release} {
			e := pointer.Event{Kind: kind, Source: pointer.Mouse, Position: at, Time: time.Duration(b.now.UnixNano())}
			if kind == pointer.Press {
				e.Buttons = pointer.ButtonPrimary
			}
			b.router.Queue(e)
			b.frame()
		}
	}
	if !slices.Equal(p.Scope.Tracks, []int{0}) || !p.Moved {
		t.Errorf("the scope is %+v, moved %v", p.Scope, p.Moved)
	}
	if titles, on := p.PickScopes(); len(titles) != 3 || on != 1 || !strings.HasPrefix(titles[1], "This thread") {
		t.Errorf("the switch has %q on %d", titles, on)
	}
}

// TestScrolledWindowGrows checks that rows scrolled to their end stay at the end when the
// window grows, without an empty area below.
func TestScrolledWindowGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, deepThreads(37), 0o644); err != nil {
		t.Fatal(err)
	}
	b := opened(t, path)
	p := b.Pane
	p.ScrollTo(1 << 30)
	b.frame()
	b.resize(1400, 2000)
	b.frame()
	if end := p.Plan.Height - p.View.Scroll; end < p.Bounds.Lanes.Dy() {
		t.Errorf("the last row ends at %d of %d", end, p.Bounds.Lanes.Dy())
	}
}
