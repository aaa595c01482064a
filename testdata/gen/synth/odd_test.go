package synth

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestOddsAreWhatTheySay checks the odd property of each odd trace.
func TestOddsAreWhatTheySay(t *testing.T) {
	type event struct {
		Ph, Name string
		PID, TID int
		TS, Dur  float64
	}
	read := func(name string) (spans []event) {
		var b bytes.Buffer
		if err := WriteOdd(&b, name); err != nil {
			t.Fatal(err)
		}
		var file struct{ TraceEvents []event }
		if err := json.Unmarshal(b.Bytes(), &file); err != nil {
			t.Fatalf("%s is no JSON: %v", name, err)
		}
		for _, e := range file.TraceEvents {
			if e.Ph == "X" {
				spans = append(spans, e)
			}
		}
		return spans
	}
	count := func(spans []event, of func(event) any) int {
		seen := map[any]bool{}
		for _, e := range spans {
			seen[of(e)] = true
		}
		return len(seen)
	}
	if n := count(read("threads"), func(e event) any { return e.TID }); n != 5000 {
		t.Errorf("there are %d threads, want 5,000", n)
	}
	if n := count(read("functions"), func(e event) any { return e.Name }); n != 200_000 {
		t.Errorf("there are %d functions, want 200,000", n)
	}
	if n := len(read("single")); n != 1 {
		t.Errorf("there are %d spans, want 1", n)
	}
	deepest, open := 0, []float64{}
	for _, e := range read("deep") {
		if e.TID != 1 {
			continue
		}
		for len(open) > 0 && open[len(open)-1] <= e.TS {
			open = open[:len(open)-1]
		}
		open = append(open, e.TS+e.Dur)
		deepest = max(deepest, len(open))
	}
	if deepest != 1000 {
		t.Errorf("the deepest stack has %d spans, want 1,000", deepest)
	}
	longest := 0
	for _, e := range read("names") {
		longest = max(longest, len([]rune(e.Name)))
	}
	if longest != 10_000 {
		t.Errorf("the longest name has %d characters, want 10,000", longest)
	}
	if err := WriteOdd(&bytes.Buffer{}, "even"); err == nil {
		t.Error("an odd trace that there is not is written")
	}
}
