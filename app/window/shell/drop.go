package shell

import (
	"fmt"
	"image"
	"path/filepath"
	"slices"
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
	zones []zone // drop zones of the last frame
}

// zone is a part of the window with the effect of a drop there.
type zone struct {
	place  image.Rectangle
	does   string // "Open", "Compare with run.spaa"
	effect effect
	on     bool // the pointer is in the zone
}

// An effect of a drop on the window.
type effect uint8

const (
	opens    effect = iota // in place of the open recordings
	replaceA               // as A
	compares               // as B
	addsToA                // as additional runs of A
	addsToB
)

// sorted holds the files and the folders of a drop, separated.
type sorted struct {
	files   []string
	folders []string
	left    int // number of additional files
	reason  string
	refused int
	effect  effect
}

// mostDropped is the maximum number of files of a drop that are used.
const mostDropped = 1000

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
	o := drop.Over{Held: true, At: d.At, Files: &d.Files}
	does := opens
	for _, z := range s.dropZones(image.Rectangle{Max: s.Size}, &o) {
		if z.on {
			does = z.effect
		}
	}
	go func() {
		r := sortDrop(d.Files, does)
		s.Later(func() { s.land(r) })
	}()
}

// sortDrop tells the files and the folders of a drop apart.
func sortDrop(f drop.Files, does effect) sorted {
	r := sorted{reason: f.Reason, refused: f.Refused, effect: does}
	for i, p := range f.Paths {
		if i == mostDropped {
			r.left = len(f.Paths) - i
			break
		}
		// If Stat fails, opening the file will report the error.
		if IsFolder(p) {
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
	all := slices.Concat(r.files, r.folders)
	var said []string
	switch {
	case len(all) == 0:
		said = append(said, r.reason)
	case r.effect == addsToA:
		s.AddRuns(0, all)
	case r.effect == addsToB:
		s.AddRuns(1, all)
	case len(r.folders) > 0 || len(all) > 2:
		s.chooseFor(all)
	case len(all) == 2:
		s.Open(all[0])
		s.OpenBeside(all[1])
	case r.effect == compares:
		s.OpenBeside(all[0])
	default:
		s.OpenBaseline(all[0])
	}
	if len(all) > 0 {
		if r.left > 0 {
			said = append(said, units.Plural(int64(r.left), "more file")+" not opened")
		}
		if r.refused > 0 {
			said = append(said, r.reason)
		}
	}
	if text := strings.Join(said, " · "); text != "" {
		s.Say(text)
	}
}

// besideZone returns the part of the window that belongs to B: the right half, or
// everything from B's heading down if A is above B. So a file dropped on a timeline
// replaces that timeline.
func (s *Shell) besideZone() image.Rectangle {
	z := image.Rectangle{Max: s.Size}
	if c := s.Versus; c != nil && c.Above && s.View.Above() && !c.Bounds.Heads[1].Empty() {
		z.Min.Y = c.Bounds.Heads[1].Min.Y
	} else {
		z.Min.X = s.Size.X / 2
	}
	return z
}

// dropZones returns the parts of the window with the effects of a drop there.
func (s *Shell) dropZones(full image.Rectangle, o *drop.Over) []zone {
	n := -1 // unknown
	if o.Files != nil {
		n = len(o.Files.Paths)
	}
	one := ""
	if s.Pane != nil {
		one = workspace.OneLine(s.Pane.Doc.Name)
	}
	open := map[bool]string{false: "Open", true: "Open and compare"}[n == 2]
	if n > 2 {
		open = "Open " + units.Plural(int64(n), "file")
	}
	switch {
	case o.Refused != "":
		return []zone{{full, o.Refused, opens, false}}
	case o.Waiting:
		return []zone{{full, "Waiting for file names", opens, true}}
	case s.Pane == nil:
		return []zone{{full, open, opens, true}}
	}
	first, beside := full, s.besideZone()
	if beside.Min.Y > 0 {
		first.Max.Y = beside.Min.Y
	} else {
		first.Max.X = beside.Min.X
	}
	var zones []zone
	c := s.Versus
	switch {
	case c == nil && n > 1:
		zones = append(cut(first, open, opens, "Add to A ("+one+")", addsToA), zone{beside, "Runs of B, compared with " + one, addsToB, false})
	case c == nil:
		zones = append(cut(first, open, opens, "Add to A ("+one+")", addsToA), zone{beside, "Compare with " + one, compares, false})
	case n > 1:
		zones = []zone{{first, "Add to A", addsToA, false}, {beside, "Add to B", addsToB, false}}
	default:
		zones = append(cut(first, "Replace A ("+workspace.OneLine(c.Panes[0].Doc.Name)+")", replaceA, "Add to A", addsToA),
			cut(beside, "Replace B ("+workspace.OneLine(c.Panes[1].Doc.Name)+")", compares, "Add to B", addsToB)...)
	}
	for i := range zones {
		zones[i].on = o.At.In(zones[i].place)
	}
	return zones
}

// cut divides a part of the window into a large zone and a small one, which is a fifth of
// it: at the bottom, or at the right if the part is wide.
func cut(r image.Rectangle, large string, of effect, small string, than effect) []zone {
	a, b := r, r
	if r.Dx() > 3*r.Dy() {
		a.Max.X = r.Max.X - r.Dx()/5
		b.Min.X = a.Max.X
	} else {
		a.Max.Y = r.Max.Y - r.Dy()/5
		b.Min.Y = a.Max.Y
	}
	return []zone{{a, large, of, false}, {b, small, than, false}}
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
	s.drag.zones = s.dropZones(full, &s.drag.over)
	u.Fill(full, theme.WithAlpha(th.Background, .6))
	gap := u.Px(10)
	for _, z := range s.drag.zones {
		place := z.place.Inset(gap)
		for _, edge := range []struct {
			at  *int
			far int
			by  int
		}{{&place.Min.X, full.Min.X, -gap / 2}, {&place.Min.Y, full.Min.Y, -gap / 2}, {&place.Max.X, full.Max.X, gap / 2}, {&place.Max.Y, full.Max.Y, gap / 2}} {
			if off := *edge.at - edge.far; off != gap && off != -gap { // the gap between two zones is as wide as their margin
				*edge.at += edge.by
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
