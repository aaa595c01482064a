package verdict_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/core/verdict"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/compare"
	"ashlar/render/units"
	"ashlar/testdata/samples"
)

// recordings opens the small recordings in testdata, the traces of madeTraces and the samples.
func recordings(t *testing.T, visit func(rec *recording.Recording)) {
	t.Helper()
	paths := append(samples.Below(t, "../../command/testdata", madeTraces(t)), samples.Files(t)...)
	for _, path := range samples.Small(4<<20, paths) {
		l := ingest.Open(context.Background(), path, ingest.Options{})
		if l.Wait() == nil && l.Snapshot().Counts.Spans < 100_000 && len(l.Snapshot().Events) > 0 {
			visit(l.Snapshot())
		}
		l.Close()
	}
}

// madeTraces writes two traces of one program, with a CPU time for each span, to a new folder.
func madeTraces(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for k, name := range []string{"one.json", "two.json"} {
		var b strings.Builder
		at := int64(1000)
		for i := range int64(300) {
			took := 90 + i*7%31
			if i%(13-5*int64(k)) == 0 {
				took += 4000
			}
			fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"name":"task","ts":%d,"dur":%d,"tdur":%d},`+"\n", at, took, took/3)
			fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"name":"load","ts":%d,"dur":%d,"tdur":%d},`+"\n", at+2, took/2, took/4)
			at += took + 11
		}
		text := "[" + strings.TrimSuffix(b.String(), ",\n") + "]"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pairing is a pair of inputs to compare.
type pairing struct {
	name string
	a, b compare.Input
}

// pairings returns pairs of parts of a recording: the first third of the time and the rest,
// and the slow and the other calls of the function with the most spans.
func pairings(t *testing.T, rec *recording.Recording) (ps []pairing) {
	t.Helper()
	if d := rec.Duration(); rec.HasTime && d > 3 {
		ps = append(ps, pairing{"times of " + rec.Source.Path,
			compare.Input{Rec: rec, Scope: recording.Between(rec.Start, rec.Start+d/3)}, compare.Input{Rec: rec, Scope: recording.Between(rec.Start+d/3, rec.End)}})
	}
	counts := make([]int64, rec.Functions.Len())
	most := -1
	for c, n := range rec.SpanCount {
		if c == 0 || n == 0 {
			continue
		}
		f := int(rec.Func(recording.CallID(c)))
		if counts[f] += n; most < 0 || counts[f] > counts[most] {
			most = f
		}
	}
	if most < 0 {
		return ps
	}
	of := &calls.Query{Functions: []string{analyze.RefTo(rec.Functions.At(most)).Typed(rec)}}
	slow, rest, _, err := of.Slow(context.Background(), rec, recording.Scope{})
	if err != nil {
		return ps
	}
	set := func(q *calls.Query) compare.Input {
		return compare.Input{Rec: rec, Scope: recording.Scope{Calls: &recording.CallSet{Text: q.String()}}}
	}
	return append(ps, pairing{"calls of " + rec.Source.Path, set(rest), set(slow)})
}

// sums adds up self of both sides over the rows of a comparison by function.
func sums(t *testing.T, c *compare.Comparison) (a, b int64, table *compare.Table) {
	t.Helper()
	table, err := c.Table(context.Background(), compare.ByFunction, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range table.Rows {
		a, b = a+table.Rows[i].ASelf, b+table.Rows[i].BSelf
	}
	return a, b, table
}

// TestNumbersAreThoseOfTables checks that every number in a verdict appears in a table that
// "ashlar diff" prints: sums of rows, the named row and, for CPU time and times per second,
// the table of that comparison.
func TestNumbersAreThoseOfTables(t *testing.T) {
	ctx := context.Background()
	seen := map[verdict.To]int{}
	var before *recording.Recording
	recordings(t, func(rec *recording.Recording) {
		ps := pairings(t, rec)
		if before != nil && before.Source.Format == rec.Source.Format {
			ps = append(ps, pairing{"files " + before.Source.Path + ", " + rec.Source.Path, compare.Input{Rec: before}, compare.Input{Rec: rec}})
		}
		before = rec
		for _, p := range ps {
			o := compare.Options{Normalize: compare.Raw}
			if p.a.Scope.Calls != nil {
				o.Normalize = compare.Calls
			}
			c, err := compare.Compare(ctx, []compare.Input{p.a}, []compare.Input{p.b}, o)
			if err != nil {
				continue // stacks without times, or files with nothing in common
			}
			a, b, table := sums(t, c)
			other := func(metric string, n compare.Normalize) (a, b int64, m *compare.Metric) {
				o := o
				if metric != "" {
					o.Metric = metric
				}
				o.Normalize = n
				c, err := compare.Compare(ctx, []compare.Input{p.a}, []compare.Input{p.b}, o)
				if err != nil {
					t.Fatalf("%s: %v", p.name, err)
				}
				a, b, _ = sums(t, c)
				return a, b, c.Metric
			}
			text := verdict.Of(c, table)
			check := func(got string, want ...string) {
				for _, w := range want {
					if got == w {
						return
					}
				}
				t.Errorf("%s: %q in\n%s\nis not of the table, which has %q", p.name, got, text, want)
			}
			firstFunction := true
			for _, part := range verdict.Parts(c, table) {
				seen[part.To]++
				switch part.To {
				case verdict.Totals:
					if !costs(part.Text, a, b) {
						nothing := "A costs something"
						if a == 0 {
							nothing = value(c.Metric, b)
						}
						check(part.Text, apart(c.Metric, a, b), value(c.Metric, a), nothing, "A "+value(c.Metric, a)+", B "+value(c.Metric, b))
					}
				case verdict.PerSecond:
					a, b, _ := other("", compare.Duration)
					if !costs(strings.TrimPrefix(part.Text, "per second "), a, b) {
						t.Errorf("%s: %q, of %d and %d", p.name, part.Text, a, b)
					}
				case verdict.CPU:
					a, b, m := other("cpu", compare.Calls)
					check(part.Text, apart(m, a, b))
				case verdict.Waiting:
					a, b, m := other("waiting", compare.Calls)
					check(part.Text, apart(m, a, b))
				case verdict.Branch:
					n := &c.Tree.Nodes[part.Node]
					if part.Name {
						check(part.Text, brief(c.Tree.Name(part.Node)))
						break
					}
					check(part.Text, signed(c.Metric, n.B.Total-n.A.Total))
					if d := n.B.Total - n.A.Total; (d < 0) != (b < a) || 2*max(d, -d) < max(b-a, a-b) {
						t.Errorf("%s: %s is less than half of the change in\n%s", p.name, part.Text, text)
					}
				case verdict.Total:
					check(part.Text, brief(part.Row.Name), signed(c.Metric, part.Row.BTotal-part.Row.ATotal))
				case verdict.Function:
					named := ""
					for i := range table.Rows {
						if r := &table.Rows[i]; r == part.Row {
							named = brief(r.Name)
						}
					}
					check(part.Text, named, signed(c.Metric, part.Row.BSelf-part.Row.ASelf))
					d, chance := part.Row.BSelf-part.Row.ASelf, strings.Contains(text, ", within noise")
					// Signs may differ from the total's in three cases: a second cause may offset
					// the first; with little in common, all of A is gone and all of B is new; if
					// all functions changed alike, or nothing is certain, causes may go either way.
					either := strings.HasPrefix(text, "Little in common") || strings.HasPrefix(text, "All functions about ") || strings.Contains(text, "not certain: ")
					if firstFunction && !either && (d < 0) != (b < a) && !chance {
						t.Errorf("%s: %s goes the other way than the whole", p.name, text)
					}
					firstFunction = false
					if conf := part.Row.Confidence(); chance && conf != nil && conf.Level() < .95 {
						t.Errorf("%s: %s names what may be chance too", p.name, text)
					}
				}
			}
		}
	})
	t.Logf("%v", seen)
	for _, to := range []verdict.To{verdict.Totals, verdict.PerSecond, verdict.CPU, verdict.Waiting, verdict.Function, verdict.Branch} {
		if seen[to] == 0 {
			t.Errorf("no verdict leads to %d", to)
		}
	}
}

// TestBranch checks that the verdict names the narrowest branch with at least half of the
// change, or the outermost of new nested calls. It names none if the change is spread over the
// program or callers are unknown.
func TestBranch(t *testing.T) {
	for _, test := range []struct {
		name, a, b, want string
	}{
		{"a new call that allocates here and there", "main;serve 100\nmain;log 50", "main;serve 100\nmain;serve;compile;parse;malloc 60\nmain;serve;compile;emit;grow 70\nmain;log 50",
			"compile +130 (new with 4 new callees, 100 % of the change, >99.9 % sure). Total samples +86.7 % (A 150, B 280)."},
		{"a call that is gone", "main;serve;compile;parse 90\nmain;log 50", "main;serve 10\nmain;log 50",
			"compile −90 (gone with 1 callee, 112.5 % of the change, >99.9 % sure). Total samples −57.1 % (A 140, B 60)."},
		{"an old function deep down", "main;serve;find;compare 10\nmain;log 90", "main;serve;find;compare 510\nmain;log 80",
			"compare +500 (102.0 % of the change, >99.9 % sure). Total samples +490.0 % (A 100, B 590)."},
		{"everywhere by as much", "main;a 100\nmain;b 100\nmain;c 100", "main;a 200\nmain;b 200\nmain;c 200", ""},
		{"a function without a caller", "work 100\nlog 10", "work 300\nlog 10", ""},
		{"nothing", "main;a 5", "main;a 5", ""},
		{"as much as by chance", "main;a 50\nmain;b 50", "main;a 56\nmain;b 48", "Total samples +4.0 % (A 100, B 104), within noise. Smallest detectable change: 40 (40.0 %)."},
		{"a change that the whole does not show", "main;a 3000\nmain;b 1000\nmain;c 5", "main;a 3040\nmain;b 940\nmain;c 30", "c +25 (99.8 % sure). Total samples +0.1 % (A 4005, B 4010), within noise."},
	} {
		open := func(text string) compare.Input {
			path := filepath.Join(t.TempDir(), "x.folded")
			if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			l := ingest.Open(context.Background(), path, ingest.Options{})
			t.Cleanup(func() { _ = l.Close() })
			if err := l.Wait(); err != nil {
				t.Fatal(err)
			}
			return compare.Input{Rec: l.Snapshot()}
		}
		c, err := compare.Compare(context.Background(), []compare.Input{open(test.a)}, []compare.Input{open(test.b)}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, table := sums(t, c)
		text := verdict.Of(c, table)
		if test.want == "" && strings.Contains(text, "called by") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %q is not in %q", test.name, test.want, text)
		}
	}
}

func value(m *compare.Metric, v int64) string { return units.Value(m.Readable(v)) }

func signed(m *compare.Metric, v int64) string {
	if v < 0 {
		return "−" + value(m, -v)
	}
	return "+" + value(m, v)
}

// apart returns the difference of two sums as text.
func apart(m *compare.Metric, a, b int64) string {
	if a == b {
		return "0"
	}
	return signed(m, b-a)
}

// costs reports whether a text states the cost of B relative to A correctly, up to rounding of
// its last digit. It computes the expected number independently.
func costs(text string, a, b int64) bool {
	number, isShare := strings.CutSuffix(text, " %")
	want, ok := float64(b)/float64(a), strings.HasPrefix(text, "×")
	switch {
	case text == "over ×1000":
		return a > 0 && want >= 1000
	case a == b:
		return text == "0 %"
	case isShare && strings.HasPrefix(text, "−"):
		want, ok = 100*(1-want), b < a
	case isShare:
		want, ok = 100*(want-1), b > a && strings.HasPrefix(text, "+")
	}
	below, isBound := strings.CutPrefix(strings.TrimLeft(number, "×+−"), "<")
	got, err := strconv.ParseFloat(strings.ReplaceAll(below, "\u202f", ""), 64)
	if err != nil || !ok {
		return false
	}
	if isBound {
		return want < got
	}
	_, decimals, _ := strings.Cut(below, ".")
	return math.Abs(got-want) <= .5000001*math.Pow(10, -float64(len(decimals)))
}

// brief shortens a name as verdicts do.
func brief(name string) string {
	return safetext.Short(funcname.Brief(name, funcname.InSentence))
}

// TestSigned checks that a difference too small to be written is 0 without a sign.
func TestSigned(t *testing.T) {
	m := &compare.Metric{Common: recording.Metric{Name: "time", Unit: "ns", Decimals: 6}, Guard: 3}
	for _, tt := range []struct {
		v    int64
		want string
	}{{0, "0"}, {1, "0"}, {-1, "0"}, {1_500_000_000, "+1.500 µs"}, {-1_500_000_000, "−1.500 µs"}} {
		if got := verdict.Signed(m, tt.v); got != tt.want {
			t.Errorf("%d: %q, want %q", tt.v, got, tt.want)
		}
	}
}
