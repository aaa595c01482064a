package shell

import (
	"context"
	"reflect"
	"slices"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
)

// A followed file is read again when it has changed. The new recording counts
// its threads and functions anew, so a pane takes it over in one step, together
// with the first answer about it: until then it goes on showing the last.

// toggleFollow begins to follow the file, or stops.
func (s *Shell) toggleFollow() {
	p := s.pane
	switch {
	case s.versus != nil:
		s.versus.toggleFollow(s)
	case p.unfollow != nil:
		p.stay()
		s.Say("No longer following " + p.doc.Name)
	case !p.doc.CanFollow():
		s.Say("Only files can be followed, and " + p.doc.Name + " is none")
	default:
		p.follow()
		s.Say("Following " + p.doc.Name + ": what is added is shown")
	}
}

func (p *pane) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	p.unfollow = cancel
	go p.doc.Follow(ctx)
}

// leave stops following, and keeps marks of a file that has changed by what is
// in it now.
func (s *Shell) leave() {
	s.pane.stay()
	s.pane.marks.move(s, s.pane)
}

// stay stops following.
func (p *pane) stay() {
	if p.unfollow != nil {
		p.unfollow()
		p.unfollow = nil
	}
}

// latest is the recording to show: the newest one of those whose numbers the
// pane knows.
func (p *pane) latest() *recording.Recording {
	rec, generation := p.doc.Latest()
	p.behind = generation != p.generation
	if !p.behind {
		return rec
	}
	r := renumber(p.rec, rec)
	q := p.question()
	q.Generation = generation
	r.query(&q.Query)
	if f, ok := p.pickedFunction(); ok && q.Durations != nil {
		q.Durations = functionsOf(rec, f)
	}
	if a := p.doc.Answer(); a == nil || a.Rec != rec || !a.Answers(&q) {
		p.doc.Ask(q)
		return p.rec
	} else {
		p.become(r, generation, a)
	}
	return rec
}

// become takes over a recording that was read again.
func (p *pane) become(r *renumbering, generation int, a *doc.Answer) {
	pick := r.pick(p, a)
	spot := r.place(p.spot(), a)
	for i := range p.history.places {
		p.history.places[i] = r.place(p.history.places[i], a)
	}
	p.history.seen = r.place(p.history.seen, a)
	p.rec, p.generation, p.behind = r.now, generation, false
	p.pick = pick
	p.goTo(spot)
	p.pick.near = pick.near
	p.hover = nil
	p.search.walked = false
	p.timeline.hit = timeline.Hit{Row: -1, Window: -1}
	p.sourcePart.of.fn = pick.fn
	p.marks.stale = true
	p.took = &taken{r, a}
}

// taken is how a pane has taken over a recording that was read again.
type taken struct {
	by     *renumbering
	answer *doc.Answer
}

// renumbering brings numbers of one recording to another one of the same file.
type renumbering struct {
	was, now *recording.Recording
	delta    int64 // of the start
	tracks   []int // by track, -1 where it is gone
}

func renumber(was, now *recording.Recording) *renumbering {
	r := &renumbering{was: was, now: now, delta: now.Start - was.Start, tracks: make([]int, len(was.Tracks))}
	if !was.HasTime {
		r.delta = 0
	}
	type key struct {
		kind     recording.TrackKind
		pid, tid int64
		name     string
	}
	exact, byID := map[key]int{}, map[key]int{}
	for i, t := range slices.Backward(now.Tracks) {
		exact[key{t.Kind, t.PID, t.TID, t.Name}] = i
		byID[key{t.Kind, t.PID, t.TID, ""}] = i
	}
	for i, t := range was.Tracks {
		n, ok := exact[key{t.Kind, t.PID, t.TID, t.Name}]
		if !ok {
			n, ok = byID[key{t.Kind, t.PID, t.TID, ""}]
		}
		if r.tracks[i] = n; !ok {
			r.tracks[i] = -1
		}
	}
	return r
}

// track is the number of a track, -1 for one that is gone.
func (r *renumbering) track(i int) int {
	if i < 0 || i >= len(r.tracks) {
		return -1
	}
	return r.tracks[i]
}

func (r *renumbering) list(of []int) []int {
	var out []int
	for _, i := range of {
		if n := r.track(i); n >= 0 {
			out = append(out, n)
		}
	}
	return out
}

// event finds an event and a metric again by their names.
func (r *renumbering) event(e, m int) (event, metric int) {
	if e >= len(r.was.Events) || m >= len(r.was.Events[e].Metrics) {
		return 0, 0
	}
	old := &r.was.Events[e]
	event = slices.IndexFunc(r.now.Events, func(x recording.Event) bool { return x.Name == old.Name && x.Basis == old.Basis })
	if event < 0 {
		event = slices.IndexFunc(r.now.Events, func(x recording.Event) bool { return x.Name == old.Name })
	}
	if event = max(0, event); event >= len(r.now.Events) {
		return 0, 0
	}
	ev := &r.now.Events[event]
	if metric = ev.Metric(old.Metrics[m].Name); metric < 0 {
		metric = ev.Primary
	}
	return event, metric
}

func (r *renumbering) query(q *analyze.Query) {
	q.Event, q.Metric = r.event(q.Event, q.Metric)
	q.Scope = r.scope(q.Scope)
}

// scope is a scope in the new numbers.
func (r *renumbering) scope(in recording.Scope) recording.Scope {
	return in.Moved(r.delta).On(r.chosen(in.Tracks))
}

// chosen are selected tracks; when all are gone, all are selected.
func (r *renumbering) chosen(tracks []int) []int {
	ts := r.list(tracks)
	slices.Sort(ts)
	return slices.Compact(ts)
}

// place is a place in the new numbers.
func (r *renumbering) place(pl place, a *doc.Answer) place {
	if pl.Moved {
		pl.View.From, pl.View.To = pl.View.From+r.delta, pl.View.To+r.delta
	}
	pl.Sel = r.scope(pl.Sel)
	pl.Event, pl.Metric = r.event(pl.Event, pl.Metric)
	folds := map[int]timeline.Fold{}
	for i, f := range pl.Folds {
		if n := r.track(i); n >= 0 {
			folds[n] = f
		}
	}
	hidden := map[int]bool{}
	for i, h := range pl.Hidden {
		if n := r.track(i); n >= 0 {
			hidden[n] = h
		}
	}
	closed := map[int]bool{}
	for i, c := range pl.Closed {
		if i < len(r.was.Processes) {
			n := slices.IndexFunc(r.now.Processes, func(p recording.Process) bool { return p.PID == r.was.Processes[i].PID })
			if n >= 0 {
				closed[n] = c
			}
		}
	}
	pl.Folds, pl.Hidden, pl.Closed = folds, hidden, closed
	pl.Pinned = r.list(pl.Pinned)
	if pl.Order = r.list(pl.Order); pl.Order != nil {
		// Threads that are new stand behind those that were ordered.
		for i := range r.now.Tracks {
			if !slices.Contains(pl.Order, i) {
				pl.Order = append(pl.Order, i)
			}
		}
	}
	pl.Zoom = r.path(pl.Zoom, a)
	return pl
}

// path is a path of functions, as far as there is one.
func (r *renumbering) path(steps []step, a *doc.Answer) (path []step) {
	for _, st := range steps {
		if st.group > 0 {
			break // what it stands for is only known to the tree it is of
		}
		ids := analyze.RefTo(r.was.Functions.At(int(st.fn))).Functions(r.now)
		if len(ids) == 0 {
			break
		}
		path = append(path, step{fn: ids[0]})
	}
	return path
}

// pick is what is picked, found again.
func (r *renumbering) pick(p *pane, a *doc.Answer) picked {
	pk := p.pick
	f, ok := p.pickedFunction()
	switch {
	case pk.is == pickWindow:
		pk.hit.Start, pk.hit.End = pk.hit.Start+r.delta, pk.hit.End+r.delta
		return pk
	case !ok:
		return picked{}
	case pk.is == pickBar:
		if h, ok := r.hit(&pk.hit); ok {
			pk.hit, pk.fn, pk.tree = h, r.now.Func(h.Call), nil
			return pk
		}
	case pk.tree != nil:
		var names []recording.Function
		for _, n := range pk.tree.Path(int(pk.node)) {
			names = append(names, pk.tree.Function(r.was, n))
		}
		at := int32(0)
		for _, name := range names {
			kids := a.Tree.Children(int(at))
			i := slices.IndexFunc(kids, func(k int32) bool { return a.Tree.Function(a.Rec, int(k)).FuncName() == name.FuncName() })
			if i < 0 {
				at = 0
				break
			}
			at = kids[i]
		}
		if at > 0 {
			return picked{is: pickNode, node: at, tree: a.Tree, fn: a.Tree.Nodes[at].Func, near: pk.near}
		}
	}
	if n := nodeNamed(a, f.FuncName()); n > 0 {
		return picked{is: pickNode, node: n, tree: a.Tree, fn: a.Tree.Nodes[n].Func, near: pk.near}
	}
	return picked{}
}

// hit finds a bar of spans again by its thread, its lane, its beginning and its
// function.
func (r *renumbering) hit(h *timeline.Hit) (timeline.Hit, bool) {
	n := r.track(h.Track)
	if n < 0 || h.Samples != nil || h.Lane >= len(r.now.Tracks[n].Lanes) || h.Call == recording.NoCall {
		return *h, false
	}
	l := &r.now.Tracks[n].Lanes[h.Lane]
	for i := max(0, l.Search(h.Start+r.delta)-1); i < l.Len() && l.Start(i) <= h.Start+r.delta; i++ {
		f := r.now.Functions.At(int(r.now.Func(l.Call(i))))
		was := r.was.Functions.At(int(r.was.Func(h.Call)))
		if l.Start(i) == h.Start+r.delta && reflect.DeepEqual(f.FuncName(), was.FuncName()) {
			out := *h
			out.Row, out.Track, out.Span, out.Call = -1, n, i, l.Call(i)
			out.Start, out.End, out.Unfinished, out.Args = l.Start(i), l.End(i), l.Unfinished(i), l.Args(i)
			return out, true
		}
	}
	return *h, false
}

// followText is what the status line says of a followed file, "" when none is.
func (p *pane) followText() (text string, wrong bool) {
	switch {
	case p.unfollow == nil:
		return "", false
	case p.doc.FollowNote() != "":
		return "following · " + p.doc.FollowNote(), true
	}
	return "following", false
}
