package shell

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/address"
	"ashlar/app/doc"
	"ashlar/app/store"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// tabNames are what addresses call the tabs; they never change.
var tabNames = [...]string{tabFlame: "flamegraph", tabTable: "functions", tabNear: "callers", tabStats: "statistics", tabHeat: "heatmap", tabSource: "source", tabAbout: "about"}

// visit is what is left to do of an address: places and names once the
// recording is read, functions once there is an answer to find them in.
type visit struct {
	view *address.View
	zoom []address.Function
	fn   *address.Function
}

// Address names what is shown, nil when nothing is. What it cannot say: which
// threads are folded, hidden or moved.
func (s *Shell) Address() *address.View {
	p := s.pane
	if p == nil {
		return nil
	}
	v := &address.View{Files: []string{p.file()}, Find: p.search.text, Transforms: slices.Clone(p.transforms)}
	if c := s.versus; c != nil {
		v.Files = []string{c.panes[0].file(), c.panes[1].file()}
		if c.above {
			v.Layout = address.Above
		}
	}
	if s.View != Both {
		v.Parts = string(s.View)
	}
	if p.moved {
		v.Show = &address.Range{From: p.view.From - p.rec.Start, To: p.view.To - p.rec.Start}
	}
	if p.sel.ranged {
		v.Select = &address.Range{From: p.sel.from - p.rec.Start, To: p.sel.to - p.rec.Start}
	}
	for _, i := range p.sel.tracks {
		v.Threads = append(v.Threads, threadName(p.rec, i))
	}
	if p.event < len(p.rec.Events) {
		e := &p.rec.Events[p.event]
		if p.event > 0 {
			v.Event = eventTitle(e)
		}
		if p.metric != e.Primary {
			v.Metric = p.metricOf().Name
		}
	}
	if p.tab != tabFlame {
		v.Tab = tabNames[p.tab]
	}
	if a := p.doc.Answer(); a != nil {
		for _, st := range p.flame.zoom {
			v.Zoom = append(v.Zoom, nameOf(stepFunction(a.Rec, a.Tree, st)))
		}
	}
	f, ok := p.pickedFunction()
	if p.tab == tabNear && p.near.any {
		f, ok = p.near.of, true
	}
	if ok {
		n := nameOf(f)
		v.Function = &n
	}
	for _, m := range p.marks.all {
		v.Marks = append(v.Marks, address.Mark{Place: m.Place, Text: m.Text})
	}
	return v
}

// file is how an address names the recording.
func (p *pane) file() string {
	switch {
	case p.demo:
		return address.Demo
	case p.path == "-" || strings.Contains(p.path, "://"):
		return p.path
	}
	if abs, err := filepath.Abs(p.path); err == nil {
		return abs
	}
	return p.path
}

func nameOf(f recording.Function) address.Function {
	return address.Function{Name: f.Name, Module: f.Module}
}

// stepFunction is what a step of the flamegraph's zoom stands for.
func stepFunction(rec *recording.Recording, t *analyze.Tree, st step) recording.Function {
	switch {
	case st.group > 0 && int(st.group) <= len(t.Groups):
		return t.Groups[st.group-1]
	case st.group > 0 || int(st.fn) >= rec.Functions.Len():
		return recording.Function{}
	}
	return rec.Functions.At(int(st.fn))
}

// threadName tells a track by its ids, and by its name where another has the
// same.
func threadName(rec *recording.Recording, i int) address.Thread {
	t := rec.Tracks[i]
	for k, o := range rec.Tracks {
		if k != i && o.PID == t.PID && o.TID == t.TID {
			return address.Thread{PID: t.PID, TID: t.TID, Name: t.Name}
		}
	}
	return address.Thread{PID: t.PID, TID: t.TID}
}

// tracksNamed are the tracks of an address; missing is the first that is not
// there.
func tracksNamed(rec *recording.Recording, of []address.Thread) (tracks []int, missing *address.Thread) {
	for _, want := range of {
		i := slices.IndexFunc(rec.Tracks, func(t *recording.Track) bool {
			return t.PID == want.PID && t.TID == want.TID && (want.Name == "" || t.Name == want.Name)
		})
		if i < 0 {
			return nil, &want
		}
		tracks = append(tracks, i)
	}
	slices.Sort(tracks)
	return slices.Compact(tracks), nil
}

// Visit opens what an address names and shows it as it says. What the recording
// does not have is told in the status line.
func (s *Shell) Visit(v *address.View) {
	if len(v.Files) == 0 {
		return
	}
	if v.Files[0] == address.Demo {
		s.OpenDemo()
	} else {
		s.openFile(v.Files[0])
	}
	a := s.pane
	if len(v.Files) > 1 {
		s.OpenBeside(v.Files[1])
		s.versus.above = v.Layout == address.Above
	}
	s.View = Both
	if v.Parts == string(Timeline) || v.Parts == string(Flame) {
		s.View = View(v.Parts)
	}
	a.visit.view = v
}

// arrive goes on with a visit as far as it can; changed tells that there is
// something new to ask.
func (p *pane) arrive() (changed bool, err error) {
	if v := p.visit.view; v != nil && p.rec.Done {
		p.visit.view = nil
		p.visit.zoom, p.visit.fn = v.Zoom, v.Function
		return true, p.goToAddress(v)
	}
	if p.visit.fn == nil && p.visit.zoom == nil {
		return false, nil
	}
	a := p.doc.Answer()
	if q := p.question(); a == nil || a.Rec != p.rec || !a.Answers(&q) {
		return false, nil
	}
	if p.visit.zoom != nil {
		path, ok := pathNamed(a, p.visit.zoom)
		p.flame.zoomTo(p, path)
		if !ok {
			err = errors.New("the flamegraph has not all functions of the address's zoom")
		}
	}
	if f := p.visit.fn; f != nil {
		if n := nodeNamed(a, *f); n > 0 {
			p.pick = picked{is: pickNode, node: n, tree: a.Tree, fn: a.Tree.Nodes[n].Func}
		} else {
			err = cmp.Or(err, fmt.Errorf("the function %s of the address is not in what is shown", f.Name))
		}
	}
	p.visit = visit{}
	return true, err
}

// pathNamed finds the path of an address's zoom in a tree.
func pathNamed(a *doc.Answer, zoom []address.Function) (path []step, ok bool) {
	at := 0
	for _, f := range zoom {
		i := slices.IndexFunc(a.Tree.Children(at), func(k int32) bool { return nameOf(a.Tree.Function(a.Rec, int(k))) == f })
		if i < 0 {
			return path, false
		}
		at = int(a.Tree.Children(at)[i])
		path = append(path, stepOf(&a.Tree.Nodes[at]))
	}
	return path, true
}

// nodeNamed is a function's heaviest node, 0 for none.
func nodeNamed(a *doc.Answer, f address.Function) int32 {
	best := int32(0)
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if nd := &a.Tree.Nodes[i]; (best == 0 || nd.Total > a.Tree.Nodes[best].Total) && nameOf(a.Tree.Function(a.Rec, i)) == f {
			best = int32(i)
		}
	}
	return best
}

// goToAddress shows what an address says, but for functions. The error is the
// first thing that the recording does not have.
func (p *pane) goToAddress(v *address.View) (err error) {
	miss := func(format string, args ...any) { err = cmp.Or(err, fmt.Errorf(format, args...)) }
	if v.Event != "" || v.Metric != "" {
		if !p.chooseNamed(v.Event, v.Metric) {
			miss("the recording has no event %q with a metric %q", v.Event, v.Metric)
		}
	}
	if r := v.Select; r != nil {
		if p.selectRange(p.rec.Start+r.From, p.rec.Start+r.To); !p.sel.ranged {
			miss("the selected time %s of the address lies outside the recording", r)
		}
	}
	if r := v.Show; r != nil && p.rec.HasTime && r.From < r.To {
		p.fit(p.rec.Start+r.From, p.rec.Start+r.To)
		p.view.From, p.view.To = p.rec.Start+r.From, p.rec.Start+r.To
	}
	tracks, missing := tracksNamed(p.rec, v.Threads)
	if p.sel.tracks = tracks; missing != nil {
		miss("the recording has no thread %d of process %d", missing.TID, missing.PID)
	}
	for _, t := range v.Transforms {
		if terr := t.Check(); terr != nil {
			miss("a transform of the address cannot be done: %v", terr)
		} else if !slices.Contains(p.transforms, t) {
			p.transforms = append(slices.Clone(p.transforms), t)
		}
	}
	if v.Find != "" {
		p.search.editor.SetText(v.Find)
		p.search.set(v.Find)
	}
	if v.Tab != "" {
		if i := slices.Index(tabNames[:], v.Tab); i >= 0 {
			p.tab = i
		} else {
			miss("there is no tab %q; there are %s", v.Tab, strings.Join(tabNames[:], ", "))
		}
	}
	for _, m := range v.Marks {
		p.marks.add(store.NewMark(m.Place, m.Text))
	}
	if v.Unknown != nil {
		miss("this version does not understand %s in the address", strings.Join(v.Unknown, ", "))
	}
	return err
}

// chooseNamed sets the event and the metric by name; "" is the first, and the
// event's primary one.
func (p *pane) chooseNamed(event, metric string) bool {
	for i := range p.rec.Events {
		e := &p.rec.Events[i]
		if event != "" && eventTitle(e) != event {
			continue
		}
		m := e.Primary
		if metric != "" {
			m = e.Metric(metric)
		}
		if m >= 0 {
			p.event, p.metric, p.shown = i, m, true
			return true
		}
		if event == "" {
			return false
		}
	}
	return false
}

// copyAddress puts the view's address on the clipboard.
func (s *Shell) copyAddress() {
	s.copyLater(s.Address().String())
	if s.pane.path == "-" {
		s.Say("Copied the view's address; standard input cannot be read again, so give it the file's path")
	}
}
