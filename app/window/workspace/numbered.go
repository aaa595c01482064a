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
	for _, t := range p.Transforms {
		if t.Op == analyze.OpFoldDigits {
			return true
		}
	}
	return false
}

// FoldNumbers shows names that differ only in numbers as one.
func (p *Pane) FoldNumbers() { p.Transform(analyze.Transform{Op: analyze.OpFoldDigits}) }

// visiblyNumbered is the part of the flamegraph's width from which on names that differ
// only in numbers are offered to be folded. They also are if they are most of many names.
const visiblyNumbered = .1

// numberedNames counts names that differ only in numbers; share is the part of the width
// that they fill, see analyze.Numbered.
type numberedNames struct {
	count int
	share float64
}

// numberedChips offers to fold the numbers in names, if such names fill the picture.
func (p *Pane) numberedChips(d *Workspace) []scopebar.Chip {
	rec := p.Rec // the next frame may have another
	if !rec.Done || p.FoldsNumbers() {
		return nil
	}
	k := numberedKey{rec, p.Event, p.Metric}
	n, of, ok := p.numbered.Ask(k, d.Do.Wake, func(ctx context.Context) (n numberedNames, err error) {
		w, err := analyze.Weigh(ctx, rec, analyze.Query{Event: k.event, Metric: k.metric})
		if err == nil {
			n.count, n.share, err = analyze.Numbered(ctx, rec, w)
		}
		return n, err
	})
	if many := n.count >= 50 && 2*n.count >= rec.Functions.Len(); !ok || of != k || n.share < visiblyNumbered && !many {
		return nil
	}
	return []scopebar.Chip{{Text: "Fold " + units.Plural(int64(n.count), "name") + " that differ in a number", Adds: true,
		More: []string{"Shows each group as one name in every panel; remembered for this file"}, Go: p.FoldNumbers}}
}

// numberedKey identifies a count of names that differ only in numbers.
type numberedKey struct {
	rec           *recording.Recording
	event, metric int
}
