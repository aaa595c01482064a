package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
)

// TrackKind is the kind of a track's lanes.
type TrackKind uint8

const (
	// ThreadTrack: the calls of one thread. Lanes nest: a span was called from the span
	// in the lane above.
	ThreadTrack TrackKind = iota
	// AsyncTrack: operations that overlap freely, laid out so that none covers
	// another.
	AsyncTrack
)

// Track is a thread, or another row of lanes, of a process.
type Track struct {
	Kind TrackKind
	// PID and TID are the ids in the file, 0 if it has none. Process is the index in
	// Recording.Processes.
	PID, TID int64
	Process  int
	Name     string
	// Sort orders the tracks of a process; tracks with equal Sort are in file order.
	Sort int

	Lanes []lanes.Lane
	// Open are spans that have begun but not ended so far, outermost first.
	// Once the recording is done they are in Lanes, unfinished.
	Open []OpenSpan

	// States are the states of the thread, in order of time: calls of Builder.StateFrame,
	// below the stack if it is known. See also Waker. InState is the time in each State.
	States  lanes.Lane
	InState [states]int64

	// Samples has one entry per event that was sampled on this track.
	Samples  []*Samples
	Instants []Instant
}

// OpenSpan is a span that has not ended yet; its lane is its index in
// Track.Open.
type OpenSpan struct {
	Start int64
	Call  CallID
	Args  uint64
}

// Instant is an event at one moment.
type Instant struct {
	Time int64
	Name string
	Args uint64
}

// SamplesOf returns the samples of an event, nil when there are none.
func (t *Track) SamplesOf(event int) *Samples {
	for _, s := range t.Samples {
		if s.Event == event {
			return s
		}
	}
	return nil
}

// Spans counts the spans in all lanes.
func (t *Track) Spans() int {
	n := 0
	for i := range t.Lanes {
		n += t.Lanes[i].Len()
	}
	return n
}

// Columns groups the track's lanes, by their indices, into columns. In a column, the
// spans of a lane lie within the spans of the lane above: they nest like calls. A track
// has several columns if spans overlap without nesting. Empty lanes are left out.
func (t *Track) Columns(calls *Calls) (columns [][]int) {
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Len() == 0 {
			continue
		}
		if len(columns) == 0 || calls.Depth(l.Call(0)) == 1 {
			columns = append(columns, nil)
		}
		columns[len(columns)-1] = append(columns[len(columns)-1], i)
	}
	return columns
}

// Innermost visits the innermost calls of a column's lanes from one time to another, each
// with its duration. Where no span runs, the innermost call is outer.
func (t *Track) Innermost(column []int, outer CallID, from, to int64, visit func(CallID, int64)) {
	if len(column) > 0 {
		l := &t.Lanes[column[0]]
		for i := l.Search(from); i < l.Len() && l.Start(i) < to; i++ {
			start, end := max(from, l.Start(i)), min(to, l.End(i))
			if start >= end {
				continue
			}
			if from < start {
				visit(outer, start-from)
			}
			t.Innermost(column[1:], l.Call(i), start, end, visit)
			from = end
		}
	}
	if from < to {
		visit(outer, to-from)
	}
}

// Outermost returns the lanes of spans that lie in no other spans. A track has several if
// spans overlap without nesting.
func (t *Track) Outermost(calls *Calls) (outer []*lanes.Lane) {
	for _, column := range t.Columns(calls) {
		outer = append(outer, &t.Lanes[column[0]])
	}
	return outer
}

// hasNumber reports whether a number, as digits, is one of the numbers in a text or ends it.
func hasNumber(text, number string) bool {
	if strings.HasSuffix(text, number) {
		return true
	}
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return slices.Contains(numbers, number)
}

// Process groups tracks.
type Process struct {
	PID    int64
	Name   string
	Labels string
	Sort   int
	// Member is the word for its threads if they are not threads, such as goroutine.
	// Grouped is set if there may be very many, so those with the same name are shown as
	// one.
	Member  string
	Grouped bool
	// Recording, in a recording joined from several, is the name of the one that the process
	// came from. Name begins with it.
	Recording string
}

// OwnName returns the name of the process in the recording that it came from.
func (p *Process) OwnName() string {
	if p.Recording == "" || p.Name == p.Recording {
		return strings.TrimPrefix(p.Name, p.Recording)
	}
	return strings.TrimPrefix(p.Name, p.Recording+": ")
}

// In sets the recording that the process came from, and begins its name with that.
func (p *Process) In(recording string) {
	name := p.OwnName()
	if p.Recording, p.Name = recording, recording; name != "" {
		p.Name += ": " + name
	}
}

// OfRuntime reports whether a track is one of the goroutines that the Go runtime starts for
// itself, such as workers of the garbage collector or writers of the trace.
func (r *Recording) OfRuntime(t *Track) bool {
	if t.Kind == AsyncTrack || t.Process < 0 || t.Process >= len(r.Processes) || !r.Processes[t.Process].Grouped {
		return false
	}
	// As in go tool trace, plus the goroutines that write traces and profiles.
	return t.Name != "runtime.main" && strings.HasPrefix(t.Name, "runtime.") || strings.HasPrefix(t.Name, "runtime/trace.") || strings.HasPrefix(t.Name, "runtime/pprof.")
}

// ThreadWord returns the word for a track: thread, goroutine or another word of its
// process, or async track. For NoTrack it is the word of the first process that has no
// processors.
func (r *Recording) ThreadWord(track int) string {
	process := 0
	if track >= 0 && track < len(r.Tracks) {
		if process = r.Tracks[track].Process; r.Tracks[track].Kind == AsyncTrack {
			return AsyncWord
		}
	} else {
		process = max(0, slices.IndexFunc(r.Processes, func(p Process) bool { return p.Member != ProcessorWord }))
	}
	if process >= len(r.Processes) {
		return "thread"
	}
	return cmp.Or(r.Processes[process].Member, "thread")
}

// AsyncWord is the word for an AsyncTrack, ProcessorWord for one that shows a processor.
const (
	AsyncWord     = "async track"
	ProcessorWord = "processor"
)

// IsProcessor reports whether a track shows what a processor ran. Threads show the same work.
func (r *Recording) IsProcessor(track int) bool { return r.ThreadWord(track) == ProcessorWord }

// A KindCount is the number of tracks of a kind, in the words of ThreadWord.
type KindCount struct {
	Kind  string
	Count int64
}

// TrackKinds counts the tracks of each kind: first the threads, in the order of the file,
// then the async tracks. Rows of events that concern no thread are not counted.
func (r *Recording) TrackKinds() (kinds []KindCount) {
	for i := range r.Tracks {
		if t := r.Tracks[i]; t.TID <= TextID && t.Name == WholeTrace {
			continue
		}
		word := r.ThreadWord(i)
		k := slices.IndexFunc(kinds, func(k KindCount) bool { return k.Kind == word })
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, KindCount{Kind: word})
		}
		kinds[k].Count++
	}
	last := func(k KindCount) int {
		if k.Kind == AsyncWord {
			return 1
		}
		return 0
	}
	order.By(kinds, func(a, b KindCount) int { return last(a) - last(b) })
	return kinds
}

// Title returns a process's name with its labels.
func (p *Process) Title() string { return strings.TrimSpace(p.Name + " " + p.Labels) }

// TextID is the first of the numbers that replace process and thread ids that are text in
// the file; later ones count down from it.
const TextID = -1 << 40

// WholeTrace is the name of the row of events that concern a whole process or recording, not a
// thread.
const WholeTrace = "whole trace"

// IDText formats the id of a process or thread. For an id that is text in the file it
// returns "", because the text is the name unless there is another.
func IDText(id int64) string {
	if id <= TextID {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// Flow links spans on different tracks: an arrow through its steps.
type Flow struct {
	Name  string
	Steps []FlowStep
}

// FlowStep is one end of an arrow: a moment on a track, bound to the span that
// runs there.
type FlowStep struct {
	Track int
	Time  int64
}

// Title returns a short name of a track: its name, or else its thread id.
func (t *Track) Title() string {
	if t.Name != "" {
		return t.Name
	}
	return fmt.Sprintf("thread %d", t.TID)
}

// Label returns the title of a track with its thread id, which tells apart threads of one
// name, such as "worker 18".
func (t *Track) Label() string {
	id := IDText(t.TID)
	if t.Name == "" || id == "" || t.TID == 0 || hasNumber(t.Name, id) {
		return t.Title()
	}
	return t.Name + " " + id
}

// TrackLabel returns the label of a track, after the name of the recording that it came from if
// the recording is joined: ranks of a job have threads of the same names.
func (r *Recording) TrackLabel(track int) string {
	return r.after(r.Tracks[track], (*Track).Label)
}

// TrackTitle is like TrackLabel, with the title of the track.
func (r *Recording) TrackTitle(track int) string {
	return r.after(r.Tracks[track], (*Track).Title)
}

func (r *Recording) after(t *Track, name func(*Track) string) string {
	if t.Process < len(r.Processes) && r.Processes[t.Process].Recording != "" {
		return r.Processes[t.Process].Recording + ": " + name(t)
	}
	return name(t)
}
