package desk

import (
	"ashlar/app/panel"
	"ashlar/render/ui"
)

// menuByKey opens the menu of what is selected, where a key has asked for it.
func (p *Pane) menuByKey(s *Desk, u *ui.UI) {
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
