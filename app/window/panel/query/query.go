// Package query implements the panel that answers questions in SQL: a text field, and below
// it the answer as a table or a chart whose rows lead to the timeline.
package query

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"gioui.org/io/event"
	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/sql"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel asks the query of the view, which is the one last run.
type Panel struct {
	field
	table
	chart       chart
	run, cancel gio.Clickable
	load, save  gio.Clickable
	kind        widget.Segments
	work        session.Async[asked, *answer]
	asks        bool      // a key outside of the text field runs the query
	again       int       // distinguishes a query from the same one run before
	stopped     asked     // the query that was cancelled
	began       time.Time // when the running query was first seen running
	running     asked
}

// asked identifies a run of a query.
type asked struct {
	rec   *recording.Recording
	query string
	again int
}

// answer is the result of a query, or an error.
type answer struct {
	*sql.Result
	err     error
	took    time.Duration // between the frames at which it was asked and shown
	leads   *sql.Leads
	numeric []bool
	points  points
}

// mostRows is the largest number of rows in an answer.
const mostRows = 100_000

// ask answers a query. Only a cancelled query returns an error: others are part of the
// answer.
func ask(ctx context.Context, k asked) (*answer, error) {
	set := relation.New(k.rec)
	r, err := sql.Run(ctx, []sql.Source{{Name: relation.Names([]string{k.rec.Source.Path})[0], Set: set}}, k.query, sql.Limits{Rows: mostRows})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	a := &answer{Result: r, err: err}
	if err == nil {
		a.leads = sql.NewLeads(r, k.rec, set)
		for c := range r.Columns {
			a.numeric = append(a.numeric, r.Numeric(c))
		}
		a.points = pointsOf(a)
	}
	return a, nil
}

// Stop cancels the running query.
func (t *Panel) Stop() { t.work.Stop() }

// update starts the view's query and returns the answer; nil while there is none. late
// reports whether a query is running for some time.
func (t *Panel) update(h *panel.Host, p *panel.Side, u *ui.UI) (a *answer, late bool) {
	k := asked{p.Rec, p.SQL, t.again}
	if p.SQL == "" || !p.Rec.Done || k == t.stopped {
		t.running = asked{}
		if p.SQL == "" {
			return nil, false
		}
		a, of, _ := t.work.Last()
		if of.query != p.SQL {
			a = nil
		}
		return a, false
	}
	a, of, ok := t.work.Ask(k, h.Do.Wake, func(ctx context.Context) (*answer, error) { return ask(ctx, k) })
	if ok && of == k {
		if t.running == k {
			a.took = u.Now.Sub(t.began)
		}
		t.running = asked{}
		return a, false
	}
	if t.running != k {
		t.running, t.began = k, u.Now
	}
	h.WakeAt(u.Now.Add(signDelay))
	if of.query != k.query || of.rec != k.rec {
		a = nil
	}
	return a, u.Now.Sub(t.began) >= signDelay
}

// signDelay is the time after which a running query shows a sign that it goes on.
const signDelay = 100 * time.Millisecond

// seconds describes how long a person waited.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// start runs the query in the field.
func (t *Panel) start(h *panel.Host, p *panel.Side) {
	text := strings.TrimSpace(t.Text())
	if p.SQL, t.seen = text, text; text == "" {
		return
	}
	t.again++
	t.row, t.Down, t.across = 0, 0, 0
	if h.Queries != nil {
		h.Queries.RanQuery(text)
	}
}

// Layout draws the panel.
func (t *Panel) Layout(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	if t.field.keys(u) || t.asks {
		t.asks = false
		t.start(h, p)
	}
	t.field.update(p, u)
	if u.Focused(&t.field.Editor) {
		u.Take(&t.field.Editor) // keys go to this panel once Escape has left the field
	}
	t.buttons(h, p, u, r)
	a, late := t.update(h, p, u)
	pad := u.Px(16)
	top := r.Min.Y + u.Px(36)
	box := image.Rect(r.Min.X+pad, top, r.Max.X-pad, top+t.field.height(u, r.Dy()))
	t.field.layout(h, p, u, box, problem(a))
	line := image.Rect(box.Min.X, box.Max.Y+u.Px(2), box.Max.X, box.Max.Y+u.Px(24))
	if a != nil && a.err != nil {
		line.Max.Y = min(r.Max.Y, line.Min.Y+u.Px(20*errorLines)) // below it is nothing
	}
	t.status(p, u, line, a, late)
	body := image.Rect(r.Min.X, line.Max.Y, r.Max.X, r.Max.Y)
	switch {
	case a == nil && p.SQL == "":
		widget.Empty(u, body, "Query the recording with SQL", "Tables: spans, samples, stacks, calls, functions, threads, states. Queries lists questions to start from, and Help explains the tables")
	case a == nil || a.err != nil || body.Dy() < u.Px(2*widget.RowHeight):
	case len(a.Rows) == 0:
		widget.Empty(u, body, "No rows", "No row of the recording meets the conditions of the query")
	case p.Chart:
		if row, ok := t.chart.layout(h, u, body, a); ok {
			t.row = row
			t.lead(p, a, row)
		}
	default:
		t.table.layout(h, u, body, a, func(row int) { t.lead(p, a, row) }, func(at image.Point, row int) {
			h.Menu = widget.NewMenu(at, t.items(h, p, a, row))
		})
	}
}

// buttons draws the controls above the text field.
func (t *Panel) buttons(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	x, y := r.Min.X+u.Px(16), r.Min.Y+u.Px(5)
	if t.running != (asked{}) {
		x += u.Button(&t.cancel, x, y, 0, "Cancel", false) + u.Px(8)
	} else {
		x += u.Button(&t.run, x, y, 0, "Run", true) + u.Px(8)
	}
	if t.run.Clicked(u.Context) {
		t.start(h, p)
	}
	if t.cancel.Clicked(u.Context) {
		t.stop()
	}
	x += u.Choice(&t.load, x, y, "Queries", 0) + u.Px(6)
	if t.load.Clicked(u.Context) {
		t.open(h, p)
	}
	x += u.Button(&t.save, x, y, 0, "Save", false) + u.Px(8)
	if t.save.Clicked(u.Context) {
		t.saveAs(h)
	}
	words := []string{"Table", "Chart"}
	if i := t.kind.Layout(u, max(x, r.Max.X-u.Px(16)-t.kind.Width(u, words)), y+u.Px(2), words, panel.Index(p.Chart)); i >= 0 {
		p.Chart = i == 1
	}
}

// stop cancels the running query; the answer before it stays.
func (t *Panel) stop() {
	t.stopped = t.running
	t.work.Cancel()
}

// errorLines is the maximum number of lines of an error.
const errorLines = 4

// status describes the answer below the text field.
func (t *Panel) status(p *panel.Side, u *ui.UI, r image.Rectangle, a *answer, late bool) {
	st := ui.Style{Size: 12, Color: u.Theme.Dim}
	text := ""
	switch {
	case !p.Rec.Done && p.SQL != "":
		text = "Runs when the recording is loaded"
	case t.stopped == (asked{p.Rec, p.SQL, t.again}) && p.SQL != "":
		text = "Cancelled"
	case late:
		text = "Running… " + seconds(u.Now.Sub(t.began))
	case p.SQL == "":
		text = "Ctrl-Return runs the query"
	case a == nil:
	case a.err != nil:
		st.Color, st.Lines = u.Theme.Warn, errorLines
		text = a.err.Error()
	default:
		text = units.Plural(int64(len(a.Rows)), "row")
		if a.Cut {
			text = "First " + text
		}
		if a.took >= signDelay {
			text += " · " + seconds(a.took)
		}
		if a.leads.Any() && len(a.Rows) > 0 {
			text += map[bool]string{false: " · click a row or press Return to go there", true: " · click a dot to go there"}[p.Chart]
		}
	}
	if text != "" && strings.TrimSpace(t.Text()) != p.SQL && p.SQL != "" && !late && t.running == (asked{}) && (a == nil || a.err == nil) {
		text += " · changed since, Ctrl-Return runs it"
	}
	u.Text(r, text, st)
}

// problem returns the error of an answer that has a place in the query.
func problem(a *answer) *sql.Error {
	var e *sql.Error
	if a != nil && errors.As(a.err, &e) && e.At >= 0 {
		return e
	}
	return nil
}

// lead goes to what a row is about.
func (t *Panel) lead(p *panel.Side, a *answer, row int) {
	l := a.leads.Of(a.Rows[row])
	of := p.Doc.Answer()
	switch l.Kind {
	case sql.SpanLead:
		p.Actions.Show(search.Hit{Track: l.Track, Lane: l.Lane, Index: l.Index, Time: l.From, Call: l.Call})
	case sql.TimeLead:
		if l.Track != recording.NoTrack {
			p.Actions.GoToTrack(l.Track)
		}
		around := max((l.To-l.From)/4, 1)
		if l.From == l.To {
			around = max((p.View.To-p.View.From)/2, 1)
		}
		p.Fit(l.From-around, l.To+around)
	case sql.CallLead:
		if !p.Counts(of) {
			return
		}
		var path []recording.FuncName
		for _, c := range p.Rec.Calls.Path(nil, l.Call) {
			path = append(path, p.Rec.Functions.Ref(int(p.Rec.Func(c))).FuncName())
		}
		if n, whole := panel.NodeAt(of.Rec, of.Tree, path); whole && n > 0 {
			p.Pick = panel.Picked{Kind: panel.PickNode, Node: int32(n), Tree: of.Tree, Fn: of.Tree.Nodes[n].Func}
			return
		}
		t.pick(p, of, p.Rec.Func(l.Call))
	case sql.FunctionLead:
		t.pick(p, of, l.Function)
	default:
		p.Actions.Say("This row has no time, call or function to go to")
	}
}

// pick selects a function, even if the flamegraph does not have it.
func (t *Panel) pick(p *panel.Side, of *session.Answer, f recording.FuncID) {
	p.Pick = panel.Picked{Kind: panel.PickFunc, Fn: f}
	if p.Counts(of) {
		p.PickFunction(of, f)
	}
}

// Table returns the answer, its rows as they are listed.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	a, of, ok := t.work.Last()
	if !ok || a.err != nil || of.query != p.SQL {
		return nil
	}
	rows := slices.Clone(a.Rows)
	for i := range rows {
		rows[i] = a.Rows[t.rowAt(a, i)]
	}
	return func() *tables.Grid {
		g := &tables.Grid{Name: "query", Head: a.Columns, Number: a.numeric, Rows: make([][]string, len(rows))}
		for i, row := range rows {
			for _, v := range row {
				g.Rows[i] = append(g.Rows[i], v.String())
			}
		}
		return g
	}
}

// Areas returns the areas that focus the panel when clicked.
func (t *Panel) Areas() []event.Tag {
	return []event.Tag{&t.table.Drag, &t.chart.Drag, &t.field.Editor}
}
