package timeline

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestPinnedRowsStay scrolls a picture with pinned rows. The pinned rows must look as if
// nothing was scrolled, the rows below as if nothing was pinned, and the pointer must
// find the rows where they are drawn.
func TestPinnedRowsStay(t *testing.T) {
	rec := nested(9, 3, 200)
	const w, h, gutter, room = 600, 300, 170, 150
	plan := NewPlan(rec, Layout{Scale: 1, Pinned: []int{6, 2}, Hold: room})
	free := NewPlan(rec, Layout{Scale: 1, Pinned: []int{6, 2}})
	if rows := plan.Rows; plan.Held != rows[2].Y+rows[2].Height || plan.Held > room || rows[1].Index != 6 || free.Held != 0 {
		t.Fatalf("%d pixels stay, want the header and two rows: %+v", plan.Held, plan.Rows[:3])
	}
	face := raster.Regular(11.5)
	draw := func(p *Plan, scroll int) [][]byte {
		pic := Picture{Rec: rec, Plan: p, View: View{From: rec.Start, To: rec.End, Scroll: scroll}, Palette: &theme.Palette{Theme: theme.Dark, Mode: theme.ByFunction}, Gutter: gutter, Fonts: Fonts{face, face, face}}
		c := golden.Draw(w, h, theme.Dark, pic.Paint)
		var lines [][]byte
		for y := range h {
			lines = append(lines, c.Pix[y*c.Stride:y*c.Stride+4*w])
		}
		return lines
	}
	unmoved := draw(plan, 0)
	header := plan.Rows[0].Height
	for scroll := 1; scroll <= plan.Height-h; scroll += 17 {
		got, without := draw(plan, scroll), draw(free, scroll)
		for y := range h {
			want := without[y]
			if y < plan.Held {
				want = unmoved[y]
			}
			if over := y >= plan.Held && y < plan.Held+header; !over && !bytes.Equal(got[y], want) {
				t.Fatalf("scrolled by %d, line %d is not as it should be", scroll, y)
			}
		}
		view := View{From: rec.Start, To: rec.End, Scroll: scroll}
		if at := At(rec, plan, view, 10, plan.Rows[1].Y+5, w, gutter); at.Row != 1 {
			t.Errorf("scrolled by %d, the pointer on the first pinned row finds row %d", scroll, at.Row)
		}
		for y := plan.Held + header; y < h; y += 7 {
			if at := At(rec, plan, view, 10, y, w, gutter); at.Row != free.At(y+scroll) {
				t.Errorf("scrolled by %d, the pointer at %d finds row %d", scroll, y, at.Row)
			}
		}
	}
}

// TestScrollToLeavesRoomForHeader scrolls to each thread of two processes. Unless the end of
// the picture is in view, the thread's first line must be below the header that stays.
func TestScrollToLeavesRoomForHeader(t *testing.T) {
	rec := nested(9, 3, 200)
	rec.Processes = append(rec.Processes, recording.Process{PID: 2, Name: "second"})
	for _, track := range rec.Tracks[5:] {
		track.Process = 1
	}
	plan := NewPlan(rec, Layout{Scale: 1})
	for i := range plan.Rows {
		if plan.Rows[i].Kind != TrackRow {
			continue
		}
		scroll := plan.ScrollTo(i)
		head, y := plan.Sticky(scroll)
		if top := plan.Top(&plan.Rows[i], scroll); head >= 0 && y+plan.Rows[head].Height > top {
			t.Errorf("row %d is at %d, below the header that ends at %d", i, top, y+plan.Rows[head].Height)
		}
	}
}

// TestNotesRepeatNoNumber checks that the note of a thread omits an id that its name
// consists of, and keeps other ids, also where a name ends with the same number.
func TestNotesRepeatNoNumber(t *testing.T) {
	for _, x := range []struct {
		name string
		id   int64
		want bool
	}{{"P1", 1, false}, {"CPU12", 12, false}, {"P12", 2, true}, {"worker-12", 12, true}, {"main.main.func1", 1, true}, {"Main", 7, true}} {
		rec := nested(1, 3, 10)
		rec.Tracks[0].Name, rec.Tracks[0].TID = x.name, x.id
		plan := NewPlan(rec, Layout{Scale: 1})
		for i := range plan.Rows {
			if r := &plan.Rows[i]; r.Kind == TrackRow {
				if note := plan.note(r); strings.HasPrefix(note, strconv.FormatInt(x.id, 10)+" · ") != x.want {
					t.Errorf("beside %s, thread %d: %q", x.name, x.id, note)
				}
			}
		}
	}
}

// TestPinnedRowsLeaveRoom checks that only as many pinned rows stay as there is room for,
// and none without pinned rows.
func TestPinnedRowsLeaveRoom(t *testing.T) {
	rec := nested(9, 3, 200)
	for room := range 400 {
		plan := NewPlan(rec, Layout{Scale: 1, Pinned: []int{6, 2, 3, 4}, Hold: room})
		if plan.Held > room {
			t.Fatalf("%d pixels stay where there are %d", plan.Held, room)
		}
		for i := range plan.Rows[:4] {
			if r := &plan.Rows[i+1]; plan.Holds(r) != (r.Y+r.Height <= room) {
				t.Fatalf("of %d pixels row %d, which ends at %d, stays: %v", room, i+1, r.Y+r.Height, plan.Holds(r))
			}
		}
	}
	if plan := NewPlan(rec, Layout{Scale: 1, Hold: 200}); plan.Held != 0 {
		t.Error("rows stay that are not pinned")
	}
}
