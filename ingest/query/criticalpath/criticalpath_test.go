package criticalpath

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// item is a piece of work on a thread of a program: it waits for messages from items made
// before it, then works.
type item struct {
	name  string
	work  int64
	waits []message
	// set by simulate
	free, start, end int64
	last             message // the message that it waited for, if any
	woken            bool
}

// message is sent at the end of an item and arrives after the program's delay.
type message struct{ thread, item int }

type program struct {
	threads [][]item
	delay   int64
}

// made returns a random program of a few items.
func made(r *rand.Rand, delays bool) *program {
	p := &program{threads: make([][]item, 2+r.IntN(3))}
	if delays {
		p.delay = r.Int64N(3)
	}
	for n := 4 + r.IntN(8); n > 0; n-- {
		t := r.IntN(len(p.threads))
		x := item{name: fmt.Sprintf("t%di%d", t, len(p.threads[t])), work: 1 + r.Int64N(9)}
		for range r.IntN(3) {
			if o := r.IntN(len(p.threads)); o != t && len(p.threads[o]) > 0 {
				x.waits = append(x.waits, message{o, r.IntN(len(p.threads[o]))})
			}
		}
		p.threads[t] = append(p.threads[t], x)
	}
	return p
}

// simulate computes when items begin and end. Items wait only for items made before them,
// so repeated passes over the threads converge.
func (p *program) simulate() {
	for range 32 {
		for t := range p.threads {
			at := int64(0)
			for i := range p.threads[t] {
				x := &p.threads[t][i]
				x.free, x.start, x.woken = at, at, false
				for _, m := range x.waits {
					if sent := p.threads[m.thread][m.item].end; sent > at && sent+p.delay > x.start {
						x.start, x.last, x.woken = sent+p.delay, m, true
					} else if sent+p.delay > x.start {
						x.start, x.last, x.woken = sent+p.delay, m, sent >= at
					}
				}
				at = x.start + x.work
				x.end = at
			}
		}
	}
}

// longest returns the length of the longest chain of dependent items that ends in item i of
// thread t, by trying all chains.
func (p *program) longest(t, i int) int64 {
	x := &p.threads[t][i]
	var most int64
	if i > 0 {
		most = p.longest(t, i-1)
	}
	for _, m := range x.waits {
		most = max(most, p.longest(m.thread, m.item)+p.delay)
	}
	return most + x.work
}

func (p *program) end(t int) (item int, end int64) {
	n := len(p.threads[t])
	if n == 0 {
		return -1, 0
	}
	return n - 1, p.threads[t][n-1].end
}

// states records a run of the program as threads with states. The method spans records it
// with spans and flows instead.
func (p *program) states() *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	for t := range p.threads {
		b.Track(recording.TrackKey{PID: 1, TID: int64(t)})
	}
	for t := range p.threads {
		track := b.Track(recording.TrackKey{PID: 1, TID: int64(t)})
		for _, x := range p.threads[t] {
			call := b.Call(recording.NoCall, b.FunctionFrame(b.Function(recording.Function{Name: x.name})))
			waker := recording.NoTrack
			if x.start > x.free {
				track.State(x.free, x.start, b.Call(call, b.StateFrame(recording.Blocked, "message")), recording.NoTrack)
				waker = x.last.thread
			}
			track.State(x.start, x.end, b.Call(call, b.StateFrame(recording.Running, "")), waker)
		}
	}
	return b.Finish()
}

func (p *program) spans() *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	for t := range p.threads {
		b.Track(recording.TrackKey{PID: 1, TID: int64(t)})
	}
	for t := range p.threads {
		track := b.Track(recording.TrackKey{PID: 1, TID: int64(t)})
		for _, x := range p.threads[t] {
			frame := b.FunctionFrame(b.Function(recording.Function{Name: x.name}))
			inner := b.FunctionFrame(b.Function(recording.Function{Name: "in " + x.name}))
			track.Begin(x.start, frame, 0)
			track.Begin(x.start, inner, 0)
			track.End(x.end)
			track.End(x.end)
			for _, m := range x.waits {
				b.AddFlow(recording.Flow{Name: "message", Steps: []recording.FlowStep{{Track: m.thread, Time: p.threads[m.thread][m.item].end}, {Track: t, Time: x.start}}})
			}
		}
	}
	return b.Finish()
}

// whole checks that the steps cover the path's time without gaps.
func whole(t *testing.T, p *Path) {
	t.Helper()
	at := p.From
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.From != at || s.To <= s.From {
			t.Fatalf("step %d is from %d to %d, the one before ends at %d", i, s.From, s.To, at)
		}
		at = s.To
	}
	if at != p.To {
		t.Fatalf("the path ends at %d, not at %d", at, p.To)
	}
}

// The critical path of a simulated program is its longest chain of dependent work, and work
// on it that takes longer delays the end by the same time.
func TestAgainstAllChains(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	waits := 0
	for seed := range rounds {
		for _, kind := range []string{"states", "spans"} {
			p := made(rand.New(rand.NewPCG(uint64(seed), 7)), kind == "spans")
			p.simulate()
			rec := p.states()
			if kind == "spans" {
				rec = p.spans()
			}
			for thread := range p.threads {
				last, end := p.end(thread)
				if last < 0 {
					continue
				}
				if got := p.longest(thread, last); got != end {
					t.Fatalf("seed %d: the simulation ends at %d, the longest chain at %d", seed, end, got)
				}
				paths, err := Of(context.Background(), rec, recording.Between(0, end).On([]int{thread}))
				if err != nil {
					t.Fatal(err)
				}
				path := &paths[0]
				whole(t, path)
				for i := range path.Steps {
					s := &path.Steps[i]
					if s.Sent {
						waits++
						continue
					}
					if idle(s) {
						t.Fatalf("seed %d, %s, thread %d: step %d waits: %+v of %+v", seed, kind, thread, i, s, p)
					}
					p.longer(t, s.Function(rec), thread, end)
				}
			}
		}
	}
	if waits == 0 {
		t.Error("no flow was in transit")
	}
}

// longer checks that the end is one later if the named item takes one longer.
func (p *program) longer(t *testing.T, name string, thread int, end int64) {
	t.Helper()
	for k := range p.threads {
		for i := range p.threads[k] {
			if x := &p.threads[k][i]; x.name == name {
				x.work++
				p.simulate()
				if _, got := p.end(thread); got != end+1 {
					t.Fatalf("%s is on the path to the end of thread %d at %d, but with one more that is %d", name, thread, end, got)
				}
				x.work--
				p.simulate()
				return
			}
		}
	}
	t.Fatalf("there is no item %q", name)
}

// steps formats a path: the thread, time and description of each step, and the track that
// it came from.
func steps(rec *recording.Recording, p *Path) string {
	var out []string
	for i := range p.Steps {
		s := &p.Steps[i]
		line := fmt.Sprintf("%d %d..%d %s", rec.Tracks[s.Track].TID, s.From, s.To, s.Words(rec))
		if s.WokenBy != recording.NoTrack {
			line += fmt.Sprintf(" by %d", rec.Tracks[s.WokenBy].TID)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestSteps(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	b.AddEvent(recording.SpanEvent())
	tracks := map[int64]*recording.TrackBuilder{}
	for id := range int64(5) {
		tracks[id] = b.Track(recording.TrackKey{PID: 1, TID: id})
	}
	state := func(tid, from, to int64, s recording.State, reason string, waker int) {
		tracks[tid].State(from, to, b.Call(recording.NoCall, b.StateFrame(s, reason)), waker)
	}
	no := recording.NoTrack
	state(0, 0, 10, recording.Running, "", no)
	state(0, 10, 30, recording.Blocked, "lock", no)
	state(0, 30, 35, recording.Runnable, "", 1)
	state(0, 35, 50, recording.Running, "", no)
	state(0, 50, 60, recording.Blocked, "sleep", no) // nobody wakes it
	state(0, 60, 80, recording.Running, "", no)
	state(1, 5, 20, recording.Blocked, "read", no)
	state(1, 20, 22, recording.Runnable, "", 2)
	state(1, 22, 40, recording.Running, "", no)
	// Two threads that woke each other at the same moment.
	state(2, 0, 20, recording.Blocked, "a", no)
	state(2, 20, 40, recording.Running, "", 3)
	state(3, 0, 20, recording.Blocked, "b", no)
	state(3, 20, 40, recording.Running, "", 2)
	span := func(tid, from, to int64) {
		f := b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint("f", from)}))
		tracks[tid].Begin(from, f, 0)
		tracks[tid].End(to)
	}
	span(4, 0, 10)
	span(4, 40, 60)
	b.AddFlow(recording.Flow{Name: "post", Steps: []recording.FlowStep{{Track: 0, Time: 38}, {Track: 4, Time: 41}}})
	b.AddFlow(recording.Flow{Name: "early", Steps: []recording.FlowStep{{Track: 1, Time: 12}, {Track: 4, Time: 44}}})
	b.AddFlow(recording.Flow{Name: "late", Steps: []recording.FlowStep{{Track: 1, Time: 42}, {Track: 4, Time: 50}}})
	rec := b.Finish()
	for _, x := range []struct {
		tid, from, to int64
		want          string
	}{
		{0, 0, 80, "0 0..10 running; 3 10..20 blocked: b; 1 20..22 runnable by 2; 1 22..30 running; 0 30..35 runnable by 1; 0 35..50 running; 0 50..60 blocked: sleep; 0 60..80 running"},
		{0, 32, 55, "0 32..35 runnable; 0 35..50 running; 0 50..55 blocked: sleep"}, // ends in a wait
		{0, 12, 30, "3 12..20 blocked: b; 1 20..22 runnable by 2; 1 22..30 running"},
		{0, 70, 90, "0 70..80 running; 0 80..90 nothing"},
		{4, 0, 60, "0 0..10 running; 3 10..20 blocked: b; 1 20..22 runnable by 2; 1 22..30 running; 0 30..35 runnable by 1; 0 35..38 running; 4 38..40 in transit: post by 0; 4 40..60 span"},
		{4, 0, 43, "0 0..10 running; 3 10..20 blocked: b; 1 20..22 runnable by 2; 1 22..30 running; 0 30..35 runnable by 1; 0 35..38 running; 4 38..40 in transit: post by 0; 4 40..43 span"},
		{4, 39, 43, "4 39..40 in transit: post by 0; 4 40..43 span"},
	} {
		paths, err := Of(context.Background(), rec, recording.Between(x.from, x.to).On([]int{int(x.tid)}))
		if err != nil {
			t.Fatal(err)
		}
		whole(t, &paths[0])
		if got := steps(rec, &paths[0]); got != x.want {
			t.Errorf("to %d of %d from %d: %s\nwant %s", x.to, x.tid, x.from, got, x.want)
		}
		for _, by := range []By{ByState, ByThread, ByFunction} {
			var sum int64
			for _, s := range Sums(rec, paths, by) {
				sum += s.Time
			}
			if sum != x.to-x.from {
				t.Errorf("by %s the path adds up to %d, not to %d", by, sum, x.to-x.from)
			}
		}
	}
	if got := Last(rec, recording.Scope{}); rec.Tracks[got].TID != 0 {
		t.Errorf("the last at work is %d", got)
	}
	if got := Last(rec, recording.Between(0, 50)); rec.Tracks[got].TID != 0 {
		t.Errorf("until 50 the last at work is %d", got)
	}
	if got := Last(rec, recording.Between(0, 40).On([]int{0, 4})); rec.Tracks[got].TID != 0 {
		t.Errorf("until 40 the last at work of two is %d", got)
	}
	if got := Last(recording.NewBuilder().Finish(), recording.Scope{}); got != recording.NoTrack {
		t.Errorf("nothing was at work, but the last is %d", got)
	}
}

// naive walks back moment by moment, with linear scans, and returns the thread and state on
// the path at each. It supports only tracks with states.
func naive(rec *recording.Recording, track int, moments []int64) (states []string) {
	type in struct {
		start, end int64
		words      string
		idle, call bool
		waker      int
	}
	type wait struct {
		track int
		since int64
	}
	var waits []wait // threads that the path left, and the start of their waits
	all := make([][]in, len(rec.Tracks))
	for i, t := range rec.Tracks {
		for k := range t.States.Len() {
			name := strings.Trim(rec.FuncName(t.States.Call(k)), "[]")
			all[i] = append(all[i], in{t.States.Start(k), t.States.End(k), name, strings.HasPrefix(name, "blocked"), name == "system call", int(rec.Waker(t, k).Track)})
		}
	}
	began := func(track int, at int64) (b int64) { // start of the state just before a time
		for _, x := range all[track] {
			if x.start < at && at <= x.end {
				return x.start
			}
			if x.end < at {
				b = max(b, x.end)
			}
		}
		return b
	}
	in0 := func(track int, at int64) (busy, call bool) {
		for _, x := range all[track] {
			busy = busy || x.start < at && at <= x.end && !x.idle
			call = call || x.start < at && at <= x.end && x.call
		}
		return busy, call
	}
	for m := len(moments) - 1; m > 0; m-- {
		at := moments[m]
		been := map[int]bool{track: true}
		for {
			busy, call := in0(track, at)
			if m < len(moments)-1 && (!busy || call) { // go back to a thread that began to wait now?
				for _, w := range slices.Backward(waits) {
					if w.since == at && began(track, at+1) < at {
						track, busy = w.track, true
						break
					}
				}
			}
			waker := recording.NoTrack
			for _, x := range all[track] {
				if x.start == at {
					waker = x.waker
				}
			}
			if busy || waker == recording.NoTrack || been[waker] {
				break
			}
			waits = append(waits, wait{track, began(track, at)})
			track = waker
			been[track] = true
		}
		words := fmt.Sprintf("%d nothing", track)
		for _, x := range all[track] {
			if x.start < at && at <= x.end {
				words = fmt.Sprintf("%d %s", track, x.words)
			}
		}
		states = append(states, words)
	}
	slices.Reverse(states)
	return states
}

// The paths of recordings with states equal the naive walk at each moment.
func TestSampleFiles(t *testing.T) {
	for _, name := range []string{"generated/go.trace", "perfetto/track_event_tracks.pftrace", "generated/go_vet.perf.data", "jfr/wall.jfr.gz", "chrome-trace/flow_simple.json", "chrome-trace/perfetto_connected_flow_data.json"} {
		rec, _, err := ingest.ReadAll(context.Background(), samples.Path(t, name), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		against(t, rec, name)
	}
}

func against(t *testing.T, rec *recording.Recording, name string) {
	t.Helper()
	for track, tr := range rec.Tracks {
		from, to := rec.Start, rec.End
		paths, err := Of(context.Background(), rec, recording.Between(from, to).On([]int{track}))
		if err != nil {
			t.Fatal(err)
		}
		p := &paths[0]
		if from < to {
			whole(t, p)
		}
		if tr.States.Len() == 0 || len(rec.Flows) > 0 {
			continue
		}
		if track = p.Track; track == recording.NoTrack {
			continue
		}
		var moments []int64
		for _, other := range rec.Tracks {
			for k := range other.States.Len() {
				moments = append(moments, other.States.Start(k), other.States.End(k))
			}
		}
		moments = append(moments, from, to)
		slices.Sort(moments)
		if moments = slices.Compact(moments); len(moments) > 4000 {
			moments = moments[len(moments)-4000:]
		}
		for i, want := range naive(rec, track, moments) {
			k := slices.IndexFunc(p.Steps, func(s Step) bool { return s.To >= moments[i+1] })
			s := &p.Steps[k]
			if got := fmt.Sprintf("%d %s", s.Track, s.Words(rec)); got != want {
				t.Fatalf("%s: the path to %s was in %s until %d, want %s", name, tr.Title(), got, moments[i+1], want)
			}
		}
		for _, by := range []By{ByState, ByThread, ByFunction} {
			var sum int64
			for _, s := range Sums(rec, paths, by) {
				sum += s.Time
			}
			if sum != to-from {
				t.Errorf("%s: by %s the path adds up to %d, not to %d", name, by, sum, to-from)
			}
		}
	}
}
