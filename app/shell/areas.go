package shell

import (
	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/render/ui"
	"ashlar/render/widget"
)

// The half below the timeline is an area for the keyboard; what keys do there
// is for the tab that is shown.

// lowerArea begins it and reports whether it shows that it has the keyboard.
func (p *pane) lowerArea(s *Host, u *ui.UI) bool {
	p.repick()
	var keys func(key.Event) bool
	if x, ok := p.panel().(Keyed[*Side]); ok {
		keys = func(k key.Event) bool { return x.Key(&p.Side, k, u.Px(widget.RowHeight)) }
	}
	var parts []event.Tag
	for _, x := range p.panels {
		if a, ok := x.(Areas); ok {
			parts = append(parts, a.Areas()...)
		}
	}
	return u.Area(&p.Tab, keys, parts...)
}

// menuByKey opens the menu of what is selected, where a key has asked for it.
func (p *pane) menuByKey(s *Shell, u *ui.UI) {
	if !p.wantMenu {
		return
	}
	p.wantMenu = false
	x, ok := p.panel().(Menued[*Side])
	if opened := ok && s.focus.In(&p.Tab) && x.Menu(&s.Host, &p.Side, u); !opened && p.timed() {
		p.timeline.menuOfPick(s, p, u)
	}
	if s.menu != nil {
		s.menu.Chosen = 0
	}
}
