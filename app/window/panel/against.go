package panel

import (
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
)

// Two parts of a recording can be compared in place: A is the selection, B is Against. No
// other file is opened, and Esc ends the comparison.

// The names in addresses of the comparison panels and of the panel of single calls. They
// never change.
const (
	Difference = "difference"
	Calls      = "calls"
	Path       = "path"
	Blocked    = "blocked"
)

// CompareWith sets B; A is the selection.
func (p *Side) CompareWith(b recording.Scope) { p.Against = &b }

// ShowComparison shows the differences.
func (p *Side) ShowComparison() { p.Tab = Difference }

// CompareRange compares the selected time with another one.
func (p *Side) CompareRange(a, b int64) {
	a, b = max(min(a, b), p.Rec.Start), min(max(a, b), p.Rec.End)
	if a >= b {
		p.Against = nil
		return
	}
	p.CompareWith(p.Scope.Between(a, b))
}

// CompareTracks compares the selected threads with others.
func (p *Side) CompareTracks(tracks []int) {
	p.CompareWith(p.Scope.On(tracks))
	p.ShowComparison()
}

// CompareCalls compares the selected calls with a second set, within the selected time
// and threads. Without selected calls, A is all other calls of the same functions.
func (p *Side) CompareCalls(text string) {
	if p.Scope.Calls == nil {
		p.Scope.Calls = &recording.CallSet{Text: others(text)}
	}
	p.CompareWith(p.Scope.Of(&recording.CallSet{Text: text}))
}

// CompareWithRest compares a set of calls (B) with all other calls of its functions (A).
func (p *Side) CompareWithRest(text string) {
	p.Scope.Calls = nil
	p.CompareCalls(text)
	p.ShowComparison()
}

// OtherCalls inverts the selected calls: it selects all other calls of their functions.
func (p *Side) OtherCalls() {
	if p.Scope.Calls != nil {
		p.Scope.Calls = &recording.CallSet{Text: others(p.Scope.Calls.Text)}
	}
}

// CallAt returns the set that consists of one call.
func (p *Side) CallAt(track int, start int64, f recording.Function) string {
	th := view.ThreadOf(p.Rec, track)
	q := calls.Query{Functions: []string{analyze.RefTo(f).Typed(p.Rec)}, At: []calls.Place{{PID: th.PID, TID: th.TID, Name: th.Name, Time: start - p.Rec.Start}}}
	return q.String()
}

// OnlyCalls selects a set of calls.
func (p *Side) OnlyCalls(text string) { p.Scope.Calls = &recording.CallSet{Text: text} }

// others returns the complement of a set: all other calls of its functions.
func others(text string) string {
	q, err := calls.Parse(text)
	if err != nil {
		return text
	}
	q.Others = !q.Others
	return q.String()
}
