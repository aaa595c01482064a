package analyze

import "ashlar/ingest/recording"

// windowsFor chooses the windows that answer for a query's range. Sums are made
// of windows that cover it. A level is a state at one moment, which several
// windows do not add up to: the last one tells it, as it was at the end of the
// range. Of peaks, too, all windows that cover the range are looked at; see
// peaks.
func windowsFor(rec *recording.Recording, q *Query, ws []recording.Window) []int {
	in := cover(ws, q.From, q.To)
	if rec.Events[q.Event].Metrics[q.Metric].Kind == recording.Level && len(in) > 1 {
		in = in[len(in)-1:]
	}
	return in
}

// peaks lets through, of the rows of several windows, the greatest of each
// stack: what a stack's peak was in all of them.
type peaks struct {
	to   sink
	at   map[peakOf]int
	rows []record
}

type peakOf struct {
	call    recording.CallID
	track   int
	context recording.ContextID
}

func (p *peaks) window(w *recording.Window) { p.to.window(w) }

func (p *peaks) add(r *record) {
	k := peakOf{r.call, r.track, r.context}
	i, ok := p.at[k]
	if !ok {
		i = len(p.rows)
		p.at[k] = i
		p.rows = append(p.rows, *r)
	}
	if r.value > p.rows[i].value { // Missing is less than any
		p.rows[i].value = r.value
	}
}

func (p *peaks) flush() {
	for i := range p.rows {
		p.to.add(&p.rows[i])
	}
}
