package shell

import (
	"encoding/csv"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/command"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel/difftable"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/testdata/twins"
)

// compared returns a shell that compares two of the generated files.
func compared(t *testing.T, before, after string) *Shell {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, b := range map[string][]byte{"before.json": twins.Trace(false), "after.json": twins.Trace(true),
		"before.folded": twins.Profile(false), "after.folded": twins.Profile(true)} {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := New(theme.Dark)
	t.Cleanup(s.Close)
	s.Open(before)
	s.OpenBeside(after)
	settleBoth(t, s)
	return s
}

func settleBoth(t *testing.T, s *Shell) {
	t.Helper()
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
}

// TestDifferencesAsCSV checks that the differences of self in the copied table add up to
// the difference of the totals.
func TestDifferencesAsCSV(t *testing.T) {
	s := compared(t, "before.folded", "after.folded")
	rows, err := csv.NewReader(strings.NewReader(s.Grid().Separated(','))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[1][:5], "|"); got != "parse|||changed|module" || rows[1][5] != "4000" || rows[1][6] != "4800" || rows[1][7] != "800" {
		t.Errorf("the first row is %q", rows[1])
	}
	sum := 0
	for _, r := range rows[1:] {
		a, b, d := atoi(t, r[5]), atoi(t, r[6]), atoi(t, r[7])
		if b-a != d {
			t.Errorf("%s: %d less %d is not %d", r[0], b, a, d)
		}
		sum += d
	}
	if sum != 13506-12750 {
		t.Errorf("the differences add up to %d, the totals differ by %d", sum, 13506-12750)
	}

	// Each filter leaves the rows that its name says.
	for filter, want := range map[int][]string{difftable.FilterNew: {"validate"}, difftable.FilterGone: {"legacy_check"}, difftable.FilterSure: {"parse", "legacy_check", "validate"}} {
		s.Versus.Table.Filters = difftable.Filters{}
		s.Versus.Table.Filters[filter] = true
		g := s.Grid()
		var names []string
		for _, r := range g.Rows {
			names = append(names, r[0])
		}
		if strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("the filter %q leaves %q, want %q", difftable.FilterWords[filter], names, want)
		}
	}
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	sign := 1
	for i, c := range s {
		switch {
		case i == 0 && c == '-':
			sign = -1
		case c >= '0' && c <= '9':
			n = n*10 + int(c-'0')
		default:
			t.Fatalf("%q is no integer", s)
		}
	}
	return sign * n
}

// TestThreadsStandAlike checks that B's threads follow A's order, although its file has
// another, until the user sorts them.
func TestThreadsStandAlike(t *testing.T) {
	s := compared(t, "before.json", "after.json")
	c := s.Versus
	var router input.Router
	var ops op.Ops
	names := func(side int) []string {
		ops.Reset()
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
			Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1200, 700))})
		router.Frame(&ops)
		return c.Panes[side].Plan.Names(timeline.TrackRow)
	}
	if rec := c.Panes[1].Rec; rec.Tracks[1].Name != "worker-2" {
		t.Fatalf("B's second thread is %s: nothing is tested", rec.Tracks[1].Name)
	}
	if a, b := names(0), names(1); !slices.Equal(a, b) {
		t.Errorf("the threads of A are %q, those of B %q", a, b)
	}
	c.Panes[0].Order = []int{2, 1, 0}
	names(0)
	if a, b := names(0), names(1); a[0] != "worker-2" || !slices.Equal(a, b) {
		t.Errorf("moved, the threads of A are %q, those of B %q", a, b)
	}
	c.Panes[1].Order = []int{0, 2, 1}
	if b := names(1); !slices.Equal(b, []string{"main", "worker-1", "worker-2"}) {
		t.Errorf("B's own order is %q", b)
	}
	c.Panes[1].Order = nil
	s.Swap()
	if a := names(0); !slices.Equal(a, []string{"main", "worker-2", "worker-1"}) {
		t.Errorf("swapped, A has its own order %q", a)
	}
}

// TestPairingByHand pairs two functions that no rule matches, and removes the pair again.
// Swapping the sides keeps the pair.
func TestPairingByHand(t *testing.T) {
	s := compared(t, "before.folded", "after.folded")
	c := s.Versus
	status := func() string {
		t.Helper()
		c.Engine.Finish(c.Question(), [2]*recording.Recording(c.Recs()))
		a := c.Answer()
		if a == nil {
			t.Fatal(c.Engine.Answer().Err)
		}
		var out []string
		for i := range a.Functions.Rows {
			if r := &a.Functions.Rows[i]; r.Name == "legacy_check" || r.Name == "validate" {
				out = append(out, r.Name+" "+string(r.Status)+" "+string(r.Rule)+" "+r.NameB)
			}
		}
		return strings.Join(out, ", ")
	}
	if got := status(); got != "legacy_check gone  , validate new  " {
		t.Fatalf("at first: %s", got)
	}
	c.PairUp(&s.Host, recording.FuncName{Name: "validate"}, recording.FuncName{Name: "legacy_check"}, 1)
	if got := status(); got != "legacy_check changed hand validate" {
		t.Errorf("paired: %s", got)
	}
	line, _ := s.CommandOf(workspace.OfLower)
	if line != "ashlar diff before.folded after.folded --by stack --pair legacy_check=validate" {
		t.Errorf("as a command: %s", line)
	}
	s.Swap()
	if got := status(); got != "validate changed hand legacy_check" {
		t.Errorf("swapped: %s", got)
	}
	s.Swap()
	c.Chosen = &recording.FuncName{Name: "legacy_check"}
	items := c.PairItems(&s.Host)
	items[len(items)-1].Do()
	if got := status(); got != "legacy_check gone  , validate new  " {
		t.Errorf("taken apart: %s", got)
	}
}

// pairsNote stores pairs in memory.
type pairsNote struct {
	keptNote
	pairs []match.Pair
}

func (k *pairsNote) Pairs() []match.Pair { return k.pairs }

func (k *pairsNote) SetPair(p match.Pair, on bool) {
	k.pairs = slices.DeleteFunc(k.pairs, func(q match.Pair) bool { return p == q })
	if on {
		k.pairs = append(k.pairs, p)
	}
}

// TestPairsAreKept pairs functions by hand in one comparison and finds the pair in the
// next, also with swapped sides. Stored pairs of functions that the files lack are
// ignored.
func TestPairsAreKept(t *testing.T) {
	s := compared(t, "before.folded", "after.folded")
	kept := &pairsNote{pairs: []match.Pair{{A: "alien", B: "visitor"}}}
	s.Keep, s.Paired = kept, kept
	s.Versus.PairUp(&s.Host, recording.FuncName{Name: "legacy_check"}, recording.FuncName{Name: "validate"}, 0)
	if len(kept.pairs) != 2 {
		t.Fatalf("kept are %v", kept.pairs)
	}
	for _, files := range [][2]string{{"before.folded", "after.folded"}, {"after.folded", "before.folded"}} {
		s.Open(files[0])
		s.OpenBeside(files[1])
		settleBoth(t, s)
		s.Versus.KeptPairs(&s.Host)
		want := match.Pair{A: "legacy_check", B: "validate"}
		if files[0] == "after.folded" {
			want = match.Pair{A: "validate", B: "legacy_check"}
		}
		if hand := s.Versus.Options.Match.Hand; len(hand) != 1 || hand[0] != want {
			t.Errorf("%v: paired by hand are %v", files, hand)
		}
		settleBoth(t, s)
		if a := s.Versus.Answer(); a == nil {
			t.Errorf("%v: %v", files, s.Versus.Engine.Answer().Err)
		}
	}
}

// TestCompareAsCommand copies a comparison as a command and runs it.
func TestCompareAsCommand(t *testing.T) {
	s := compared(t, "before.json", "after.json")
	c := s.Versus
	c.Panes[0].SelectRange(c.Panes[0].Rec.Start+1e9, c.Panes[0].Rec.Start+5e9)
	c.Panes[1].Scope.Tracks = []int{1}
	c.Options.Normalize, c.Options.Match.NoSimilar = compare.Duration, true
	c.Options.By, c.Tab = compare.ByThread, comparison.Table
	line, rest := s.CommandOf(workspace.OfLower)
	want := "ashlar diff before.json after.json --by thread --normalize duration --range-a 1ms..5ms --thread-b 2 --match module,name,order,renamed"
	if line != want || rest != "" {
		t.Errorf("the command is\n%s\nwant\n%s (%s)", line, want, rest)
	}
	var out, errs strings.Builder
	if code := command.Main(strings.Fields(line)[1:], strings.NewReader(""), &out, &errs, command.Runner{}); code != command.Done {
		t.Errorf("the command ends with %d: %s", code, errs.String())
	}
}

// TestComparingOneFileTwiceIsEmpty compares a recording with itself in every
// normalisation.
func TestComparingOneFileTwiceIsEmpty(t *testing.T) {
	s := compared(t, "before.json", filepath.Join(".", "before.json"))
	for _, n := range []compare.Normalize{compare.Raw, compare.Total, compare.Duration, compare.Samples} {
		s.Versus.Options.Normalize = n
		s.Versus.Engine.Finish(s.Versus.Question(), [2]*recording.Recording(s.Versus.Recs()))
		if g := s.Grid(); len(g.Rows) != 0 {
			t.Errorf("%s: there are differences: %v", n, g.Rows)
		}
	}
}
