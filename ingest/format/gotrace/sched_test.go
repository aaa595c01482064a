package gotrace

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// wait is a period in which a goroutine was runnable, from the events that `go tool trace` prints.
// Times are in nanoseconds since the first event.
type wait struct {
	g          string
	start, end int64
	first      bool   // the goroutine had not run in the trace before
	ended      bool   // the period ended in the trace
	began      int64  // time of the event that made the goroutine runnable
	stack      string // stack of that event, which is the waker's
}

// waits lists the periods, from the output of `go tool trace -d=parsed`.
func waits(t *testing.T, content []byte) (all []wait) {
	open, ran := map[string]*wait{}, map[string]bool{}
	var zero, sync, last int64
	var told *wait // owner of the next stack in the output
	inStack := false
	for l := range strings.SplitSeq(string(tool(t, content, "-d=parsed")), "\n") {
		if f := strings.TrimPrefix(l, "\t"); f != l && !strings.HasPrefix(f, "\t") {
			if told != nil && inStack {
				name, _, _ := strings.Cut(f, " @ ")
				told.stack = ";" + name + told.stack
			}
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil {
			inStack = l == "Stack=" || inStack && l != ""
			continue
		}
		told = nil
		at, err := strconv.ParseInt(m[5], 10, 64)
		if err != nil {
			t.Fatal(l)
		}
		if last = at; zero == 0 {
			zero = at
		}
		if m[4] == "Sync" {
			sync = at
		}
		s := state.FindStringSubmatch(m[6])
		if s == nil || s[2] == s[3] {
			continue
		}
		g := s[1]
		if w := open[g]; w != nil {
			w.end, w.ended = at-zero, true
			all = append(all, *w)
			delete(open, g)
		}
		switch s[3] {
		case "Running":
			ran[g] = true
		case "Runnable":
			told = &wait{g: g, start: at - zero, began: at - zero, first: !ran[g]}
			if s[2] == "Undetermined" {
				told.start = sync - zero
			}
			open[g] = told
		}
	}
	for _, w := range open {
		w.end = last - zero
		all = append(all, *w)
	}
	return all
}

// compareSched compares each period in which a goroutine was runnable with the tool's
// events, and the tool's sched profile with the periods that it should contain. It returns
// the number of periods that the profile omits.
//
// The profile covers the life of a goroutine, which the tool starts where the goroutine
// first runs in the trace (internal/trace.GoroutineSummary.StartTime). So it omits the wait
// before that, from the creation or the start of the trace
// (cmd/trace.pprofOverlappingDuration is 0), and periods that last until the end of the
// trace. Its stacks are those of the waker, ours those of the goroutine.
func compareSched(t *testing.T, content []byte) (without int) {
	t.Helper()
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		g          string
		start, end int64
	}
	want, got := map[key]int{}, map[key]int{}
	type waited struct{ times, ns int64 }
	has, profiles := map[string]waited{}, map[string]waited{}
	add := func(to map[string]waited, path string, times, ns int64) {
		w := to[path]
		to[path] = waited{w.times + times, w.ns + ns}
	}
	for _, w := range waits(t, content) {
		if w.end > w.start {
			want[key{w.g, w.start, w.end}]++
		}
		switch {
		case w.end == w.began:
		case w.first || !w.ended:
			without++
		default:
			add(has, w.stack, 1, w.end-w.began)
		}
	}
	for _, tr := range r.Tracks {
		for l, i := &tr.States, 0; i < l.Len(); i++ {
			if r.State(l.Call(i)) == recording.Runnable {
				got[key{fmt.Sprint(tr.TID), l.Start(i) / 1000, l.End(i) / 1000}]++
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("goroutines could run %v, want %v", got, want)
	}
	p, err := profile.ParseData(tool(t, content, "-pprof=sched"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		path := ""
		for _, loc := range s.Location {
			for _, f := range loc.Line {
				path = ";" + f.Function.Name + path
			}
		}
		add(profiles, path, s.Value[0], s.Value[1])
	}
	if !maps.Equal(has, profiles) {
		t.Errorf("the tool's profile is %v, and should be %v", profiles, has)
	}
	return without
}

func TestSched(t *testing.T) {
	if compareSched(t, made()) == 0 {
		t.Error("no goroutine waited to run for the first time")
	}
	for _, content := range samples.Each(t, "generated/go.trace") {
		compareSched(t, content)
	}
}
