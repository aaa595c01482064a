package shell

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ashlar/render/ui"
)

// recentList is the list of files that were opened before, on the first page.
type recentList struct{ clicks [recentRows]clickArea }

// How many are on the first page and in the chooser, and how high a row is, in
// dp.
const (
	recentRows   = 6
	recentLines  = 8
	recentHeight = 28
)

// height is how much room the list takes.
func (l *recentList) height(u *ui.UI, of []Recent) int {
	if len(of) == 0 {
		return 0
	}
	return u.Px(30+16) + min(len(of), recentRows)*u.Px(recentHeight)
}

// layout draws the list into the upper part of r and returns how much of it
// that took.
func (l *recentList) layout(s *Shell, u *ui.UI, of []Recent, r image.Rectangle) int {
	if len(of) == 0 {
		return 0
	}
	th := u.Theme
	u.Text(ui.Rect(r.Min.X, r.Min.Y, r.Dx(), u.Px(20)), "Opened before", ui.Style{Size: 12.5, Weight: medium, Color: th.Dim})
	y := r.Min.Y + u.Px(26)
	for i := range min(len(of), recentRows) {
		row := ui.Rect(r.Min.X, y, r.Dx(), u.Px(recentHeight))
		clicked, hovered := l.clicks[i].clicked(u, row)
		if hovered {
			u.Round(image.Rect(row.Min.X-u.Px(8), row.Min.Y, row.Max.X+u.Px(8), row.Max.Y), 5, withAlpha(th.Text, .06))
		}
		name, age := filepath.Base(of[i].Path), ago(u.Now.Sub(of[i].Opened))
		st, dim := ui.Style{Size: 13, Color: th.Text}, ui.Style{Size: 12, Color: th.Dim}
		aw := u.Px(110)
		nw := min(u.Measure(name, st).X+u.Px(2), row.Dx()-aw)
		u.Text(ui.Rect(row.Min.X, row.Min.Y, nw, row.Dy()), name, st)
		if left := row.Dx() - nw - aw; left > u.Px(40) {
			u.Text(ui.Rect(row.Min.X+nw+u.Px(14), row.Min.Y, left-u.Px(14), row.Dy()), shortFolder(filepath.Dir(of[i].Path)), dim)
		}
		dim.Align = end
		u.Text(ui.Rect(row.Max.X-aw, row.Min.Y, aw, row.Dy()), age, dim)
		y += u.Px(recentHeight)
		if clicked {
			s.openRecent(of[i].Path, (*Shell).Open)
		}
	}
	return l.height(u, of)
}

// openRecent opens a file, or says that it is gone.
func (s *Shell) openRecent(path string, open func(s *Shell, path string)) {
	if _, err := os.Stat(path); err != nil {
		s.Say(path + " is no longer there")
		return
	}
	open(s, path)
}

// recentLines are the recents whose names match what is typed, for a chooser.
func (s *Shell) recentLines(text string, open func(s *Shell, path string)) []line {
	var ls []line
	for _, r := range s.recents() {
		if len(ls) == recentLines || !likeWords(filepath.Base(r.Path), text) {
			continue
		}
		ls = append(ls, line{title: filepath.Base(r.Path), detail: shortFolder(filepath.Dir(r.Path)), tab: r.Path, take: func(s *Shell) {
			s.chooser = nil
			s.openRecent(r.Path, open)
		}})
	}
	return ls
}

// shortFolder writes a folder as people do: ~ for their own.
func shortFolder(dir string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" || home == string(filepath.Separator) {
		return dir
	}
	if rest, ok := strings.CutPrefix(dir, home); ok && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return dir
}

// ago says how long since, roughly.
func ago(d time.Duration) string {
	for _, x := range []struct {
		unit time.Duration
		what string
	}{{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int64(d / x.unit); n > 0 {
			return plural(n, x.what) + " ago"
		}
	}
	return "just now"
}
