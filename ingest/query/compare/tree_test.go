package compare

import (
	"reflect"
	"testing"

	"ashlar/ingest/model/durations"
	"ashlar/ingest/model/recording"
)

// TestPartsOfOneRecording compares ranges of a recording with each other. The result must be
// the same if both sides are loaded apart, so that no call of B is known from A.
func TestPartsOfOneRecording(t *testing.T) {
	for seed := range uint64(20) {
		for _, rec := range []*recording.Recording{random(seed, poolA), traced(seed, 500, 1, 2)} {
			half := rec.Start + rec.Duration()/2
			a, b := Input{Rec: rec, Scope: recording.Between(rec.Start, half)}, Input{Rec: rec, Scope: recording.Between(half, rec.End)}
			apart := b
			copied := *rec
			apart.Rec = &copied
			got, err := Compare(bg, []Input{a}, []Input{b, a}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := Compare(bg, []Input{a}, []Input{apart, a}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Tree.Nodes, want.Tree.Nodes) || !reflect.DeepEqual(got.Tree.runs, want.Tree.runs) || !reflect.DeepEqual(got.Tree.count, want.Tree.count) {
				t.Errorf("seed %d: the tree of two parts has %d nodes, that of two recordings %d, or their values differ", seed, len(got.Tree.Nodes), len(want.Tree.Nodes))
			}
		}
	}
}

// TestWholeIsStored checks that the stored sum of all spans is used if functions keep fewer
// spans than it does.
func TestWholeIsStored(t *testing.T) {
	parts := []part{{n: 9000, kept: make([]durations.Draw, leastSpans)}, {}, {n: 9000, kept: make([]durations.Draw, mostSpans)}}
	s := sums{whole: true, slots: 1, most: mostSpans}
	if !s.fill(nil, parts) || len(s.parts) != 1 || s.parts[0].n != 9000 {
		t.Errorf("the sum of all spans is %+v", s.parts)
	}
}
