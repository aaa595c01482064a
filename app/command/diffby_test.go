package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// kindTrace writes a trace of spans with categories, packages, numbered names and arguments.
func kindTrace(t *testing.T, n int) string {
	t.Helper()
	var events []string
	for i := range n {
		at, took := i*1000, 300+37*i%211
		events = append(events,
			fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"name":"app/net.serve %d","cat":"net","ts":%d,"dur":%d,"tdur":%d,"args":{"kind":"k%d","id":%d}}`, i%3+1, i, at, took, took/2, i%4, i%2),
			fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"name":"app/db.(*Conn).query","cat":"db","ts":%d,"dur":%d,"tdur":%d}`, i%3+1, at+5, took/3, took/5))
	}
	path := filepath.Join(t.TempDir(), "kinds.json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDiffByIsTopOfBoth checks that diff groups by everything that top does: each row has
// top's values on both sides, and the rows add up to the totals.
func TestDiffByIsTopOfBoth(t *testing.T) {
	rounds.Unraced(t)
	a, b := kindTrace(t, 12), kindTrace(t, 17)
	for _, c := range []struct {
		files [2]string
		flags string
		by    []string
	}{
		{[2]string{a, b}, "", []string{"function", "module", "file", "line", "package", "name", "category", "thread", "context:tid", "arg:kind", "arg:id"}},
		{[2]string{a, b}, "--metric cpu", []string{"package", "name", "category", "thread", "context:tid"}},
		{[2]string{a, b}, "--drop app/db.(*Conn).query", []string{"package", "name", "category", "thread", "context:tid", "line"}},
		{[2]string{"testdata/small.spaa", "testdata/small.spaa"}, "", []string{"line", "package", "name", "thread", "context:tid"}},
		{[2]string{"testdata/views.folded", "testdata/diff-a.folded"}, "", []string{"package", "name", "line"}},
	} {
		for _, by := range c.by {
			flags := append(strings.Fields(c.flags), "--by", by, "--json")
			type sums struct{ self, total json.Number }
			var want [2]map[string]sums
			for i, f := range c.files {
				var top struct {
					Rows []struct {
						Name, Place string
						Self, Total json.Number
					}
				}
				answerOf(t, &top, append([]string{"top", f}, flags...)...)
				want[i] = map[string]sums{}
				for _, r := range top.Rows {
					if r.Place != "" {
						r.Name = r.Place + "  " + r.Name
					} else if by == "line" {
						r.Name = "  " + r.Name
					}
					if by == "thread" || by == "context:tid" {
						r.Total = r.Self
					}
					if _, twice := want[i][r.Name]; !twice {
						want[i][r.Name] = sums{r.Self, r.Total}
					}
				}
			}
			var diff struct {
				By   string
				A, B struct{ Left json.Number }
				Rows []struct {
					Name   string
					ASelf  json.Number `json:"a_self"`
					BSelf  json.Number `json:"b_self"`
					ATotal json.Number `json:"a_total"`
					BTotal json.Number `json:"b_total"`
				}
			}
			answerOf(t, &diff, append([]string{"diff", c.files[0], c.files[1], "--all"}, flags...)...)
			all := map[string]bool{}
			for _, side := range want {
				for name := range side {
					all[name] = true
				}
			}
			if len(diff.Rows) != len(all) || diff.By != by {
				t.Errorf("%v by %s: %d rows, top has %d: %+v", c.files, by, len(diff.Rows), len(all), diff.Rows)
				continue
			}
			left := [2]float64{}
			for _, r := range diff.Rows {
				for i, got := range []sums{{r.ASelf, r.ATotal}, {r.BSelf, r.BTotal}} {
					w, ok := want[i][r.Name]
					if !ok {
						w = sums{"0", "0"}
					}
					if got != w {
						t.Errorf("%v by %s: %s has %v on side %d, top says %v", c.files, by, r.Name, got, i, w)
					}
					v, _ := got.self.Float64()
					left[i] += v
				}
			}
			for i, n := range []json.Number{diff.A.Left, diff.B.Left} {
				if v, _ := n.Float64(); v-left[i] > 1e-3 || left[i]-v > 1e-3 {
					t.Errorf("%v by %s: the rows add up to %v of %v", c.files, by, left[i], v)
				}
			}
		}
	}
	for args, says := range map[string]string{
		"--by category":           "only Chrome",
		"--by context:nothing":    "unknown context key",
		"--by arg:x --drop parse": "leave out --drop",
		"--by colour":             "thread or stack",
	} {
		r := run(append([]string{"diff", "testdata/diff-a.folded", "testdata/diff-b.folded"}, strings.Fields(args)...)...)
		if r.code == Done || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %d, %q, want %q", args, r.code, r.stderr, says)
		}
	}
}

// TestStatsOfProcessorsAndModes checks the statistics of CPU and waiting time against the
// calls themselves, and that stats and calls find the same modes.
func TestStatsOfProcessorsAndModes(t *testing.T) {
	path, all := madeTrace(t, 3)
	for _, metric := range []string{"cpu", "waiting"} {
		var got struct {
			Time     string
			Count    int64
			Untold   int64 `json:"untold_spans"`
			Min, Max json.Number
			Mean     json.Number
			Slowest  []struct{ Duration json.Number }
		}
		answerOf(t, &got, "stats", path, "-f", "task", "--metric", metric, "--json")
		var n, untold, sum, most int64
		least := int64(1 << 60)
		for _, c := range all {
			if c.name != "task" {
				continue
			}
			v := c.cpu
			if v < 0 {
				untold++
				continue
			}
			if metric == "waiting" {
				v = c.dur - v
			}
			n, sum, most, least = n+1, sum+v, max(most, v), min(least, v)
		}
		mean, _ := got.Mean.Float64()
		us := func(v int64) json.Number { return json.Number(fmt.Sprint(1000 * v)) }
		if d := mean - 1000*float64(sum)/float64(n); got.Time != metric || got.Count != n || got.Untold != untold || got.Min != us(least) || got.Max != us(most) || got.Slowest[0].Duration != us(most) || d > 1e-6 || d < -1e-6 {
			t.Errorf("%s: %+v, want %d calls and %d untold of %d to %d, %d in all", metric, got, n, untold, least, most, sum)
		}
		if text := textOf(t, "stats", path, "-f", "task", "--metric", metric); !strings.Contains(text, "by "+metric+"; ") {
			t.Errorf("%s does not say so", text)
		}
	}
	var events []string
	for i := range 200 {
		took := 90 + i%9
		if i%5 == 0 {
			took = 5000 + 20*i
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"name":"task","ts":%d,"dur":%d}`, i*20000, took))
	}
	two := filepath.Join(t.TempDir(), "two.json")
	if err := os.WriteFile(two, []byte("["+strings.Join(events, ",")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s, c struct{ Modes []callMode }
	answerOf(t, &s, "stats", two, "-f", "task", "--json")
	answerOf(t, &c, "calls", two, "task", "--json")
	if len(s.Modes) != 2 || fmt.Sprint(s) != fmt.Sprint(c) || s.Modes[1].Count != 40 {
		t.Errorf("stats finds %+v, calls %+v", s, c)
	}
	var set struct{ Count int64 }
	if answerOf(t, &set, "calls", two, s.Modes[1].Calls, "--json"); set.Count != 40 {
		t.Errorf("%s are %d calls", s.Modes[1].Calls, set.Count)
	}
	if text := textOf(t, "stats", two, "-f", "task"); !strings.Contains(text, "2 modes") {
		t.Errorf("%s does not list modes", text)
	}
}
