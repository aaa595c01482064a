package desk

import (
	"fmt"
	"slices"

	"ashlar/app/timeline"
	"ashlar/ingest/recording"
)

// Settle waits until all recordings are read and everything shown is final: for
// pictures without a window. Ranges are selected and shown of each. Where one of
// two recordings cannot be shown the picture of the other says so.
func (d *Desk) Settle(ranges ...recording.Range) error {
	if d.Versus != nil {
		return d.settleCompared(ranges)
	}
	p := d.Pane
	if err := p.Doc.Wait(); err != nil {
		return err
	}
	p.Update(d)
	if _, err := p.Arrive(d); err != nil {
		return err
	}
	if err := p.Stacks.Check(p.Rec); err != nil {
		return err
	}
	if len(ranges) > 0 {
		if err := p.selectAndShow(ranges[0]); err != nil {
			return err
		}
	}
	for {
		if err := p.Doc.Settle(p.Question()); err != nil {
			return err
		}
		// Functions of an address are found in the answer, and may be asked
		// about in turn.
		if changed, err := p.Arrive(d); err != nil || !changed {
			if p.comparing(d); p.Within != nil && err == nil {
				err = p.Within.settle(p)
			}
			return err
		}
	}
}

// AtRest reports whether what is shown stays as it is until somebody does something, but
// for answers that are being worked on: all is read, nothing moves, and history has it.
func (d *Desk) AtRest() bool {
	p := d.Pane
	if p == nil {
		return true
	}
	if a := p.Doc.Answer(); d.Versus == nil && a != nil && a.Rec != p.Rec {
		return false
	}
	return !d.history().due && !slices.ContainsFunc(d.Shown(), func(p *Pane) bool { return !p.atRest() })
}

func (p *Pane) atRest() bool {
	return p.Motion.Kind == timeline.AtRest && !p.Behind && (p.Rec.Done || p.Doc.Err() != nil)
}

// selectAndShow selects a range and shows just that. A range that the recording
// does not have is an error, as it is of commands.
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
