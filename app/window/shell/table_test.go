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
			got := functions.Arrange(functions.OrderKey{Of: a, By: by, Ascending: up}).Rows
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
		if got := len(functions.Arrange(functions.OrderKey{Of: a, By: functions.ColSelf}).Rows); got != n {
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
// background. The first rows by a number are there at once; for other orders the old rows
// stay until the sort is done and wakes the window.
func TestLargeTablesAreSortedBesideTheWindow(t *testing.T) {
	a := tableAnswer(t, 3*functions.ManyRows)
	var o functions.Order
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	k := functions.OrderKey{Of: a, By: functions.ColSelf}
	o.Update(k, wake)
	for _, by := range []functions.Column{functions.ColSelf, functions.ColTotal, functions.ColCount}[:rounds.Size(3, 1)] {
		for _, up := range []bool{false, true} {
			k.By, k.Ascending = by, up
			o.Update(k, wake)
			if want := functions.Arrange(k).Rows[:functions.FirstPage]; !slices.Equal(o.Rows, want) && len(o.Rows) != len(a.Rows) {
				t.Errorf("by %s, ascending %v: the first %d rows are wrong", functions.ColumnInfos[by].Name, up, len(o.Rows))
			}
		}
	}
	for len(o.Rows) != len(a.Rows) {
		<-woken
		o.Update(k, wake)
	}
	before := o.Rows[0]
	k.By, k.Ascending = functions.ColName, false
	o.Update(k, wake)
	if o.Rows[0] != before {
		t.Error("the last rows did not stay")
	}
	sorted := func() bool {
		return slices.IsSortedFunc(o.Rows, func(x, y analyze.Row) int { return cmp.Compare(y.Name, x.Name) })
	}
	for o.Update(k, wake); !sorted(); o.Update(k, wake) {
		<-woken
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
