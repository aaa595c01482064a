package distributed

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

const t0 = 1_700_000_000_000_000_000

// build returns the recording of the given spans.
func build(t *testing.T, services []string, spans []Span) *recording.Recording {
	t.Helper()
	b := recording.NewBuilder()
	c := NewCollector(b)
	for _, s := range services {
		c.Service(Service{Name: s})
	}
	for i := range spans {
		c.Add(&spans[i])
	}
	if err := c.Build(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := b.Finish()
	decodetest.Balanced(t, r)
	return r
}

// made returns spans of several requests, most of them within their parents.
func made(rng *rand.Rand, n, services int) (out []Span) {
	for i := range n {
		s := Span{Trace: fmt.Sprint(rng.IntN(1 + n/20)), ID: fmt.Sprint(i), Service: rng.IntN(services), Name: fmt.Sprintf("f%d", rng.IntN(5))}
		s.Start = t0 + rng.Int64N(1000)
		s.End = s.Start + rng.Int64N(500)
		if i > 0 && rng.IntN(10) > 0 {
			p := &out[rng.IntN(len(out))]
			s.Trace, s.Parent = p.Trace, p.ID
			if rng.IntN(4) > 0 {
				s.Service = p.Service
			}
			if rng.IntN(5) > 0 {
				s.Start = p.Start + rng.Int64N(p.End-p.Start+1)
				s.End = s.Start + rng.Int64N(p.End-s.Start+1)
			}
		}
		if rng.IntN(30) == 0 {
			s.Parent = "gone"
		}
		s.Args = []byte(s.ID)
		out = append(out, s)
	}
	return out
}

// laid is the position of a span in a recording.
type laid struct {
	track, lane, i int
	start, end     int64
	name           string
}

// TestAgainstNaive checks that every span is in the recording once, with its times, and
// that it is nested in its parent if possible and otherwise connected to it by an arrow.
func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		spans := made(rng, 1+rng.IntN(80), 1+rng.IntN(3))
		names := []string{"a", "b", "c"}
		r := build(t, names, spans)
		zero := int64(math.MaxInt64)
		byID := map[string]*Span{}
		for i := range spans {
			zero, byID[spans[i].ID] = min(zero, spans[i].Start), &spans[i]
		}
		at := map[string]laid{}
		for k, track := range r.Tracks {
			for lane := range track.Lanes {
				l := &track.Lanes[lane]
				for i := range l.Len() {
					id := r.Args(l.Args(i))
					s := byID[id]
					if _, twice := at[id]; twice || s == nil {
						t.Fatalf("seed %d: span %q occurs twice or from nowhere", seed, id)
					}
					at[id] = laid{k, lane, i, l.Start(i), l.End(i), r.FuncName(l.Call(i))}
					if l.Start(i) != (s.Start-zero)*1000 || l.End(i) != (s.End-zero)*1000 || r.FuncName(l.Call(i)) != s.Name || r.Processes[track.Process].Name != names[s.Service] {
						t.Fatalf("seed %d: span %s lies wrong", seed, id)
					}
					if lane == 0 {
						continue
					}
					up := &track.Lanes[lane-1]
					call := r.Calls.Parent(l.Call(i))
					parent := ""
					for j := range up.Len() {
						if up.Call(j) == call && up.Start(j) <= l.Start(i) && up.End(j) >= l.End(i) && r.Args(up.Args(j)) == s.Parent {
							parent = s.Parent
						}
					}
					if parent == "" {
						t.Fatalf("seed %d: span %s does not lie in its parent %s", seed, id, s.Parent)
					}
				}
			}
		}
		if len(at) != len(spans) {
			t.Fatalf("seed %d: %d spans of %d", seed, len(at), len(spans))
		}
		var arrows []string
		for _, f := range r.Flows {
			arrows = append(arrows, fmt.Sprintf("%d>%d@%d", f.Steps[0].Track, f.Steps[1].Track, f.Steps[1].Time))
		}
		var want []string
		for i, s := range spans {
			p := byID[s.Parent]
			if p == nil || p.Trace != s.Trace {
				continue
			}
			// A span is nested in its parent unless the parent is of another service, does
			// not cover it, or has an earlier child that still runs.
			inside := p.Service == s.Service && s.Start >= p.Start && s.End <= p.End
			for j, o := range spans {
				first := o.Start < s.Start || o.Start == s.Start && (o.End > s.End || o.End == s.End && j < i)
				if x := at[o.ID]; o.Parent == s.Parent && first && x.lane > 0 && x.track == at[p.ID].track && o.End > s.Start {
					inside = false
				}
			}
			if nested := at[s.ID].lane == at[p.ID].lane+1 && at[s.ID].track == at[p.ID].track; nested != inside {
				t.Fatalf("seed %d: span %s in %s: %v, want %v", seed, s.ID, p.ID, nested, inside)
			}
			if !inside {
				want = append(want, fmt.Sprintf("%d>%d@%d", at[p.ID].track, at[s.ID].track, at[s.ID].start))
			}
		}
		slices.Sort(arrows)
		slices.Sort(want)
		if !slices.Equal(arrows, want) {
			t.Fatalf("seed %d: arrows %v, want %v", seed, arrows, want)
		}
		// The total time of each name must equal the sum over its spans.
		sums, wanted := map[string]int64{}, map[string]int64{}
		for c := range r.SpanTime {
			if c > 0 {
				sums[r.FuncName(recording.CallID(c))] += r.SpanTime[c]
			}
		}
		for _, s := range spans {
			wanted[s.Name] += (s.End - s.Start) * 1000
		}
		if fmt.Sprint(sums) != fmt.Sprint(wanted) {
			t.Fatalf("seed %d: %v, want %v", seed, sums, wanted)
		}
	}
}

func TestOdd(t *testing.T) {
	for _, c := range []struct {
		name    string
		spans   []Span
		want    string
		warning string
	}{
		{"a circle", []Span{{ID: "1", Parent: "2", Name: "x", Start: t0, End: t0 + 5}, {ID: "2", Parent: "1", Name: "y", Start: t0 + 1, End: t0 + 2}},
			"a / spans,  x 0..5,    y 1..2", "Spans are their own ancestors, first span 1; this one is shown as outermost"},
		{"its own parent", []Span{{ID: "1", Parent: "1", Name: "x", Start: t0, End: t0 + 5}}, "a / spans,  x 0..5", "Spans have a parent that is not in the file, first span 1; they are shown as outermost"},
		{"no end", []Span{{ID: "1", Name: "x", Start: t0, Open: true}}, "a / spans,  x 0..0", "Spans have no end, first span 1; they are shown without length"},
		{"backward", []Span{{ID: "1", Name: "x", Start: t0, End: t0 - 1}}, "a / spans,  x 0..0", "Spans end before they start, first span 1; they are shown without length"},
		{"no id", []Span{{Name: "x", Start: t0, End: t0 + 1}, {Name: "x", Start: t0, End: t0 + 1}}, "a / spans,  x 0..1,a / spans 2,  x 0..1", "Spans have no id, first span 1; they are shown without children"},
		{"twice", []Span{{ID: "1", Name: "x", Start: t0, End: t0 + 1}, {ID: "1", Name: "x", Start: t0, End: t0 + 1}}, "a / spans,  x 0..1", "Spans occur several times, first span 2; each counts once"},
		{"twice, without an end", []Span{{ID: "1", Name: "x", Start: t0, Open: true}, {ID: "1", Name: "x", Start: t0, Open: true}}, "a / spans,  x 0..0", "Spans have no end, first span 1; they are shown without length"},
		{"no parent", []Span{{ID: "1", Parent: "7", Name: "x", Start: t0, End: t0 + 1}}, "a / spans,  x 0..1", "Spans have a parent that is not in the file, first span 1; they are shown as outermost"},
		{"far", []Span{{ID: "1", Name: "x", Start: t0, End: t0 + 1}, {ID: "2", Parent: "1", Name: "x", Start: 5, End: 6}, {ID: "3", Name: "x", Start: t0 + 1, End: math.MaxInt64}, {ID: "4", Name: "y", Start: t0 + 2, End: t0 + 3}},
			"a / spans,  x 0..1,  y 2..3", "Spans are too far in time from the others and were left out, first span 2"},
		{"shared", []Span{{ID: "1", Name: "get", Start: t0, End: t0 + 9}, {ID: "1", Shared: true, Service: 1, Name: "serve", Start: t0 + 2, End: t0 + 7}, {ID: "2", Parent: "1", Service: 1, Name: "query", Start: t0 + 3, End: t0 + 4}},
			"a / spans,  get 0..9,b / spans,  serve 2..7,    query 3..4,call > a / spans 1.999 > b / spans 2.000", ""},
		{"side by side", []Span{{ID: "1", Name: "all", Start: t0, End: t0 + 9}, {ID: "2", Parent: "1", Name: "x", Start: t0 + 1, End: t0 + 5}, {ID: "3", Parent: "1", Name: "y", Start: t0 + 2, End: t0 + 3}, {ID: "4", Parent: "1", Name: "z", Start: t0 + 5, End: t0 + 5}},
			"a / spans,  all 0..9,    x 1..5,    z 5..5,a / spans 2,  y 2..3,call > a / spans 1.999 > a / spans 2 2.000", ""},
		{"nothing", nil, "", ""},
	} {
		r := build(t, []string{"a", "b"}, c.spans)
		if got := strings.Join(decodetest.Spans(r), ","); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		got := ""
		if len(r.Warnings) > 0 {
			got = r.Warnings[0].Text
		}
		if got != c.warning {
			t.Errorf("%s: %q, want %q", c.name, got, c.warning)
		}
	}
}

// TestNothingToShow checks the error for a file in which no span has valid times.
func TestNothingToShow(t *testing.T) {
	b := recording.NewBuilder()
	c := NewCollector(b)
	c.Service(Service{})
	c.Add(&Span{ID: "1", Start: t0, End: math.MaxInt64})
	err := c.Build(context.Background())
	decodetest.Balanced(t, b.Finish())
	if err == nil || err.Error() != "no span of the file has valid times" {
		t.Errorf("%v", err)
	}
}

// TestLinksAndEvents checks that links and events are drawn with their spans, and that a
// link without a target and an event at an implausible time are left out.
func TestLinksAndEvents(t *testing.T) {
	b := recording.NewBuilder()
	c := NewCollector(b)
	c.Service(Service{})
	c.Services[0] = Service{Name: "a", Instance: "1", PID: 7}
	c.Service(Service{Name: "a", Instance: "2", PID: 7})
	c.Add(&Span{Trace: "t", ID: "1", Name: "send", Start: t0, End: t0 + 3})
	c.Event(t0+1, "cached", []byte(`{"n":1}`))
	c.Event(7, "long ago", nil)
	c.Add(&Span{Trace: "u", ID: "1", Service: 1, Name: "take", Start: t0 + 5, End: t0 + 6})
	c.Link("t", "1")
	c.Link("t", "2")
	if err := c.Build(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := b.Finish()
	decodetest.Balanced(t, r)
	want := "a 1 / spans|  send 0..3|  * cached 1 {\"n\":1}|a 2 / spans|  take 5..6|link > a 1 / spans 3.000 > a 2 / spans 5.000"
	if got := strings.Join(decodetest.Spans(r), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var left []string
	for _, l := range r.Ledger {
		left = append(left, fmt.Sprintf("%s %d %d", l.Kind, l.Kept, l.LeftOut))
	}
	if got := strings.Join(left, ", "); got != "span 2 0, event 1 1, link 1 1" {
		t.Errorf("ledger %s", got)
	}
	if r.Processes[0].PID != 7 || recording.IDText(r.Processes[1].PID) != "" {
		t.Errorf("processes %+v", r.Processes)
	}
	if r.Clock.Origin.Mantissa != t0 || r.Clock.Unit != "ns" {
		t.Errorf("clock %+v", r.Clock)
	}
}
