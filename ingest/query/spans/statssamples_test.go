package spans_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/spans"
	"ashlar/testdata/samples"
)

// mostAsked is the maximum number of functions tested per sample: those with the most
// spans.
const mostAsked = 80

// TestDurationsOfSamples compares the statistics of functions in real recordings with
// statistics over a plain list of their spans.
func TestDurationsOfSamples(t *testing.T) {
	samples.Need(t)
	files, functions, counted := 0, 0, 0
	for _, path := range samples.Files(t) {
		rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
		if err != nil || rec.Counts.Spans == 0 {
			continue // other tests check which samples can be read
		}
		files++
		by := map[recording.FuncID][]plainSpan{}
		for ti, track := range rec.Tracks {
			for li := range track.Lanes {
				l := &track.Lanes[li]
				for i := range l.Len() {
					f := rec.Func(l.Call(i))
					by[f] = append(by[f], plainSpan{name: rec.Functions.At(int(f)).Name, track: ti, start: l.Start(i), end: l.End(i), open: l.Unfinished(i)})
				}
			}
		}
		ids := make([]recording.FuncID, 0, len(by))
		for f := range by {
			ids = append(ids, f)
		}
		slices.SortFunc(ids, func(a, b recording.FuncID) int {
			return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), cmp.Compare(a, b))
		})
		for _, f := range ids[:min(len(ids), mostAsked)] {
			got, err := spans.DurationsOf(context.Background(), rec, recording.Scope{}, []recording.FuncID{f})
			if err != nil {
				t.Fatal(err)
			}
			checkDurations(t, got, by[f])
			functions++
			if counted += len(by[f]); t.Failed() {
				t.Fatalf("%s: %s", path, rec.Functions.At(int(f)).Name)
			}
		}
	}
	if t.Logf("%d functions with %d spans in %d recordings", functions, counted, files); files < 10 {
		t.Errorf("only %d samples have spans", files)
	}
}
