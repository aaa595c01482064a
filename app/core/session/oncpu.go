package session

import (
	"context"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// OnCPU is the on-CPU and off-CPU time of each node of a tree, including its callees. Spans
// without CPU times are in neither.
type OnCPU struct {
	Tree         *analyze.Tree
	CPU, Waiting []int64
}

// OnCPU divides the span time of an answer into on-CPU and off-CPU time. It returns nil
// if the recording has no CPU times, and until the result is known; notify is then
// called.
func (d *Side) OnCPU(a *Answer) *OnCPU { return d.onCPUOf(a, d.later()) }

func (d *Side) onCPUOf(a *Answer, wake func()) *OnCPU {
	if a == nil || a.Rec.CPU == nil || !a.Rec.Done || a.Tree.Inverted || a.Tree.Weights.Basis != analyze.Spans || a.Question.Metric != recording.SpanTime {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v, of, _ := d.onCPU.Ask(a.Tree, wake, func(ctx context.Context) (*OnCPU, error) {
		v := &OnCPU{Tree: a.Tree}
		for m, part := range map[int]*[]int64{recording.SpanCPU: &v.CPU, recording.SpanWaiting: &v.Waiting} {
			q := a.Query
			q.Scope, q.Metric = a.Scope, m
			w, err := analyze.Weigh(ctx, a.Rec, q)
			if err != nil {
				return nil, err
			}
			*part = a.Tree.Part(w)
		}
		return v, nil
	})
	if of != a.Tree {
		return nil
	}
	return v
}

// SpansOnCPU returns the CPU time of each span. It returns nil if no span has one, and
// until the result is known; notify is then called.
func (d *Side) SpansOnCPU(rec *recording.Recording) *recording.OnCPU {
	return d.spansOnCPUOf(rec, d.later())
}

func (d *Side) spansOnCPUOf(rec *recording.Recording, wake func()) *recording.OnCPU {
	if rec.CPU == nil || !rec.Done {
		return nil
	}
	if known := rec.CPUTimes.Known(); known != nil {
		return known
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v, of, _ := d.spansOnCPU.Ask(rec, wake, func(ctx context.Context) (*recording.OnCPU, error) { return scan.CPU(ctx, rec) })
	if of != rec {
		return nil
	}
	return v
}

// later returns the function to call when a result is known; nil for snapshots, which
// wait for results.
func (d *Side) later() func() {
	if d.frozen {
		return nil
	}
	return d.announce
}
