package shell

import (
	"slices"

	"ashlar/app/address"
	"ashlar/app/store"
	"ashlar/render/units"
)

// markable lists what could be marked now, what is most likely meant first: the
// function under the pointer in the lower half, the selected time, the moment
// under the pointer, what is picked.
func (p *pane) markable() (places []address.Place) {
	moment := func(t int64) { places = append(places, address.Place{From: t - p.rec.Start, To: t - p.rec.Start}) }
	f, picked := p.pickedFunction()
	if n := p.flame.under; n > 0 && p.flame.tree != nil && p.flame.inside {
		f, picked = p.flame.tree.Function(p.rec, int(n)), false
		name := nameOf(f)
		places = append(places, address.Place{Func: &name})
	}
	if p.sel.ranged {
		places = append(places, address.Place{From: p.sel.from - p.rec.Start, To: p.sel.to - p.rec.Start})
	}
	if p.timed() {
		t := &p.timeline
		switch x := int(t.at.X) - p.bounds.gutter; {
		case t.inside && x >= 0:
			moment(p.timeline.timeAt(p, t.at.X))
		case t.rulerArea.inside && int(t.rulerArea.at.X) >= p.bounds.gutter:
			moment(p.timeline.timeAt(p, t.rulerArea.at.X))
		case p.pick.is == pickBar:
			moment(p.pick.hit.Start)
		default:
			moment(p.view.From + p.view.Span()/2)
		}
	}
	if picked {
		name := nameOf(f)
		places = append(places, address.Place{Func: &name})
	}
	return places
}

// askMark asks for a note and what it is on.
func (s *Shell) askMark() {
	p := s.pane
	places := p.markable()
	if len(places) == 0 {
		s.Say("Select a function first: click a bar or a row")
		return
	}
	var c *chooser
	c = newChooser("A note; may be empty", "", func(string) []line {
		var ls []line
		for _, at := range places {
			l := line{title: "Mark " + placeText(at), take: func(s *Shell) {
				s.chooser = nil
				m := store.NewMark(at, c.editor.Text())
				p.marks.add(m)
				p.marks.at = m.ID
				if p.path == "-" {
					s.Say("What comes from standard input has no file: its marks last as long as this window")
				}
			}}
			switch {
			case at.Func != nil:
				l.detail = "function"
			case at.From != at.To:
				l.detail = "range of " + units.Duration(at.To-at.From)
			default:
				l.detail = "moment"
			}
			ls = append(ls, l)
		}
		return ls
	})
	c.rows = len(places)
	s.choose(c)
}

// chooseMark lists the marks to do something with one.
func (s *Shell) chooseMark(hint string, do func(*pane, *Shell, store.Mark)) {
	p := s.pane
	if len(p.marks.all) == 0 {
		s.Say("There are no marks yet; B makes one")
		return
	}
	s.choose(newChooser(hint, "", func(text string) []line {
		var ls []line
		for _, m := range p.marks.sorted() {
			l := line{title: m.Text, detail: placeText(m.Place), take: func(s *Shell) {
				s.chooser = nil
				do(p, s, m)
			}}
			if l.title == "" {
				l.title, l.dim = "(no note)", true
			}
			if likeWords(l.title+" "+l.detail, text) {
				ls = append(ls, l)
			}
		}
		return ls
	}))
}

// renameMark asks for another text.
func (p *pane) renameMark(s *Shell, m store.Mark) {
	c := newChooser("What the note says", m.Text, func(text string) []line {
		return []line{{title: "Mark " + placeText(m.Place), take: func(s *Shell) {
			s.chooser = nil
			p.marks.all = slices.Clone(p.marks.all)
			if i := slices.IndexFunc(p.marks.all, func(o store.Mark) bool { return o.ID == m.ID }); i >= 0 {
				p.marks.all[i].Text = text
			}
		}}}
	})
	c.rows = 1
	s.choose(c)
}
