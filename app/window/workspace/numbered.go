package workspace

import (
	"context"

	"ashlar/app/window/scopebar"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

// FoldsNumbers reports whether names that differ only in numbers are shown as one.
func (p *Pane) FoldsNumbers() bool {
	return p.HasTransform(analyze.Transform{Op: analyze.OpFoldDigits})
}

// FoldNumbers shows names that differ only in numbers as one.
func (p *Pane) FoldNumbers() { p.Transform(analyze.Transform{Op: analyze.OpFoldDigits}) }

// numberedChips offers to fold the numbers in names, if such names fill the picture.
func (p *Pane) numberedChips(d *Workspace) []scopebar.Chip {
	rec := p.Rec // the next frame may have another
	if !rec.Done || p.FoldsNumbers() {
		return nil
	}
	k := numberedKey{rec, p.Event, p.Metric}
	n, of, ok := p.numbered.Ask(k, d.Do.Wake, func(ctx context.Context) (int, error) {
		return analyze.WorthFolding(ctx, rec, analyze.Query{Event: k.event, Metric: k.metric})
	})
	if !ok || of != k || n == 0 {
		return nil
	}
	return []scopebar.Chip{{Text: "Fold " + units.Plural(int64(n), "name") + " that differ only in numbers", Adds: true,
		More: []string{"Each group becomes one name in every panel. Remembered for this file"}, Go: p.FoldNumbers}}
}

// numberedKey identifies a count of names that differ only in numbers.
type numberedKey struct {
	rec           *recording.Recording
	event, metric int
}
