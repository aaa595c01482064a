package comparison

import (
	"image"
	"slices"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/core/verdict"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/compare"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// VerdictHeight is the height of a one-line verdict above a comparison's panels, in dp.
const VerdictHeight = 26

// Verdict is the row that summarizes a comparison. Its numbers link to the places where
// they are shown.
type Verdict struct {
	of    *session.CompareAnswer
	parts []verdict.Part
	areas []widget.ClickArea
	// Links are the areas of the links in the last frame, in order.
	Links []image.Rectangle
}

// Parts returns the parts of the sentence.
func (v *Verdict) Parts() []verdict.Part { return slices.Clone(v.parts) }

// Text returns its sentences, "" if there are none.
func (v *Verdict) Text() string {
	var s strings.Builder
	for i := range v.parts {
		s.WriteString(v.parts[i].Text)
	}
	return s.String()
}

// Update rebuilds the sentence if the answer has changed.
func (v *Verdict) Update(a *session.CompareAnswer) {
	if v.of == a {
		return
	}
	if v.of, v.parts = a, nil; a != nil && a.Functions != nil {
		v.parts = verdict.Parts(a.Compared, a.Functions)
	}
}

// piece is a section of a line: a part of the verdict, or some of its words.
type piece struct {
	part *verdict.Part
	text string
	x, w int
}

// lines wraps the sentences to a width, in at most mostLines lines.
func (v *Verdict) lines(h *panel.Host, u *ui.UI, width int) (lines [][]piece) {
	x := 0
	line := []piece{}
	var put func(p *verdict.Part, text string)
	put = func(p *verdict.Part, text string) {
		st := style(u.Theme, p)
		w := u.Measure(text, st).X
		if at := breakBefore(line, text); at > 0 && x+w > width && strings.TrimSpace(text) != "" {
			rest := append(slices.Clone(line[at:]), piece{part: p, text: text})
			lines, line, x = append(lines, line[:at]), []piece{}, 0
			for _, pc := range rest {
				if x == 0 && pc.part.To == verdict.Nowhere {
					pc.text = strings.TrimLeft(pc.text, " ")
				}
				put(pc.part, pc.text)
			}
			return
		}
		if w > width {
			text = h.Fonts.Medium(st.Size*u.Metric.PxPerDp).Fit(text, float32(width))
			w = u.Measure(text, st).X
		}
		line = append(line, piece{p, text, x, w})
		x += w
	}
	for i := range v.parts {
		p := &v.parts[i]
		if p.To != verdict.Nowhere || p.Name {
			text := p.Text
			if p.Name { // names are long; the row needs room for more than one
				st := style(u.Theme, p)
				text = h.Fonts.Medium(st.Size*u.Metric.PxPerDp).Fit(text, float32(max(width/3, u.Px(120))))
			}
			put(p, text)
			continue
		}
		for _, word := range strings.SplitAfter(p.Text, " ") {
			put(p, word)
		}
	}
	lines = append(lines, line)
	if len(lines) > mostLines {
		lines = lines[:mostLines]
		last := &lines[mostLines-1][len(lines[mostLines-1])-1]
		last.text = strings.TrimRight(last.text, " ") + "…"
	}
	return lines
}

// breakBefore returns the piece that begins the next line if a text after the pieces does not
// fit: the last one after a blank, since a line begins with no comma and no %. It is 0 if the line
// cannot be broken.
func breakBefore(line []piece, text string) int {
	at := len(line)
	for ; at > 0; at-- {
		before := line[at-1].text
		if (strings.HasSuffix(before, " ") || strings.HasPrefix(text, " ")) && !strings.HasPrefix(text, "%") {
			break
		}
		text = before
	}
	return at
}

// mostLines is the maximum number of lines of the verdict; lineHeight is the height of
// each line after the first, in dp.
const (
	mostLines  = 4
	lineHeight = 18
)

// Height returns the height of the row at a width.
func (v *Verdict) Height(h *panel.Host, u *ui.UI, c *Comparison, width int) int {
	v.Update(c.Answer())
	return u.Px(VerdictHeight) + (len(v.lines(h, u, width-2*u.Px(14)))-1)*u.Px(lineHeight)
}

// Layout draws the row in r and handles clicks on it.
func (v *Verdict) Layout(h *panel.Host, u *ui.UI, c *Comparison, r image.Rectangle) {
	th := u.Theme
	v.Update(c.Answer())
	v.Links = v.Links[:0]
	u.Fill(r, th.Background)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	left, top := r.Min.X+u.Px(14), r.Min.Y
	n := 0
	for _, line := range v.lines(h, u, r.Dx()-2*u.Px(14)) {
		bottom := top + u.Px(VerdictHeight)
		for _, pc := range line {
			p, st := pc.part, style(th, pc.part)
			box := image.Rect(left+pc.x, top, left+pc.x+pc.w, bottom)
			if p.To != verdict.Nowhere {
				for len(v.areas) <= n {
					v.areas = append(v.areas, widget.ClickArea{})
				}
				area := box
				area.Min.Y, area.Max.Y = (top+bottom)/2-u.Px(9), (top+bottom)/2+u.Px(9)
				clicked, hovered := v.areas[n].Clicked(u, area)
				under := th.Rule
				if n++; hovered {
					st.Color, under = th.Accent, th.Accent
				}
				u.HLine(box.Min.X, box.Max.X, area.Max.Y, under)
				v.Links = append(v.Links, area)
				if clicked {
					c.goTo(v.of, p)
					h.Wake()
				}
			}
			u.Text(image.Rect(box.Min.X, box.Min.Y, box.Max.X+u.Px(4), box.Max.Y), pc.text, st)
		}
		top += u.Px(lineHeight)
	}
}

// style returns the style of a part: links stand out.
func style(th *theme.Theme, p *verdict.Part) ui.Style {
	if p.To == verdict.Nowhere {
		return ui.Style{Size: 12.5, Color: th.Dim}
	}
	return ui.Style{Size: 12.5, Color: th.Text, Weight: ui.Medium}
}

// goTo shows the place that a part of the verdict refers to.
func (c *Comparison) goTo(a *session.CompareAnswer, p *verdict.Part) {
	switch p.To {
	case verdict.Totals:
		c.Zoom, c.Down = nil, 0
		c.Choose(nil, -1)
		c.show(Difference)
	case verdict.PerSecond:
		c.Options.Normalize = compare.Duration
	case verdict.CPU:
		c.setMetric("cpu")
	case verdict.Waiting:
		c.setMetric("waiting")
	case verdict.Branch:
		c.Zoom = nil
		c.Choose(a, a.Compared.Tree.Nodes[p.Node].Func)
		c.Node = int32(p.Node)
		c.show(Difference)
	case verdict.Function, verdict.Total:
		c.Zoom = nil
		c.Choose(a, FunctionKey(a, p.Row))
		if c.now() != Table {
			c.show(Difference)
		}
	}
}

// setMetric switches to another metric of the event.
func (c *Comparison) setMetric(name string) {
	s := c.Sides[0]
	if s.Event >= len(s.Rec.Events) {
		return
	}
	if i := s.Rec.Events[s.Event].Metric(name); i >= 0 {
		if s.Metric = i; !c.OneRecording {
			for _, it := range c.MetricItems() {
				if it.Title == MetricTitle(&s.Rec.Events[s.Event], i) {
					it.Do()
				}
			}
		}
	}
}

// now returns the current tab; for parts of one recording it is the recording's tab.
func (c *Comparison) now() string {
	if c.OneRecording {
		return c.Sides[0].Tab
	}
	return c.Tab
}

func (c *Comparison) show(tab string) {
	if c.OneRecording {
		c.Sides[0].Tab = tab
	}
	c.Tab = tab
}
