package workspace

import (
	"context"

	"ashlar/app/window/scopebar"
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

// leastNumbered is the number of names that differ only in numbers from which on folding
// them is offered, if they are also at least half of all names.
const leastNumbered = 50

// numberedChips offers to fold the numbers in names, if such names fill the picture.
func (p *Pane) numberedChips(d *Workspace) []scopebar.Chip {
	rec := p.Rec // the next frame may have another
	if !rec.Done || p.FoldsNumbers() || rec.Functions.Len() < leastNumbered {
		return nil
	}
	n, of, ok := p.numbered.Ask(rec, d.Wake, func(ctx context.Context) (int, error) { return analyze.Numbered(ctx, rec) })
	if !ok || of != rec || n < leastNumbered || 2*n < rec.Functions.Len() {
		return nil
	}
	return []scopebar.Chip{{Text: "Fold " + units.Plural(int64(n), "name") + " that differ in a number", Adds: true,
		More: []string{"Shows them as one, in every panel; remembered for this file"}, Go: p.FoldNumbers}}
}
