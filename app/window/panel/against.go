package panel

import (
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/render/widget"
)

// Two parts of a recording can be compared in place: A is the selection, B is Against. No
// other file is opened, and Esc ends the comparison.

// The names in addresses of some panels. They never change.
const (
	Difference = "difference"
	Calls      = "calls"
	Path       = "path"
	Blocked    = "blocked"
	Trend      = "trend"
)

// CompareWith sets B; A is the selection.
func (p *Side) CompareWith(b recording.Scope) { p.Against, p.AgainstIsA, p.setA = &b, false, nil }

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

// CompareRest compares the selected time (B) with the rest of the recording (A). It
// reports whether there is any rest.
func (p *Side) CompareRest() bool {
	if p.Scope.From <= p.Rec.Start && p.Scope.To >= p.Rec.End {
		return false
	}
	p.CompareWith(p.Scope.Rest())
	p.AgainstIsA = true
	p.ShowComparison()
	return true
}

// CompareNext compares the selected time (A) with the time of the same length after it
// (B). It reports whether there is any.
func (p *Side) CompareNext() bool {
	if p.Scope.To >= p.Rec.End {
		return false
	}
	p.CompareRange(p.Scope.To, p.Scope.To+(p.Scope.To-p.Scope.From))
	p.ShowComparison()
	return true
}

// SetAs makes a scope A (0) or B (1) of a comparison of parts. A alone becomes the
// selection and is kept until B is set, although the selection changes in between. B
// without A is compared with the selection.
func (p *Side) SetAs(i int, in recording.Scope) {
	alone := p.Against == nil
	switch {
	case (i == 0) != (!alone && p.AgainstIsA):
		p.Scope = in
		if alone {
			p.setA, p.setAOf = &in, p.Rec
			if p.Actions.Say != nil {
				p.Actions.Say("A is set. Now choose Set as B for another time, thread or call")
			}
		}
	default:
		if alone && p.setA != nil && p.setAOf == p.Rec {
			p.Scope = *p.setA
		}
		against := p.AgainstIsA
		p.CompareWith(in)
		p.AgainstIsA = against && i == 0
	}
	if p.Against != nil {
		p.ShowComparison()
	}
}

// as returns the current scope of A (0) or B (1), so that one of its limits can be
// changed. If B is not set, it is the selection.
func (p *Side) as(i int) recording.Scope {
	in := p.Scope
	if p.Against != nil && (i == 0) == p.AgainstIsA {
		in = *p.Against
	}
	in.Outside = false
	return in
}

// SetRangeAs makes a range of time A (0) or B (1), with the other limits of that side.
func (p *Side) SetRangeAs(i int, from, to int64) { p.SetAs(i, p.as(i).Between(from, to)) }

// SetTracksAs makes threads A (0) or B (1), with the other limits of that side.
func (p *Side) SetTracksAs(i int, tracks []int) { p.SetAs(i, p.as(i).On(tracks)) }

// SetCallsAs makes a set of calls A (0) or B (1), with the other limits of that side.
func (p *Side) SetCallsAs(i int, text string) {
	p.SetAs(i, p.as(i).Of(&recording.CallSet{Text: text}))
}

// SetAsItems returns the menu items that make something A or B: time, thread or call.
func SetAsItems(what string, set func(i int)) []widget.Item {
	return []widget.Item{{Title: "Set " + what + " as A", Do: func() { set(0) }}, {Title: "Set " + what + " as B", Do: func() { set(1) }}}
}

// CompareTracks compares the current scope (A) with the given tracks (B) and shows the
// differences.
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
