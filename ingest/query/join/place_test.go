package join_test

import (
	"context"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// second is a second in picoseconds.
const second = 1_000_000_000_000

// clocked makes a recording with one span, from one second to another of its own time, and a
// clock that shows origin at its start.
func clocked(unit string, perUnit, origin int64, note string, from, to float64) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	*b.Clock() = recording.Clock{Unit: unit, PerUnit: perUnit, Origin: recording.Decimal{Mantissa: origin}}
	b.Source().Note(recording.NoteTime, note)
	b.ProcessInfo(b.Process(7)).Name = "python"
	b.SetArgs(func(ref uint64) string { return "" })
	b.Track(recording.TrackKey{PID: 7, TID: 1}).Span(int64(from*second), int64(to*second), b.FunctionFrame(b.Function(recording.Function{Name: "f"})), 0, false)
	return b.Finish()
}

// TestClocks checks where the second of two recordings is put.
func TestClocks(t *testing.T) {
	const day = 1_700_000_000 // seconds since 1970
	for _, x := range []struct {
		name string
		a, b *recording.Recording
		at   float64 // start of b's span, in seconds on a's clock
		note string
	}{
		{"times of day", clocked("us", 1e6, day*1e6, "", 0, 2), clocked("us", 1e6, day*1e6+500_000, "", 0, 2), 0.5, "times of day"},
		{"times of day in other units", clocked("us", 1e6, day*1e6, "", 0, 2), clocked("ns", 1e3, day*1e9+250_000_000, "", 0, 2), 0.25, "times of day"},
		{"times of day in notes", clocked("ns", 1e3, 5, "2026-01-02T03:04:05Z", 0, 2), clocked("ns", 1e3, 99, "2026-01-02T03:04:06.5Z", 0, 2), 1.5, "times of day"},
		{"different days", clocked("us", 1e6, day*1e6, "", 0, 2), clocked("us", 1e6, (day+86400)*1e6, "", 1, 2), 0, "start at the same time"},
		{"one clock", clocked("ns", 1e3, 44e9, "", 0, 2), clocked("ns", 1e3, 43e9, "", 0, 2), -1, "clock in the files"},
		{"clocks of two machines", clocked("ns", 1e3, 44e9, "", 3, 5), clocked("ns", 1e3, 99e12, "", 1, 2), 3, "start at the same time"},
		{"no clocks", clocked("", 0, 0, "", 1, 2), clocked("us", 1e6, 0, "", 5, 6), 1, "start at the same time"},
		{"far apart", clocked("us", 1e6, 1, "", 0, 2), clocked("us", 1e6, 1<<62, "", 0, 2), 0, "start at the same time"},
	} {
		joined, err := join.Recordings(context.Background(), []join.Part{{Name: "a", Rec: x.a}, {Name: "b", Rec: x.b}}, recording.Range{})
		if err != nil {
			t.Fatal(err)
		}
		if at := joined.Tracks[1].Lanes[0].Start(0); at != int64(x.at*second) {
			t.Errorf("%s: the second begins at %v s, not %v s", x.name, float64(at)/second, x.at)
		}
		if notes := joined.Source.NotesOf(join.NoteClocks); len(notes) != 1 || !strings.Contains(notes[0], x.note) {
			t.Errorf("%s: the note is %q", x.name, notes)
		}
	}
}

// reducing makes a recording of a rank of a job, whose clock is off by some picoseconds. Its
// clock is the time of day unless origin is 0.
func reducing(origin, off int64, rank int) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	*b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: origin}}
	f := b.FunctionFrame(b.Function(recording.Function{Name: "gloo:all_reduce"}))
	track := b.Track(recording.TrackKey{PID: 1, TID: 1})
	for k := range int64(50) {
		end := k * second / 10
		track.Span(end+off-second/1000*(1+(k+int64(rank))%3), end+off, f, 0, false)
	}
	return b.Finish()
}

// TestCollectives checks that collective operations align ranks, unless the clocks are too far
// apart for that.
func TestCollectives(t *testing.T) {
	const day = 1_700_000_000 * 1e9
	for _, x := range []struct {
		origin, off, aligned int64
		note                 string
	}{
		{day, second / 300, second / 300, "collective operations end"},
		{0, 77 * second, 77 * second, "collective operations end"},
		{day, 5 * second / 2, 0, "would move them by up to 2.5 s"},
	} {
		joined, err := join.Recordings(context.Background(), []join.Part{
			{Name: "rank0", Rec: reducing(x.origin, 0, 0)}, {Name: "rank1", Rec: reducing(x.origin, x.off, 1)},
		}, recording.Range{})
		if err != nil {
			t.Fatal(err)
		}
		a, b := &joined.Tracks[0].Lanes[0], &joined.Tracks[1].Lanes[0]
		if got := a.End(0) - (b.End(0) - x.off); got != x.aligned {
			t.Errorf("off by %d: moved by %d, not %d", x.off, got, x.aligned)
		}
		if notes := joined.Source.NotesOf(join.NoteClocks); len(notes) != 1 || !strings.Contains(notes[0], x.note) {
			t.Errorf("off by %d: the note is %q", x.off, notes)
		}
	}
}

// TestProcesses checks the names and numbers of processes that have the same number.
func TestProcesses(t *testing.T) {
	joined, err := join.Recordings(context.Background(), []join.Part{
		{Name: "rank0", Rec: clocked("us", 1e6, 1, "", 0, 1)},
		{Name: "rank1", Rec: clocked("us", 1e6, 1, "", 0, 1)},
	}, recording.Range{})
	if err != nil {
		t.Fatal(err)
	}
	p, q := &joined.Processes[0], &joined.Processes[1]
	if p.PID != 7 || p.Name != "rank0: python" || recording.IDText(q.PID) != "" || q.Name != "rank1: python 7" || q.Recording != "rank1" || q.OwnName() != "python 7" {
		t.Errorf("the processes are %+v and %+v", p, q)
	}
	if p.Sort >= q.Sort {
		t.Errorf("the processes are in the order %d, %d", p.Sort, q.Sort)
	}
}

// TestRange joins a part of the time.
func TestRange(t *testing.T) {
	joined, err := join.Recordings(context.Background(), []join.Part{
		{Name: "a", Rec: clocked("us", 1e6, 1_700_000_000e6, "", 0, 1)},
		{Name: "b", Rec: clocked("us", 1e6, 1_700_000_000e6, "", 0.9, 2)},
	}, recording.Range{From: 1.5 * second, HasFrom: true})
	if err != nil || joined.Counts.Spans != 1 || joined.Tracks[1].Spans() != 1 {
		t.Errorf("from 1.5 s on there are %d spans (%v)", joined.Counts.Spans, err)
	}
}

// TestCancel checks that a join ends with its context.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := join.Recordings(ctx, []join.Part{{Name: "a", Rec: clocked("", 0, 0, "", 0, 1)}}, recording.Range{}); err == nil {
		t.Error("a cancelled join goes on")
	}
}
