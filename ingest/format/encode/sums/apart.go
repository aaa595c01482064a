package sums

import (
	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/decimal"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/waits"
)

// LoseApart reports what the totals of an event exclude: async spans, or waits of idle
// goroutines of the Go runtime. A target without marks for them has them as work, so its
// total is larger.
func LoseApart(j *encode.Job, event int) {
	const why = "the file counts them as work, so its total is %s larger"
	switch j.Rec.Events[event].Basis {
	case recording.FromSpans:
		var n, time int64
		for _, i := range analyze.Apart(j.Rec, recording.Scope{}).Beside {
			t := j.Rec.Tracks[i]
			n += int64(t.Spans())
			for k := range t.Lanes {
				l := &t.Lanes[k]
				for s := 0; s < l.Len() && j.Rec.Calls.Depth(l.Call(s)) == 1; s++ {
					recording.Add(&time, l.End(s)-l.Start(s))
				}
			}
		}
		j.Lose(n, "marks of async spans", why, decimal.Length(time))
	case recording.FromStates:
		idle := waits.NewIdle(j.Rec)
		if idle == nil || idle.Alone(recording.Scope{}) {
			return
		}
		var n, time int64
		err := analyze.Each(j.Ctx, j.Rec, analyze.Query{Event: event, Metric: recording.StateWall}, func(r *analyze.Record) {
			if idle.Is(r.Track, r.Call) {
				n++
				recording.Add(&time, r.Value)
			}
		})
		if err == nil {
			j.Lose(n, "marks of idle system goroutines", why, decimal.Length(time))
		}
	}
}
