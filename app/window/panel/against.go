package panel

import (
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
)

// A part of a recording can be compared with another one in place: A is what is
// selected, B what Against says. Nothing is opened for that, and Esc takes it back.

// The names in addresses of the comparison panels and of the panel of single calls. They
// never change.
const (
	Difference = "difference"
	Calls      = "calls"
	Path       = "path"
)

// CompareWith makes a part of the recording B. What is selected is A.
func (p *Side) CompareWith(b recording.Scope) { p.Against = &b }

// ShowComparison shows where what is compared differs.
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

// CompareCalls compares the selected calls with a second set, in the time and on the
// threads that are selected; if none are, all others of their functions.
func (p *Side) CompareCalls(text string) {
	if p.Scope.Calls == nil {
		p.Scope.Calls = &recording.CallSet{Text: others(text)}
	}
	p.CompareWith(p.Scope.Of(&recording.CallSet{Text: text}))
}

// CompareWithRest compares all other calls of the functions of a set, which are A,
// with the set.
func (p *Side) CompareWithRest(text string) {
	p.Scope.Calls = nil
	p.CompareCalls(text)
	p.ShowComparison()
}

// OtherCalls selects all calls of the functions of the selected ones but those.
func (p *Side) OtherCalls() {
	if p.Scope.Calls != nil {
		p.Scope.Calls = &recording.CallSet{Text: others(p.Scope.Calls.Text)}
	}
}

// CallAt is the set of one call.
func (p *Side) CallAt(track int, start int64, f recording.Function) string {
	th := view.ThreadOf(p.Rec, track)
	q := calls.Query{Functions: []string{analyze.RefTo(f).Typed(p.Rec)}, At: []calls.Place{{PID: th.PID, TID: th.TID, Name: th.Name, Time: start - p.Rec.Start}}}
	return q.String()
}

// OnlyCalls makes a set of calls the selection.
func (p *Side) OnlyCalls(text string) { p.Scope.Calls = &recording.CallSet{Text: text} }

// others are all calls of the functions of a set that do not belong to it.
func others(text string) string {
	q, err := calls.Parse(text)
	if err != nil {
		return text
	}
	q.Others = !q.Others
	return q.String()
}
