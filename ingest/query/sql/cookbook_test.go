package sql

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
)

// deed is a span as it was made.
type deed struct {
	thread, depth     int
	start, dur, inner int64
	name, tenant      string
	parent            *deed
}

func (d *deed) end() int64 { return d.start + d.dur }

// shop holds what was put into a recording of a made-up shop.
type shop struct {
	deeds  []*deed
	states []naiveState
	queue  [][2]int64 // counter: time and value
	flows  [][2]int64 // times of the two ends
	stacks [][]string // of samples, outermost first
	origin int64      // start of the recording
	rec    *recording.Recording
	set    *relation.Set // its tables
}

type naiveState struct {
	start, end int64
	reason     string // of a blocked state, otherwise ""
	woken      bool   // by thread 0
}

const us = 1_000_000 // picoseconds

func newShop(seed uint64) *shop {
	x, b, r := &shop{}, recording.NewBuilder(), rand.New(rand.NewPCG(seed, 7))
	b.AddEvent(recording.SpanEvent())
	cycles := b.AddEvent(recording.Event{Name: "cycles", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}})
	b.AddEvent(recording.StateEvent())
	args := []string{""}
	b.SetArgs(func(ref uint64) string { return args[ref] })
	frame := func(name string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: name}))
	}
	var threads []*recording.TrackBuilder
	for i, name := range []string{"main", "worker", "stream 7"} {
		t := b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
		t.SetName(name)
		threads = append(threads, t)
	}
	begin := func(parent *deed, thread int, start, dur int64, name, tenant string) *deed {
		d := &deed{thread: thread, depth: 1, start: start, dur: dur, name: name, tenant: tenant, parent: parent}
		if parent != nil {
			d.depth, parent.inner = parent.depth+1, parent.inner+dur
		}
		ref := uint64(0)
		if tenant != "" {
			ref = uint64(len(args))
			args = append(args, `{"tenant":"`+tenant+`"}`)
		}
		threads[thread].Begin(start, frame(name), ref)
		x.deeds = append(x.deeds, d)
		return d
	}
	end := func(d *deed) { threads[d.thread].End(d.end()) }
	queue := b.AddCounter(0, "queue", "", "")
	at := [3]int64{0, 100 * us, 50 * us}
	wait := int64(0)
	for i := range 60 {
		request := begin(nil, 0, at[0], (500+r.Int64N(1000))*us, "Request", string("abc"[r.IntN(3)]))
		end(begin(request, 0, request.start+10*us, (50+r.Int64N(100))*us, "Parse", ""))
		if r.IntN(4) > 0 {
			end(begin(request, 0, request.start+200*us, (100+r.Int64N(200))*us, "Query", ""))
		}
		end(request)
		at[0] = request.end() + r.Int64N(300)*us
		b.CounterPoint(queue, request.start-r.Int64N(5), float64(i%7))
		x.queue = append(x.queue, [2]int64{0, int64(i % 7)})
		handle := begin(nil, 1, max(at[1], request.start+20*us), (300+r.Int64N(900))*us, "Handle", "")
		if r.IntN(2) == 0 {
			end(begin(handle, 1, handle.start+us, 100*us, "Query", ""))
		}
		end(handle)
		b.AddFlow(recording.Flow{Name: "hand over", Steps: []recording.FlowStep{{Track: 0, Time: request.start + 5*us}, {Track: 1, Time: handle.start}}})
		x.flows = append(x.flows, [2]int64{request.start + 5*us, handle.start})
		reason := []string{"lock", "io"}[r.IntN(2)]
		s := naiveState{start: max(wait, handle.start+200*us), reason: reason}
		s.end = s.start + (1+r.Int64N(80))*us
		run := naiveState{start: s.end, end: s.end + 50*us, woken: r.IntN(2) == 0}
		waker := recording.NoTrack
		if run.woken {
			waker = 0
		}
		threads[1].State(s.start, s.end, b.Call(recording.NoCall, b.StateFrame(recording.Blocked, reason)), recording.NoTrack)
		threads[1].State(run.start, run.end, b.Call(recording.NoCall, b.StateFrame(recording.Running, "")), waker)
		x.states = append(x.states, s, run)
		wait = run.end
		at[1] = handle.end()
		kernel := begin(nil, 2, at[2], (200+r.Int64N(700))*us, "Kernel", "")
		end(kernel)
		at[2] = kernel.end() + r.Int64N(400)*us
		stack := []string{"start", []string{"hot", "cold"}[r.IntN(2)], []string{"start", "leaf"}[r.IntN(2)]}
		call := recording.NoCall
		for _, f := range stack {
			call = b.Call(call, frame(f))
		}
		threads[0].Sample(cycles, request.start+us, call, -1, nil)
		x.stacks = append(x.stacks, stack)
	}
	rec := b.Finish()
	x.origin, x.rec, x.set = rec.Start, rec, relation.New(rec)
	for i := range x.queue {
		x.queue[i][0] = rec.Counters[0].Time(i)
	}
	return x
}

func (x *shop) named(names ...string) (all []*deed) {
	for _, d := range x.deeds {
		if slices.Contains(names, d.name) {
			all = append(all, d)
		}
	}
	return all
}

func overlap(a, b, c, d int64) int64 { return max(0, min(b, d)-max(a, c)) }

// sums adds up numbers by a key; each line has the key and its numbers.
type sums map[string][]int64

func (s sums) add(key string, v ...int64) {
	if s[key] == nil {
		s[key] = make([]int64, len(v))
	}
	for i := range v {
		s[key][i] += v[i]
	}
}

// lines returns the keys with their numbers, the largest of column by first, or by key for -1.
func (s sums) lines(by int) (all []string) {
	keys := make([]string, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if by >= 0 && s[a][by] != s[b][by] {
			return cmp.Compare(s[b][by], s[a][by])
		}
		return cmp.Compare(a, b)
	})
	for _, k := range keys {
		all = append(all, strings.Trim(k+" "+strings.Trim(fmt.Sprint(s[k]), "[]"), " "))
	}
	return all
}

func first(n int, lines []string) []string { return lines[:min(n, len(lines))] }

// naive answers the questions of the manual, by their first words.
var naive = map[string]func(x, y *shop) []string{
	"Which functions take most": func(x, _ *shop) []string {
		s := sums{}
		for _, d := range x.deeds {
			s.add(d.name, d.dur-d.inner, 1)
		}
		return first(5, s.lines(0))
	},
	"Which calls of a function": func(x, _ *shop) (lines []string) {
		all := x.named("Request")
		slices.SortStableFunc(all, func(a, b *deed) int { return cmp.Compare(b.dur, a.dur) })
		for _, d := range all[:10] {
			lines = append(lines, fmt.Sprint(d.start-x.origin, d.dur))
		}
		return lines
	},
	"How slow is it for each": func(x, _ *shop) []string {
		s := sums{}
		for _, d := range x.named("Request") {
			s.add(d.tenant, 1, 0)
			s[d.tenant][1] = max(s[d.tenant][1], d.dur)
		}
		return s.lines(-1)
	},
	"What does it spend": func(x, _ *shop) []string {
		s := sums{}
		for _, d := range x.deeds {
			if d.parent != nil && d.parent.name == "Request" {
				s.add(d.name, 1, d.dur)
			}
		}
		return s.lines(1)
	},
	"Who calls": func(x, _ *shop) []string {
		s := sums{}
		for _, d := range x.named("Query") {
			s.add(d.parent.name, 1)
		}
		return s.lines(-1)
	},
	"Which calls lack": func(x, _ *shop) (lines []string) {
		has := map[*deed]bool{}
		for _, d := range x.named("Query") {
			has[d.parent] = true
		}
		for _, d := range x.named("Request") {
			if !has[d] {
				lines = append(lines, fmt.Sprint(d.start-x.origin))
			}
		}
		return lines
	},
	"How long was each thread": func(x, _ *shop) []string {
		var busy [3]int64
		for _, d := range x.deeds {
			if d.depth == 1 {
				busy[d.thread] += d.dur
			}
		}
		return []string{fmt.Sprint("main ", busy[0]), fmt.Sprint("worker ", busy[1]), fmt.Sprint("stream 7 ", busy[2])}
	},
	"Where are the longest gaps": func(x, _ *shop) (lines []string) {
		all := x.named("Request")
		var gaps [][2]int64
		for i := 1; i < len(all); i++ {
			if gap := all[i].start - all[i-1].end(); gap > 0 {
				gaps = append(gaps, [2]int64{all[i-1].end() - x.origin, gap})
			}
		}
		slices.SortStableFunc(gaps, func(a, b [2]int64) int { return cmp.Compare(b[1], a[1]) })
		for _, g := range gaps[:5] {
			lines = append(lines, fmt.Sprint(g[0], g[1]))
		}
		return lines
	},
	"How long was the GPU": func(x, _ *shop) []string {
		all, idle := x.named("Kernel"), int64(0)
		for i := 1; i < len(all); i++ {
			idle += all[i].start - all[i-1].end()
		}
		return []string{fmt.Sprint(idle)}
	},
	"How long did two kinds": func(x, _ *shop) []string {
		n := int64(0)
		for _, a := range x.named("Request") {
			for _, b := range x.named("Kernel") {
				n += overlap(a.start, a.end(), b.start, b.end())
			}
		}
		return []string{fmt.Sprint(n)}
	},
	"How many calls ran": func(x, _ *shop) []string {
		most := 0
		for _, a := range x.named("Request", "Handle") {
			n := 0
			for _, b := range x.named("Request", "Handle") {
				if b.start <= a.start && a.start < b.end() {
					n++
				}
			}
			most = max(most, n)
		}
		return []string{fmt.Sprint(most)}
	},
	"When did it become": func(x, _ *shop) []string {
		s := sums{}
		for _, d := range x.named("Request") {
			k := fmt.Sprintf("%d", (d.start-x.origin)/(10_000*us))
			s.add(k, 1, 0)
			s[k][1] = max(s[k][1], d.dur)
		}
		return s.lines(-1)
	},
	"How are the durations": func(x, _ *shop) []string {
		s := sums{}
		for _, d := range x.named("Request") {
			s.add(fmt.Sprint(d.dur/(200*us)), 1)
		}
		return s.lines(-1)
	},
	"What did threads wait": func(x, _ *shop) []string {
		s := sums{}
		for _, w := range x.states {
			if w.reason != "" {
				s.add("[blocked: "+w.reason+"]", 1, w.end-w.start)
			}
		}
		return s.lines(1)
	},
	"Who ended the waits": func(x, _ *shop) []string {
		s := sums{}
		for _, w := range x.states {
			if w.woken {
				s.add("main", 1)
			}
		}
		return s.lines(-1)
	},
	"How long was a call off": func(x, _ *shop) []string {
		n := int64(0)
		for _, d := range x.named("Handle") {
			for _, w := range x.states {
				if w.reason != "" {
					n += overlap(d.start, d.end(), w.start, w.end)
				}
			}
		}
		return []string{fmt.Sprint(n)}
	},
	"How long did requests": func(x, _ *shop) []string {
		most := int64(0)
		for _, f := range x.flows {
			most = max(most, f[1]-f[0])
		}
		return []string{fmt.Sprint("hand over ", len(x.flows), " ", most)}
	},
	"What was a counter": func(x, _ *shop) (lines []string) {
		all := x.named("Request")
		slices.SortStableFunc(all, func(a, b *deed) int { return cmp.Compare(b.dur, a.dur) })
		for _, d := range all[:3] {
			value := int64(-1)
			for _, q := range x.queue {
				if q[0] <= d.start {
					value = q[1]
				}
			}
			lines = append(lines, fmt.Sprint(d.start-x.origin, value))
		}
		return lines
	},
	"In how many samples": func(x, _ *shop) []string {
		s := sums{}
		for _, stack := range x.stacks {
			for i, f := range stack {
				if !slices.Contains(stack[:i], f) {
					s.add(f, 1)
				}
			}
		}
		return s.lines(0)
	},
	"Which functions became": func(x, y *shop) []string {
		s := sums{}
		for _, d := range x.deeds {
			s.add(d.name, d.inner-d.dur)
		}
		for _, d := range y.deeds {
			s.add(d.name, d.dur-d.inner)
		}
		return first(5, s.lines(0))
	},
}

// TestCookbook answers the questions of the manual page on querying, and compares the answers
// with computations that know neither SQL nor tables.
func TestCookbook(t *testing.T) {
	found := 0
	for title, query := range cookbook(t) {
		found++
		var answer func(x, y *shop) []string
		for begin, f := range naive {
			if strings.HasPrefix(title, begin) {
				answer = f
			}
		}
		if answer == nil {
			t.Errorf("%s: no naive answer", title)
			continue
		}
		for seed := range uint64(3) {
			x, y := newShop(seed), newShop(seed+100)
			sources := []Source{{"a", x.set}}
			if strings.Contains(query, "recording") {
				sources = append(sources, Source{"b", y.set})
			}
			want := strings.Join(answer(x, y), "\n")
			if got := ask(t, sources, query); got != want || want == "" {
				t.Errorf("%s\n%s\nwant\n%s", title, got, want)
			}
		}
	}
	if found != 20 || len(naive) != 20 {
		t.Errorf("%d questions and %d answers", found, len(naive))
	}
}
