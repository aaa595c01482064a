package shell

import (
	"image"
	"math"
	"os"
	"path/filepath"
	"time"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// recentList is the list of recent files on the first page. A click opens a file. Two
// files are compared if both are chosen or one is dragged onto the other.
type recentList struct {
	rows [recentRows]widget.Drag
	// chosen is the path of the file chosen for a comparison, "" for none.
	chosen string
	// held is the dragged row and over the row under the pointer, from 1; 0 for none.
	held, over int
}

// Number of files on the first page and in the chooser, and the height of a row, in dp.
const (
	recentRows   = 6
	recentLines  = 8
	recentHeight = 28
)

func (l *recentList) height(u *ui.UI, of []Recent) int {
	if len(of) == 0 {
		return 0
	}
	return u.Px(30+16) + min(len(of), recentRows)*u.Px(recentHeight)
}

// layout draws the list at the top of r and returns its height.
func (l *recentList) layout(s *Shell, u *ui.UI, of []Recent, r image.Rectangle) int {
	if len(of) == 0 {
		return 0
	}
	th := u.Theme
	u.Text(ui.Rect(r.Min.X, r.Min.Y, r.Dx(), u.Px(20)), "Recent files", ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Dim})
	y := r.Min.Y + u.Px(26)
	for i := range min(len(of), recentRows) {
		row := ui.Rect(r.Min.X, y, r.Dx(), u.Px(recentHeight))
		l.events(s, u, of, i, row)
		l.row(u, &of[i], i, row)
		y += u.Px(recentHeight)
	}
	return l.height(u, of)
}

// events handles the events on a row since the last frame.
func (l *recentList) events(s *Shell, u *ui.UI, of []Recent, i int, row image.Rectangle) {
	d := &l.rows[i]
	path := of[i].Path
	for {
		g, _, ok := d.Next(u, row.Min)
		if !ok {
			break
		}
		switch g {
		case widget.Clicked, widget.DoubleClicked:
			if d.Mods.Contain(key.ModCtrl) || l.chosen != "" && l.chosen != path {
				l.choose(s, path)
			} else {
				s.openRecent(path, (*Shell).Open)
			}
		case widget.Dragged:
			l.held, l.over = i+1, 0
			if k := i + int(math.Floor(float64(d.At.Y)/float64(row.Dy()))); k != i && k >= 0 && k < min(len(of), recentRows) {
				l.over = k + 1
			}
		case widget.Dropped:
			if l.over > 0 {
				s.compareRecents(of[l.over-1].Path, path)
			}
			l.held, l.over = 0, 0
		case widget.MenuAsked:
			s.Menu = widget.NewMenu(widget.Point(row.Min, d.At), l.items(s, path))
		}
	}
	if d.Area(u, row, pointer.CursorPointer); u.Item(d, row) {
		s.openRecent(path, (*Shell).Open)
	}
}

// items lists the actions for a file.
func (l *recentList) items(s *Shell, path string) []widget.Item {
	items := []widget.Item{{Title: "Open", Do: func() { s.openRecent(path, (*Shell).Open) }}}
	switch l.chosen {
	case "":
		items = append(items, widget.Item{Title: "Compare with…", Detail: "Ctrl click", Do: func() { l.choose(s, path) }})
	case path:
		items = append(items, widget.Item{Title: "Deselect", Do: func() { l.choose(s, path) }})
	default:
		items = append(items, widget.Item{Title: "Compare " + panel.CutName(filepath.Base(l.chosen)) + " with this", Do: func() { l.choose(s, path) }})
	}
	return append(items, widget.Item{Title: "Copy path", Do: func() { s.CopyLater(path) }})
}

// choose chooses a file for a comparison; a second file is compared with the first, and
// choosing the same file again deselects it.
func (l *recentList) choose(s *Shell, path string) {
	first := l.chosen
	switch l.chosen = ""; first {
	case "":
		l.chosen = path
	case path:
	default:
		s.compareRecents(first, path)
	}
	s.Wake()
}

// compareRecents opens two files side by side, or reports which one no longer exists.
func (s *Shell) compareRecents(a, b string) {
	s.openRecent(a, func(s *Shell, a string) {
		s.openRecent(b, func(s *Shell, b string) {
			s.Open(a)
			s.OpenBeside(b)
		})
	})
}

// row draws a row: the file's name, its folder and when it was opened.
func (l *recentList) row(u *ui.UI, of *Recent, i int, row image.Rectangle) {
	th := u.Theme
	back := image.Rect(row.Min.X-u.Px(8), row.Min.Y, row.Max.X+u.Px(8), row.Max.Y)
	name, said := filepath.Base(of.Path), ago(u.Now.Sub(of.Opened))
	st, dim := ui.Style{Size: 13, Color: th.Text}, ui.Style{Size: 12, Color: th.Dim}
	switch {
	case l.over == i+1, l.chosen == of.Path:
		u.Round(back, 5, theme.WithAlpha(th.Accent, th.Band))
		u.Border(back, 5, 1, th.Accent)
		said, dim.Color = "compare", th.Text
		if l.over == 0 {
			said = "A · choose B"
		}
	case l.held == i+1, l.rows[i].Inside:
		u.Round(back, 5, theme.WithAlpha(th.Text, .06))
	}
	aw := u.Px(120)
	nw := min(u.Measure(name, st).X+u.Px(2), row.Dx()-aw)
	u.Text(ui.Rect(row.Min.X, row.Min.Y, nw, row.Dy()), name, st)
	if left := row.Dx() - nw - aw; left > u.Px(40) {
		u.Text(ui.Rect(row.Min.X+nw+u.Px(14), row.Min.Y, left-u.Px(14), row.Dy()), panel.ShortFolder(filepath.Dir(of.Path)), ui.Style{Size: 12, Color: th.Dim})
	}
	dim.Align = ui.End
	u.Text(ui.Rect(row.Max.X-aw, row.Min.Y, aw, row.Dy()), said, dim)
}

// openRecent opens a file, or reports that it no longer exists.
func (s *Shell) openRecent(path string, open func(s *Shell, path string)) {
	if _, err := os.Stat(path); err != nil {
		s.Say(path + " no longer exists")
		return
	}
	open(s, path)
}

// recentLines returns the recent files whose names match the typed text, for a chooser.
func (s *Shell) recentLines(text string, open func(s *Shell, path string)) []widget.Line {
	var ls []widget.Line
	for _, r := range s.recents() {
		if len(ls) == recentLines || !widget.HasWords(filepath.Base(r.Path), text) {
			continue
		}
		ls = append(ls, widget.Line{Title: filepath.Base(r.Path), Detail: panel.ShortFolder(filepath.Dir(r.Path)), Tab: r.Path, Take: func() {
			s.Chooser = nil
			s.openRecent(r.Path, open)
		}})
	}
	return ls
}

// ago describes how long ago something was, roughly.
func ago(d time.Duration) string {
	for _, x := range []struct {
		unit time.Duration
		what string
	}{{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int64(d / x.unit); n > 0 {
			return units.Plural(n, x.what) + " ago"
		}
	}
	return "just now"
}
