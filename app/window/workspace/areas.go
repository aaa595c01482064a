package workspace

import (
	"ashlar/app/window/panel"
	"ashlar/render/ui"
)

// menuByKey opens the menu of the selected item after a key press.
func (p *Pane) menuByKey(d *Workspace, u *ui.UI) {
	if !p.WantMenu {
		return
	}
	p.WantMenu = false
	x, ok := p.panel().(panel.Menued[*panel.Side])
	if opened := ok && d.Focus.In(&p.Tab) && x.Menu(&d.Host, &p.Side, u); !opened && p.Timed() {
		p.MenuOfPick(&d.Host, u)
	}
	if d.Menu != nil {
		d.Menu.Chosen = 0
	}
}
