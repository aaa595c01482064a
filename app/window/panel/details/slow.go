package details

import (
	"context"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/render/units"
)

// slowPart counts the slow calls of the selected function, to offer a comparison with the
// others.
type slowPart struct {
	session.Async[slowKey, string]
	in     recording.Scope // scope of the last question
	scopes int             // number of scopes so far
}

type slowKey struct {
	rec   *recording.Recording
	fn    string // name, as a query of calls spells it
	scope int
}

// of returns the offer to compare slow calls; "" if there are no clear slow calls, or
// until they are counted.
func (x *slowPart) of(s *panel.Host, p *Panel) string {
	if p.Rec.Counts.Spans == 0 || p.Linkable {
		return ""
	}
	rec, in, where := p.Rec, p.Scope.Of(nil), ""
	if _, on := p.PickScopes(); on == lanes.ThisCall {
		in = in.AllTime() // one call cannot be compared with others
	}
	if h := &p.Pick.Hit; p.Pick.Kind == panel.PickBar && (in.Tracks == nil || len(in.Tracks) == 1 && in.Tracks[0] == h.Track) && len(rec.Tracks) > 1 && h.Samples == nil && !h.IsState() {
		in, where = in.On([]int{h.Track}), " on this "+rec.ThreadWord(h.Track)
	}
	if !in.Equal(x.in) {
		x.in = in
		x.scopes++
	}
	f, ok := p.PickedFunction()
	if !ok {
		return ""
	}
	if p.Pick.Kind == panel.PickBar {
		f = rec.Functions.At(int(rec.Func(p.Pick.Hit.Call)))
	}
	k := slowKey{rec, p.CallsOf(f), x.scopes}
	text, of, _ := x.Ask(k, s.Do.Wake, func(ctx context.Context) (string, error) {
		slow, all, apart, err := calls.SlowCount(ctx, rec, in, analyze.Named(k.fn).Functions(rec))
		return slowText(slow, all, apart, where), err
	})
	if of != k {
		return ""
	}
	return text
}

// fewestCalls is the least number of calls for the offer.
const fewestCalls = 10

// slowText returns the question about the slow calls, or about the fast ones if these are
// fewer; where is appended to the number of calls, such as " on this thread".
func slowText(slow, all int64, apart bool, where string) string {
	of := " of " + units.Plural(all, "call") + where
	switch {
	case all < fewestCalls:
		return ""
	case apart && slow > all-slow: // the small group is the fast one, not the slow one
		return "Why are " + units.Count(all-slow) + of + " fast?"
	case apart && slow == 1:
		return "Why is 1" + of + " slow?"
	case apart:
		return "Why are " + units.Count(slow) + of + " slow?"
	}
	return "Why are the slowest " + units.Count(slow) + of + " slower?"
}
