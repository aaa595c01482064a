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

// VerdictHeight is that of the row above a comparison's panels, in dp.
const VerdictHeight = 26

// Verdict is the row that says what a comparison came to. Its numbers lead to where
// they are seen.
type Verdict struct {
	of    *session.CompareAnswer
	parts []verdict.Part
	areas []widget.ClickArea
	// Links are where its links lie in the last frame, in their order.
	Links []image.Rectangle
}

// Parts are what it says.
func (v *Verdict) Parts() []verdict.Part { return slices.Clone(v.parts) }

// Text returns its sentences, "" where there are none.
func (v *Verdict) Text() string {
	var s strings.Builder
	for i := range v.parts {
		s.WriteString(v.parts[i].Text)
	}
	return s.String()
}

// Update works the sentence out anew where there is another answer.
func (v *Verdict) Update(a *session.CompareAnswer) {
	if v.of == a {
		return
	}
	if v.of, v.parts = a, nil; a != nil && a.Functions != nil {
		v.parts = verdict.Parts(a.Compared, a.Functions)
	}
}

// Layout draws the row in r and takes clicks on it.
func (v *Verdict) Layout(h *panel.Host, u *ui.UI, c *Comparison, r image.Rectangle) {
	th := u.Theme
	v.Update(c.Answer())
	v.Links = v.Links[:0]
	u.Fill(r, th.Background)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	x, end := r.Min.X+u.Px(14), r.Max.X-u.Px(14)
	n, over := 0, x-end
	for i := range v.parts {
		over += u.Measure(v.parts[i].Text, style(th, &v.parts[i])).X
	}
	for i := range v.parts {
		p := &v.parts[i]
		st, text := style(th, p), p.Text
		w := u.Measure(text, st).X
		if over > 0 && p.Name { // names are long; rather than all of them, the end of the text goes
			text = h.Fonts.Medium(st.Size*u.Metric.PxPerDp).Fit(text, float32(max(w-over, min(w, u.Px(120)))))
			over -= w - u.Measure(text, st).X
			w = u.Measure(text, st).X
		}
		if x+w > end {
			u.Text(image.Rect(x, r.Min.Y, end, r.Max.Y), text, st)
			break
		}
		box := image.Rect(x, r.Min.Y, x+w, r.Max.Y)
		if p.To != verdict.Nowhere {
			for len(v.areas) <= n {
				v.areas = append(v.areas, widget.ClickArea{})
			}
			clicked, hovered := v.areas[n].Clicked(u, box)
			line := th.Rule
			if n++; hovered {
				st.Color, line = th.Accent, th.Accent
			}
			y := (r.Min.Y+r.Max.Y)/2 + u.Px(9)
			u.HLine(box.Min.X, box.Max.X, y, line)
			v.Links = append(v.Links, box)
			if clicked {
				c.goTo(v.of, p)
				h.Wake()
			}
		}
		u.Text(image.Rect(box.Min.X, box.Min.Y, box.Max.X+u.Px(4), box.Max.Y), text, st)
		x += w
	}
}

// style is how a part is written: what leads somewhere stands out.
func style(th *theme.Theme, p *verdict.Part) ui.Style {
	if p.To == verdict.Nowhere {
		return ui.Style{Size: 12.5, Color: th.Dim}
	}
	return ui.Style{Size: 12.5, Color: th.Text, Weight: ui.Medium}
}

// goTo shows what a part of the verdict says.
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
	case verdict.Function:
		c.Zoom = nil
		c.Choose(a, FunctionKey(a, p.Row))
		if c.now() != Table {
			c.show(Difference)
		}
	}
}

// setMetric compares another metric of the event.
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

// now is the tab that is shown; of parts of one recording it is the recording's.
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
