package shell

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/ingest/spans"
)

// grid is a table on its way out of the window: exact values, for programs.
type grid struct {
	name string
	head []string
	rows [][]string
	// number tells which columns hold numbers.
	number []bool
}

// separated is the grid with a character between columns.
func (g *grid) separated(comma rune) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = comma
	line := make([]string, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, cell := range row {
			line[i] = plain.Cell(cell)
		}
		w.Write(line)
	}
	w.Flush()
	return b.String()
}

// json is a list of objects by the columns' names, in their order.
func (g *grid) json() string {
	var b bytes.Buffer
	text := func(s string) {
		j, err := json.Marshal(s)
		if err != nil {
			j = []byte(`""`) // no text is refused
		}
		b.Write(j)
	}
	b.WriteString("[")
	for i, row := range g.rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  {")
		for k, cell := range row {
			if k > 0 {
				b.WriteString(", ")
			}
			text(g.head[k])
			b.WriteString(": ")
			switch {
			case g.number[k] && cell == "":
				b.WriteString("null")
			case g.number[k] && json.Valid([]byte(cell)):
				b.WriteString(cell)
			default:
				text(cell)
			}
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]\n")
	return b.String()
}

// grid is the table of the tab that is shown, else that of functions; nil when
// there is no answer yet.
func (p *pane) grid() *grid { return p.gridding()() }

// gridding is grid for another goroutine: a table may have a million rows.
func (p *pane) gridding() func() *grid {
	a, rec, tab, shape := p.doc.Answer(), p.rec, p.Tab, p.table.tableShape
	return func() *grid {
		switch {
		case a == nil:
			return nil
		case tab == tabNear && a.Near != nil:
			return nearGrid(a)
		case tab == tabStats && a.Durations != nil:
			return slowGrid(rec, a.Durations)
		case tab == tabSource && a.Lines != nil:
			return sourceGrid(a)
		}
		d := arrange(orderKey{a, shape.by, shape.ascending})
		return tableGrid(a, d.rows, columnsOf(a, shape.hidden, d.modules))
	}
}

// nearGrid lists callers and callees.
func nearGrid(a *session.Answer) *grid {
	m := a.Metric()
	g := &grid{name: "callers and callees", head: []string{"relation", "function", "module", "self (" + m.Unit + ")", "total (" + m.Unit + ")", "count"},
		number: []bool{false, false, false, true, true, true}}
	value := func(v int64, scale int) string { return recording.Decimal{Mantissa: v, Scale: scale}.String() }
	add := func(relation string, rows []analyze.Row) {
		for i := range rows {
			r := &rows[i]
			g.rows = append(g.rows, []string{relation, r.Name, r.Module, value(r.Self, m.Decimals), value(r.Total, m.Decimals), value(r.Count, 0)})
		}
	}
	add("function", []analyze.Row{a.Near.Function})
	add("caller", a.Near.Callers)
	add("callee", a.Near.Callees)
	return g
}

// slowGrid lists the slowest calls, in nanoseconds.
func slowGrid(rec *recording.Recording, d *spans.Durations) *grid {
	g := &grid{name: "slowest calls", head: []string{"start (ns)", "duration (ns)", "process", "thread", "name"}, number: []bool{true, true, true, true, false}}
	ns := func(ps int64) string { return recording.Decimal{Mantissa: ps, Scale: 3}.String() }
	for i := range d.Slowest {
		s := &d.Slowest[i]
		t := rec.Tracks[s.Track]
		g.rows = append(g.rows, []string{ns(s.Start - rec.Start), ns(s.Duration), recording.IDText(t.PID), recording.IDText(t.TID), t.Name})
	}
	return g
}
