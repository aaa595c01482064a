package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/timeline"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
)

// shownTrace has two threads with nested calls; some functions occur in different stacks.
const shownTrace = `[
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"work er"}},
{"ph":"X","pid":1,"tid":1,"ts":100,"dur":100,"name":"outer"},
{"ph":"X","pid":1,"tid":1,"ts":110,"dur":30,"name":"inner"},
{"ph":"X","pid":1,"tid":1,"ts":115,"dur":10,"name":"it's leaf"},
{"ph":"X","pid":1,"tid":1,"ts":150,"dur":20,"name":"it's leaf"},
{"ph":"X","pid":1,"tid":2,"ts":120,"dur":60,"name":"job"},
{"ph":"X","pid":1,"tid":2,"ts":125,"dur":25,"name":"inner"},
{"ph":"X","pid":1,"tid":2,"ts":128,"dur":7,"name":"it's leaf"}]`

// words splits a command line like a shell; && begins another command.
func words(line string) (all [][]string) {
	all = [][]string{nil}
	word, in, any := "", false, false
	end := func() {
		if last := len(all) - 1; word == "&&" {
			all = append(all, nil)
		} else if any {
			all[last] = append(all[last], word)
		}
		word, any = "", false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			in, any = !in, true
		case c == '\\' && !in:
			i++
			word, any = word+string(line[i]), true
		case c == ' ' && !in:
			end()
		default:
			word, any = word+string(c), true
		}
	}
	end()
	return all
}

// printed runs copied commands and returns their JSON output.
func printed(t *testing.T, line string) (all []map[string]any) {
	t.Helper()
	for _, args := range words(line) {
		var out, errs bytes.Buffer
		if code := command.Main(append(args[1:], "--json"), nil, &out, &errs, command.Runner{}); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, errs.String())
		}
		var got map[string]any
		d := json.NewDecoder(&out)
		d.UseNumber()
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
	}
	return all
}

// rowTexts returns the rows that a command printed: name, self and total.
func rowTexts(got map[string]any) (rows []string) {
	for _, r := range got["rows"].([]any) {
		m := r.(map[string]any)
		rows = append(rows, fmt.Sprint(m["name"], " ", m["self"], " ", m["total"]))
	}
	return rows
}

func shownRows(a *session.Answer, of []analyze.Row) (rows []string) {
	text := func(v int64) string { return recording.Decimal{Mantissa: v, Scale: a.Metric().Decimals}.String() }
	for i := range of {
		rows = append(rows, fmt.Sprint(of[i].Name, " ", text(of[i].Self), " ", text(of[i].Total)))
	}
	return rows
}

// shownTree returns a node, unless it is the root, and all nodes below it, callers first.
func shownTree(a *session.Answer, t *analyze.Tree, from int32) (rows []string) {
	nd := &t.Nodes[from]
	if from != 0 {
		rows = shownRows(a, []analyze.Row{{Name: t.Function(a.Rec, int(from)).Name, Self: nd.Self, Total: nd.Total}})
	}
	for _, k := range t.Children(int(from)) {
		rows = append(rows, shownTree(a, t, k)...)
	}
	return rows
}

// sameCalls compares a command's output about calls with the panel's list, which must
// have n rows.
func sameCalls(t *testing.T, line string, got map[string]any, l *session.CallList, n int) {
	t.Helper()
	want := fmt.Sprint(l.Durations.Count, " ", recording.Decimal{Mantissa: l.Durations.Median, Scale: 3}, " ", len(l.Rows))
	if s := fmt.Sprint(got["count"], " ", got["median"], " ", len(got["rows"].([]any))); s != want || len(l.Rows) != n {
		t.Errorf("%s prints %s, the panel shows %s", line, s, want)
	}
}

// TestCopiedCommandsPrintWhatIsShown runs the command copied from each panel and checks
// that it prints the panel's numbers.
func TestCopiedCommandsPrintWhatIsShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two words.json")
	if err := os.WriteFile(path, []byte(shownTrace), 0o666); err != nil {
		t.Fatal(err)
	}
	lines := filepath.Join("..", "..", "..", "testdata", "recorded", "before.pb.gz")
	type panes struct {
		p    *workspace.Pane
		s    *Shell
		node func(name string) // selects the function's heaviest node
	}
	same := func(t *testing.T, line string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s prints\n%s\nthe panel shows\n%s", line, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, c := range []struct {
		name, file string
		of         workspace.Area
		set        func(x panes)
		check      func(t *testing.T, line string, got []map[string]any, x panes)
	}{
		{"table", path, workspace.OfLower, func(x panes) { x.p.Tab = panel.Functions }, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
		}},
		{"table of the built-in recording", "", workspace.OfLower, func(x panes) {
			x.p.Tab = panel.Functions
			x.p.SelectRange(x.p.Rec.Start+500e9, x.p.Rec.Start+900e9)
			x.p.Transforms = []analyze.Transform{analyze.Focus(analyze.Named("runtime.mallocgc")), analyze.Transform{Op: analyze.OpHideKernel}}
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
		}},
		{"table sorted, of a thread", path, workspace.OfLower, func(x panes) {
			x.p.Tab, x.p.Table.By, x.p.Scope.Tracks = panel.Functions, functions.ColTotal, []int{1}
			x.p.SearchFor("e")
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
		}},
		{"table by the longest span, turned round", path, workspace.OfLower, func(x panes) {
			x.p.Tab, x.p.Table.By, x.p.Table.Ascending = panel.Functions, functions.ColMost, true
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
			if !strings.Contains(line, "--sort -most") {
				t.Error(line, "does not say the order")
			}
		}},
		{"table by name, the last first", path, workspace.OfLower, func(x panes) {
			x.p.Tab, x.p.Table.By, x.p.Table.Ascending = panel.Functions, functions.ColName, false
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
		}},
		{"table of modules, by what they have not", path, workspace.OfLower, func(x panes) {
			x.p.Tab, x.p.Table.By, x.p.Table.Group = panel.Functions, functions.ColAverage, analyze.ByModule
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
		}},
		{"table of threads", path, workspace.OfLower, func(x panes) { x.p.Tab, x.p.Table.Group = panel.Functions, analyze.ByThread }, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Table.Order.Rows))
		}},
		{"flamegraph of a time", path, workspace.OfLower, func(x panes) {
			x.p.SelectRange(x.p.Rec.Start+12e6, x.p.Rec.Start+45e6)
			x.p.Transforms = []analyze.Transform{analyze.Transform{Op: analyze.OpHide, Ref: analyze.Named("inner")}}
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			same(t, line, rowTexts(got[0]), shownTree(a, a.Tree, 0))
		}},
		{"zoomed flamegraph", path, workspace.OfLower, func(x panes) {
			x.node("inner")
			x.p.ZoomTo(panel.PathOf(x.p.Rec, x.p.Pick.Tree, int(x.p.Pick.Node)))
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			same(t, line, rowTexts(got[0]), shownTree(a, a.Tree, nodeOf(a, a.Tree, x.p.Zoom)))
		}},
		{"sandwich", path, workspace.OfLower, func(x panes) { x.node("inner"); x.p.Tab = panel.Callers }, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			same(t, line, rowTexts(got[0]), shownTree(a, a.Above, 0))
			same(t, line, rowTexts(got[1]), shownTree(a, a.Below, 0))
		}},
		{"zoomed sandwich", path, workspace.OfLower, func(x panes) {
			x.node("inner")
			x.p.Tab = panel.Callers
			if err := x.p.Doc.Finish(x.p.Question()); err != nil {
				t.Fatal(err)
			}
			a := x.p.Doc.Answer()
			for i, name := range []string{"outer", "it's leaf"} {
				tree := []*analyze.Tree{a.Above, a.Below}[i]
				n, missing := tree.Find(a.Rec, []analyze.Ref{analyze.Named("inner"), analyze.Named(name)})
				if missing >= 0 {
					t.Fatal("there is no ", name)
				}
				x.p.Sides[i] = panel.PathOf(x.p.Rec, tree, n)
			}
		}, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			same(t, line, rowTexts(got[0]), shownTree(a, a.Above, nodeOf(a, a.Above, x.p.Sides[0])))
			same(t, line, rowTexts(got[1]), shownTree(a, a.Below, nodeOf(a, a.Below, x.p.Sides[1])))
		}},
		{"lists of callers and callees", path, workspace.OfLower, func(x panes) { x.node("inner"); x.p.Tab, x.p.Lists = panel.Callers, true }, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			same(t, line, rowTexts(got[0]), shownRows(a, a.Near.Callers))
			same(t, line, rowTexts(got[1]), shownRows(a, a.Near.Callees))
		}},
		{"calls", path, workspace.OfLower, func(x panes) { x.node("it's leaf"); x.p.Tab = panel.Calls }, func(t *testing.T, line string, got []map[string]any, x panes) {
			sameCalls(t, line, got[0], x.p.Doc.Answer().List, 3)
		}},
		{"all calls", path, workspace.OfLower, func(x panes) { x.p.Tab = panel.Calls }, func(t *testing.T, line string, got []map[string]any, x panes) {
			sameCalls(t, line, got[0], x.p.Doc.Answer().List, 7)
		}},
		{"calls of a filter", path, workspace.OfLower, func(x panes) { x.node("it's leaf"); x.p.Tab, x.p.List.Only = panel.Calls, "10us.." }, func(t *testing.T, line string, got []map[string]any, x panes) {
			sameCalls(t, line, got[0], x.p.Doc.Answer().List, 2)
		}},
		{"source", lines, workspace.OfLower, func(x panes) { x.node("main.main"); x.p.Tab = panel.Source }, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			var rows, want []string
			for _, r := range got[0]["rows"].([]any) {
				m := r.(map[string]any)
				rows = append(rows, fmt.Sprint(m["place"], " ", m["self"], " ", m["total"]))
			}
			for _, l := range a.Lines.Lines {
				want = append(want, fmt.Sprintf("%s:%d %d %d", a.Lines.File, l.Line, l.Self, l.Total))
			}
			slices.Sort(rows)
			slices.Sort(want)
			same(t, line, rows, want)
		}},
		{"about", path, workspace.OfLower, func(x panes) { x.p.Tab = panel.About }, func(t *testing.T, line string, got []map[string]any, x panes) {
			if n := fmt.Sprint(got[0]["counts"].(map[string]any)["spans"]); n != fmt.Sprint(x.p.Rec.Counts.Spans) {
				t.Errorf("%s prints %s spans", line, n)
			}
		}},
		{"found", path, workspace.OfFound, func(x panes) { x.p.SearchFor("leaf") }, func(t *testing.T, line string, got []map[string]any, x panes) {
			m := x.p.Doc.Answer().Matched
			want := recording.Decimal{Mantissa: m.Total, Scale: x.p.MetricOf().Decimals}.String()
			if n := fmt.Sprint(got[0]["matched"].(map[string]any)["total"]); n != want || m.Total == 0 {
				t.Errorf("%s finds %s, the search line %s", line, n, want)
			}
		}},
		{"details of all", path, workspace.OfDetails, func(x panes) {}, func(t *testing.T, line string, got []map[string]any, x panes) {
			same(t, line, rowTexts(got[0]), shownRows(x.p.Doc.Answer(), x.p.Doc.Answer().Rows))
		}},
		{"details of a node", path, workspace.OfDetails, func(x panes) { x.node("it's leaf") }, func(t *testing.T, line string, got []map[string]any, x panes) {
			a := x.p.Doc.Answer()
			same(t, line, rowTexts(got[0]), shownTree(a, a.Tree, x.p.Pick.Node)[:1])
		}},
		{"details of a span", path, workspace.OfDetails, func(x panes) { h, _ := timeline.BarAt(x.p.Rec.Tracks[1], 1, 1, 0); x.p.PickHit(h) }, func(t *testing.T, line string, got []map[string]any, x panes) {
			slow := got[0]["slowest"].([]any)
			m := slow[0].(map[string]any)
			h := &x.p.Pick.Hit
			want := fmt.Sprint(recording.Decimal{Mantissa: h.Start - x.p.Rec.Start, Scale: 3}, " ", recording.Decimal{Mantissa: h.End - h.Start, Scale: 3})
			if s := fmt.Sprint(m["start"], " ", m["duration"]); len(slow) != 1 || s != want {
				t.Errorf("%s prints %s, the panel shows %s", line, s, want)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(theme.Dark)
			defer s.Close()
			if s.Open(c.file); c.file == "" {
				s.OpenDemo()
			}
			if err := s.Finish(); err != nil {
				t.Fatal(err)
			}
			x := panes{s.Pane, s, func(name string) {
				a := s.Pane.Doc.Answer()
				f := a.Rec.Functions.Slice()[slices.IndexFunc(a.Rec.Functions.Slice(), func(f recording.Function) bool { return f.Name == name })]
				n := workspace.NodeNamed(a, f.FuncName())
				s.Pane.Pick = panel.Picked{Kind: panel.PickNode, Node: n, Tree: a.Tree, Fn: a.Tree.Nodes[n].Func}
			}}
			c.set(x)
			if err := s.Pane.Doc.Finish(s.Pane.Question()); err != nil {
				t.Fatal(err)
			}
			x.p.Table.Order.Update(functions.OrderKey{Of: x.p.Doc.Answer(), By: x.p.Table.By, Ascending: x.p.Table.Ascending}, false, func() {})
			if x.p.Pick.Kind == panel.PickNode && x.p.Pick.Tree != x.p.Doc.Answer().Tree {
				x.node(x.p.Pick.Tree.Function(x.p.Rec, int(x.p.Pick.Node)).Name)
			}
			line, rest := s.CommandOf(c.of)
			if wantRest := map[bool]string{true: "arguments and callers"}[c.name == "details of a span"]; rest != wantRest {
				t.Errorf("%s says all but %q", line, rest)
			}
			c.check(t, line, printed(t, line), x)
		})
	}
}

// nodeOf returns the node at the end of a path.
func nodeOf(a *session.Answer, t *analyze.Tree, path []recording.FuncName) int32 {
	n, _ := panel.NodeAt(a.Rec, t, path)
	return int32(n)
}
