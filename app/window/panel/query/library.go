package query

import (
	"strings"
	"sync"

	"ashlar/app/core/manual"
	"ashlar/app/core/settings"
	"ashlar/app/window/panel"
	"ashlar/render/widget"
)

// examples are the questions of the manual with their queries.
var examples = sync.OnceValue(func() (all []settings.Query) {
	page, _ := manual.Find("querying")
	title := ""
	for _, b := range page.Blocks {
		switch {
		case b.Kind == manual.Heading && b.Level == 3:
			title = b.Text.String()
		case b.Kind == manual.Heading:
			title = ""
		case b.Kind == manual.Code && title != "":
			all = append(all, settings.Query{Name: title, SQL: strings.Join(b.Lines, "\n")})
			title = ""
		}
	}
	return all
})

// open lists the saved queries, the questions of the manual and the queries run last.
func (t *Panel) open(h *panel.Host, p *panel.Side) {
	var lines []widget.Line
	use := func(query string) {
		h.Chooser = nil
		t.put(query)
		t.focus = true
	}
	add := func(title, detail, query string) {
		lines = append(lines, widget.Line{Title: title, Detail: detail, Take: func() { use(query) }})
	}
	var ran []string
	if h.Queries != nil {
		var saved []settings.Query
		saved, ran = h.Queries.Queries()
		for _, q := range saved {
			add(q.Name, "saved", q.SQL)
		}
	}
	for _, q := range examples() {
		lines = append(lines, widget.Line{Title: q.Name, Detail: "question", Take: func() {
			query, name := fillIn(p, q.SQL)
			use(query)
			t.selectText("'"+name+"'", 1)
		}})
	}
	for _, sql := range ran {
		add(strings.Join(strings.Fields(sql), " "), "run before", sql)
	}
	h.OpenChooser(widget.NewChooser("Saved queries, questions and queries run before", "", func(text string) (found []widget.Line) {
		for _, l := range lines {
			if widget.HasWords(l.Title+" "+l.Detail, text) {
				found = append(found, l)
			}
		}
		return found
	}))
}

// saveAs asks for a name under which to save the query, and for queries to delete.
func (t *Panel) saveAs(h *panel.Host) {
	query := strings.TrimSpace(t.Text())
	if h.Queries == nil || query == "" {
		h.Say("There is no query to save")
		return
	}
	store := func(q settings.Query, done string) func() {
		return func() {
			h.Chooser = nil
			if err := h.Queries.SaveQuery(q); err != nil {
				h.Say(err.Error())
				return
			}
			h.Say(done + " " + q.Name)
		}
	}
	h.OpenChooser(widget.NewChooser("Name of the query", "", func(text string) (lines []widget.Line) {
		saved, _ := h.Queries.Queries()
		name, known := strings.TrimSpace(text), false
		for _, q := range saved {
			if widget.HasWords(q.Name, text) {
				lines = append(lines, widget.Line{Title: "Replace " + q.Name, Take: store(settings.Query{Name: q.Name, SQL: query}, "Saved")})
			}
			known = known || q.Name == name
		}
		if name != "" && !known {
			lines = append([]widget.Line{{Title: "Save as " + name, Take: store(settings.Query{Name: name, SQL: query}, "Saved")}}, lines...)
		}
		for _, q := range saved {
			if widget.HasWords(q.Name, text) {
				lines = append(lines, widget.Line{Title: "Delete " + q.Name, Dim: true, Take: store(settings.Query{Name: q.Name}, "Deleted")})
			}
		}
		return lines
	}))
}
