package analyze_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// place is a frame by file, line and name.
type place struct {
	file string
	line int32
	name string
}

type placeStack struct {
	places []place
	value  int64
}

// placed makes a recording of random stacks over three files.
func placed(seed uint64) (*recording.Recording, []placeStack) {
	r := rand.New(rand.NewPCG(seed, 3))
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{{Name: "period"}}})
	var all []placeStack
	for range 60 {
		var s placeStack
		var frames []recording.FrameID
		for range r.IntN(9) {
			p := place{fmt.Sprintf("%c.go", 'a'+rune(r.IntN(3))), int32(r.IntN(4)), fmt.Sprint("f", r.IntN(4))}
			// The function's file is b.go; frames in other files name their file.
			f := recording.Frame{Func: b.Function(recording.Function{Name: p.name, File: "b.go"}), Line: p.line, Inlined: r.IntN(3) == 0}
			if p.file != "b.go" {
				f.File = p.file
			}
			s.places = append(s.places, p)
			frames = append(frames, b.Frame(f))
		}
		s.value = r.Int64N(100)
		if r.IntN(9) == 0 {
			s.value = recording.Missing
		}
		b.AddStack(0, b.Stack(frames), recording.NoTrack, 0, []int64{s.value})
		all = append(all, s)
	}
	return b.Finish(), all
}

func TestSourceLinesAreThoseOfANaiveCount(t *testing.T) {
	for seed := range uint64(200) {
		rec, all := placed(seed)
		w, err := analyze.Weigh(context.Background(), rec, analyze.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"a.go", "b.go", "c.go", "nowhere.go"} {
			got := analyze.SourceOf(rec, w, file)
			checkSource(t, got, file, all)
			if t.Failed() {
				t.Fatalf("seed %d, %s: %+v", seed, file, got)
			}
		}
	}
}

func checkSource(t *testing.T, got *analyze.SourceCost, file string, all []placeStack) {
	t.Helper()
	var self, total int64
	for line := range int32(4) {
		var want analyze.SourceLine
		for _, s := range all {
			v := max(0, s.value) // a missing value counts as 0
			if n := len(s.places); n > 0 && s.places[n-1].file == file && s.places[n-1].line == line {
				want.Self += v
				want.Count++
			}
			if slices.ContainsFunc(s.places, func(p place) bool { return p.file == file && p.line == line }) {
				want.Total += v
			}
		}
		if g := got.Line(line); g.Line != line || g.Self != want.Self || g.Total != want.Total || g.Count != want.Count {
			t.Errorf("line %d: %+v, want %+v", line, g, want)
		}
		self += want.Self
	}
	for _, s := range all {
		if slices.ContainsFunc(s.places, func(p place) bool { return p.file == file }) {
			total += max(0, s.value)
		}
	}
	if got.Self != self || got.Total != total {
		t.Errorf("self %d, total %d; want %d and %d", got.Self, got.Total, self, total)
	}
}
