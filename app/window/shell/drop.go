package shell

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"

	"ashlar/app/desktop/drop"
	"ashlar/app/window/workspace"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// dropping is the state of a drag over the window.
type dropping struct {
	over  drop.Over
	zones []zone // of the last frame
}

// zone is a part of the window with the effect of a drop there.
type zone struct {
	place image.Rectangle
	does  string // "Open", "Compare with run.spaa"
	on    bool   // the pointer is in the zone
}

// sorted holds the files and the folders of a drop, separated.
type sorted struct {
	files   []string
	folders []string
	left    int // number of further files
	reason  string
	refused int
	beside  bool // dropped where a drop compares, or replaces B
}

// shows is the maximum number of recordings in a window.
const shows = 2

// DragOver tells the shell about a drag over the window.
func (s *Shell) DragOver(o drop.Over) {
	was := s.drag.over
	s.drag.over = o
	if was.Held && was.Refused != "" && !o.Held {
		s.Say(was.Refused) // the user may have dropped the files anyway
	}
}

// Dropped takes files dropped on the window. Files and folders are told apart in the
// background.
func (s *Shell) Dropped(d drop.Drop) {
	beside := s.isBeside(d.At)
	go func() {
		r := sortDrop(d.Files, beside)
		s.Later(func() { s.land(r) })
	}()
}

// sortDrop picks the first files of a drop.
func sortDrop(f drop.Files, beside bool) sorted {
	r := sorted{reason: f.Reason, refused: f.Refused, beside: beside}
	for i, p := range f.Paths {
		if len(r.files) == shows || i == 1000 { // more folders than anybody would drop
			r.left = len(f.Paths) - i
			break
		}
		// If Stat fails, opening the file will report the error.
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			r.folders = append(r.folders, p)
		} else {
			r.files = append(r.files, p)
		}
	}
	return r
}

// land opens the dropped files.
func (s *Shell) land(r sorted) {
	s.Chooser, s.Menu, s.Help = nil, nil, false
	var said []string
	switch {
	case len(r.files) == 0 && len(r.folders) > 0:
		s.typeOpenIn(r.folders[0])
		said = append(said, fileName(r.folders[0])+" is a folder. Open a file in it")
	case len(r.files) == 0:
		said = append(said, r.reason)
	case len(r.files) > 1:
		s.Open(r.files[0])
		s.OpenBeside(r.files[1])
	case r.beside:
		s.OpenBeside(r.files[0])
	default:
		s.OpenBaseline(r.files[0])
	}
	if len(r.files) > 0 {
		if r.left > 0 {
			said = append(said, units.Plural(int64(r.left), "more file")+" not opened: a window compares two")
		}
		if n := len(r.folders); n > 0 {
			said = append(said, units.Plural(int64(n), "folder")+" not opened")
		}
		if r.refused > 0 {
			said = append(said, r.reason)
		}
	}
	if text := strings.Join(said, " · "); text != "" {
		s.Say(text)
	}
}

// besideZone returns the part of the window where a drop compares or replaces B: the
// right half, or everything from B's heading down if A is above B. So a file dropped on a
// timeline replaces that timeline.
func (s *Shell) besideZone() image.Rectangle {
	z := image.Rectangle{Max: s.Size}
	if c := s.Versus; c != nil && c.Above && s.View.Above() && !c.Bounds.Heads[1].Empty() {
		z.Min.Y = c.Bounds.Heads[1].Min.Y
	} else {
		z.Min.X = s.Size.X / 2
	}
	return z
}

// isBeside reports whether a drop at a position compares or replaces B.
func (s *Shell) isBeside(at image.Point) bool {
	from := s.besideZone().Min
	return at.X >= from.X && at.Y >= from.Y
}

// dropZones returns the parts of the window with the effects of a drop there.
func (s *Shell) dropZones(full image.Rectangle) []zone {
	o := &s.drag.over
	n := -1 // unknown
	if o.Files != nil {
		n = len(o.Files.Paths)
	}
	switch {
	case o.Refused != "":
		return []zone{{full, o.Refused, false}}
	case o.Waiting:
		return []zone{{full, "Waiting for file names", true}}
	case n > 1:
		return []zone{{full, "Open and compare", true}}
	case s.Pane == nil:
		return []zone{{full, "Open", true}}
	}
	open, compare := "Open", "Compare with "+workspace.OneLine(s.Pane.Doc.Name)
	if c := s.Versus; c != nil {
		open, compare = "Replace A ("+workspace.OneLine(c.Panes[0].Doc.Name)+")", "Replace B ("+workspace.OneLine(c.Panes[1].Doc.Name)+")"
	}
	first, beside := full, s.besideZone()
	if beside.Min.Y > 0 {
		first.Max.Y = beside.Min.Y
	} else {
		first.Max.X = beside.Min.X
	}
	on := s.isBeside(o.At)
	return []zone{{first, open, !on}, {beside, compare, on}}
}

// held describes the dragged files: a name, two names, or a number.
func (s *Shell) held() string {
	f := s.drag.over.Files
	if f == nil || len(f.Paths) == 0 {
		return ""
	}
	name := func(i int) string { return workspace.OneLine(filepath.Base(f.Paths[i])) }
	switch n := len(f.Paths); n {
	case 1:
		return name(0)
	case 2:
		return name(0) + " and " + name(1)
	default:
		return fmt.Sprintf("%s, %s (%s)", name(0), name(1), units.Plural(int64(n), "file"))
	}
}

// layoutDrag draws the effect of a drop over everything else during a drag.
func (s *Shell) layoutDrag(u *ui.UI, full image.Rectangle) {
	s.drag.zones = nil
	if !s.drag.over.Held {
		return
	}
	th := u.Theme
	s.drag.zones = s.dropZones(full)
	u.Fill(full, theme.WithAlpha(th.Background, .6))
	gap := u.Px(10)
	for i, z := range s.drag.zones {
		place := z.place.Inset(gap)
		if len(s.drag.zones) > 1 { // the gap between two zones is as wide as their margin
			switch above := z.place.Dx() == full.Dx(); {
			case above && i == 0:
				place.Max.Y += gap / 2
			case above:
				place.Min.Y -= gap / 2
			case i == 0:
				place.Max.X += gap / 2
			default:
				place.Min.X -= gap / 2
			}
		}
		line, width := th.Rule, 1
		if z.on {
			line, width = th.Accent, u.Px(2)
			u.Round(place, 10, theme.WithAlpha(th.Accent, th.Band))
		} else if s.drag.over.Refused != "" {
			line, width = th.Warn, u.Px(2)
		}
		u.Border(place, 10, width, line)
		s.dropWords(u, place, z)
	}
}

// dropWords names, in the middle of a zone, the effect of a drop there.
func (s *Shell) dropWords(u *ui.UI, place image.Rectangle, z zone) {
	th := u.Theme
	refused := s.drag.over.Refused != ""
	title := ui.Style{Size: 18, Weight: ui.Medium, Color: th.Dim, Align: ui.Middle}
	below := ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle}
	if z.on || refused {
		title.Color = th.Text
	}
	what := ""
	switch {
	case refused:
		what = "Only files can be dropped here"
	case z.on:
		what = s.held()
	}
	w := u.Measure(z.does, title).X
	h := u.Px(30)
	if what != "" {
		w = max(w, u.Measure(what, below).X)
		h += u.Px(22)
	}
	w = min(w, place.Dx()-u.Px(72))
	at := ui.Rect((place.Min.X+place.Max.X-w)/2, (place.Min.Y+place.Max.Y-h)/2, w+1, h)
	pill := at.Inset(-u.Px(12))
	pill.Min.X, pill.Max.X = pill.Min.X-u.Px(14), pill.Max.X+u.Px(14)
	u.Round(pill, 10, th.Raised)
	u.Border(pill, 10, 1, th.Rule)
	u.Text(image.Rect(at.Min.X, at.Min.Y, at.Max.X, at.Min.Y+u.Px(30)), z.does, title)
	if what != "" {
		u.Text(image.Rect(at.Min.X, at.Min.Y+u.Px(30), at.Max.X, at.Max.Y), what, below)
	}
}

// dropLines returns the texts of the zones, the one under the pointer first, and the
// dragged files.
func (s *Shell) dropLines() []string {
	if !s.drag.over.Held {
		return nil
	}
	var on, off []string
	for _, z := range s.drag.zones {
		if z.on {
			on = append(on, z.does)
		} else {
			off = append(off, z.does)
		}
	}
	return append(append(on, off...), s.held())
}

// fileName returns a file's name for use in a sentence.
func fileName(path string) string { return workspace.OneLine(filepath.Base(path)) }
