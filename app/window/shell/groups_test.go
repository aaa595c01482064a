package shell

import (
	"slices"
	"strings"
	"testing"

	"gioui.org/layout"
	"gioui.org/unit"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/analyze"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// requestTrace has nested calls with arguments: tenant 7 has 130 µs, of which 30 µs are
// nested in its own calls and count once; tenant 8 has 40 µs.
const requestTrace = `[
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"request","args":{"tenant":7}},
{"ph":"X","pid":1,"tid":1,"ts":10,"dur":30,"name":"query","args":{"tenant":7}},
{"ph":"X","pid":1,"tid":1,"ts":15,"dur":5,"name":"read"},
{"ph":"X","pid":1,"tid":1,"ts":200,"dur":40,"name":"request","args":{"tenant":8}},
{"ph":"X","pid":1,"tid":1,"ts":300,"dur":9,"name":"idle"}]`

// TestRowsOfAnArgument groups the table by an argument of spans. The address, the copied
// command and the selection of a row's calls must agree with the table.
func TestRowsOfAnArgument(t *testing.T) {
	b := newBench(t, requestTrace)
	p := b.Pane
	b.Run("Table by label or argument")
	if got := b.listed(); !slices.Contains(got, "Argument tenant") || !slices.Contains(got, "Label tid") || got[0] != "Functions" {
		t.Errorf("rows can be of %q", got)
	}
	b.Chooser.SetText("arg ten")
	b.frame()
	if got := b.listed(); len(got) != 1 || b.Chooser.Lines[0].Mark != widget.MarkOff {
		t.Errorf("like tenant there are %q", got)
	}
	b.Chooser.Take(0)
	b.total()
	if p.Tab != panel.Functions || p.Table.Group != "arg:tenant" || b.Chooser != nil {
		t.Fatalf("%s is grouped by %s", p.Tab, p.Table.Group)
	}
	rows := shownRows(p.Doc.Answer(), p.Table.Order.Rows)
	if want := []string{"7 100000 100000", "8 40000 40000", "[no tenant] 9000 9000"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
	line, rest := b.AsCommand()
	if got := rowTexts(printed(t, line)[0]); !slices.Equal(got, rows) || rest != "" {
		t.Errorf("%s prints %q", line, got)
	}
	v, err := view.Parse(b.Address().String())
	if err != nil || v.Table.Group != "arg:tenant" {
		t.Errorf("the address %s says %v, %v", b.Address(), v, err)
	}
	// Transforms remove the arguments of spans: the table says so and has no rows.
	p.Transforms = []analyze.Transform{analyze.Focus(analyze.Named("query"))}
	b.total()
	if a := p.Doc.Answer(); a.Ungrouped == nil || !strings.Contains(a.Ungrouped.Error(), "transforms remove the arguments of spans; leave out") || len(p.Table.Order.Rows) != 0 {
		t.Errorf("with changed stacks there are %d rows and %v", len(p.Table.Order.Rows), a.Ungrouped)
	}
	p.Transforms = nil
	b.total()
	p.Table.Marked = "7"
	p.Table.Menu(&b.Host, &p.Side, &ui.UI{Context: layout.Context{Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}})
	i := slices.IndexFunc(b.Menu.Items, func(it widget.Item) bool { return it.Title == "Select these calls" })
	if i < 0 {
		t.Fatalf("a row's menu has %v", b.Menu.Items)
	}
	b.Menu.Items[i].Do()
	if c := p.Scope.Calls; c == nil || c.Text != "*[tenant=7]" {
		t.Errorf("selected is %v", c)
	}
	if got := b.total(); got != "100000" {
		t.Errorf("the calls of 7 have %s", got)
	}
}
