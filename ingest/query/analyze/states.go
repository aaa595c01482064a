package analyze

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
)

// windowsFor chooses the windows for a query's range. For a sum, the windows cover the
// range. A level is a state at one moment and does not add up over windows, so only the
// last window is chosen, for the state at the end of the range. For a peak, all windows
// that cover the range are chosen; see peaks.
func windowsFor(rec *recording.Recording, q *Query, ws []recording.Window) []int {
	in := cover(ws, q.Scope.From, q.Scope.To)
	if rec.Events[q.Event].Metrics[q.Metric].Kind == recording.Level && len(in) > 1 {
		in = in[len(in)-1:]
	}
	return in
}

// WindowsLeft returns the windows of the range that are not counted because they overlap
// counted ones, each by its id or, without an id, by its time.
func (q Query) WindowsLeft(rec *recording.Recording) (left []string) {
	for _, ws := range rec.Windows {
		if ws.Event != q.Event || q.Basis(rec) != Windows {
			continue
		}
		in := cover(ws.Windows, q.Scope.From, q.Scope.To)
		for i := range ws.Windows {
			w := &ws.Windows[i]
			if w.Start < q.Scope.To && w.End > q.Scope.From && !slices.Contains(in, i) {
				left = append(left, cmp.Or(w.ID, rec.Clock.Text(w.Start)+".."+rec.Clock.Text(w.End)))
			}
		}
	}
	return left
}

// peaks reduces the rows of several windows to one row per stack, with the maximum, which
// is the stack's peak over all windows. Identical rows of one window add up, as they do
// in stack records.
type peaks struct {
	to     sink
	at     map[peakOf]int
	stacks []peak
	n      int // number of the window, from 1
}

type peakOf struct {
	call    recording.CallID
	track   int
	context recording.ContextID
}

// peak is a stack's record to pass on, and its value in window n.
type peak struct {
	Record
	here int64
	n    int
}

func (p *peaks) window(w *recording.Window) {
	p.n++
	p.to.window(w)
}

func (p *peaks) add(r *Record) {
	k := peakOf{r.Call, r.Track, r.Context}
	i, ok := p.at[k]
	if !ok {
		i = len(p.stacks)
		p.at[k] = i
		p.stacks = append(p.stacks, peak{Record: *r})
	}
	s := &p.stacks[i]
	switch {
	case s.n != p.n:
		s.n, s.here = p.n, r.Value
	case s.here == recording.Missing:
		s.here = r.Value
	case r.Value != recording.Missing:
		recording.Add(&s.here, r.Value)
	}
	s.Value = max(s.Value, s.here) // Missing is less than any value
}

func (p *peaks) flush() {
	for i := range p.stacks {
		p.to.add(&p.stacks[i].Record)
	}
}
