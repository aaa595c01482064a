package shell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/app/core/view"
	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// TestUndoTakesEverythingBack changes the view at random several times, undoes all
// changes and repeats them: the State must be the same each time. Every field that undo
// restores must have been changed at least once.
func TestUndoTakesEverythingBack(t *testing.T) {
	rounds.Unraced(t)
	tried := map[string]bool{}
	path := traceFile(t)
	seeds := uint64(60)
	if testing.Short() {
		seeds = 16
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		s := New(theme.Dark)
		s.Open([]string{path, view.Scheme + "1?file=demo:"}[seed%2])
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		p := s.Pane
		p.History.Push(p.Spot(&s.Workspace), s.ViewState())
		var steps []string
		for range 3 {
			look(r, s)
			if r.IntN(3) == 0 {
				s.AddFiles(0, []string{fmt.Sprintf("/runs/%d.spaa", r.IntN(9))})
			}
			// Normalising by calls fails if the selected range has none of the selected
			// calls.
			if err := s.Finish(); err != nil && !strings.Contains(err.Error(), "no calls are selected") {
				t.Fatal(err)
			}
			pickAnything(r, s)
			p.History.Push(p.Spot(&s.Workspace), s.ViewState())
			steps = append(steps, settledText(s))
			for i := range view.Fields {
				if f := &view.Fields[i]; f.Text(s.ViewState()) != "" {
					tried[f.Key] = true
				}
			}
		}
		for i := len(steps) - 2; i >= 0; i-- {
			if s.Undo(); settledText(s) != steps[i] {
				t.Errorf("seed %d: undo leads to\n%s, not\n%s", seed, settledText(s), steps[i])
			}
		}
		for i := 1; i < len(steps); i++ {
			if s.Redo(); settledText(s) != steps[i] {
				t.Errorf("seed %d: redo leads to\n%s, not\n%s", seed, settledText(s), steps[i])
			}
		}
		s.Close()
	}
	for i := range view.Fields {
		f := &view.Fields[i]
		if f.Pick || strings.HasSuffix(f.Key, ".b") || notOfOne[f.Key] != "" {
			continue
		}
		if !tried[f.Key] && !testing.Short() {
			t.Errorf("undo of %s was never tried", f.Key)
		}
	}
}

// notOfOne lists the fields that do not change with a single recording, with the reason.
var notOfOne = map[string]string{
	"part": "how it was opened", "only": "how it was opened", "exe": "how it was opened", "content": "what its file holds",
	"layout": "of two", "anchor": "of two", "rows": "of two", "normalize": "of two", "width": "of two", "pair": "of two", "apart": "of two",
	"scroll": "rows are scrolled in a frame, which this test has none of", "callers": "known once the answer is", "callees": "known once the answer is",
}

// settledText returns the State as text, without the fields that undo ignores.
func settledText(s *Shell) string {
	st := s.ViewState()
	st.Sides[0].Goal = nil
	return st.String()
}
