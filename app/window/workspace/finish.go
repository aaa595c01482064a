package workspace

import (
	"fmt"
	"slices"

	"ashlar/app/window/comparison"
	"ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
)

func (p *Pane) finish(*Workspace) error {
	if err := p.Stacks.Check(p.Rec); err != nil {
		return err
	}
	return p.Doc.Finish(p.Question())
}

func (p *Pane) finishRest(d *Workspace) error {
	if p.comparing(d); p.ScopeComparison != nil {
		return p.ScopeComparison.finish(p)
	}
	return nil
}

func (c *Comparison) finish(d *Workspace) error {
	c.withRuns(d, true)
	c.Engine.Finish(c.Question(), c.recs())
	return nil
}

func (c *Comparison) finishRest(d *Workspace) error {
	c.PickTwin()
	if c.Tab == comparison.Two {
		c.TakeMetric()
		for _, p := range c.Panes {
			if err := p.Doc.Finish(p.Question()); err != nil {
				return err
			}
			if _, err := p.ResumeVisit(d); err != nil {
				return err
			}
		}
	}
	// Answers to earlier questions about recordings that were still being read may arrive
	// only now.
	if a := c.Engine.Answer(); a != nil && a.Recs == c.recs() {
		return a.Err
	}
	return nil
}

// AtRest reports whether the view stays the same until the user acts or a pending answer
// arrives: everything is read, nothing moves, and the history is up to date.
func (d *Workspace) AtRest() bool {
	p := d.Pane
	if p == nil {
		return true
	}
	if a := p.Doc.Answer(); d.Versus == nil && a != nil && a.Rec != p.Rec {
		return false
	}
	return !d.scene().way().History.due && !slices.ContainsFunc(d.Shown(), func(p *Pane) bool { return !p.atRest() })
}

func (p *Pane) atRest() bool {
	return p.Motion.Kind == timeline.AtRest && !p.Behind && (p.Rec.Done || p.Doc.Err() != nil)
}

// selectAndShow selects a range and zooms to it. As in commands, a range outside the
// recording is an error.
func (p *Pane) selectAndShow(r recording.Range) error {
	if !r.IsSet() || !p.Rec.HasTime {
		return nil
	}
	in, err := r.In(p.Rec)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Rec.Source.Path, err)
	}
	p.SelectRange(in.From, in.To)
	p.Fit(p.Scope.From, p.Scope.To)
	return nil
}
