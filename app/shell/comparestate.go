package shell

import (
	"cmp"

	"ashlar/app/cli"
	"ashlar/app/panel"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
)

// CompareState is what is shown of a comparison.
type CompareState struct {
	// Sides are A and B.
	Sides [2]SideState `json:"sides"`
	// Focus is the side with the focus, Tab the tab below.
	Focus  string `json:"focus"`
	Tab    string `json:"tab"`
	Linked bool   `json:"linked"`
	Above  bool   `json:"above"` // A's timeline is above B's
	ByCall bool   `json:"by_call"`
	// Why says why there is nothing to show; "" where there is.
	Why       string `json:"why"`
	Metric    string `json:"metric"`
	Normalize string `json:"normalize"`
	Width     string `json:"width"`
	By        string `json:"by"`
	// Whole tells that what is shown is of both recordings as they are in the end.
	Whole bool `json:"whole"`
	// Sure tells that all confidences are known.
	Sure bool `json:"sure"`
	// Functions counts them by what became of them.
	Functions map[string]int `json:"functions"`
	// Rows are how many are in the table, and First the name of the first.
	Rows  int    `json:"rows"`
	First string `json:"first"`
	// Chosen is the function that is marked, Zoom how deep the flamegraph is
	// zoomed, Bars how many bars it has.
	Chosen string `json:"chosen"`
	Zoom   int    `json:"zoom"`
	Bars   int    `json:"bars"`
}

// SideState is what is shown of a side; times are from its recording's start.
type SideState struct {
	File     string   `json:"file"`
	Done     bool     `json:"done"`
	From     int64    `json:"from"`
	To       int64    `json:"to"`
	Selected [2]int64 `json:"selected"`
	Anchor   int64    `json:"anchor"`
	Threads  int      `json:"threads"` // how many are selected
	Picked   string   `json:"picked"`
	PickedAt int64    `json:"picked_at"`
	Total    string   `json:"total"`
}

func (c *comparison) log() *CompareState {
	o := &c.options
	st := &CompareState{Focus: sideName(c.focus), Tab: compareTabs[compareTabAt(c.tab)].title, Linked: c.linked, Above: c.above, ByCall: c.byCall,
		Normalize: string(o.Normalize), Width: string(o.Width), By: string(o.By), Metric: c.metricName(), Zoom: len(c.zoom), Bars: len(c.flame.pic.Bars)}
	for i, p := range c.panes {
		side := &st.Sides[i]
		*side = SideState{File: p.Doc.Name, Done: p.Rec.Done || p.Doc.Err() != nil, From: p.View.From - p.Rec.Start, To: p.View.To - p.Rec.Start, Anchor: c.panes[i].Anchor, Threads: len(p.Scope.Tracks)}
		if p.Scope.Ranged {
			side.Selected = [2]int64{p.Scope.From - p.Rec.Start, p.Scope.To - p.Rec.Start}
		}
		if f, ok := p.PickedFunction(); ok {
			side.Picked = f.Name
			if p.Pick.Is == panel.PickBar {
				side.PickedAt = p.Pick.Hit.Start - p.Rec.Start
			}
		}
	}
	if c.chosen != nil {
		st.Chosen = c.chosen.Name
	}
	a := c.answer()
	if a == nil {
		st.Why = c.unanswered()
		return st
	}
	st.Sure, st.Whole = a.Sure, a.Recs[0].Done && a.Recs[1].Done
	st.Functions = map[string]int{}
	for i := range a.Functions.Rows {
		st.Functions[string(a.Functions.Rows[i].Status)]++
	}
	for i, total := range []int64{a.A.Total, a.B.Total} {
		st.Sides[i].Total = recording.Decimal{Mantissa: total, Scale: a.Compared.Metric.Common.Decimals}.String()
	}
	if st.Rows = len(c.table.rows); st.Rows > 0 {
		st.First = c.table.rows[0].Name
	}
	return st
}

// Comparing are what a picture of two recordings shows, beside what it shows of
// one.
type Comparing struct {
	Normalize compare.Normalize
	Width     compare.Width
	// Tab is the name of the tab below; "" for the flamegraph. Choose is the name
	// of the function that is marked, "" for none.
	Tab, Choose string
	// Above puts A's timeline above B's.
	Above bool
}

// SettleComparison is Settle for two recordings. Where one cannot be shown the
// picture of the other says so.
func (s *Shell) SettleComparison(v cli.StackView, o Comparing, part func(side int, rec *recording.Recording) (from, to int64, ranged bool)) error {
	c := s.versus
	if o.Normalize != "" {
		c.options.Normalize = o.Normalize
	}
	if o.Width != "" {
		c.options.Width = o.Width
	}
	c.above = c.above || o.Above
	for i := range compareTabs {
		if compareTabs[i].title == o.Tab {
			c.tab = compareTabs[i].name
		}
	}
	var failed error
	for _, p := range c.panes {
		if err := p.Doc.Wait(); err != nil {
			failed = err
		}
		p.Rec = p.Doc.Recording()
	}
	c.reach()
	var parts [2][2]int64
	for i, p := range c.panes {
		p.update(s)
		if from, to, ranged := part(i, p.Rec); ranged && p.Rec.HasTime {
			p.SelectRange(p.Rec.Start+from, p.Rec.Start+to)
			p.Fit(p.Scope.From, p.Scope.To)
			parts[i] = [2]int64{from, to}
		}
		p.Transforms = v.Transforms
	}
	c.linked = c.linked && parts[0] == parts[1]
	if v.Search != "" {
		p := c.panes[c.focus]
		p.LookFor(v.Search)
	}
	c.alike = c.now()
	if failed != nil {
		return failed
	}
	if err := s.settleCompared(); err != nil || o.Choose == "" {
		return err
	}
	if a := c.answer(); a != nil {
		for f := range a.Compared.Matching.Funcs {
			if a.Compared.Matching.Funcs[f].Name == o.Choose {
				c.choose(a, int32(f))
			}
		}
	}
	return s.settleCompared() // now also of it
}

// Resettle is SettleComparison for a comparison that stays as it is.
func (s *Shell) Resettle() error {
	for _, p := range s.versus.panes {
		if err := p.Doc.Wait(); err != nil {
			return err
		}
		p.update(s)
	}
	return s.settleCompared()
}

// settleCompared waits for all that is to be known of two recordings that have
// been read.
func (s *Shell) settleCompared() error {
	c := s.versus
	recs := [2]*recording.Recording(c.recs())
	_, err := c.arrive(s)
	c.pair.Settle(c.question(), recs)
	if changed, aerr := c.arrive(s); changed {
		err = cmp.Or(err, aerr)
		c.pair.Settle(c.question(), recs) // now also of what is marked
	}
	if err != nil {
		return err
	}
	c.takeTwin()
	if c.tab == compareTwo {
		c.takeMetric()
		for _, p := range c.panes {
			if err := p.Doc.Settle(p.question()); err != nil {
				return err
			}
			if _, err := p.arrive(s); err != nil {
				return err
			}
		}
	}
	if a := c.pair.Answer(); a != nil {
		return a.Err
	}
	return nil
}
