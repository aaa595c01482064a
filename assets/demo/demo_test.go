package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ashlar/assets"
	"ashlar/spaa"
)

// text returns the uncompressed content of a recording.
func text(t *testing.T, r io.Reader) []byte {
	t.Helper()
	plain, done, err := spaa.Decompress(r)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	b, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUpToDate checks that the embedded file is the output of this program.
func TestUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.spaa")
	f, err := spaa.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := records(tell(), f.Write); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, text(t, bytes.NewReader(assets.Demo()))) {
		t.Error("assets/demo.spaa.zst is not what this program writes; run make generate")
	}
}

func TestSize(t *testing.T) {
	if n := len(assets.Demo()); n > 200_000 {
		t.Errorf("the built-in recording has %d bytes; 200 kB is the most that a program should carry", n)
	}
}

func TestValid(t *testing.T) {
	rep, err := spaa.Validate(bytes.NewReader(text(t, bytes.NewReader(assets.Demo()))), spaa.ValidateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rep.Findings {
		t.Error(f)
	}
	if n := rep.Records["sample"]; n < 5000 || n > 8000 {
		t.Errorf("%d samples: the demo should have five to eight thousand", n)
	}
}

// TestSums checks that samples and windows add up to the stacks' weights, so that the demo
// gives the same totals with and without a range.
func TestSums(t *testing.T) {
	r := spaa.NewReader(bytes.NewReader(text(t, bytes.NewReader(assets.Demo()))))
	type key struct{ id, metric string }
	stacks, samples, windows := map[key]int64{}, map[key]int64{}, map[key]int64{}
	add := func(to map[key]int64, id spaa.ID, ws []spaa.Weight) {
		for _, w := range ws {
			v, exact := w.Value.Int64()
			if !exact || v <= 0 {
				t.Errorf("stack %s has the %s %s", id, w.Metric, w.Value)
			}
			to[key{id.String(), w.Metric}] += v
		}
	}
	events := map[string]string{}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *spaa.Stack:
			if _, twice := events[rec.ID.String()]; twice {
				t.Errorf("the stack id %s is not unique", rec.ID)
			}
			events[rec.ID.String()] = rec.Context.Event
			add(stacks, rec.ID, rec.Weights)
		case *spaa.Sample:
			v, _ := rec.Period.Int64()
			samples[key{rec.StackID.String(), "period"}] += v
			samples[key{rec.StackID.String(), "samples"}]++
		case *spaa.Window:
			for _, s := range rec.ByStack {
				add(windows, s.StackID, s.Weights)
			}
		}
	}
	if len(stacks) == 0 || len(samples) == 0 {
		t.Fatal("there are no stacks or samples")
	}
	for k, v := range stacks {
		if windows[k] != v {
			t.Errorf("stack %s has %d of %s, its windows %d", k.id, v, k.metric, windows[k])
		}
		if events[k.id] == cpuClock && samples[k] != v {
			t.Errorf("stack %s has %d of %s, its samples %d", k.id, v, k.metric, samples[k])
		}
	}
	if len(windows) != len(stacks) {
		t.Errorf("windows have %d weights, stacks %d", len(windows), len(stacks))
	}
}
