package shell

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/testdata/rounds"
)

// tableAnswer returns an answer with n random rows.
func tableAnswer(t *testing.T, n int) *session.Answer {
	t.Helper()
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "time", Unit: "ns"}}})
	r := rand.New(rand.NewPCG(1, 2))
	a := &session.Answer{}
	for i := range n {
		f := recording.Function{Name: fmt.Sprintf("f%d", r.IntN(1e6)), Module: fmt.Sprintf("lib%d.so", r.IntN(5)), File: fmt.Sprintf("src/%d.c", i%7)}
		a.Rows = append(a.Rows, analyze.Row{Name: f.Name, Module: f.Module, Func: b.Function(f), Self: r.Int64N(50), Total: r.Int64N(50), Count: r.Int64N(9)})
	}
	a.Rec = b.Finish()
	a.Tree = &analyze.Tree{Nodes: []analyze.Node{{Total: 1000}}}
	analyze.SortRows(a.Rows)
	return a
}

func TestTableIsInOrder(t *testing.T) {
	rounds.Unraced(t)
	a := tableAnswer(t, 2000)
	key := map[functions.Column]func(r *analyze.Row) string{
		functions.ColName:   func(r *analyze.Row) string { return r.Name },
		functions.ColModule: func(r *analyze.Row) string { return r.Module },
		functions.ColSelf:   func(r *analyze.Row) string { return fmt.Sprintf("%09d", r.Self) },
		functions.ColTotal:  func(r *analyze.Row) string { return fmt.Sprintf("%09d", r.Total) },
		functions.ColCount:  func(r *analyze.Row) string { return fmt.Sprintf("%09d", r.Count) },
	}
	for by, of := range key {
		for _, up := range []bool{false, true} {
			got := functions.Arrange(functions.OrderKey{Of: a, By: by, Ascending: up})
			want := slices.Clone(a.Rows)
			slices.SortStableFunc(want, func(x, y analyze.Row) int {
				if c := cmp.Compare(of(&x), of(&y)); up {
					return c
				} else {
					return -c
				}
			})
			if !slices.Equal(got, want) {
				t.Errorf("by %s, ascending %v: the rows are not in that order", functions.ColumnInfos[by].Name, up)
			}
		}
	}
}

func TestTableShowsWhatIsSearched(t *testing.T) {
	a := tableAnswer(t, 2000)
	for _, text := range []string{"f12", "LIB3", "lib3", "/^f1.*7$/", "src/4"} {
		p, err := search.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a.Search = p
		n := 0
		for i := range a.Rows {
			f := a.Rec.Functions.At(int(a.Rows[i].Func))
			if p.Match(f.Name) || p.Match(f.Module) || p.Match(f.File) {
				n++
			}
		}
		if got := len(functions.Arrange(functions.OrderKey{Of: a, By: functions.ColSelf})); got != n {
			t.Errorf("%q leaves %d rows, want %d", text, got, n)
		}
	}
}

func TestTableIsCopiedExactly(t *testing.T) {
	a := tableAnswer(t, 50)
	a.Rows[0].Name = `with "quotes", and a comma`
	cs := []functions.Column{functions.ColName, functions.ColTotal, functions.ColModule, functions.ColCount}
	for _, csvForm := range []bool{true, false} {
		r := csv.NewReader(strings.NewReader(functions.TableGrid(a, a.Rows, cs).Separated(map[bool]rune{true: ',', false: '\t'}[csvForm])))
		if !csvForm {
			r.Comma = '\t'
		}
		lines, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"function", "total (ns)", "module", "count"}; !slices.Equal(lines[0], want) {
			t.Errorf("the head is %q, want %q", lines[0], want)
		}
		for i, l := range lines[1:] {
			row := &a.Rows[i]
			if want := []string{row.Name, fmt.Sprint(row.Total), row.Module, fmt.Sprint(row.Count)}; !slices.Equal(l, want) {
				t.Errorf("row %d is copied as %q, want %q", i, l, want)
			}
		}
	}
}

func TestColumnsAreKeptByName(t *testing.T) {
	s := New(nil)
	first := s.TableColumns()
	s.setColumns([]string{"self", "file", "no such column"})
	if got, want := s.TableColumns(), []string{"function", "file", "self"}; !slices.Equal(got, want) {
		t.Errorf("the columns are %q, want %q", got, want)
	}
	s.setColumns(nil)
	if got := s.TableColumns(); !slices.Equal(got, first) {
		t.Errorf("without names the columns are %q, want those of the beginning, %q", got, first)
	}
}

// TestLargeTablesAreSortedBesideTheWindow checks that many rows are sorted in the
// background: the old rows are shown, then the first rows, then all.
func TestLargeTablesAreSortedBesideTheWindow(t *testing.T) {
	a := tableAnswer(t, 3*session.ManyRows)
	var o functions.Order
	defer o.Stop()
	woken := make(chan struct{}, 9)
	wake := func() { woken <- struct{}{} }
	var old []analyze.Row
	for _, by := range []functions.Column{functions.ColSelf, functions.ColName, functions.ColTotal, functions.ColCount}[:rounds.Size(4, 2)] {
		for _, up := range []bool{false, true} {
			k := functions.OrderKey{Of: a, By: by, Ascending: up}
			want := functions.Arrange(k)
			for o.Update(k, false, wake); !slices.Equal(o.Rows, want); o.Update(k, false, wake) {
				if !slices.Equal(o.Rows, old) && !slices.Equal(o.Rows, want[:session.FirstPage]) {
					t.Fatalf("by %s, ascending %v: %d rows are neither the old ones nor the first", functions.ColumnInfos[by].Name, up, len(o.Rows))
				}
				<-woken
			}
			old = want
		}
	}
}

// TestGridCells checks that cells which a spreadsheet would take for formulas are
// escaped, and numbers are not.
func TestGridCells(t *testing.T) {
	g := &tables.Grid{Head: []string{"Self", "Function"}, Rows: [][]string{{"-5", "=HYPERLINK(1)"}, {"3", "@x\x1b[2J"}}}
	const want = "Self,Function\n-5,'=HYPERLINK(1)\n3,'@x·[2J\n"
	if got := g.Separated(','); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCategoriesAreNoModules checks that the table says Category for trace events and
// Module for the scripts of JavaScript samples.
func TestCategoriesAreNoModules(t *testing.T) {
	rounds.Unraced(t)
	for content, want := range map[string][2]string{
		`[{"ph":"X","cat":"net","pid":1,"tid":7,"ts":1000,"dur":400,"name":"main"}]`: {"Category", "Categories"},
		someSamples: {"Module", "Modules"},
	} {
		b := newBench(t, content)
		b.Pane.Tab = panel.Functions
		if err := b.Finish(); err != nil {
			t.Fatal(err)
		}
		b.drawn()
		is := b.drawn()
		for _, word := range []string{"Category", "Categories", "Module", "Modules"} {
			if got := strings.Contains(is, ">"+word+"<"); got != slices.Contains(want[:], word) {
				t.Errorf("%.20s: %s is there: %v", content, word, got)
			}
		}
	}
}
