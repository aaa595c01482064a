package calls

import (
	"testing"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/calls"
	"ashlar/ingest/recording"
)

// side is a recording of three calls, of which f is picked.
func side() (*panel.Side, *session.CallList) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	t := b.Track(recording.TrackKey{PID: 1, TID: 2})
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f|g"}))
	for i := range int64(3) {
		t.Begin(10*i, f, 0)
		t.End(10*i + i + 1)
	}
	rec := b.Finish()
	p := &panel.Side{Rec: rec}
	p.Pick.Is, p.Pick.Fn = panel.PickFunc, 0
	l := new(session.CallList)
	for i := range 3 {
		l.Rows = append(l.Rows, calls.Row{Span: i, Start: 10 * int64(i), Duration: int64(i) + 1, Call: 1})
	}
	return p, l
}

// TestRowsMakeTheSelection: rows are taken and left one by one and as a run, and
// none left is no selection.
func TestRowsMakeTheSelection(t *testing.T) {
	p, l := side()
	var x Panel
	says := func(want string) {
		t.Helper()
		got := ""
		if p.Scope.Calls != nil {
			got = p.Scope.Calls.Text
		}
		if got != want {
			t.Errorf("selected is %s, want %s", got, want)
		}
	}
	x.toggle(p, &l.Rows[1])
	says(`"f|g"[at 1:2@10ps]`)
	x.toggle(p, &l.Rows[2])
	says(`"f|g"[at 1:2@10ps 1:2@20ps]`)
	is := x.taken(p)
	if is(&l.Rows[0]) || !is(&l.Rows[1]) || !is(&l.Rows[2]) {
		t.Error("other rows are marked than were taken")
	}
	x.toggle(p, &l.Rows[1])
	says(`"f|g"[at 1:2@20ps]`)
	x.toggle(p, &l.Rows[2])
	says("")
	x.take(p, l, 2, 0)
	says(`"f|g"[at 1:2@0s 1:2@10ps 1:2@20ps]`)
	choose(p, calls.Query{Duration: recording.Offsets(2, 3)})
	says(`"f|g"[2ps..3ps]`)
	if is := x.taken(p); is(&l.Rows[0]) || !is(&l.Rows[1]) || is(&l.Rows[2]) {
		t.Error("other rows are marked than are as long")
	}
	choose(p, calls.Query{})
	says("")
	var q session.Question
	x.Ask(p, &q)
	if q.Listed != `"f|g"` {
		t.Errorf("%s is listed", q.Listed)
	}
	if f, ok := p.PickedFunction(); !ok || analyze.RefTo(f).Typed(p.Rec) != "f|g" {
		t.Errorf("%v is picked", f)
	}
}
