package timeline

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
	"ashlar/render/units"
)

// A Group is a set of tracks below one row, such as all goroutines of one function.
type Group struct {
	Process int
	// Name identifies the group in Layout.Groups. Tracks are the indices of its tracks, in
	// their order.
	Name   string
	Tracks []int
	// Busy is the sum of the tracks' busy shares: 2 if two were busy all the time.
	Busy float64
	// Recording is set if these are the tracks of one recording of a joined one.
	Recording bool
}

// SystemGroup is the name of the group of the runtime's own goroutines.
const SystemGroup = "runtime (system goroutines)"

// groupOf returns the name of a goroutine's group: its function, or SystemGroup. ok is false
// for other tracks and for goroutines whose function is unknown.
func groupOf(rec *recording.Recording, t *recording.Track) (name string, ok bool) {
	if t.Kind == recording.AsyncTrack || !rec.Processes[t.Process].Grouped {
		return "", false
	}
	if id, bare := strings.CutPrefix(t.Name, "goroutine "); bare && id == recording.IDText(t.TID) {
		return "", false
	}
	if rec.OfRuntime(t) {
		return SystemGroup, true
	}
	return t.Name, true
}

// groups divides the tracks of a process into groups: one for each function that
// goroutines start with, the busiest first, and the runtime's own last. A process of
// threads is one group without a name.
func groups(rec *recording.Recording, l Layout, pi int, tracks []int) []Group {
	if pi < 0 || !rec.Processes[pi].Grouped {
		return []Group{{Process: pi, Tracks: tracks}}
	}
	var all []Group
	at := map[string]int{}
	for _, ti := range tracks {
		name, _ := groupOf(rec, rec.Tracks[ti])
		i, ok := at[name]
		if !ok {
			i = len(all)
			at[name] = i
			all = append(all, Group{Process: pi, Name: name})
		}
		g := &all[i]
		g.Tracks = append(g.Tracks, ti)
		if share, of := busy(rec, l.OnCPU, ti); of == "busy" { // a goroutine that never ran is blocked
			g.Busy += share
		}
	}
	order.By(all, func(a, b Group) int {
		c := cmp.Compare(a.rank(), b.rank())
		if c == 0 && l.Sort == SortName {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(c, cmp.Compare(b.Busy, a.Busy))
	})
	return all
}

// rank returns the place of a group among those of its process.
func (g *Group) rank() int {
	switch {
	case g.Name == "":
		return 2
	case g.system():
		return 1
	}
	return 0
}

func (g *Group) system() bool { return g.Name == SystemGroup }

// headed reports whether the group has a row of its own: a single goroutine needs none.
func (g *Group) headed() bool { return g.Name != "" && (len(g.Tracks) > 1 || g.system()) }

// open reports whether the tracks of a group are shown: as the user has chosen, else if
// few tracks of the process pass the filter (all is their number). System goroutines are
// hidden by default.
func (l *Layout) open(g *Group, all int) bool {
	if open, chosen := l.Groups[g.Name]; chosen {
		return open
	}
	return !g.system() && all <= manyTracks
}

// Group returns the group of a row, nil for other rows.
func (p *Plan) Group(r *Row) *Group {
	if r.Kind != GroupRow {
		return nil
	}
	return &p.groups[r.Index]
}

// Hiding returns the closed group that hides the row of a track, nil if there is none.
func (p *Plan) Hiding(track int) *Group {
	for i := range p.Rows {
		if g := p.Group(&p.Rows[i]); g != nil && p.Rows[i].Collapsed && slices.Contains(g.Tracks, track) {
			return g
		}
	}
	return nil
}

// HasGroups reports whether any row is a group's.
func (p *Plan) HasGroups() bool { return len(p.groups) > 0 }

// GroupNote returns the number of a group's tracks and how busy they were.
func (p *Plan) GroupNote(g *Group) string {
	note := units.Plural(int64(len(g.Tracks)), p.rec.ThreadWord(g.Tracks[0]))
	if g.Busy > 0 {
		note += " · " + percent(g.Busy, "busy")
	}
	return note
}

// group draws the row of a group: its name, and over time how many of its tracks ran.
func (p *Picture) group(r *Row, y int) {
	t, g := p.Palette.Theme, p.Plan.Group(r)
	x, right := p.px(26), p.Gutter-p.px(8)
	p.arrow(p.px(12), y+p.px(12), r.Collapsed)
	if p.choseAll(g) {
		p.c.Rect(0, y, p.px(3), y+r.Height-1, raster.Pack(t.Accent))
	}
	f := p.Fonts.Name
	f.Draw(p.c, float32(x), y+p.px(16), f.FitText(g.Name, float32(right-x)), raster.Pack(t.Text), x, right)
	f = p.Fonts.Small
	note := p.Plan.GroupNote(g)
	if f.Measure(note) > float32(right-x) {
		note = strings.Replace(note, " "+p.Rec.ThreadWord(g.Tracks[0])+"s", "", 1)
	}
	f.Draw(p.c, float32(x), y+p.px(31), f.FitText(note, float32(right-x)), raster.Pack(t.Dim), x, right)
}

// choseAll reports whether all tracks of a group are selected.
func (p *Picture) choseAll(g *Group) bool {
	if len(p.Chosen) < len(g.Tracks) {
		return false
	}
	for _, ti := range g.Tracks {
		if !p.Chosen[ti] {
			return false
		}
	}
	return true
}

// ran draws how many tracks of a group ran over time. The whole height of the row stands
// for all processors.
func (p *Picture) ran(r *Row, y int) {
	if p.Activity == nil {
		return
	}
	a := p.Activity.of[p.Plan.Group(r).Name]
	if a == nil {
		return
	}
	height, bottom := float64(r.Height-p.px(8)), y+r.Height-p.px(4)
	col := raster.Pack(p.Palette.Theme.State(recording.Running))
	from := p.View.From
	for x := p.Gutter; x < p.w; x++ {
		to := p.View.Time(float64(x-p.Gutter+1), p.width())
		if n := p.Activity.mean(a, from, to); n > 0 {
			h := max(1, int(math.Round(min(1, n/p.Activity.most)*height)))
			p.c.Rect(x, bottom-h, x+1, bottom, col)
		}
		from = to
	}
}
