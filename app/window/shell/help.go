package shell

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op/clip"

	"ashlar/app/window/panel"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// helpSections divides the commands into sections; first is the title of a section's
// first command.
var helpSections = []struct{ title, first string }{
	{"Navigation", "Zoom in"},
	{"Spans and time", "Select next span"},
	{"Threads", "Filter threads by name"},
	{"View", "Next event"},
	{"Search and marks", "Search"},
	{"Flamegraph", "Focus on selected function"},
	{"Keyboard", "Undo"},
	{"Window", "Command palette"},
	{"Comparison", "Compare with file"},
	{"Appearance", "Larger text"},
}

// Gestures lists the pointer's gestures, for the help page and the manual's table.
var Gestures = [][2]string{
	{"wheel", "zoom at the pointer"},
	{"Shift or sideways wheel", "pan"},
	{"wheel over the names", "scroll"},
	{"drag", "pan; flick to keep moving"},
	{"Shift drag, drag on ruler", "select a time range (Alt: no snapping)"},
	{"Ctrl Shift drag", "select a time range of one thread"},
	{"Ctrl drag", "zoom to a box"},
	{"click", "select, show details"},
	{"double click", "zoom in, keep its thread"},
	{"click on a name", "fold or unfold"},
	{"Ctrl click on names", "select threads"},
	{"drag a name", "reorder threads"},
	{"drop files", "open, compare, or add runs to A or B"},
	{"right click", "context menu"},
	{"drag in the overview", "move the view, or resize it at its edges"},
	{"drag in the map, right", "scroll through all rows"},
	{"click in the details", "copy, go there, or filter by it"},
	{"Ctrl click, drag on recents", "compare two files"},
}

// helpLine is a line of the page: a heading when it has no text.
type helpLine struct{ keys, text string }

// helpLines returns the lines of the page in blocks, each beginning with its heading.
func helpLines() [][]helpLine {
	pointing := []helpLine{{"Pointer", ""}}
	for _, g := range Gestures {
		pointing = append(pointing, helpLine{g[0], g[1]})
	}
	blocks := [][]helpLine{pointing}
	next := 0
	for i := range Commands {
		c := &Commands[i]
		if next < len(helpSections) && c.Title == helpSections[next].first {
			blocks = append(blocks, []helpLine{{helpSections[next].title, ""}})
			next++
		}
		if len(c.Keys) > 0 {
			var keys []string
			for _, k := range c.Keys {
				keys = append(keys, k.String())
			}
			last := len(blocks) - 1
			blocks[last] = append(blocks[last], helpLine{strings.Join(keys, "  "), c.Title})
		}
	}
	return blocks
}

// helpPart is the page's state.
type helpPart struct {
	scroll int
	kept   widget.Kept[helpKey]
}

// helpKey holds all that the picture of the lines depends on.
type helpKey struct {
	size            image.Point
	scroll, columns int
	theme           *theme.Theme
	scale           float32
	fonts           int64
}

// press scrolls with the usual keys.
func (h *helpPart) press(k key.Event) bool {
	by := map[key.Name]int{key.NamePageDown: 300, key.NamePageUp: -300, key.NameDownArrow: 40, key.NameUpArrow: -40}[k.Name]
	h.scroll += by
	return by != 0
}

// toggleHelp opens the list of keys, or closes any open help page.
func (s *Shell) toggleHelp() { s.Help, s.reading = !s.Help, nil }

// Sizes of the page, in dp.
const (
	helpColumn = 400
	helpLineDp = 20
	helpKeys   = 152
)

// helpPage draws the gestures and keys over everything else, in as many columns as fit.
func (s *Shell) helpPage(u *ui.UI, full image.Rectangle) {
	th := u.Theme
	u.Fill(full, theme.WithAlpha(th.Background, .6))
	blocks := helpLines()
	line := u.Px(helpLineDp)
	columns := max(1, min(3, (full.Dx()-u.Px(64))/u.Px(helpColumn)))
	tops, heights := helpColumns(blocks, columns)
	rows := 0
	for _, h := range heights {
		rows = max(rows, h)
	}
	w := columns*u.Px(helpColumn) + u.Px(24)
	content := rows * line
	h := min(content+u.Px(76), full.Dy()-u.Px(16))
	box := ui.Rect(full.Min.X+(full.Dx()-w)/2, full.Min.Y+(full.Dy()-h)/2, w, h)
	u.Round(box, 10, th.Raised)
	u.Border(box, 10, 1, th.Rule)
	in := image.Rect(box.Min.X+u.Px(24), box.Min.Y+u.Px(20), box.Max.X, box.Max.Y-u.Px(46))
	s.helpState.scroll = max(0, min(s.helpState.scroll, content-in.Dy()))
	k := helpKey{in.Size(), s.helpState.scroll, columns, th, u.Metric.PxPerDp, s.fontsOf}
	u.Draw(s.helpState.kept.Get(u, k, k.size, func(on raster.Surface) {
		s.drawHelp(on, k, blocks, tops, line)
	}), in.Min)
	if over := content - in.Dy(); over > 0 { // shows that there are more lines
		track := image.Rect(box.Max.X-u.Px(12), in.Min.Y, box.Max.X-u.Px(7), in.Max.Y)
		size := track.Dy() * in.Dy() / content
		u.Round(ui.Rect(track.Min.X, track.Min.Y+s.helpState.scroll*(track.Dy()-size)/over, track.Dx(), size), 2.5, th.Faint)
	}
	without := 0
	for i := range Commands {
		without += panel.Index(len(Commands[i].Keys) == 0)
	}
	foot := image.Rect(in.Min.X, box.Max.Y-u.Px(38), box.Max.X-u.Px(24), box.Max.Y-u.Px(10))
	u.HLine(foot.Min.X, foot.Max.X, foot.Min.Y-u.Px(2), th.Rule)
	took := u.Text(foot, "Ctrl-K lists all commands, also "+units.Plural(int64(without), "command")+" without a key", ui.Style{Size: 12, Color: th.Dim})
	foot.Min.X += took.X + u.Px(16)
	if st := (ui.Style{Size: 12, Color: th.Dim, Align: ui.End}); u.Measure("Esc to close", st).X < foot.Dx() {
		u.Text(foot, "Esc to close", st)
	}
	s.shield(u, full)
}

// drawHelp draws all lines into one picture, because laying out so many texts one by one
// takes longer than a frame may.
func (s *Shell) drawHelp(on raster.Surface, k helpKey, blocks [][]helpLine, tops []helpAt, line int) {
	px := func(dp int) int { return int(float32(dp)*k.scale + .5) }
	on.Rect(0, 0, k.size.X, k.size.Y, raster.Pack(k.theme.Raised))
	head, face := s.Fonts.Medium(12.5*k.scale), s.Fonts.Regular(12*k.scale)
	write := func(f *raster.Face, x, width, y int, text string, col ui.Colour) {
		f.Draw(on, float32(x), y+int(13.5*k.scale), f.FitText(text, float32(width)), raster.Pack(col), x, x+width)
	}
	for i, b := range blocks {
		x := tops[i].column * px(helpColumn)
		for j, l := range b {
			y := (tops[i].row+j)*line - k.scroll
			switch {
			case y+line < 0 || y > k.size.Y:
			case l.text == "":
				write(head, x, px(helpColumn-20), y, l.keys, k.theme.Text)
			default:
				write(face, x, px(helpKeys-8), y, l.keys, k.theme.Dim)
				write(face, x+px(helpKeys), px(helpColumn-20-helpKeys), y, l.text, k.theme.Text)
			}
		}
	}
}

// helpAt is the position of a block of lines.
type helpAt struct{ column, row int }

// helpColumns distributes blocks over columns, in order, so that the longest column is as
// short as possible; heights are the columns' heights in lines.
func helpColumns(blocks [][]helpLine, columns int) (at []helpAt, heights []int) {
	all := 0
	for _, b := range blocks {
		all += len(b) + 1
	}
	for most := (all + columns - 1) / columns; ; most++ {
		at, heights = at[:0], []int{0}
		for _, b := range blocks {
			c := len(heights) - 1
			if heights[c] > 0 && heights[c]+len(b) > most {
				heights = append(heights, 0)
				c++
			}
			at = append(at, helpAt{c, heights[c]})
			heights[c] += len(b) + 1
		}
		if len(heights) <= columns {
			return at, heights
		}
	}
}

// shield covers everything with an area on which the wheel scrolls the page and a click
// closes it.
func (s *Shell) shield(u *ui.UI, full image.Rectangle) {
	tag := &s.Help
	for {
		ev, ok := u.Event(pointer.Filter{Target: tag, Kinds: pointer.Press | pointer.Scroll | pointer.Move, ScrollY: pointer.ScrollRange{Min: -1 << 20, Max: 1 << 20}})
		if !ok {
			break
		}
		e, _ := ev.(pointer.Event)
		switch e.Kind {
		case pointer.Press:
			s.Help = false
			s.Wake()
		case pointer.Scroll:
			_, y := widget.Notches(e)
			s.helpState.scroll += int(y * float32(u.Px(widget.RowsPerNotch)))
		}
	}
	defer clip.Rect(full).Push(u.Ops).Pop()
	event.Op(u.Ops, tag)
}
