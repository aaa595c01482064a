package shell

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/render/widget"
)

// typeText types text into the field that has the keyboard.
func (b *bench) typeText(text string) {
	for _, letter := range text {
		at := b.router.EditorState().Selection.Range
		b.router.Queue(key.EditEvent{Range: at, Text: string(letter)})
		n := min(at.Start, at.End) + 1
		b.router.Queue(key.SelectionEvent(key.Range{Start: n, End: n}))
		b.frame()
	}
	b.frame()
}

// TestQueryPanel asks, with keys only: with completion, with an error, by a saved query and by a
// question of the manual, and goes from a row to its span.
func TestQueryPanel(t *testing.T) {
	b := newBench(t, someTrace)
	kept := new(keptNote)
	b.Keep = kept
	if !b.Run("Query") {
		t.Fatal("there is no command for the panel")
	}
	b.frame()
	b.Focus.Give(&b.Pane.Tab, true)
	b.frame()
	b.press(key.NameUpArrow, 0) // into the text field
	b.typeText("SELECT start_ps, dur")
	if text := b.drawn(); !strings.Contains(text, "duration_ps") || !strings.Contains(text, "spans: end minus start (ps)") {
		t.Error("no completion of dur")
	}
	b.press(key.NameTab, 0)
	b.typeText(" FROM spans WHERE function = 'rea")
	b.press(key.NameTab, 0)
	b.typeText(" ORDER BY 2")
	if p := b.Pane; p.SQL != "" || p.Tab != panel.Query {
		t.Errorf("before it was run, the query is %q and the tab %s", p.SQL, p.Tab)
	}
	b.press(key.NameReturn, key.ModCtrl)
	b.frame()
	const query = "SELECT start_ps, duration_ps FROM spans WHERE function = 'read' ORDER BY 2"
	if b.Pane.SQL != query || len(kept.queries.Ran) != 1 || kept.queries.Ran[0] != query {
		t.Fatalf("ran %q, remembered %q", b.Pane.SQL, kept.queries.Ran)
	}
	if g := b.Grid(); g == nil || !slices.Equal(g.Head, []string{"start_ps", "duration_ps"}) || strings.Join(slices.Concat(g.Rows...), " ") != "100000000 50000000 200000000 100000000" {
		t.Errorf("the table has %+v", g)
	}
	if line, _ := b.CommandOf(0); !strings.HasPrefix(line, "ashlar sql ") || !strings.Contains(line, "'rea") {
		t.Errorf("the command is %s", line)
	}
	b.Pane.SearchFor("read")
	b.press(key.NameEscape, 0) // out of the field
	if b.Pane.Find != "read" {
		t.Error("Escape in the field ended the search")
	}
	b.press(key.NameEscape, 0)
	if b.Pane.Find != "" {
		t.Error("the second Escape did not reach the window")
	}
	b.press(key.NameDownArrow, 0)
	b.press(key.NameReturn, 0)
	if h := b.Pane.Pick.Hit; b.Pane.Pick.Kind != panel.PickBar || h.Start-b.Pane.Rec.Start != 200_000_000 {
		t.Errorf("the second row leads to %+v", b.Pane.Pick)
	}
	st, err := view.Parse(b.Address().String())
	if err != nil || st.SQL != query {
		t.Errorf("the address has %q (%v)", st.SQL, err)
	}
	b.now = b.now.Add(time.Second)
	b.frame()
	b.GoTo(&view.State{Tab: panel.Query, Display: view.Display{SQL: "SELECT 1,\n  nosuch FROM spans"}})
	b.frame()
	if text := b.drawn(); !strings.Contains(text, "no such column: nosuch (line 2, column 3: nosuch FROM spans); spans has ") {
		t.Error("the error is not shown")
	}
	b.now = b.now.Add(time.Second)
	b.frame()
	b.Undo()
	if b.frame(); b.Pane.SQL != query {
		t.Errorf("undo leads to %q", b.Pane.SQL)
	}
}

// TestQueryChart draws what one, two and no columns of numbers have.
func TestQueryChart(t *testing.T) {
	b := newBench(t, someTrace)
	for query, want := range map[string]string{
		"SELECT start_ps, duration_ps FROM spans ORDER BY 1": "duration_ps",
		"SELECT 5 AS lonely":                                   "lonely",
		"SELECT name FROM threads":                             "No numbers to draw",
		"SELECT NULL AS empty FROM spans":                      "No numbers to draw",
		"SELECT 9e999 AS endless, -9e999":                      "No numbers to draw",
		"SELECT 1e308 AS x, -1e308 UNION SELECT -1e308, 1e308": "x",
	} {
		b.GoTo(&view.State{Tab: panel.Query, Display: view.Display{SQL: query, Chart: true}})
		b.frame()
		if text := b.drawn(); !strings.Contains(text, want) {
			t.Errorf("%s: the chart lacks %q", query, want)
		}
	}
}

// TestQueriesAreKept saves, replaces and deletes a query through the list of names.
func TestQueriesAreKept(t *testing.T) {
	b := newBench(t, someTrace)
	kept := new(keptNote)
	b.Keep = kept
	b.GoTo(&view.State{Tab: panel.Query, Display: view.Display{SQL: "SELECT 1"}})
	b.frame()
	b.choose("Name", "mine", "Save as mine")
	if q := kept.queries.Queries; !slices.Equal(q, []settings.Query{{Name: "mine", SQL: "SELECT 1"}}) {
		t.Fatalf("saved %v", q)
	}
	b.choose("Saved", "slowest", "Which calls of a function were the slowest?")
	if b.Pane.SQL != "SELECT 1" {
		t.Error("choosing a question ran it")
	}
	b.press(key.NameReturn, key.ModCtrl)
	if !strings.Contains(b.Pane.SQL, "WHERE function = 'main'\nORDER BY duration_ps DESC") {
		t.Errorf("ran %q", b.Pane.SQL)
	}
	b.press(key.NameEscape, 0)
	b.choose("Saved", "who calls", "Who calls a function, and how often?")
	b.press(key.NameReturn, key.ModCtrl)
	if !strings.Contains(b.Pane.SQL, "c.function = 'main' ") {
		t.Errorf("ran %q", b.Pane.SQL)
	}
	b.press(key.NameEscape, 0)
	b.choose("Saved", "mine", "mine")
	b.press(key.NameReturn, key.ModCtrl)
	if b.Pane.SQL != "SELECT 1" {
		t.Errorf("the saved query is %q", b.Pane.SQL)
	}
	b.press(key.NameEscape, 0)
	b.choose("Name", "", "Delete mine")
	if len(kept.queries.Queries) != 0 {
		t.Error("the query was not deleted")
	}
}

// choose opens a list of the query panel, by its hint, and takes a line of it.
func (b *bench) choose(open, text, line string) {
	b.t.Helper()
	for n := range 6 {
		b.Focus.Give(&b.Pane.Tab, true)
		b.frame()
		for range n + 1 {
			b.press(key.NameRightArrow, 0)
		}
		b.press(key.NameReturn, 0)
		if b.Chooser != nil && strings.Contains(b.Chooser.Hint, open) {
			break
		}
		b.Chooser, b.Menu = nil, nil
		b.frame()
	}
	if b.Chooser == nil {
		b.t.Fatalf("no list %q", open)
	}
	b.Chooser.SetText(text)
	b.Chooser.Refresh()
	for i := range b.Chooser.Lines {
		if b.Chooser.Lines[i].Title == line {
			b.Chooser.Take(i)
			b.frame()
			b.frame()
			return
		}
	}
	b.t.Fatalf("no line %q in %+v", line, b.Chooser.Lines)
}

// TestQuestionsFit fills in a function and a thread that have spans, although the first thread
// has none.
func TestQuestionsFit(t *testing.T) {
	b := newBench(t, `[{"ph":"i","s":"t","pid":1,"tid":1,"ts":0,"name":"note"},
{"ph":"X","pid":1,"tid":2,"ts":0,"dur":10,"name":"outer"},{"ph":"X","pid":1,"tid":2,"ts":1,"dur":8,"name":"inner"},
{"ph":"X","pid":1,"tid":2,"ts":30,"dur":10,"name":"outer"},{"ph":"X","pid":1,"tid":2,"ts":45,"dur":5,"name":"inner"}]`)
	b.Keep = new(keptNote)
	if !b.Run("Query") {
		t.Fatal("there is no command for the panel")
	}
	b.frame()
	ask := func(text, line string) string {
		b.choose("Saved", text, line)
		b.press(key.NameReturn, key.ModCtrl)
		b.frame()
		g := b.Grid()
		if g == nil {
			t.Fatalf("%q has no rows: %s", line, b.Pane.SQL)
		}
		b.press(key.NameEscape, 0)
		var rows []string
		for _, r := range g.Rows {
			rows = append(rows, strings.Join(r, " "))
		}
		return strings.Join(rows, ", ")
	}
	if got, want := ask("gaps", "Where are the longest gaps on a thread?"), "10000000 20000000, 40000000 5000000"; got != want {
		t.Errorf("gaps %q, not %q, by %s", got, want, b.Pane.SQL)
	}
	if got, want := ask("slowest", "Which calls of a function were the slowest?"), "1000000 8000000, 45000000 5000000"; got != want { // inner: 13 µs of its own, outer 12
		t.Errorf("slowest %q, not %q, by %s", got, want, b.Pane.SQL)
	}
}

// TestQueryRowsAreSorted clicks on the heads of columns: once for the largest number or the
// first text first, again for the reverse, and again for the order of the query. A row leads to its own span, and the copied
// table is in the listed order.
func TestQueryRowsAreSorted(t *testing.T) {
	b := newBench(t, `[{"ph":"X","pid":1,"tid":2,"ts":0,"dur":9,"name":"b"},{"ph":"X","pid":1,"tid":2,"ts":200,"dur":100,"name":"c"},
{"ph":"X","pid":1,"tid":2,"ts":400,"dur":10,"name":"a"}]`)
	b.GoTo(&view.State{Tab: panel.Query, Display: view.Display{SQL: "SELECT function || '!' AS called, duration_ps / 1000000 AS took, nullif(function, 'c') AS other, start_ps FROM spans"}})
	b.settled()
	grid := func() (all []string) {
		for _, r := range b.Grid().Rows {
			all = append(all, r[0]+r[1]+r[2])
		}
		return all
	}
	for _, x := range []struct {
		head string
		want []string
	}{
		{"took", []string{"c!100", "a!10a", "b!9b"}},
		{"took", []string{"b!9b", "a!10a", "c!100"}},
		{"took", []string{"b!9b", "c!100", "a!10a"}},
		{"called", []string{"a!10a", "b!9b", "c!100"}},
		{"other", []string{"c!100", "a!10a", "b!9b"}}, // NULL first
	} {
		at := b.written(x.head)
		if x.head == "took" { // aligned right
			at.X -= 9
		}
		b.click(at, 0, pointer.ButtonPrimary)
		if got := grid(); !slices.Equal(got, x.want) {
			t.Errorf("after a click on %s: %q, not %q", x.head, got, x.want)
		}
	}
	b.click(b.written("other").Add(f32.Pt(0, 2*widget.RowHeight)), 0, pointer.ButtonPrimary)
	if at := b.Pane.Pick.Hit.Start - b.Pane.Rec.Start; at != 400e6 {
		t.Errorf("the second row, of a, leads to %d", at)
	}
	b.press(key.NameDownArrow, 0)
	b.press(key.NameReturn, 0)
	if at := b.Pane.Pick.Hit.Start - b.Pane.Rec.Start; at != 0 {
		t.Errorf("the row below, of b, leads to %d", at)
	}
}

// TestQueryRunsOutsideTheField runs a changed query by Ctrl-Return after Escape has left the field,
// which was reached by the keyboard or by a click.
func TestQueryRunsOutsideTheField(t *testing.T) {
	b := newBench(t, someTrace)
	b.GoTo(&view.State{Tab: panel.Query, Display: view.Display{SQL: "SELECT 1"}})
	b.settled()
	want := "SELECT 1"
	for _, reach := range []func(){func() {
		b.Focus.Give(&b.Pane.Tab, true)
		b.frame()
		b.press(key.NameUpArrow, 0)
	}, func() {
		b.Focus.Give(&b.Pane.Lanes, false)
		b.click(b.written("Run").Add(f32.Pt(300, 45)), 0, pointer.ButtonPrimary)
	}} {
		for escapes := range 3 {
			reach()
			b.typeText("2")
			for range escapes {
				b.press(key.NameEscape, 0)
			}
			b.press(key.NameReturn, key.ModCtrl)
			b.frame()
			if want += "2"; b.Pane.SQL != want {
				t.Fatalf("after %d Escapes, Ctrl-Return ran %q, not %q", escapes, b.Pane.SQL, want)
			}
		}
	}
}

// TestQuestionWithApostrophe fills in a function whose name has an apostrophe.
func TestQuestionWithApostrophe(t *testing.T) {
	b := newBench(t, `[{"ph":"X","pid":1,"tid":2,"ts":0,"dur":10,"name":"don't"},{"ph":"X","pid":1,"tid":2,"ts":20,"dur":5,"name":"don't"}]`)
	b.Keep = new(keptNote)
	b.Run("Query")
	b.frame()
	b.choose("Saved", "slowest", "Which calls of a function were the slowest?")
	b.press(key.NameReturn, key.ModCtrl)
	b.settled()
	if !strings.Contains(b.Pane.SQL, "'don''t'") || b.Grid() == nil || len(b.Grid().Rows) != 2 {
		t.Errorf("%s: %+v", b.Pane.SQL, b.Grid())
	}
}
