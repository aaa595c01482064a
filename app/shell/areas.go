package shell

import (
	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/app/panel"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// The half below the timeline is an area for the keyboard; what keys do there
// is for the tab that is shown.

// lowerArea begins it and reports whether it shows that it has the keyboard.
func (p *pane) lowerArea(s *Shell, u *ui.UI) bool {
	p.Repick()
	var keys func(key.Event) bool
	if x, ok := p.panel().(panel.Keyed[*panel.Side]); ok {
		keys = func(k key.Event) bool { return x.Key(&p.Side, k, u.Px(widget.RowHeight)) }
	}
	var parts []event.Tag
	for _, x := range p.panels {
		if a, ok := x.(panel.Areas); ok {
			parts = append(parts, a.Areas()...)
		}
	}
	return u.Area(&p.Tab, keys, parts...)
}

// menuByKey opens the menu of what is selected, where a key has asked for it.
func (p *pane) menuByKey(s *Shell, u *ui.UI) {
	if !p.WantMenu {
		return
	}
	p.WantMenu = false
	x, ok := p.panel().(panel.Menued[*panel.Side])
	if opened := ok && s.Focus.In(&p.Tab) && x.Menu(&s.Host, &p.Side, u); !opened && p.Timed() {
		p.MenuOfPick(&s.Host, u)
	}
	if s.Menu != nil {
		s.Menu.Chosen = 0
	}
}
