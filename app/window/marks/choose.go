package marks

import (
	"slices"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// markable lists the places that can be marked now, most likely first: the function under
// the pointer in the lower half, the selected time, the moment under the pointer, the
// selected item.
func (p *Marks) markable() (places []view.Place) {
	moment := func(t int64) { places = append(places, view.Place{From: t - p.Rec.Start, To: t - p.Rec.Start}) }
	f, picked := p.PickedFunction()
	if p.Hover != nil && !p.Inside {
		picked = false
		places = append(places, view.Place{Func: new(p.Rec.Functions.At(int(*p.Hover)).FuncName())})
	}
	if p.Scope.Ranged {
		places = append(places, view.Place{From: p.Scope.From - p.Rec.Start, To: p.Scope.To - p.Rec.Start})
	}
	if p.Timed() {
		t := p
		switch x := int(t.At.X) - p.Bounds.Gutter; {
		case t.Inside && x >= 0:
			moment(p.TimeAt(t.At.X))
		case t.RulerArea.Inside && int(t.RulerArea.At.X) >= p.Bounds.Gutter:
			moment(p.TimeAt(t.RulerArea.At.X))
		case p.Pick.Kind == panel.PickBar:
			moment(p.Pick.Hit.Start)
		default:
			moment(p.View.From + p.View.Span()/2)
		}
	}
	if picked {
		name := f.FuncName()
		places = append(places, view.Place{Func: &name})
	}
	return places
}

// Ask asks for a note and the place to attach it to.
func (p *Marks) Ask(s *panel.Host) {
	places := p.markable()
	if len(places) == 0 {
		s.Say("Select a function first (click a bar or a row)")
		return
	}
	var c *widget.Chooser
	c = widget.NewChooser("Note (optional)", "", func(string) []widget.Line {
		var ls []widget.Line
		for _, at := range places {
			l := widget.Line{Title: "Mark " + at.String(), Take: func() {
				s.Chooser = nil
				m := view.NewMark(at, c.Editor.Text())
				p.Add(m)
				p.Flag = m.ID
				if p.Path == "-" {
					s.Say("Standard input has no file: its marks are lost when the window closes")
				}
			}}
			switch {
			case at.Func != nil:
				l.Detail = "function"
			case at.From != at.To:
				l.Detail = "range of " + units.Duration(at.To-at.From)
			default:
				l.Detail = "moment"
			}
			ls = append(ls, l)
		}
		return ls
	})
	c.Rows = len(places)
	s.OpenChooser(c)
}

// Choose lists the marks and calls do with the chosen one.
func (p *Marks) Choose(s *panel.Host, hint string, do func(*panel.Host, view.Mark)) {
	if len(p.Marks) == 0 {
		s.Say("No marks. Press B to add one")
		return
	}
	s.OpenChooser(widget.NewChooser(hint, "", func(text string) []widget.Line {
		var ls []widget.Line
		for _, m := range p.Sorted() {
			l := widget.Line{Title: m.Text, Detail: m.Place.String(), Take: func() {
				s.Chooser = nil
				do(s, m)
			}}
			if l.Title == "" {
				l.Title, l.Dim = "(no text)", true
			}
			if widget.HasWords(l.Title+" "+l.Detail, text) {
				ls = append(ls, l)
			}
		}
		return ls
	}))
}

// Rename asks for another text.
func (p *Marks) Rename(s *panel.Host, m view.Mark) {
	c := widget.NewChooser("Text of the mark", m.Text, func(text string) []widget.Line {
		return []widget.Line{{Title: "Mark " + m.Place.String(), Take: func() {
			s.Chooser = nil
			p.Marks = slices.Clone(p.Marks)
			if i := slices.IndexFunc(p.Marks, func(o view.Mark) bool { return o.ID == m.ID }); i >= 0 {
				p.Marks[i].Text = text
			}
		}}}
	})
	c.Rows = 1
	s.OpenChooser(c)
}
