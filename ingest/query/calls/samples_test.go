package calls_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/testdata/samples"
)

// recordings visits the recordings with spans of the repository, of madeTrace, and of the
// sample folder.
func recordings(t *testing.T, visit func(path string, rec *recording.Recording)) {
	t.Helper()
	for _, path := range append(samples.Below(t, "../../../app/command/testdata", madeTrace(t)), samples.Files(t)...) {
		l := ingest.Open(context.Background(), path, ingest.Options{})
		if l.Wait() == nil && l.Snapshot().Counts.Spans > 0 {
			visit(path, l.Snapshot())
		}
		l.Close()
	}
}

// madeTrace writes a trace into a new folder: slow and quick calls with CPU times, inner
// spans with and without CPU times, and async operations.
func madeTrace(t *testing.T) (dir string) {
	t.Helper()
	r := rand.New(rand.NewPCG(16, 3))
	var b strings.Builder
	b.WriteString(`[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"main"}}`)
	at := int64(1000)
	for i := range 400 {
		took := 90 + r.Int64N(30)
		if i%13 == 0 {
			took = 4000 + r.Int64N(900)
		}
		span := func(name string, from, dur int64, more string) {
			fmt.Fprintf(&b, ",\n"+`{"ph":"X","pid":1,"tid":1,"name":%q,"ts":%d,"dur":%d%s}`, name, from, dur, more)
		}
		span("work", at, took, fmt.Sprintf(`,"tdur":%d,"args":{"kind":"k%d"}`, took/3+r.Int64N(took/3), i%3))
		span("step", at+10, took/2, "")
		span("inner", at+20, took/4, fmt.Sprintf(`,"tdur":%d`, took/5))
		if i%5 == 0 {
			fmt.Fprintf(&b, ",\n"+`{"ph":"b","pid":1,"tid":1,"cat":"net","id":%d,"name":"fetch","ts":%d,"args":{"kind":"k%d"}},{"ph":"e","pid":1,"tid":1,"cat":"net","id":%[1]d,"name":"fetch","ts":%[4]d}`, i, at, i%3, at+took*int64(1+i%4))
		}
		at += took + r.Int64N(50)
	}
	b.WriteString("]")
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "made.json"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bar is a span with its parent, up. also is a second possible parent, for a zero-length
// span where two spans meet.
type bar struct {
	id         int
	track      int
	lane       *lanes.Lane
	index      int
	start, end int64
	self       int64
	call       recording.CallID
	name       string
	up, also   *bar
	async      bool
	members    map[string]string // its arguments that are strings; nil until requested
	ran        int64             // CPU time, if asked and tells are set
	tells      bool
	asked      bool
}

// cpu returns the CPU time of the span, false if unknown.
func (s *bar) cpu(rec *recording.Recording) (int64, bool) {
	if !s.asked {
		s.ran, s.tells = rec.SpanCPU(s.lane, s.index)
		s.asked = true
	}
	return s.ran, s.tells
}

// spansOf returns all spans of a recording.
func spansOf(rec *recording.Recording) (all []*bar) {
	for ti, t := range rec.Tracks {
		for _, column := range t.Columns(&rec.Calls) {
			var above []*bar
			for _, li := range column {
				l := &t.Lanes[li]
				lane := make([]*bar, 0, l.Len())
				for i := range l.Len() {
					for len(above) > 0 && above[0].end < l.Start(i) { // spans of a lane are in order
						above = above[1:]
					}
					s := &bar{len(all) + i, ti, l, i, l.Start(i), l.End(i), l.End(i) - l.Start(i), l.Call(i), rec.FuncName(l.Call(i)), nil, nil, t.Kind == recording.AsyncTrack, nil, 0, false, false}
					for _, u := range above {
						if u.call == rec.Calls.Parent(s.call) && u.start <= s.start && u.end >= s.end {
							if s.up != nil { // a zero-length span where two others meet
								s.also = u
								break
							}
							s.up = u
							u.self -= s.end - s.start
						}
						if u.start > s.start {
							break
						}
					}
					lane = append(lane, s)
				}
				all, above = append(all, lane...), lane
			}
		}
	}
	return all
}

// args returns the span's arguments that are strings.
func (s *bar) args(rec *recording.Recording) map[string]string {
	if s.members != nil {
		return s.members
	}
	var m map[string]any
	s.members = map[string]string{}
	if ref := s.lane.Args(s.index); ref != 0 && rec.Args != nil && json.Unmarshal([]byte(rec.Args(ref)), &m) == nil {
		for k, v := range m {
			if text, ok := v.(string); ok {
				s.members[k] = text
			}
		}
	}
	return s.members
}

// question is a query and its meaning as functions on spans.
type question struct {
	q    calls.Query
	of   func(*bar) bool // whether the span is of one of the functions
	is   func(*bar) bool
	most int // keep this many of the longest, 0 for all
}

// some returns functions to ask about: the one with the most spans, another with the most
// time, one with the most spans with arguments, the most frequent async operation, and the
// first two together.
func some(rec *recording.Recording, all []*bar) (names [][]string) {
	n, time, told, async := map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, s := range all {
		n[s.name]++
		time[s.name] += s.end - s.start
		if len(s.args(rec)) > 0 {
			told[s.name]++
		}
		if s.async {
			async[s.name]++
		}
	}
	for _, by := range []map[string]int64{n, time, told, async} {
		all := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
		for _, name := range all {
			if !slices.ContainsFunc(names, func(f []string) bool { return f[0] == name }) && len(analyze.Named(name).Functions(rec)) > 0 {
				names = append(names, []string{name})
				break
			}
		}
	}
	if len(names) > 1 {
		names = append(names, []string{names[0][0], names[1][0]})
	}
	return names
}

func questions(rec *recording.Recording, all []*bar, f []string) (qs []question) {
	of := func(s *bar) bool { return slices.Contains(f, s.name) }
	var took, self []int64
	var last *bar
	key, value := "", ""
	for _, s := range all {
		if of(s) {
			took, self, last = append(took, s.end-s.start), append(self, s.self), s
			for k, v := range s.args(rec) {
				if key == "" || k < key {
					key, value = k, v
				}
			}
		}
	}
	slices.Sort(took)
	slices.Sort(self)
	low, high := took[len(took)/4], took[len(took)*3/4]+1
	least := self[len(self)/2]
	t := rec.Tracks[last.track]
	add := func(q calls.Query, most int, is func(*bar) bool) {
		q.Functions = f
		qs = append(qs, question{q, of, func(s *bar) bool { return of(s) && is(s) }, most})
	}
	every := func(*bar) bool { return true }
	add(calls.Query{}, 0, every)
	add(calls.Query{Duration: recording.Offsets(low, high)}, 0, func(s *bar) bool { return s.end-s.start >= low && s.end-s.start < high })
	add(calls.Query{Self: recording.Range{From: least, HasFrom: true}}, 0, func(s *bar) bool { return s.self >= least })
	add(calls.Query{Slowest: 3}, 3, every)
	add(calls.Query{Found: "name:" + f[0]}, 0, func(s *bar) bool { return strings.Contains(strings.ToLower(s.name), strings.ToLower(f[0])) })
	add(calls.Query{At: []calls.Place{{PID: t.PID, TID: t.TID, Name: t.Name, Time: last.start - rec.Start}}}, 0, func(s *bar) bool {
		o := rec.Tracks[s.track]
		return o.PID == t.PID && o.TID == t.TID && o.Name == t.Name && s.start == last.start
	})
	if key != "" {
		add(calls.Query{Args: []calls.Arg{{Key: key, Is: "=", Value: value}}}, 0, func(s *bar) bool { return s.args(rec)[key] == value })
		add(calls.Query{Args: []calls.Arg{{Key: key, Is: "!=", Value: value}}, Duration: recording.Range{To: high, HasTo: true}}, 0, func(s *bar) bool { return s.args(rec)[key] != value && s.end-s.start < high })
	}
	for _, q := range slices.Clone(qs) {
		q.q.Others = true
		qs = append(qs, q)
	}
	return qs
}

type set struct {
	is  []bool // by id
	all []*bar
}

func (x *set) has(s *bar) bool { return x.is[s.id] }

// picked returns the calls that a question selects among the spans that satisfy counts.
func (q *question) picked(all []*bar, counts func(*bar) bool) *set {
	var is, of []*bar
	for _, s := range all {
		if q.of(s) && counts(s) {
			if of = append(of, s); q.is(s) {
				is = append(is, s)
			}
		}
	}
	if q.most > 0 {
		slices.SortStableFunc(is, func(a, b *bar) int { // ties in the order of tracks and lanes
			return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), cmp.Compare(a.start, b.start))
		})
		is = is[:min(len(is), q.most)]
	}
	chosen := &set{make([]bool, len(all)), is}
	for _, s := range is {
		chosen.is[s.id] = true
	}
	if !q.q.Others {
		return chosen
	}
	rest := &set{is: make([]bool, len(all))}
	for _, s := range of {
		if !chosen.has(s) {
			rest.is[s.id] = true
			rest.all = append(rest.all, s)
		}
	}
	return rest
}

// TestSamplesAgainstNaive queries every recording for sets of calls, in the whole time and
// in a part, with and without async operations. It compares time, count, CPU time, off-CPU
// time and samples with sums over single spans and samples.
func TestSamplesAgainstNaive(t *testing.T) {
	x := &asking{t: t}
	recordings(t, func(path string, rec *recording.Recording) {
		all := spansOf(rec)
		x.files++
		const most = 12 // at least one question of this many is asked about each file
		every := 1500
		if testing.Short() {
			every = 300
		}
		turn := x.files
		for _, f := range some(rec, all) {
			for _, q := range questions(rec, all, f) {
				// Large files get only some of the questions, each file others.
				if turn++; turn%min(most, 1+len(all)/every) > 0 {
					continue
				}
				for _, async := range []recording.Apart{"", recording.In, recording.Only} {
					if async == "" || slices.ContainsFunc(all, func(s *bar) bool { return s.async && q.of(s) }) {
						x.ask(path, rec, all, &q, async, false)
						x.ask(path, rec, all, &q, async, true)
					}
				}
			}
		}
	})
	t.Logf("%d answers about %d recordings, %d of async operations, %d of processors, %d about %d samples", x.asked, x.files, x.async, x.clocked, x.sampled, x.samples)
	if x.asked == 0 || x.async == 0 || x.clocked == 0 {
		t.Fatal("too little was asked")
	}
}

// asking asks questions and counts them by kind.
type asking struct {
	t                                              *testing.T
	asked, async, clocked, sampled, samples, files int
}

func (x *asking) ask(path string, rec *recording.Recording, all []*bar, q *question, async recording.Apart, ranged bool) {
	t, ctx := x.t, context.Background()
	in := recording.Scope{Calls: &recording.CallSet{Text: q.q.String()}, Async: async}
	if ranged {
		in = in.Between(rec.Start+rec.Duration()/4, rec.Start+rec.Duration()*3/4)
	}
	what := fmt.Sprintf("%s: %s, async %q, part %v", path, in.Calls.Text, async, ranged)
	from, to := in.Bounds(rec)
	touches := func(s *bar) bool {
		return !ranged || (s.end > from || s.start == from && s.end == from) && (s.start < to || s.start == to && s.end == to)
	}
	pick := func(async, also bool) *set {
		return q.picked(all, func(s *bar) bool { return (s.async == async || also) && touches(s) })
	}
	chosen := pick(async == recording.Only, async == recording.In)
	if len(chosen.all) == 0 && async == "" {
		chosen = pick(true, false)
	}
	bound, err := calls.Bind(ctx, rec, in)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if bound.Calls.Calls != len(chosen.all) {
		t.Errorf("%s: %d calls, want %d", what, bound.Calls.Calls, len(chosen.all))
		return
	}
	// A span belongs to the set if it or any span around it is chosen. Parents come before
	// their children.
	belongs := make([]bool, len(all))
	for _, s := range all {
		belongs[s.id] = chosen.has(s) || s.up != nil && belongs[s.up.id] || s.also != nil && belongs[s.also.id]
		if belongs[s.id] && s.async {
			x.async++
		}
	}
	event := slices.IndexFunc(rec.Events, func(e recording.Event) bool { return e.Basis == recording.FromSpans })
	want := make([]int64, rec.Calls.Len())
	for metric := range rec.Events[event].Metrics {
		value := func(s *bar) (int64, bool) {
			switch metric {
			case recording.SpanTime:
				return min(s.end, to) - max(s.start, from), true
			case recording.SpanCount:
				return 1, true
			}
			cpu, ok := s.cpu(rec)
			if metric == recording.SpanWaiting {
				cpu = s.end - s.start - cpu
			}
			return cpu, ok && s.start >= from && s.end <= to
		}
		clear(want)
		var sum, untold int64
		for _, s := range all {
			if !belongs[s.id] || !touches(s) {
				continue
			}
			v, ok := value(s)
			if !ok {
				untold++
				continue
			}
			want[s.call] += v
			sum += v
			for up := s.up; up != nil && belongs[up.id] && metric != recording.SpanCount; up = up.up {
				if _, ok := value(up); ok { // subtract it from the nearest parent with a known time
					want[up.call] -= v
					sum -= v
					break
				}
			}
		}
		w, err := analyze.Weigh(ctx, rec, analyze.Query{Event: event, Metric: metric, Scope: bound})
		if err != nil {
			t.Fatal(err)
		}
		for c, v := range w.Self {
			if v != want[c] {
				t.Errorf("%s: metric %d of %s is %d, want %d", what, metric, rec.FuncName(recording.CallID(c)), v, want[c])
				break
			}
		}
		if x.asked++; w.Sum != sum || metric >= recording.SpanCPU && w.WithoutCPU != untold {
			t.Errorf("%s: metric %d is %d with %d untold, want %d with %d", what, metric, w.Sum, w.WithoutCPU, sum, untold)
		}
		if metric >= recording.SpanCPU && sum > 0 {
			x.clocked++
		}
	}
	for e := range rec.Events {
		if n := samplesIn(t, rec, e, bound, chosen, what); n > 0 {
			x.sampled++
			x.samples += n
		}
	}
}

// samplesIn compares the number of samples during the calls with a naive count, and returns it.
func samplesIn(t *testing.T, rec *recording.Recording, event int, in recording.Scope, chosen *set, what string) (some int) {
	t.Helper()
	if rec.Events[event].Basis == recording.FromSpans {
		return 0
	}
	from, to := in.Bounds(rec)
	of := make([][]*bar, len(rec.Tracks)) // by track, sorted by start
	for _, s := range chosen.all {
		of[s.track] = append(of[s.track], s)
	}
	want := 0
	for ti, track := range rec.Tracks {
		s := track.SamplesOf(event)
		if s == nil || len(of[ti]) == 0 {
			continue
		}
		slices.SortFunc(of[ti], func(a, b *bar) int { return cmp.Compare(a.start, b.start) })
		until := make([]int64, len(of[ti])) // the latest end of the calls up to each
		for i, b := range of[ti] {
			until[i] = b.end
			if i > 0 {
				until[i] = max(b.end, until[i-1])
			}
		}
		for i := range s.Len() {
			at := s.Time(i)
			n, _ := slices.BinarySearchFunc(of[ti], at+1, func(b *bar, at int64) int { return cmp.Compare(b.start, at) })
			is := n > 0 && (at < until[n-1] || at == rec.End && until[n-1] == at)
			name := ""
			if s.Call(i) != recording.NoCall {
				name = rec.FuncName(s.Call(i))
			}
			if is && at >= from && (at < to || to == rec.End) && name != "(idle)" && name != "(program)" {
				want++
			}
		}
	}
	w, err := analyze.Weigh(context.Background(), rec, analyze.Query{Event: event, Scope: in})
	if err != nil {
		t.Fatal(err)
	}
	if w.Called && w.Records != int64(want) {
		t.Errorf("%s: %d samples of %s, want %d", what, w.Records, rec.Events[event].Title(), want)
	}
	return want
}
