package details

import (
	"strings"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// labels sums up the labels of the selected item's stacks or, without a selection, of all
// stacks shown; known is false until the sums are computed. It asks the same question as
// the details, so that neither cancels the other.
func (p *Panel) labels() (keys []analyze.KeyValues, known bool) {
	a := p.Doc.Answer()
	h := &p.Pick.Hit
	switch {
	case p.Rec.Contexts.Len() < 2:
		return nil, true
	case p.Pick.Kind == panel.PickBar && h.Samples != nil && h.Samples.Event == p.Event:
		keys = p.Doc.CallContexts(p.Rec, p.Event, p.Metric, h.Track, h.Call)
	case a == nil:
		return nil, false
	case p.Pick.Kind == panel.PickNode && p.Pick.Tree == a.Tree:
		keys = p.Doc.NodeContexts(a, int(p.Pick.Node))
	default:
		keys = p.Doc.NodeContexts(a, 0)
	}
	return keys, keys != nil
}

// ChooseLabel lists the labels; choosing one keeps only the stacks that have it. The list
// begins with key unless it is "". The text may also be a condition; see analyze.Where.
func (p *Panel) ChooseLabel(s *panel.Host, key string) {
	if p.Rec.Contexts.Len() < 2 {
		s.Say("This recording has no labels")
		return
	}
	if key != "" {
		key += " = "
	}
	var c *widget.Chooser
	c = widget.NewChooser("Filter by label…", key, func(text string) []widget.Line {
		keys, known := p.labels()
		c.Filled = known // otherwise the list is filled again in the next frame
		var ls []widget.Line
		if t := analyze.Where(strings.TrimSpace(text)); t.Check() == nil && analyze.CheckWhere(p.Rec, t) == nil {
			ls = append(ls, p.labelLine(s, t, "", ""))
		}
		for _, k := range keys {
			if k.Key == "event" {
				continue // has its own control in the toolbar
			}
			var sum int64
			for _, v := range k.Values {
				sum += v.Weight
			}
			for _, v := range k.Values {
				if title := k.Key + " = " + v.Value; widget.HasWords(title, text) {
					ls = append(ls, p.labelLine(s, analyze.Where(k.Key+"="+v.Value), title, p.labelShare(v, sum)))
				}
			}
		}
		return ls
	})
	s.OpenChooser(c)
}

// labelShare returns a label's weight and its share of its key's weight.
func (p *Panel) labelShare(v analyze.ContextValue, sum int64) string {
	return units.Value(v.Weight, p.MetricOf()) + "  " + units.Percent(v.Weight, sum)
}

// labelLine turns a condition on or off.
func (p *Panel) labelLine(s *panel.Host, t analyze.Transform, title, detail string) widget.Line {
	l := widget.Line{Title: title, Detail: detail, Mark: widget.MarkOff, Take: func() {
		s.Chooser = nil
		p.Transform(t)
	}}
	if title == "" {
		l.Title = "Only " + t.String()
	}
	if p.HasTransform(t) {
		l.Mark = widget.MarkOn
	}
	return l
}

// LabelItems returns the menu items for the labels of the selected item.
func (p *Panel) LabelItems(s *panel.Host) []widget.Item {
	if p.Rec.Contexts.Len() < 2 || p.Event >= len(p.Rec.Events) || p.Rec.Events[p.Event].Basis == recording.FromSpans {
		return nil
	}
	return []widget.Item{{Title: "Filter by label…", Do: func() { p.ChooseLabel(s, "") }}}
}
