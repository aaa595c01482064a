package calls_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/analyze"
	"ashlar/ingest/calls"
	"ashlar/ingest/recording"
)

// recordings opens all that are kept here, and those of a folder that is named.
func recordings(t *testing.T, visit func(path string, rec *recording.Recording)) {
	t.Helper()
	for _, dir := range []string{"../../app/cli/testdata", madeTrace(t), os.Getenv("ASHLAR_SAMPLES")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			if in, err := e.Info(); err != nil || in.Size() > 20<<20 {
				return err
			}
			l := ingest.Open(context.Background(), path, ingest.Options{})
			defer l.Close()
			if l.Wait() == nil && l.Snapshot().Counts.Spans > 0 && l.Snapshot().Counts.Spans < 50_000 {
				visit(path, l.Snapshot())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// madeTrace writes a trace into a folder of its own: slow calls and quick ones, of which
// all tell how long they ran, with parts that do and parts that do not.
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
		at += took + r.Int64N(50)
	}
	b.WriteString("]")
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "made.json"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bar is a span one of a recording, with the one that it is a part of.
type bar struct {
	track      int
	lane       *recording.Lane
	index      int
	start, end int64
	self       int64
	call       recording.CallID
	up, also   *bar
	async      bool
}

// spansOf lists all spans.
func spansOf(rec *recording.Recording) (all []*bar) {
	for ti, t := range rec.Tracks {
		for _, column := range t.Columns(&rec.Calls) {
			var above []*bar
			for _, li := range column {
				l := &t.Lanes[li]
				var lane []*bar
				for i := range l.Len() {
					s := &bar{ti, l, i, l.Start(i), l.End(i), l.End(i) - l.Start(i), l.Call(i), nil, nil, t.Kind == recording.AsyncTrack}
					for _, u := range above {
						if u.call == rec.Calls.Parent(s.call) && u.start <= s.start && u.end >= s.end {
							if s.up != nil { // of a span of no length where two others meet
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

// args are the members of a span that are texts.
func (s *bar) args(rec *recording.Recording) map[string]string {
	var m map[string]any
	out := map[string]string{}
	if ref := s.lane.Args(s.index); ref != 0 && rec.Args != nil && json.Unmarshal([]byte(rec.Args(ref)), &m) == nil {
		for k, v := range m {
			if text, ok := v.(string); ok {
				out[k] = text
			}
		}
	}
	return out
}

// question is a query and what it means, said again.
type question struct {
	q    calls.Query
	is   func(*bar) bool
	most int // the longest so many, 0 for all
}

// questions are about the function that most spans run.
func questions(rec *recording.Recording, all []*bar) (qs []question) {
	counts := map[string]int{}
	for _, s := range all {
		counts[rec.FuncName(s.call)]++
	}
	name := ""
	for n, k := range counts {
		if k > counts[name] || k == counts[name] && n < name {
			name = n
		}
	}
	of := func(s *bar) bool { return rec.FuncName(s.call) == name }
	var took, self []int64
	var some *bar
	key, value := "", ""
	for _, s := range all {
		if of(s) {
			took, self, some = append(took, s.end-s.start), append(self, s.self), s
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
	f := []string{strconv.Quote(name)}
	if ref := analyze.Named(name); len(ref.Functions(rec)) == 0 || name == "" {
		return nil
	}
	f[0] = name
	t := rec.Tracks[some.track]
	qs = []question{
		{calls.Query{Functions: f}, of, 0},
		{calls.Query{Functions: f, Duration: recording.Offsets(low, high)}, func(s *bar) bool { return of(s) && s.end-s.start >= low && s.end-s.start < high }, 0},
		{calls.Query{Functions: f, Self: recording.Range{From: least, HasFrom: true}}, func(s *bar) bool { return of(s) && s.self >= least }, 0},
		{calls.Query{Functions: f, Slowest: 3}, of, 3},
		{calls.Query{Functions: f, Found: "name:" + name}, of, 0},
		{calls.Query{Functions: f, At: []calls.Place{{PID: t.PID, TID: t.TID, Name: t.Name, Time: some.start - rec.Start}}}, func(s *bar) bool {
			o := rec.Tracks[s.track]
			return of(s) && o.PID == t.PID && o.TID == t.TID && o.Name == t.Name && s.start == some.start
		}, 0},
	}
	if key != "" {
		qs = append(qs, question{calls.Query{Functions: f, Args: []calls.Arg{{Key: key, Is: "=", Value: value}}}, func(s *bar) bool { return of(s) && s.args(rec)[key] == value }, 0})
	}
	for _, q := range slices.Clone(qs) {
		q.q.Others = true
		qs = append(qs, q)
	}
	return qs
}

// picked are the calls that a question means in a scope.
func (q *question) picked(rec *recording.Recording, all []*bar, touches func(*bar) bool, async bool) map[*bar]bool {
	var is, of []*bar
	for _, s := range all {
		if s.async != async || !touches(s) {
			continue
		}
		if q.is(s) {
			is = append(is, s)
		}
		if rec.FuncName(s.call) == q.q.Functions[0] {
			of = append(of, s)
		}
	}
	if q.most > 0 {
		slices.SortStableFunc(is, func(a, b *bar) int {
			if d := (b.end - b.start) - (a.end - a.start); d != 0 {
				return int(d / max(1, d, -d))
			}
			if a.start != b.start {
				return int((a.start - b.start) / max(1, a.start-b.start, b.start-a.start))
			}
			return 0 // which is in the order of tracks and lanes
		})
		is = is[:min(len(is), q.most)]
	}
	set := map[*bar]bool{}
	for _, s := range is {
		set[s] = true
	}
	if q.q.Others {
		rest := map[*bar]bool{}
		for _, s := range of {
			if !set[s] {
				rest[s] = true
			}
		}
		return rest
	}
	return set
}

// TestSamplesAgainstNaive asks every recording about sets of calls, of the whole and of
// a part of its time, and adds up what ran in them by hand: time, count, time on
// processors and waiting, and the samples that were taken meanwhile.
func TestSamplesAgainstNaive(t *testing.T) {
	ctx := context.Background()
	asked, clocked, sampled, files := 0, 0, 0, 0
	recordings(t, func(path string, rec *recording.Recording) {
		all := spansOf(rec)
		files++
		event := slices.IndexFunc(rec.Events, func(e recording.Event) bool { return e.Basis == recording.FromSpans })
		for _, q := range questions(rec, all) {
			for _, ranged := range []bool{false, true} {
				in := recording.Scope{Calls: &recording.CallSet{Text: q.q.String()}}
				if ranged {
					in = in.Between(rec.Start+rec.Duration()/4, rec.Start+rec.Duration()*3/4)
				}
				from, to := in.Bounds(rec)
				touches := func(s *bar) bool {
					return !ranged || (s.end > from || s.start == from && s.end == from) && (s.start < to || s.start == to && s.end == to)
				}
				set := q.picked(rec, all, touches, false)
				if len(set) == 0 {
					set = q.picked(rec, all, touches, true)
				}
				bound, err := calls.Bind(ctx, rec, in)
				if err != nil {
					t.Fatalf("%s: %s: %v", path, in.Calls.Text, err)
				}
				if bound.Calls.Calls != len(set) {
					t.Errorf("%s: %s: %d calls, want %d", path, in.Calls.Text, bound.Calls.Calls, len(set))
					continue
				}
				member := map[*bar]bool{}
				var belongs func(s *bar) bool
				belongs = func(s *bar) bool {
					is, known := member[s]
					if !known {
						is = set[s] || s.up != nil && belongs(s.up) || s.also != nil && belongs(s.also)
						member[s] = is
					}
					return is
				}
				for metric := range rec.Events[event].Metrics {
					value := func(s *bar) (int64, bool) {
						cpu, ok := rec.SpanCPU(s.lane, s.index)
						ok = ok && s.start >= from && s.end <= to
						switch metric {
						case recording.SpanTime:
							return min(s.end, to) - max(s.start, from), true
						case recording.SpanCount:
							return 1, true
						case recording.SpanWaiting:
							return s.end - s.start - cpu, ok
						}
						return cpu, ok
					}
					want := map[recording.CallID]int64{}
					var sum, untold int64
					for _, s := range all {
						if !belongs(s) || !touches(s) {
							continue
						}
						v, ok := value(s)
						if !ok {
							untold++
							continue
						}
						want[s.call] += v
						sum += v
						for up := s.up; up != nil && belongs(up) && metric != recording.SpanCount; up = up.up {
							if _, ok := value(up); ok { // it is a part of the nearest one that tells
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
						if v != want[recording.CallID(c)] {
							t.Errorf("%s: %s %v: metric %d of %s is %d, want %d", path, in.Calls.Text, ranged, metric, rec.FuncName(recording.CallID(c)), v, want[recording.CallID(c)])
							break
						}
					}
					if asked++; w.Sum != sum || metric >= recording.SpanCPU && w.Untold != untold {
						t.Errorf("%s: %s %v: metric %d is %d with %d untold, want %d with %d", path, in.Calls.Text, ranged, metric, w.Sum, w.Untold, sum, untold)
					}
					if metric >= recording.SpanCPU && sum > 0 {
						clocked++
					}
				}
				for e := range rec.Events {
					sampled += samplesIn(t, rec, e, bound, set, path)
				}
			}
		}
	})
	t.Logf("%d answers about %d recordings, %d of processors, %d about samples", asked, files, clocked, sampled)
	if asked == 0 {
		t.Fatal("nothing was asked")
	}
}

// samplesIn compares the samples that were taken in calls.
func samplesIn(t *testing.T, rec *recording.Recording, event int, in recording.Scope, set map[*bar]bool, path string) (some int) {
	t.Helper()
	if rec.Events[event].Basis == recording.FromSpans {
		return 0
	}
	from, to := in.Bounds(rec)
	var want int64
	for ti, track := range rec.Tracks {
		s := track.SamplesOf(event)
		if s == nil {
			continue
		}
		for i := range s.Len() {
			at, is := s.Time(i), false
			for x := range set {
				is = is || x.track == ti && at >= x.start && (at < x.end || x.end == rec.End && at == x.end)
			}
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
	if w.Called && w.Records != want {
		t.Errorf("%s: %s: %d samples of %s, want %d", path, in.Calls.Text, w.Records, rec.Events[event].Title(), want)
	}
	return int(min(want, math.MaxInt32))
}
