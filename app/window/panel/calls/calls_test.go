package calls

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
)

// side returns a recording with three calls of the selected function f|g, and their list.
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
	p.Pick.Kind, p.Pick.Fn = panel.PickFunc, 0
	l := new(session.CallList)
	for i := range 3 {
		l.Rows = append(l.Rows, calls.Row{Span: i, Start: 10 * int64(i), Duration: int64(i) + 1, Call: 1})
	}
	return p, l
}

// TestRowsMakeTheSelection adds and removes rows one by one and as a run. Removing the
// last row clears the selection.
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
	is := func(r *calls.Row) bool { return taken(p, sets(p)[0])(r) }
	x.toggle(p, &l.Rows[1])
	says(`"f|g"[at 1:2@10ps]`)
	x.toggle(p, &l.Rows[2])
	says(`"f|g"[at 1:2@10ps 1:2@20ps]`)
	if is(&l.Rows[0]) || !is(&l.Rows[1]) || !is(&l.Rows[2]) {
		t.Error("other rows are marked than were taken")
	}
	x.toggle(p, &l.Rows[1])
	says(`"f|g"[at 1:2@20ps]`)
	x.toggle(p, &l.Rows[2])
	says("")
	x.take(p, l, 2, 0)
	says(`"f|g"[at 1:2@0s 1:2@10ps 1:2@20ps]`)
	long := calls.Query{Duration: recording.Offsets(2, 3)}
	choose(p, long, false)
	says(`"f|g"[2ps..3ps]`)
	if is(&l.Rows[0]) || !is(&l.Rows[1]) || is(&l.Rows[2]) {
		t.Error("other rows are marked than are as long")
	}
	choose(p, calls.Query{}, false)
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

// TestSecondSet checks brushing with Shift: the brushed calls become B. A is the
// selection or, without one, the rest of the calls. Both keep the filter's conditions.
func TestSecondSet(t *testing.T) {
	text := func(c *recording.CallSet) string {
		if c == nil {
			return ""
		}
		return c.Text
	}
	is := func(p *panel.Side, a, b string) {
		t.Helper()
		got := ""
		if p.Against != nil {
			got = text(p.Against.Calls)
		}
		if text(p.Scope.Calls) != a || got != b {
			t.Errorf("A is %q and B %q, want %q and %q", text(p.Scope.Calls), got, a, b)
		}
	}
	p, _ := side()
	slow, fast := calls.Query{Duration: recording.Offsets(3, 4)}, calls.Query{Duration: recording.Offsets(1, 2)}
	choose(p, slow, true)
	is(p, `!"f|g"[3ps..4ps]`, `"f|g"[3ps..4ps]`)
	choose(p, fast, false)
	is(p, `"f|g"[1ps..2ps]`, `"f|g"[3ps..4ps]`)
	choose(p, calls.Query{}, false)
	is(p, "", "")
	p.List.Only = "n=3"
	choose(p, fast, false)
	is(p, `"f|g"[1ps..2ps, n=3]`, "")
	p.CompareWithRest(`"f|g"[slowest 2]`)
	is(p, `!"f|g"[slowest 2]`, `"f|g"[slowest 2]`)
	if p.Tab != panel.Difference {
		t.Errorf("the tab is %s", p.Tab)
	}
}

// TestFilter checks that conditions are kept, other texts are searched for in arguments,
// and invalid conditions are errors.
func TestFilter(t *testing.T) {
	of := &calls.Query{Functions: []string{"f"}}
	for only, want := range map[string]string{
		"":                     "f",
		" 60ms.. ":             "f[60ms..]",
		"tenant=7, self 1ms..": "f[self 1ms.., tenant=7]",
		"slowest 25":           "f[slowest 25]",
		"timeout":              `f[found arg:timeout]`,
		"60ms..x":              "",
		"url~(":                "",
	} {
		q, err := filtered(of, only)
		switch {
		case err != nil && want != "":
			t.Errorf("%q: %v", only, err)
		case err == nil && q.String() != want:
			t.Errorf("%q lists %s, want %s", only, q, want)
		}
	}
}

// TestShareOfTheList checks that number and time of a set's calls are the same from bins
// and from rows, and unknown if neither suffices.
func TestShareOfTheList(t *testing.T) {
	p, l := side()
	in, err := calls.Bind(context.Background(), p.Rec, recording.Scope{}.Of(&recording.CallSet{Text: `"f|g"`}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Durations, err = spans.DurationsIn(context.Background(), p.Rec, in); err != nil {
		t.Fatal(err)
	}
	for brush, want := range map[string]share{
		"2ps..3ps": {n: 1, took: 2, ok: true}, "2ps..": {n: 2, took: 5, ok: true}, "..3ps": {n: 2, took: 3, ok: true},
		"1ps..20ps":         {n: 3, took: 6, ok: true}, // not a bin's edge: rows are examined
		"started 5ps..15ps": {n: 1, took: 2, ok: true}, "at 1:2@0s 1:2@20ps": {n: 2, took: 4, ok: true},
		"2ps.., started 15ps..": {n: 1, took: 3, ok: true}, "2ps.., slowest 1": {}, "2ps.., n=3": {},
	} {
		q, err := calls.Parse(`"f|g"[` + brush + "]")
		if err != nil {
			t.Fatal(err)
		}
		if got := shareOf(p, l, Listed(p), q); got != want {
			t.Errorf("%s: %+v, want %+v", brush, got, want)
		}
	}
	rows := l.Rows
	for l.Rows = nil; len(l.Rows) <= mostLooked; {
		l.Rows = append(l.Rows, rows...)
	}
	if got := shareOf(p, l, Listed(p), &calls.Query{Functions: []string{"f|g"}, Started: recording.Offsets(5, 15)}); got.ok {
		t.Errorf("%d rows were looked at: %+v", len(l.Rows), got)
	}
}

// TestAllCallsAreListed checks that all calls are listed if no function is selected.
// Selecting a listed call, and thereby its function, keeps the list as it is.
func TestAllCallsAreListed(t *testing.T) {
	p, l := side()
	var x Panel
	lists := func(want string) {
		t.Helper()
		var q session.Question
		if x.Ask(p, &q); q.Listed != want {
			t.Errorf("%s is listed, want %s", q.Listed, want)
		}
	}
	p.Rec.Counts.Spans = 3
	p.Actions.Show = func(search.Hit) { p.Pick.Kind = panel.PickFunc }
	lists(`"f|g"`)
	show(p, &l.Rows[1])
	lists(`"f|g"`)
	p.Pick.Kind = panel.PickNone
	lists("*")
	if got := title(listed(p), &session.CallList{Durations: &spans.Durations{Count: 3}}); got != "3 calls of all functions" {
		t.Errorf("the title is %q", got)
	}
	choose(p, calls.Query{Duration: recording.Offsets(2, 3)}, false)
	lists("*")
	if got := p.Scope.Calls.Text; got != "*[2ps..3ps]" || !taken(p, sets(p)[0])(&l.Rows[1]) {
		t.Errorf("%s is selected", got)
	}
	show(p, &l.Rows[2])
	lists("*")
	p.List.All, p.Scope.Calls = false, nil
	lists(`"f|g"`)
	p.Pick.Kind = panel.PickNone
	p.List.Only = "2ps.."
	lists("*[2ps..]")
}

// TestFirstRowsOfAnotherOrder checks the rows shown while many are sorted in another
// order: the first of a stable sort.
func TestFirstRowsOfAnotherOrder(t *testing.T) {
	p, l := side()
	three := l.Rows
	l.Rows = nil
	for i := range session.ManyRows + 1 {
		r := three[i%3]
		r.Start, r.Self = int64(i), int64(i*7919%5003)
		l.Rows = append(l.Rows, r)
	}
	want := slices.Clone(l.Rows)
	slices.SortStableFunc(want, func(x, y calls.Row) int { return cmp.Compare(y.Self, x.Self) })
	a := &session.Answer{Rec: p.Rec, List: l}
	var x Panel
	defer x.Stop()
	woken := make(chan struct{}, 1)
	p.List.By = calls.BySelf
	x.shown(p, a, func() { woken <- struct{}{} })
	<-woken
	if got := x.shown(p, a, nil); !slices.Equal(got.Rows, want[:session.FirstPage]) || len(got.First) != session.FirstPage {
		t.Errorf("%d rows are shown, with details of %d", len(got.Rows), len(got.First))
	}
	x.Down = 1
	if x.shown(p, a, nil) != l {
		t.Error("the rows of a scrolled list are replaced")
	}
	x.Down, a.ListedBy = 0, calls.BySelf
	if x.shown(p, a, nil) != l {
		t.Error("the first rows remain when all are sorted")
	}
}
