package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel/difftable"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/testdata/rounds"
)

// sureOfBoth waits for all answers about both recordings.
func sureOfBoth(t *testing.T, s *Shell) {
	t.Helper()
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
}

// chooseNamed selects a function of the comparison.
func chooseNamed(t *testing.T, s *Shell, name string) {
	t.Helper()
	a := s.Versus.Answer()
	for f := range a.Compared.Tree.Funcs {
		if a.Compared.Tree.Funcs[f].Name == name {
			s.Versus.Choose(a, int32(f))
			return
		}
	}
	t.Fatal("there is no function ", name)
}

// TestCopiedCommandsOfBoth runs the commands copied from comparisons and checks that they
// print the displayed numbers.
func TestCopiedCommandsOfBoth(t *testing.T) {
	rounds.Unraced(t)
	shown := func(d *compare.Durations) string {
		text := func(ps float64) string { return recording.Decimal{Mantissa: int64(ps), Scale: 3}.String() }
		return fmt.Sprint(d.N, " ", text(d.Min), " ", text(d.Median), " ", text(d.P90), " ", text(d.P99), " ", text(d.Max))
	}
	for _, c := range []struct {
		name  string
		rest  string
		set   func(s *Shell)
		check func(t *testing.T, s *Shell, line string, got []map[string]any)
	}{
		{"two flamegraphs", "", func(s *Shell) {
			s.Versus.Tab = comparison.Two
			for _, p := range s.Versus.Panes {
				p.SelectRange(p.Rec.Start+2e9, p.Rec.Start+20e9)
			}
			s.Versus.Panes[1].Scope.Tracks = []int{0}
		}, func(t *testing.T, s *Shell, line string, got []map[string]any) {
			for i, p := range s.Versus.Panes {
				a := p.Doc.Answer()
				if rows, want := rowTexts(got[i]), shownTree(a, a.Tree, 0); !slices.Equal(rows, want) || len(want) < 5 {
					t.Errorf("%s prints of %s\n%s\nshown is\n%s", line, comparison.SideName(i), strings.Join(rows, "\n"), strings.Join(want, "\n"))
				}
			}
		}},
		{"distribution", "", func(s *Shell) {
			chooseNamed(t, s, "parse")
			s.Versus.Tab = comparison.Distribution
		}, func(t *testing.T, s *Shell, line string, got []map[string]any) {
			d := s.Versus.Answer().Dist
			for i, side := range []*compare.Durations{&d.A, &d.B} {
				g := got[i]
				if text := fmt.Sprint(g["count"], " ", g["min"], " ", g["median"], " ", g["p90"], " ", g["p99"], " ", g["max"]); text != shown(side) || side.N < 10 {
					t.Errorf("%s prints of %s %s, shown is %s", line, comparison.SideName(i), text, shown(side))
				}
			}
		}},
		{"distribution of a time", "calls across the selection's edges", func(s *Shell) {
			chooseNamed(t, s, "parse")
			s.Versus.Tab = comparison.Distribution
			s.Versus.Panes[0].SelectRange(s.Versus.Panes[0].Rec.Start+2e9, s.Versus.Panes[0].Rec.Start+20e9)
		}, func(t *testing.T, s *Shell, line string, got []map[string]any) {
			// The command also counts the one call that crosses an edge of the range.
			if n, cut := fmt.Sprint(got[0]["count"]), s.Versus.Answer().Dist.A.N+1; n != fmt.Sprint(cut) {
				t.Errorf("%s prints %s calls, one at an edge; shown are %d", line, n, cut-1)
			}
		}},
		{"distribution of self times", "self time", func(s *Shell) {
			chooseNamed(t, s, "parse")
			s.Versus.Tab, s.Versus.Options.SelfTime = comparison.Distribution, true
		}, nil},
		{"distribution of what is new", "", func(s *Shell) {
			chooseNamed(t, s, "validate")
			s.Versus.Tab = comparison.Distribution
		}, func(t *testing.T, s *Shell, line string, got []map[string]any) {
			d := s.Versus.Answer().Dist
			if g := got[0]; len(got) != 1 || fmt.Sprint(g["count"]) != fmt.Sprint(d.B.N) || d.A.N != 0 {
				t.Errorf("%s prints %v, shown are %d and %d calls", line, got, d.A.N, d.B.N)
			}
		}},
		{"how it was compared", "", func(s *Shell) { s.Versus.Tab = comparison.Pairing }, func(t *testing.T, s *Shell, line string, got []map[string]any) {
			var rows, want []string
			for _, r := range got[0]["rows"].([]any) {
				m := r.(map[string]any)
				rows = append(rows, fmt.Sprint(m["name"], " ", m["match"], " ", m["status"]))
			}
			for _, r := range s.Versus.Answer().Functions.Rows {
				want = append(want, fmt.Sprint(r.Name, " ", r.Rule, " ", r.Status))
			}
			slices.Sort(rows)
			slices.Sort(want)
			if !slices.Equal(rows, want) || len(want) < 8 {
				t.Errorf("%s prints\n%s\nshown is\n%s", line, strings.Join(rows, "\n"), strings.Join(want, "\n"))
			}
			counts := map[string]string{}
			for _, m := range got[0]["matched"].([]any) {
				m := m.(map[string]any)
				counts[fmt.Sprint(m["rule"], m["state"])] = fmt.Sprint(m["count"])
			}
			for _, k := range s.Versus.Answer().Functions.Matched() {
				state := "both"
				if k.Status != compare.Changed {
					state = string(k.Status)
				}
				if n := counts[string(k.Rule)+state]; n != fmt.Sprint(k.Count) {
					t.Errorf("%s prints %q matched %s %s, shown are %d", line, n, k.Rule, state, k.Count)
				}
			}
		}},
		{"about the files", "", func(s *Shell) { s.Versus.Tab = comparison.About }, func(t *testing.T, s *Shell, line string, got []map[string]any) {
			for i, p := range s.Versus.Panes {
				if n := fmt.Sprint(got[i]["file"], " ", got[i]["counts"].(map[string]any)["spans"]); n != fmt.Sprint(p.Rec.Source.Path, " ", p.Rec.Counts.Spans) {
					t.Errorf("%s prints of %s %s", line, comparison.SideName(i), n)
				}
			}
		}},
		{"table of two threads", "selected threads", func(s *Shell) {
			s.Versus.Tab = comparison.Table
			s.Versus.Panes[0].Scope.Tracks = []int{0, 1}
		}, nil},
		{"table in another order, filtered", "row order, row filters", func(s *Shell) {
			s.Versus.Tab, s.Versus.Table.By = comparison.Table, difftable.ColumnName
			s.Versus.Table.Filters[difftable.FilterNew] = true
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := compared(t, "before.json", "after.json")
			c.set(s)
			sureOfBoth(t, s)
			line, rest := s.CommandOf(workspace.OfLower)
			if rest != c.rest {
				t.Errorf("%s says all but %q, want %q", line, rest, c.rest)
			}
			if got := printed(t, line); c.check != nil {
				c.check(t, s, line, got)
			}
		})
	}
}
