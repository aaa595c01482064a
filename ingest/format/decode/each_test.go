package decode

import (
	"context"
	"testing"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// TestBesideScarce checks that Beside limits the number of waiting batches if memory is
// scarce.
func TestBesideScarce(t *testing.T) {
	for _, tt := range []struct {
		scarce      bool
		ahead, want int
	}{{false, 24, 24}, {true, 24, 4}, {true, 1, 1}, {true, 0, 0}} {
		in := source.FromBytes("x", []byte("x"))
		in.InPlace = tt.scarce
		room := -1
		read := func(_ context.Context, out chan<- int) error { room = cap(out); return nil }
		if err := Beside(t.Context(), in, recording.NewBuilder(), tt.ahead, read, func(int) error { return nil }); err != nil || room != tt.want {
			t.Errorf("%+v: %d batches wait, %v", tt, room, err)
		}
	}
}
