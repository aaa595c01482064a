package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
)

// Look is the view of one recording: a [State] resolved to the indices of that recording,
// which are quick to draw with but mean nothing to any other. Its maps and slices are
// replaced, never modified, so a copy stays as it was and a frame can compare them by
// address.
type Look struct {
	// View is the visible time, on the recording's clock, and how far rows are scrolled,
	// in pixels. Unless Moved is set, the visible time follows the recording, which grows
	// while it is read.
	View  timeline.View
	Moved bool
	Scope recording.Scope
	// Against is the scope that Scope is compared with; nil for none. It is never the
	// whole recording.
	Against *recording.Scope
	// AgainstIsA makes Against A and Scope B, instead of the reverse.
	AgainstIsA bool

	Event, Metric int

	Folds         map[int]timeline.Fold // by track
	Closed        map[int]bool          // by process, -1 for the pinned tracks
	Groups        map[string]bool       // groups of tracks, and recordings of a joined one, opened (true) or closed by hand, by name
	Hidden        map[int]bool          // by track
	Pinned, Order []int                 // tracks
	Sort          timeline.Sort
	Filter        string
	Goal          int64 // the time entered with Go to time; valid if AtGoal
	AtGoal        bool
	Anchor        int64 // from the recording's start
	Tab           string
	Stacks
	Marks  []Mark
	Zoom   []recording.FuncName // from the flamegraph's root to its widest bar
	Around *recording.FuncName  // the function whose callers and callees are shown
	Sides  [2][]recording.FuncName
	Table  Table
	Split  float32
	Up     bool
	Display
}

// NewLook returns the initial view of a recording.
func NewLook() Look {
	return Look{Tab: FirstTab, Folds: map[int]timeline.Fold{}, Closed: map[int]bool{}, Groups: map[string]bool{}, Hidden: map[int]bool{}}
}

// FirstTab is the initial tab; addresses leave it out.
const FirstTab = "flamegraph"

// Undoable returns the Look without the parts that undo leaves alone (see [Field.Pick]).
// Two Looks that differ only in those parts are one step of history.
func (l Look) Undoable() Look {
	l.Goal, l.AtGoal = 0, false
	if !l.Moved {
		l.View.From, l.View.To = 0, 0
	}
	return l
}

// leastSplit and mostSplit bound the timeline's share of the height.
const leastSplit, mostSplit = .1, .9

// ClampSplit limits a share of the height so that both halves stay visible; 0 stands for
// the automatic share.
func ClampSplit(share float32) float32 {
	if share <= 0 {
		return 0
	}
	return max(leastSplit, min(mostSplit, share))
}

// Unbind writes the Look into a State as side i. dp is the number of pixels in a dp. The
// rest of the State is shared by all sides and comes from side 0; Event and Metric are
// left out if they are the recording's initial ones.
func (l *Look) Unbind(rec *recording.Recording, i int, dp float32, st *State) {
	st.Sides[i] = l.side(rec, dp)
	if l.Against != nil {
		a, b := &l.Scope, l.Against
		if l.AgainstIsA {
			a, b = b, a
		}
		st.Sides[0].scoped(rec, a)
		st.Sides[1].scoped(rec, b)
	}
	st.Stacks, st.Up = l.Stacks.Clone(), l.Up
	if i > 0 {
		return
	}
	if l.Event < len(rec.Events) {
		e := &rec.Events[l.Event]
		if l.Event != rec.DefaultEvent() {
			st.Event = EventName(e)
		}
		if l.Metric != e.Primary && l.Metric < len(e.Metrics) {
			st.Metric = e.Metrics[l.Metric].Name
		}
	}
	if l.Tab != FirstTab {
		st.Tab = l.Tab
	}
	st.Zoom, st.Around, st.Callers, st.Callees = l.Zoom, l.Around, l.Sides[0], l.Sides[1]
	st.Marks, st.Split = slices.Clone(l.Marks), l.Split
	st.Display = l.Display.clone()
}

func (l *Look) side(rec *recording.Recording, dp float32) Side {
	sd := Side{Sort: string(l.Sort), Filter: l.Filter, Scroll: InDP(l.View.Scroll, dp), Anchor: l.Anchor,
		Pin: threadsOf(rec, l.Pinned), Order: threadsOf(rec, l.Order)}
	if l.Moved {
		sd.Show = recording.Offsets(l.View.From-rec.Start, l.View.To-rec.Start)
	}
	sd.scoped(rec, &l.Scope)
	for _, i := range slices.Sorted(maps.Keys(l.Folds)) {
		switch l.Folds[i] {
		case timeline.Closed:
			sd.Fold = append(sd.Fold, ThreadOf(rec, i))
		case timeline.Full:
			sd.Unfold = append(sd.Unfold, ThreadOf(rec, i))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(l.Hidden)) {
		if l.Hidden[i] {
			sd.Hide = append(sd.Hide, ThreadOf(rec, i))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(l.Closed)) {
		if l.Closed[i] {
			sd.Close = append(sd.Close, processOf(rec, i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Groups)) {
		if l.Groups[name] {
			sd.OpenGroups = append(sd.OpenGroups, name)
		} else {
			sd.CloseGroups = append(sd.CloseGroups, name)
		}
	}
	if l.AtGoal {
		sd.Goal = new(l.Goal - rec.Start)
	}
	return sd
}

// OfScope returns a State that holds a scope and nothing else.
func OfScope(rec *recording.Recording, in recording.Scope) *State {
	st := new(State)
	st.Sides[0].scoped(rec, &in)
	return st
}

// scoped writes a scope into the Side.
func (sd *Side) scoped(rec *recording.Recording, in *recording.Scope) {
	sd.Threads, sd.Select, sd.Calls = threadsOf(rec, in.Tracks), recording.Range{}, ""
	if sd.Rest = in.Ranged && in.Outside; in.Ranged {
		sd.Select = recording.Offsets(in.From-rec.Start, in.To-rec.Start)
	}
	if in.Calls != nil {
		sd.Calls = in.Calls.Text
	}
	sd.Async, sd.Idle = apartText(in.Async), apartText(in.Idle)
}

// Bind returns the Look that side i of a State describes, resolved to the indices of a
// recording. Names that the recording lacks are left out; missing has a sentence for
// each.
func Bind(rec *recording.Recording, st *State, i int, dp float32) (l Look, missing []error) {
	b := binder{rec: rec}
	l = NewLook()
	l.Stacks, l.Up = st.Stacks.Clone(), st.Up
	l.Event, l.Metric = b.metric(st.Event, st.Metric)
	if l.Tab = cmp.Or(st.Tab, FirstTab); l.Tab == "statistics" { // its former name
		l.Tab = "calls"
	}
	l.Zoom, l.Around, l.Sides = st.Zoom, st.Around, [2][]recording.FuncName{st.Callers, st.Callees}
	l.Marks, l.Split = slices.Clone(st.Marks), ClampSplit(st.Split)
	l.Display = st.Display.clone()
	b.side(&l, &st.Sides[i], dp)
	if i == 0 && len(st.Files) < 2 {
		if in := b.scope(&st.Sides[1]); !in.IsWhole() {
			l.Against = &in
			if l.Scope.Outside { // the selection is never the time outside
				l.Scope, *l.Against, l.AgainstIsA = in, l.Scope, true
			}
		}
		l.Scope.Outside = false
	}
	return l, b.missing
}

// binder looks up the names of a State in a recording.
type binder struct {
	rec     *recording.Recording
	missing []error
}

func (b *binder) miss(format string, args ...any) {
	b.missing = append(b.missing, fmt.Errorf(format, args...))
}

// EventName returns the name of an event in a State.
func EventName(e *recording.Event) string { return cmp.Or(e.Name, e.Title()) }

// metric finds an event and one of its metrics.
func (b *binder) metric(event, metric string) (e, m int) {
	first := b.rec.DefaultEvent()
	for i := range b.rec.Events {
		ev := &b.rec.Events[i]
		if event == "" && i != first || event != "" && EventName(ev) != event {
			continue
		}
		if metric == "" {
			return i, ev.Primary
		}
		if m := ev.Metric(metric); m >= 0 {
			return i, m
		}
	}
	if event != "" || metric != "" {
		b.miss("the recording has no event %q with a metric %q", event, metric)
	}
	if len(b.rec.Events) > 0 {
		m = b.rec.Events[first].Primary
	}
	return first, m
}

// scope returns the scope that a Side describes.
func (b *binder) scope(sd *Side) (in recording.Scope) {
	if r := sd.Select; r.IsSet() {
		from, to := r.Ends(b.rec)
		if in = clipped(b.rec, from, to); !in.Ranged {
			b.miss("the selected time %s of the address is outside the recording", r)
		}
		in.Outside = in.Ranged && sd.Rest
	}
	if of := b.tracks(sd.Threads); of != nil {
		slices.Sort(of)
		in.Tracks = slices.Compact(of)
	}
	if sd.Calls != "" {
		in.Calls = &recording.CallSet{Text: sd.Calls}
	}
	in.Async, in.Idle = b.apart(sd.Async), b.apart(sd.Idle)
	return in
}

func (b *binder) side(l *Look, sd *Side, dp float32) {
	rec := b.rec
	l.Scope = b.scope(sd)
	if from, to := sd.Show.Ends(rec); sd.Show.IsSet() && rec.HasTime && from < to {
		l.View, l.Moved = l.View.Fit(from, to), true
		l.View.From, l.View.To = from, to
	}
	l.View.Scroll = int(sd.Scroll*dp + .5)
	l.Pinned, l.Order = b.tracks(sd.Pin), b.tracks(sd.Order)
	for _, i := range b.tracks(sd.Fold) {
		l.Folds[i] = timeline.Closed
	}
	for _, i := range b.tracks(sd.Unfold) {
		l.Folds[i] = timeline.Full
	}
	for _, i := range b.tracks(sd.Hide) {
		l.Hidden[i] = true
	}
	for _, pr := range sd.Close {
		if i, ok := pr.find(rec); ok {
			l.Closed[i] = true
		} else {
			b.miss("the recording has no process %d", pr.PID)
		}
	}
	for _, name := range sd.OpenGroups {
		l.Groups[name] = true
	}
	for _, name := range sd.CloseGroups {
		l.Groups[name] = false
	}
	if l.Filter, l.Anchor = sd.Filter, sd.Anchor; slices.Contains(timeline.Sorts, timeline.Sort(sd.Sort)) {
		l.Sort = timeline.Sort(sd.Sort)
	} else {
		b.miss("threads cannot be sorted by %q", sd.Sort)
	}
	if sd.Goal != nil {
		l.Goal, l.AtGoal = rec.Start+*sd.Goal, true
	}
}

// apartText returns the text of an Apart in a State.
func apartText(a recording.Apart) string {
	if a == recording.Out {
		return ""
	}
	return string(a)
}

func (b *binder) apart(text string) recording.Apart {
	if text == "" || slices.Contains(recording.Aparts, text) {
		return recording.Apart(text)
	}
	b.miss("use %s, not %q", strings.Join(recording.Aparts, ", "), text)
	return ""
}

// clipped returns the Scope between two times, clipped to the recording. If they are
// outside the recording it returns the whole recording.
func clipped(rec *recording.Recording, a, b int64) recording.Scope {
	a, b = max(min(a, b), rec.Start), min(max(a, b), rec.End)
	if a >= b {
		return recording.Scope{}
	}
	return recording.Between(a, b)
}

func (b *binder) tracks(of []Thread) (tracks []int) {
	at := map[Thread]int{}
	if len(of) > 1 { // the map saves a search of all tracks for each thread
		for i, t := range slices.Backward(b.rec.Tracks) {
			at[Thread{t.PID, t.TID, t.Name}], at[Thread{t.PID, t.TID, ""}] = i, i
		}
	}
	for _, want := range of {
		i, ok := at[want]
		if len(of) == 1 {
			i, ok = want.Find(b.rec)
		}
		if !ok && want.Name != "" { // the thread has been renamed
			i, ok = Thread{PID: want.PID, TID: want.TID}.Find(b.rec)
		}
		if ok {
			tracks = append(tracks, i)
		} else {
			b.miss("the recording has no thread %d of process %d", want.TID, want.PID)
		}
	}
	return tracks
}

// Find returns the thread's track.
func (t Thread) Find(rec *recording.Recording) (track int, ok bool) {
	i := slices.IndexFunc(rec.Tracks, func(o *recording.Track) bool {
		return o.PID == t.PID && o.TID == t.TID && (t.Name == "" || o.Name == t.Name)
	})
	return i, i >= 0
}

// ThreadOf identifies a track by its ids, and also by its name if another track has the
// same ids.
func ThreadOf(rec *recording.Recording, i int) Thread {
	t := rec.Tracks[i]
	for k, o := range rec.Tracks {
		if k != i && o.PID == t.PID && o.TID == t.TID {
			return Thread{PID: t.PID, TID: t.TID, Name: t.Name}
		}
	}
	return Thread{PID: t.PID, TID: t.TID}
}

// threadsOf identifies tracks as [ThreadOf] does.
func threadsOf(rec *recording.Recording, tracks []int) (names []Thread) {
	if len(tracks) < 2 {
		for _, i := range tracks {
			names = append(names, ThreadOf(rec, i))
		}
		return names
	}
	same := map[Thread]int{}
	for _, t := range rec.Tracks {
		same[Thread{PID: t.PID, TID: t.TID}]++
	}
	for _, i := range tracks {
		t := Thread{PID: rec.Tracks[i].PID, TID: rec.Tracks[i].TID}
		if same[t] > 1 {
			t.Name = rec.Tracks[i].Name
		}
		names = append(names, t)
	}
	return names
}

// pinnedProcess stands for the group of pinned threads in addresses; the group has no id.
const pinnedProcess = "pinned"

// processOf identifies a process by its id, and also by its name if another process has
// the same id; -1 stands for the header of the pinned threads.
func processOf(rec *recording.Recording, i int) Process {
	if i < 0 {
		return Process{PID: -1, Name: pinnedProcess}
	}
	p := &rec.Processes[i]
	for k := range rec.Processes {
		if o := &rec.Processes[k]; k != i && o.PID == p.PID {
			return Process{PID: p.PID, Name: p.Name}
		}
	}
	return Process{PID: p.PID}
}

func (p Process) find(rec *recording.Recording) (i int, ok bool) {
	if p == (Process{PID: -1, Name: pinnedProcess}) {
		return -1, true
	}
	i = slices.IndexFunc(rec.Processes, func(o recording.Process) bool {
		return o.PID == p.PID && (p.Name == "" || o.Name == p.Name)
	})
	return i, i >= 0
}

// InDP converts pixels to dp. Converted back on a screen with the same scale, the result
// is the same number of pixels.
func InDP(px int, dp float32) float32 {
	if dp <= 0 || px == 0 {
		return 0
	}
	return float32(px) / dp
}
