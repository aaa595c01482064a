package shell

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/difftable"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// compareAnything changes a comparison at random, as a user could.
func compareAnything(r *rand.Rand, s *Shell) {
	c := s.Versus
	maybe := func() bool { return r.IntN(3) == 0 }
	o := &c.Options
	o.Normalize = []compare.Normalize{compare.Raw, compare.Total, compare.Duration, compare.Samples}[r.IntN(4)]
	o.Width = []compare.Width{compare.WidthA, compare.WidthB, compare.WidthLarger}[r.IntN(3)]
	o.By = []compare.By{compare.ByFunction, compare.ByModule, compare.ByFile, compare.ByThread, compare.ByStack}[r.IntN(5)]
	o.Total, o.SelfTime, c.ByCall = maybe(), maybe(), maybe()
	o.Match.NoModule, o.Match.NoName, o.Match.NoSimilar, o.Match.NoOrder = maybe(), maybe(), maybe(), maybe()
	if maybe() {
		o.Match.Hand = []match.Pair{{A: "parse", B: "render"}}
	}
	c.Tab = workspace.PairPanels[r.IntN(len(workspace.PairPanels))].Name
	c.Linked, c.Above = !maybe(), maybe()
	c.FocusOn(&s.Workspace, r.IntN(2))
	if maybe() {
		c.Panes[0].Anchor, c.Panes[1].Anchor = r.Int64N(1e9), r.Int64N(1e9)
	}
	if maybe() {
		c.Split = .1 + .8*r.Float32()
	}
	c.Table.By, c.Table.Backward = difftable.DifferenceColumn(r.IntN(int(difftable.DifferenceColumns))), maybe()
	for i := range c.Table.Filters {
		c.Table.Filters[i] = maybe() && c.Tab != comparison.Pairing
	}
	ts, up := []analyze.Transform{}, maybe()
	if maybe() {
		ts = append(ts, analyze.Transform{Op: analyze.OpInvert})
	}
	for _, p := range c.Panes {
		p.Transforms, p.Up = ts, up
		if rec := p.Rec; rec.HasTime {
			if maybe() {
				p.Fit(rec.Start+r.Int64N(rec.Duration()), rec.End)
			}
			if maybe() {
				p.SelectRange(rec.Start+r.Int64N(rec.Duration()), rec.Start+r.Int64N(rec.Duration()))
			}
		}
		lookAtThreads(r, p)
	}
}

// chooseAnything selects a random function or bar; it needs an answer.
func chooseAnything(r *rand.Rand, s *Shell) {
	c := s.Versus
	a := c.Answer()
	if a == nil {
		return
	}
	p := c.Panes[c.Focus]
	switch r.IntN(3) {
	case 0:
		c.Choose(a, int32(r.IntN(len(a.Compared.Tree.Funcs))))
		c.Node = -1
	case 1:
		if pickAnyBar(p, r) {
			c.Picked(c.Focus)
			c.LastLinked = c.LinkedState()
		}
	}
	if n := len(a.Shape.Nodes); n > 1 && r.IntN(2) == 0 && c.Tab != comparison.Two {
		c.Zoom = comparison.NamesOf(a.Shape.Tree, 1+r.IntN(n-1))
	}
}

// sameComparison returns everything that an address must preserve of a comparison.
func sameComparison(s *Shell) map[string]any {
	c := s.Versus
	sp := c.Spot(&s.Workspace)
	all := map[string]any{"focus": c.Focus, "chosen": c.Chosen, "parts": s.View, "options": sp.Options, "tab": sp.Tab, "split": sp.Split, "above": sp.Above,
		"linked": sp.Linked, "by call": sp.ByCall, "shape": sp.Shape}
	if c.Tab != comparison.Two && len(sp.Zoom) > 0 {
		all["zoom"] = sp.Zoom
	}
	for i := range sp.Sides {
		side := &sp.Sides[i]
		if p := c.Panes[i]; p.Pick.Kind == panel.PickBar {
			all["bar "+comparison.SideName(i)] = []any{p.Pick.Hit.Track, p.Pick.Hit.Lane, p.Pick.Hit.Start}
		} else if f, ok := p.PickedFunction(); ok {
			all["picked "+comparison.SideName(i)] = f
		}
		side.Zoom, side.Marks, side.Around, side.Sides = nil, nil, nil, [2][]recording.FuncName{}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(*side)) {
			x := reflect.ValueOf(*side).FieldByIndex(f.Index)
			if f.Anonymous {
				continue
			}
			if x.Kind() == reflect.Slice && x.Len() == 0 {
				x = reflect.Zero(x.Type())
			}
			all["look "+f.Name+" "+comparison.SideName(i)] = x.Interface()
		}
	}
	if a := c.Answer(); a != nil {
		all["answer"] = []any{a.A.Total, a.B.Total, len(a.Shape.Nodes), len(a.Table.Rows), a.Normalize, a.Metric}
	}
	return all
}

// TestEveryComparisonHasAnAddress checks that opening the address of a random comparison
// gives the same comparison.
func TestEveryComparisonHasAnAddress(t *testing.T) {
	rounds.Unraced(t)
	differ := map[string]bool{}
	seeds := uint64(60)
	if testing.Short() {
		seeds = 16
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 5))
		files := [][2]string{{"before.json", "after.json"}, {"before.folded", "after.folded"}}[seed%2]
		s := compared(t, files[0], files[1])
		s.View = []workspace.View{workspace.Both, workspace.Upper, workspace.Flame, workspace.Lower}[r.IntN(4)]
		compareAnything(r, s)
		s.Versus.Engine.Finish(s.Versus.Question(), [2]*recording.Recording(s.Versus.Recs()))
		chooseAnything(r, s)
		s.Versus.Engine.Finish(s.Versus.Question(), [2]*recording.Recording(s.Versus.Recs()))
		s.Versus.PickTwin()
		if s.Versus.Tab == comparison.Pairing {
			s.Versus.Pairing.Refresh(s.Versus.Answer())
			s.Versus.Pairing.Kind = r.IntN(max(1, len(s.Versus.Pairing.Kinds)))
		}
		at, want := s.Address().String(), sameComparison(s)

		back := New(theme.Dark)
		back.Open(at)
		err := back.Finish()
		// Some normalisations fail for some files.
		if was := s.Versus.Engine.Answer().Err; (err == nil) != (was == nil) {
			t.Fatalf("%s: %v, was %v", at, err, was)
		}
		got := sameComparison(back)
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if !reflect.DeepEqual(got[k], want[k]) {
				t.Errorf("seed %d: %s is %+v, was %+v, by way of %s", seed, k, got[k], want[k], at)
			}
		}
		if again := back.Address().String(); again != at {
			t.Errorf("seed %d: %s became %s", seed, at, again)
		}
		differ[at] = true
		back.Close()
	}
	if len(differ) < int(seeds)*5/6 {
		t.Errorf("there were only %d addresses", len(differ))
	}
}
