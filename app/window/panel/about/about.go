// Package about implements the panel with a file's metadata, contents and warnings.
package about

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel shows the metadata, contents and warnings of the file.
type Panel struct {
	widget.Drag
	scroll, height int
}

type fact struct{ key, value string }

// mostMappings is the maximum number of mappings listed.
const mostMappings = 5

func facts(rec *recording.Recording) []fact {
	s, c := &rec.Source, &rec.Counts
	fs := []fact{
		{"File", s.Path},
		{"Format", panel.Join(ingest.Title(s.Format), s.Version)},
	}
	if s.Bytes >= 0 {
		fs = append(fs, fact{"Size", units.Bytes(s.Bytes)})
	}
	if s.Compression != "" && s.Compression != "none" {
		fs = append(fs, fact{"Compression", s.Compression})
	}
	for _, f := range []fact{{"Opened part", rec.Part.String()}, {"Recorded by", s.Tool}, {"Command", s.Command}} {
		if f.value != "" {
			fs = append(fs, f)
		}
	}
	for _, n := range s.Notes {
		fs = append(fs, fact{panel.KeyTitle(n.Key), n.Value})
	}
	for i := range s.Mappings[:min(mostMappings, len(s.Mappings))] {
		m := &s.Mappings[i]
		fs = append(fs, fact{"Mapping", panel.Join(panel.Join(m.File, m.Range()), m.Known())})
	}
	if n := len(s.Mappings) - mostMappings; n > 0 {
		fs = append(fs, fact{"More mappings", units.Count(int64(n))})
	}
	if len(s.FrameTypes) > 0 {
		fs = append(fs, fact{"Frame types", strings.Join(s.FrameTypes, ", ")})
	}
	if rec.HasTime {
		fs = append(fs, fact{"From", rec.Clock.Text(rec.Start) + " " + rec.Clock.Unit},
			fact{"To", rec.Clock.Text(rec.End) + " " + rec.Clock.Unit},
			fact{"Length", units.Duration(rec.Duration())})
	}
	for _, n := range []struct {
		title string
		n     int64
	}{{"Spans", c.Spans}, {"Unfinished", c.Unfinished}, {"Samples", c.Samples}, {"Stacks", c.Stacks}, {"Stack pairs", rec.Pairs()}, {"Windows", c.Windows},
		{"Instants", c.Instants}, {"Counters", c.Counters}, {"Flows", c.Flows}, {"Functions", c.Functions}, {"Frames", c.Frames},
	} {
		if n.n > 0 {
			fs = append(fs, fact{n.title, units.Count(n.n)})
		}
	}
	for _, k := range rec.TrackKinds() {
		fs = append(fs, fact{panel.Title1(k.Kind) + "s", units.Count(k.Count)})
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		if e.Note != "" {
			fs = append(fs, fact{e.Title(), panel.Join(e.Kind, "· ") + e.Note})
		}
		for k := range e.Metrics {
			m := &e.Metrics[k]
			fs = append(fs, fact{e.Title() + " · " + e.MetricTitle(k), units.Bound(m) + units.Exact(m.Total, m)})
		}
	}
	return fs
}

// Layout draws the page into r: metadata at the left; warnings and the ledger at the
// right, or below if there is not enough room.
func (t *Panel) Layout(_ *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	for {
		g, e, ok := t.Next(u, r.Min)
		if !ok {
			break
		}
		t.Scrolls(u, g, e, &t.scroll)
	}
	t.scroll = max(0, min(t.scroll, t.height-r.Dy()))
	th := u.Theme
	u.At(r, func(u *ui.UI) {
		y := u.Px(12) - t.scroll
		half := min(r.Dx()*2/5, u.Px(440))
		narrow := half < u.Px(250)
		if narrow {
			half = r.Dx() - u.Px(16)
		}
		const lines = 4 // maximum lines of a long value
		for _, f := range facts(p.Rec) {
			h := u.Px(lines*16 + 4)
			key := u.Text(ui.Rect(u.Px(16), y, u.Px(126), h), f.key, ui.Style{Size: 12, Color: th.Dim, Lines: lines})
			value := u.Text(image.Rect(u.Px(150), y, half, y+h), f.value, ui.Style{Size: 12, Color: th.Text, Lines: lines})
			y += max(u.Px(21), key.Y+u.Px(5), value.Y+u.Px(5))
		}
		left := y
		x := half + u.Px(24)
		if y = u.Px(12) - t.scroll; narrow {
			x, y = u.Px(16), left+u.Px(12)
		}
		y = t.warnings(p, u, x, y, r.Dx()-u.Px(16))
		y = t.ledger(p, u, x, y+u.Px(12), r.Dx()-u.Px(16))
		t.height = max(left, y) + t.scroll + u.Px(20)
	})
	t.Area(u, r, pointer.CursorDefault)
}

func (t *Panel) warnings(p *panel.Side, u *ui.UI, x, y, right int) int {
	th := u.Theme
	title, _ := p.Rec.Warned()
	if title == "" {
		title = "No warnings"
	}
	u.Text(image.Rect(x, y, right, y+u.Px(20)), title, ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text})
	y += u.Px(24)
	for i := range p.Rec.Warnings {
		w := &p.Rec.Warnings[i]
		mark := th.Warn
		if w.Minor {
			mark = th.Rule
		}
		u.Fill(ui.Rect(x, y+u.Px(2), u.Px(3), u.Px(14)), mark)
		text := w.Text
		if w.First != "" {
			text = w.First + ": " + text
		}
		if w.Count > 1 {
			text += "  (" + units.Count(w.Count) + " times)"
		}
		sz := u.Text(image.Rect(x+u.Px(10), y, right, y+u.Px(56)), text, ui.Style{Size: 12, Color: th.Text, Lines: 3})
		y += max(u.Px(20), sz.Y+u.Px(6))
	}
	return y
}

// ledger draws a table of record counts: read, kept, repaired and skipped. Repaired
// records are among the kept ones; kept and skipped add up to read.
func (t *Panel) ledger(p *panel.Side, u *ui.UI, x, y, right int) int {
	if len(p.Rec.Ledger) == 0 {
		return y
	}
	th := u.Theme
	u.Text(image.Rect(x, y, right, y+u.Px(20)), "Records", ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text})
	y += u.Px(22)
	col := func(i int) image.Rectangle { return ui.Rect(x+u.Px(120)+i*u.Px(88), y, u.Px(84), u.Px(20)) }
	below := right-x < u.Px(120+4*88) // numbers go below their labels
	if below {
		col = func(i int) image.Rectangle { return ui.Rect(x+i*(right-x)/4, y, (right-x)/4, u.Px(20)) }
	}
	for i, h := range []string{"read", "kept", "repaired", "skipped"} {
		u.Text(col(i), h, ui.Style{Size: 11.5, Color: th.Dim, Align: ui.End})
	}
	y += u.Px(20)
	for i := range p.Rec.Ledger {
		l := &p.Rec.Ledger[i]
		if below {
			u.Text(image.Rect(x, y, right, y+u.Px(20)), l.Kind, ui.Style{Size: 12, Color: th.Dim})
			y += u.Px(16)
		} else {
			u.Text(ui.Rect(x, y, u.Px(118), u.Px(20)), l.Kind, ui.Style{Size: 12, Color: th.Dim})
		}
		for k, n := range []int64{l.Read, l.Kept, l.Repaired, l.LeftOut} {
			c := th.Text
			if n == 0 {
				c = th.Faint
			} else if k > 1 {
				c = th.Warn
			}
			u.Text(col(k), units.Count(n), ui.Style{Size: 12, Color: c, Align: ui.End})
		}
		y += u.Px(20)
	}
	return y
}

// Key scrolls the page.
func (t *Panel) Key(p *panel.Side, k key.Event, row int) bool {
	return widget.ScrollKey(&t.scroll, k, row, p.Bounds.Lower.Dy())
}

// Areas returns the areas that focus the panel when clicked.
func (t *Panel) Areas() []event.Tag { return []event.Tag{&t.Drag} }
