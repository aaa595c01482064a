package store

import (
	"bytes"
	"testing"

	"ashlar/ingest/model/recording"
)

// stored returns a stored recording with one span.
func stored(t testing.TB) []byte {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	b.Track(recording.TrackKey{PID: 1, TID: 2}).Span(0, 10, frame, 0, false)
	var whole bytes.Buffer
	if err := Write(&whole, b.Finish(), nil, false); err != nil {
		t.Fatal(err)
	}
	return whole.Bytes()
}

// FuzzRead reads arbitrary bytes and checks that every valid recording can be written
// again. FuzzStored, in package ingest, also corrects the checksums of the bytes it
// changes.
func FuzzRead(f *testing.F) {
	whole := stored(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := Read(bytes.Clone(content), nil)
		if err != nil || got.Verify(t.Context()) != nil || got.Recording.ArgState != nil {
			return
		}
		var again bytes.Buffer
		if err := Write(&again, got.Recording, nil, false); err != nil {
			t.Fatal(err)
		}
	})
}
