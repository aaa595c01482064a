package shell

import (
	"image"
	"strings"

	gio "gioui.org/widget"

	"ashlar/ingest"
	"ashlar/render/icon"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Recipe says in two lines how to make a recording with a tool.
type Recipe struct {
	Tool string
	// Lines are commands or lines of a program. If Words is set, the first line is an
	// instruction instead.
	Lines [2]string
	Words bool
}

// Recipes are the recipes of the welcome page, sorted by how many people have the tool.
var Recipes = []Recipe{
	{Tool: "Linux perf", Lines: [2]string{"perf record -g ./program", "ashlar perf.data"}},
	{Tool: "Go", Lines: [2]string{"go test -bench . -cpuprofile cpu.pprof", "ashlar cpu.pprof"}},
	{Tool: "Chrome", Lines: [2]string{"DevTools, Performance: record, stop, save the profile", "ashlar Trace-*.json*"}, Words: true},
	{Tool: "Go server", Lines: [2]string{"curl -o cpu.pprof localhost:6060/debug/pprof/profile?seconds=5", "ashlar cpu.pprof"}},
	{Tool: "C, with spall.h", Lines: [2]string{`spall_buffer_begin(&ctx, &buf, "work", 4, now());`, "spall_buffer_end(&ctx, &buf, now());"}},
	{Tool: "Odin, with core:prof/spall", Lines: [2]string{`ctx = spall.context_create("run.spall")`, "spall.SCOPED_EVENT(&ctx, &buf, #procedure)"}},
}

// welcome is the page that is shown while nothing is open.
type welcome struct {
	open, demo gio.Clickable
	recipes    []widget.ClickArea
	recents    recentList
}

// Sizes of the page, in dp.
const (
	welcomeWidth  = 860
	recipeHeight  = 92
	recipeGap     = 14
	recipeRowStep = recipeHeight + recipeGap
)

// layout draws the page into r.
func (w *welcome) layout(s *Shell, u *ui.UI, r image.Rectangle) {
	th := u.Theme
	columns := 2
	width := min(u.Px(welcomeWidth), r.Dx()-u.Px(48))
	if width < u.Px(620) {
		columns = 1
	}
	rows := (len(Recipes) + columns - 1) / columns
	recent := s.recents()
	head := u.Px(170) + w.recents.height(u, recent)
	height := head + rows*u.Px(recipeRowStep)
	x := r.Min.X + (r.Dx()-width)/2
	// A little above the middle looks centred. If the page is too high, align its top.
	y := max(r.Min.Y+u.Px(24), r.Min.Y+(r.Dy()-height)*2/5)

	u.Text(ui.Rect(x, y, width, u.Px(30)), "Drop a recording here", ui.Style{Size: 20, Weight: ui.Medium, Color: th.Text})
	y += u.Px(34)
	list := u.Text(ui.Rect(x, y, width, u.Px(120)), ingest.List(), ui.Style{Size: 13, Color: th.Dim, Lines: 6})
	y += max(u.Px(36), list.Y+u.Px(18))
	next := x + s.iconButton(u, &w.open, x, y, icon.Open, "Open file", "Open file", true) + u.Px(10)
	if w.open.Clicked(u.Context) {
		s.askOpen()
	}
	next += u.IconButton(&w.demo, next, y, 0, icon.Demo, "Open demo", false) + u.Px(14)
	if w.demo.Clicked(u.Context) {
		s.OpenDemo()
	}
	u.Text(image.Rect(next, y, x+width, y+u.Px(26)), "Ctrl-O: open   Ctrl-K: commands   ?: keys", ui.Style{Size: 12, Color: th.Faint})
	y += u.Px(50)
	y += w.recents.layout(s, u, recent, ui.Rect(x, y, width, r.Max.Y-y))
	u.Text(ui.Rect(x, y, width, u.Px(20)), "Make a recording", ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Dim})
	y += u.Px(30)

	if len(w.recipes) != len(Recipes) {
		w.recipes = make([]widget.ClickArea, len(Recipes))
	}
	gap := u.Px(recipeGap)
	each := (width - (columns-1)*gap) / columns
	for i := range Recipes {
		at := ui.Rect(x+i%columns*(each+gap), y+i/columns*u.Px(recipeRowStep), each, u.Px(recipeHeight))
		if at.Max.Y > r.Max.Y {
			break // half a recipe helps nobody
		}
		w.recipe(s, u, i, at)
	}
}

// recipe draws one recipe; a click copies its lines.
func (w *welcome) recipe(s *Shell, u *ui.UI, i int, r image.Rectangle) {
	th, rec := u.Theme, &Recipes[i]
	clicked, hovered := w.recipes[i].Clicked(u, r)
	u.Round(r, 6, th.Surface)
	if hovered {
		u.Round(r, 6, theme.WithAlpha(th.Text, .05))
	}
	u.Border(r, 6, 1, th.Rule)
	in := image.Rect(r.Min.X+u.Px(14), r.Min.Y+u.Px(10), r.Max.X-u.Px(14), r.Max.Y-u.Px(8))
	line := u.Px(24)
	u.Text(ui.Rect(in.Min.X, in.Min.Y, in.Dx(), line), rec.Tool, ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text})
	if hovered {
		u.Icon(icon.Copy, ui.Rect(in.Max.X-u.Px(16), in.Min.Y, u.Px(16), line), th.Dim)
		u.Text(ui.Rect(in.Min.X, in.Min.Y, in.Dx()-u.Px(22), line), "Click to copy", ui.Style{Size: 11.5, Color: th.Faint, Align: ui.End})
	}
	for k, text := range rec.Lines {
		u.Text(ui.Rect(in.Min.X, in.Min.Y+(k+1)*line, in.Dx(), line), text, ui.Style{Size: 12.5, Color: th.Dim})
	}
	if clicked {
		s.Clip = rec.clip()
		s.Wake()
	}
}

// clip returns the lines that a click copies: those that can be pasted.
func (r *Recipe) clip() string {
	if r.Words {
		return r.Lines[1]
	}
	return strings.Join(r.Lines[:], "\n")
}
