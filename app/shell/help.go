package shell

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op/clip"

	"ashlar/render/ui"
)

// Gestures lists what the pointer does; the help page and the README's table
// come from it.
var Gestures = [][2]string{
	{"wheel", "zoom at the pointer"},
	{"Shift or sideways wheel", "earlier, later"},
	{"wheel over the names", "scroll"},
	{"drag", "move; let go in motion, it goes on"},
	{"Shift drag, drag on ruler", "select a time range (Alt: no snapping)"},
	{"Ctrl Shift drag", "select a time range of one thread"},
	{"Ctrl drag", "zoom to a box"},
	{"click", "select, show details"},
	{"double click", "zoom to it"},
	{"click on a name", "fold, unfold"},
	{"Ctrl click on names", "select threads"},
	{"drag a name", "reorder threads"},
	{"drop files", "open them; the right half compares"},
	{"right click", "what can be done with it"},
	{"drag in the overview", "move the view; its edges, resize it"},
	{"drag in the map, right", "scroll through all rows"},
	{"click on a detail", "copy it, or go there"},
}

// helpPart is the page of gestures and keys, over everything else.
type helpPart struct{ scroll, height, seen int }

// Sizes of the page, in dp.
const (
	helpLine   = 20
	helpColumn = 400
	helpKeys   = 150 // the width of keys in a column
)

func (s *Shell) helpPage(u *ui.UI, full image.Rectangle) {
	th := u.Theme
	u.Fill(full, withAlpha(th.Background, .6))
	line, gap := u.Px(helpLine), u.Px(24)
	columns := max(1, min(3, (full.Dx()-2*gap)/u.Px(helpColumn)))
	var with []*Command
	for i := range Commands {
		if len(Commands[i].Keys) > 0 {
			with = append(with, &Commands[i])
		}
	}
	// The pointer's lines stand before those of the keys, in the same columns.
	n := len(Gestures) + 2 + len(with) + 2
	rows := (n + columns - 1) / columns
	h := &s.helpOf
	h.height = rows*line + 2*gap
	w := min(full.Dx()-gap, columns*u.Px(helpColumn)+gap)
	h.seen = min(h.height, full.Dy()-gap)
	box := ui.Rect(full.Min.X+(full.Dx()-w)/2, full.Min.Y+(full.Dy()-h.seen)/2, w, h.seen)
	u.Round(box, 10, th.Raised)
	u.Border(box, 10, 1, th.Rule)
	h.scroll = max(0, min(h.scroll, h.height-h.seen))
	at := 0
	u.At(box, func(u *ui.UI) {
		pair := func(a, b string, st ui.Style) {
			x := gap + at/rows*((w-gap)/columns)
			y := gap + at%rows*line - h.scroll
			at++
			right := x + (w-gap)/columns - u.Px(14)
			cut := x + u.Px(helpKeys)
			u.Text(image.Rect(x, y, cut-u.Px(6), y+line), a, st)
			u.Text(image.Rect(cut, y, right, y+line), b, ui.Style{Size: 12, Color: th.Text})
		}
		dim := ui.Style{Size: 12, Color: th.Dim}
		head := ui.Style{Size: 13, Weight: medium, Color: th.Text}
		pair("Pointer", "", head)
		for _, g := range Gestures {
			pair(title1(g[0]), g[1], dim)
		}
		pair("", "", dim)
		pair("Keys", "", head)
		for _, c := range with {
			keys := ""
			for k, ch := range c.Keys {
				if k > 0 {
					keys += "   "
				}
				keys += ch.String()
			}
			pair(keys, c.Title, dim)
		}
		pair("", "Ctrl-K finds these and more", dim)
	})
	s.shield(u, full, func() { s.help = false })
}

// key scrolls the page where it is higher than the window.
func (h *helpPart) key(k key.Event) bool {
	return h.height > h.seen && scrollKey(&h.scroll, k, 60, h.seen)
}

// shield covers everything with an area whose click dismisses what is above it.
func (s *Shell) shield(u *ui.UI, full image.Rectangle, dismiss func()) {
	tag := &s.help
	for {
		ev, ok := u.Event(pointer.Filter{Target: tag, Kinds: pointer.Press | pointer.Scroll | pointer.Move, ScrollY: pointer.ScrollRange{Min: -1 << 20, Max: 1 << 20}})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok {
			switch e.Kind {
			case pointer.Press:
				dismiss()
				s.wake()
			case pointer.Scroll:
				_, y := scrolled(e)
				s.helpOf.scroll += int(y * float32(u.Px(rowsPerNotch)))
			}
		}
	}
	defer clip.Rect(full).Push(u.Ops).Pop()
	event.Op(u.Ops, tag)
}
