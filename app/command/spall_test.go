package command

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"testing"
)

// spallEvent is an event of a spall version 1 file: begin (kind 'B') or end ('E'), with a
// thread, a time in microseconds and a name.
type spallEvent struct {
	kind byte
	tid  uint32
	at   float64
	name string
}

// smallSpall covers recursion, a span of duration 0, an end without a begin, a span that never
// ends, and a fraction of a microsecond.
var smallSpall = []spallEvent{
	{'B', 7, 100, "main"}, {'B', 7, 101, "walk"}, {'B', 7, 102, "walk"}, {'B', 7, 102, "leaf"}, {'E', 7, 102, ""},
	{'E', 7, 104.25, ""}, {'E', 7, 105, ""}, {'E', 7, 108, ""}, {'E', 7, 108.5, ""},
	{'B', 8, 103, "serve"}, {'B', 8, 106, "leaf"}, {'E', 8, 107, ""},
}

// writeSmallSpall writes testdata/small.spall with -update; otherwise it checks the file's
// content.
func writeSmallSpall(t *testing.T) {
	t.Helper()
	const path = "testdata/small.spall"
	b := binary.LittleEndian.AppendUint64(nil, 0x0BADF00D)
	b = binary.LittleEndian.AppendUint64(b, 1)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(1))
	b = binary.LittleEndian.AppendUint64(b, 0)
	for _, e := range smallSpall {
		kind := byte(3)
		if e.kind == 'E' {
			kind = 4
		}
		b = append(b, kind)
		if e.kind == 'B' {
			b = append(b, 0) // category
		}
		b = binary.LittleEndian.AppendUint32(b, 5)
		b = binary.LittleEndian.AppendUint32(b, e.tid)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e.at))
		if e.kind == 'B' {
			b = append(b, byte(len(e.name)), 0)
			b = append(b, e.name...)
		}
	}
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b) {
		t.Fatalf("%s is not what this test writes; run go test -update", path)
	}
}
