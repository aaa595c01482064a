package workspace

import (
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
)

// CompareState describes a comparison for the frame log.
type CompareState struct {
	// Sides are A and B.
	Sides [2]SideState `json:"sides"`
	// Why is the reason why there is nothing to show; "" if there is something.
	Why    string `json:"why"`
	Metric string `json:"metric"`
	// Whole reports whether the answer covers both recordings in full.
	Whole bool `json:"whole"`
	// Sure reports whether all confidences are known.
	Sure bool `json:"sure"`
	// Functions holds the number of functions by their kind of change.
	Functions map[string]int `json:"functions"`
	// Rows is the number of rows in the table, and First the name of the first one.
	Rows  int    `json:"rows"`
	First string `json:"first"`
}

// SideState describes one side of a comparison; times are from its recording's start.
type SideState struct {
	File     string `json:"file"`
	Done     bool   `json:"done"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
	Picked   string `json:"picked"`
	PickedAt int64  `json:"picked_at"`
	Total    string `json:"total"`
	// Runs is the number of runs that the answer counts.
	Runs int `json:"runs"`
}

// Log returns the state of the comparison for the frame log.
func (c *Comparison) Log() *CompareState {
	st := &CompareState{Metric: c.MetricName()}
	for i, p := range c.Panes {
		side := &st.Sides[i]
		*side = SideState{File: p.Doc.Name, Done: p.Rec.Done || p.Doc.Err() != nil, From: p.View.From - p.Rec.Start, To: p.View.To - p.Rec.Start}
		if f, ok := p.PickedFunction(); ok {
			side.Picked = f.Name
			if p.Pick.Kind == panel.PickBar {
				side.PickedAt = p.Pick.Hit.Start - p.Rec.Start
			}
		}
	}
	a := c.Answer()
	if a == nil {
		st.Why = c.Unanswered()
		return st
	}
	st.Sure, st.Whole = a.ConfidencesDone, a.Recs[0].Done && a.Recs[1].Done
	st.Functions = map[string]int{}
	for i := range a.Functions.Rows {
		st.Functions[string(a.Functions.Rows[i].Status)]++
	}
	for i, total := range []int64{a.A.Total, a.B.Total} {
		st.Sides[i].Runs = 1 + len(a.More[i])
		st.Sides[i].Total = recording.Decimal{Mantissa: total, Scale: a.Compared.Metric.Common.Decimals}.String()
	}
	if st.Rows = len(c.Table.Found); st.Rows > 0 {
		st.First = c.Table.Found[0].Name
	}
	return st
}

// Snapshot returns a copy of the comparison that never changes.
func (c *Comparison) Snapshot() *Comparison {
	o := newComparison(c.Panes[0].Snapshot(), c.Panes[1].Snapshot())
	o.become(&c.ofTwo)
	o.LastLinked = o.LinkedState()
	return o
}
