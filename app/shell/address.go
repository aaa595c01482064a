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
	"ashlar/render/theme"
)

// tabNames are what addresses call the tabs; they never change.
var tabNames = [...]string{tabFlame: "flamegraph", tabTable: "functions", tabNear: "callers", tabStats: "statistics", tabHeat: "heatmap", tabSource: "source", tabAbout: "about"}

// visit is what is left to do of an address: places and names once the
// recording is read, functions once there is an answer to find them in, and how
// far things are scrolled once they are there.
type visit struct {
	view     *address.View // all of it
	paired   bool          // with another recording
	side     int           // which of them this one is
	answered *address.View // what needs an answer
	marked   *analyze.Ref  // the function that is to be marked, as people name it
	scrolled *address.View // what needs that to be shown
	// sides are the zooms of callers and callees, which need theirs.
	sides [2][]recording.FuncName
}

// Address names what is shown, nil when nothing is. What it cannot say: which
// window, counter or moment has its details shown.
func (s *Shell) Address() *address.View {
	p := s.pane
	if p == nil {
		return nil
	}
	v := &address.View{Files: []string{p.file()}, Find: p.search.text, Transforms: slices.Clone(p.transforms)}
	if s.View != Both {
		v.Parts = string(s.View)
	}
	if s.Mode != theme.ByFunction {
		v.Colour = string(s.Mode)
	}
	s.openedAddress(v)
	dp := s.density * s.scale()
	if c := s.versus; c != nil {
		c.address(v, dp)
		return v
	}
	v.Side = p.sideAddress(dp)
	p.lowerAddress(v, dp)
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
			v.Zoom = append(v.Zoom, stepFunction(a.Rec, a.Tree, st).FuncName())
		}
	}
	p.pickAddress(v)
	for _, m := range p.marks.all {
		v.Marks = append(v.Marks, address.Mark{Place: m.Place, Text: m.Text})
	}
	return v
}

// openedAddress says how the file was opened.
func (s *Shell) openedAddress(v *address.View) {
	p := s.pane
	v.Part = address.Part{From: p.part.From, To: p.part.To, HasFrom: p.part.HasFrom, HasTo: p.part.HasTo}
	v.Only = slices.Clone(p.part.Threads)
	if v.Exe = p.exe; p.exe != "" {
		if abs, err := filepath.Abs(p.exe); err == nil {
			v.Exe = abs
		}
	}
}

// pickAddress says what is marked, and whose callers are shown.
func (p *pane) pickAddress(v *address.View) {
	f, ok := p.pickedFunction()
	switch {
	case p.pick.is == pickBar:
		v.Bar = p.barAddress()
	case p.pick.is == pickNode && ok && p.pick.tree != nil:
		v.Node = pathNames(p.rec, p.pick.tree, int(p.pick.node))
	}
	if ok {
		v.Function = new(f.FuncName())
	}
	if of := p.near.of.FuncName(); p.tab == tabNear && p.near.any && !(ok && of == f.FuncName()) {
		v.Around = &of
	}
	if a := p.doc.Answer(); p.tab == tabNear && p.near.any && a != nil && a.Above != nil {
		v.Callers = pathNames(a.Rec, a.Above, nodeAt(a.Above, p.near.zoom[0]))
		v.Callees = pathNames(a.Rec, a.Below, nodeAt(a.Below, p.near.zoom[1]))
	}
}

// pathNames are the functions from a tree's root to a node, none for the root.
func pathNames(rec *recording.Recording, t *analyze.Tree, node int) (names []recording.FuncName) {
	for _, n := range t.Path(node) {
		names = append(names, t.Function(rec, n).FuncName())
	}
	return names
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
	return tracks, nil
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
		s.exe = v.Exe
		s.OpenPart(v.Files[0], recording.Part{From: v.Part.From, To: v.Part.To, HasFrom: v.Part.HasFrom, HasTo: v.Part.HasTo, Threads: slices.Clone(v.Only)})
		s.exe = ""
	}
	if len(v.Files) > 1 {
		s.OpenBeside(v.Files[1])
	}
	s.View = Both
	if slices.Contains([]View{Timeline, Flame, Lower}, View(v.Parts)) {
		s.View = View(v.Parts)
	}
	s.Mode = theme.ByFunction
	if slices.Contains(theme.Modes, theme.Mode(v.Colour)) {
		s.Mode = theme.Mode(v.Colour)
	}
	if s.prefs.Mode != "" { // this is no wish to see everything so
		s.prefs.Mode = s.Mode
	}
	s.GoTo(v)
}

// GoTo shows what is open as an address says, whatever files it names.
func (s *Shell) GoTo(v *address.View) {
	if c := s.versus; c != nil {
		c.visit = visit{view: v}
		for i, p := range c.panes {
			p.visit = visit{view: v, paired: true, side: i}
		}
		return
	}
	s.pane.visit = visit{view: v}
}

// Mark marks a function of what is open, the heaviest where several are meant.
func (s *Shell) Mark(f analyze.Ref) {
	if c := s.versus; c != nil {
		c.visit.marked = &f
		return
	}
	s.pane.visit.marked = &f
}

// arrive goes on with a visit as far as it can; changed tells that there is
// something new to ask.
func (p *pane) arrive() (changed bool, err error) {
	if v := p.visit.view; v != nil && p.rec.Done {
		is := p.visit
		err = p.goToAddress(v, is.paired, []*address.Side{&v.Side, &v.Beside}[is.side])
		p.visit = visit{paired: is.paired, side: is.side, scrolled: v, marked: is.marked}
		switch {
		case !is.paired:
			p.visit.answered = v
		case v.Tab == compareTabKeys[compareTwo] && is.side == b2i(slices.Contains(v.With, wordB)):
			p.visit.answered = &address.View{Zoom: v.Zoom}
		}
		return true, err
	}
	v := p.visit.answered
	if v == nil {
		return p.arriveNear()
	}
	a := p.doc.Answer()
	if q := p.question(); a == nil || a.Rec != p.rec || !a.Answers(&q) {
		return false, nil
	}
	p.visit.answered = nil
	err = p.goToAnswered(a, v)
	if ref := p.visit.marked; ref != nil {
		p.visit.marked = nil
		err = cmp.Or(err, p.markNamed(a, *ref))
	}
	return true, err
}

// goToAnswered shows what of an address needs an answer: functions, and bars of
// the flamegraph.
func (p *pane) goToAnswered(a *doc.Answer, v *address.View) (err error) {
	miss := func(format string, args ...any) { err = cmp.Or(err, fmt.Errorf(format, args...)) }
	if v.Zoom != nil {
		path, _, ok := pathNamed(a.Rec, a.Tree, v.Zoom)
		if p.flame.zoomTo(p, path); !ok {
			miss("the flamegraph has not all functions of the address's zoom")
		}
	}
	if f := v.Function; f != nil && p.pick.is != pickBar {
		_, n, ok := pathNamed(a.Rec, a.Tree, v.Node)
		if !ok || n == 0 {
			n = nodeNamed(a, *f)
		}
		if n > 0 {
			p.pick = picked{is: pickNode, node: n, tree: a.Tree, fn: a.Tree.Nodes[n].Func}
		} else {
			miss("the function %s is not in what is shown", f.Name)
		}
	}
	if f := v.Around; f != nil {
		if fs := functionsOf(p.rec, recording.Function{Name: f.Name, Module: f.Module}); len(fs) > 0 {
			p.near.around(p.rec.Functions.At(int(fs[0])))
			p.pick.near = true
		} else {
			miss("the function %s is not in the recording", f.Name)
		}
	}
	if p.tab == tabNear {
		p.visit.sides = [2][]recording.FuncName{v.Callers, v.Callees}
	}
	return err
}

// arriveNear zooms both sides of a function as an address says, once they are
// there.
func (p *pane) arriveNear() (changed bool, err error) {
	names := p.visit.sides
	if names[0] == nil && names[1] == nil {
		return false, nil
	}
	a := p.doc.Answer()
	if q := p.question(); a == nil || a.Above == nil || !a.Answers(&q) {
		return false, nil
	}
	p.visit.sides = [2][]recording.FuncName{}
	for i, t := range []*analyze.Tree{a.Above, a.Below} {
		path, _, ok := pathNamed(a.Rec, t, names[i])
		if len(path) > 1 { // the first is the function itself
			p.near.zoom[i] = path
		}
		if !ok {
			err = errors.New("the callers and callees have not all functions of the address's zoom")
		}
	}
	return true, err
}

// markNamed picks the heaviest of the functions that are meant.
func (p *pane) markNamed(a *doc.Answer, ref analyze.Ref) error {
	of := map[recording.FuncID]bool{}
	for _, f := range ref.Functions(a.Rec) {
		of[f] = true
	}
	n := heaviest(a, func(i int) bool { return a.Tree.Nodes[i].Group == 0 && of[a.Tree.Nodes[i].Func] })
	if n == 0 {
		return fmt.Errorf("%s: no function in what is shown is called %s", p.doc.Name, ref.Text)
	}
	p.pick = picked{is: pickNode, node: n, tree: a.Tree, fn: a.Tree.Nodes[n].Func}
	return nil
}

// pathNamed finds functions from the root on in a tree, as far as they are
// there, and the last one's node.
func pathNamed(rec *recording.Recording, t *analyze.Tree, names []recording.FuncName) (path []step, node int32, ok bool) {
	for _, f := range names {
		kids := t.Children(int(node))
		i := slices.IndexFunc(kids, func(k int32) bool { return t.Function(rec, int(k)).FuncName() == f })
		if i < 0 {
			return path, node, false
		}
		node = kids[i]
		path = append(path, stepOf(&t.Nodes[node]))
	}
	return path, node, true
}

// nodeNamed is a function's heaviest node, 0 for none.
func nodeNamed(a *doc.Answer, f recording.FuncName) int32 {
	return heaviest(a, func(i int) bool { return a.Tree.Function(a.Rec, i).FuncName() == f })
}

// heaviest is the heaviest of some nodes, 0 for none.
func heaviest(a *doc.Answer, is func(node int) bool) int32 {
	best := int32(0)
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if nd := &a.Tree.Nodes[i]; (best == 0 || nd.Total > a.Tree.Nodes[best].Total) && is(i) {
			best = int32(i)
		}
	}
	return best
}

// goToAddress shows what an address says of a recording, but for functions. The
// error is the first thing that the recording does not have.
func (p *pane) goToAddress(v *address.View, paired bool, side *address.Side) (err error) {
	miss := func(format string, args ...any) { err = cmp.Or(err, fmt.Errorf(format, args...)) }
	if !paired && (v.Event != "" || v.Metric != "") {
		if !p.chooseNamed(v.Event, v.Metric) {
			miss("the recording has no event %q with a metric %q", v.Event, v.Metric)
		}
	}
	p.goToSide(side, miss)
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
	p.flame.up = slices.Contains(v.With, wordUp)
	if !paired {
		p.goToLowerAddress(v, side, miss)
	}
	if !paired && v.Tab != "" {
		if i := slices.Index(tabNames[:], v.Tab); i >= 0 {
			p.tab = i
		} else {
			miss("there is no tab %q; there are %s", v.Tab, strings.Join(tabNames[:], ", "))
		}
	}
	for _, m := range v.Marks[:len(v.Marks)*b2i(side == &v.Side)] {
		p.marks.add(store.NewMark(m.Place, m.Text))
	}
	p.visited = true
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
