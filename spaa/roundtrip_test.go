package spaa

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"
)

// readAll returns every readable record.
func readAll(t testing.TB, text []byte) []Record {
	t.Helper()
	r := NewReader(bytes.NewReader(text))
	var recs []Record
	for {
		rec, err := r.Next()
		var bad *LineError
		switch {
		case errors.Is(err, io.EOF):
			return recs
		case errors.As(err, &bad):
			var format *FormatError
			if errors.As(err, &format) {
				return recs
			}
		case err != nil:
			t.Fatal(err)
		default:
			recs = append(recs, rec)
		}
	}
}

func writeAll(t testing.TB, recs []Record) []byte {
	t.Helper()
	var out []byte
	for _, r := range recs {
		var err error
		if out, err = AppendRecord(out, r); err != nil {
			t.Fatalf("%s: %v", r.RecordType(), err)
		}
		out = append(out, '\n')
	}
	return out
}

// checkRoundTrip checks text → records → text → records → text: equal records,
// and equal bytes from the first writing on.
func checkRoundTrip(t testing.TB, text []byte) {
	t.Helper()
	first := readAll(t, text)
	once := writeAll(t, first)
	second := readAll(t, once)
	if !reflect.DeepEqual(first, second) {
		for i := range first {
			if i >= len(second) || !reflect.DeepEqual(first[i], second[i]) {
				t.Fatalf("record %d changed:\n%+v\n%s", i+1, first[i], once)
			}
		}
		t.Fatalf("%d records became %d", len(first), len(second))
	}
	if twice := writeAll(t, second); !bytes.Equal(once, twice) {
		t.Fatalf("writing twice gives other bytes:\n%s\n%s", once, twice)
	}
}

// sameJSON reports whether two lines hold equal JSON, numbers compared as text.
func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	var va, vb any
	for _, x := range []struct {
		text []byte
		dst  *any
	}{{a, &va}, {b, &vb}} {
		d := json.NewDecoder(bytes.NewReader(x.text))
		d.UseNumber()
		if err := d.Decode(x.dst); err != nil {
			t.Fatalf("%v: %s", err, x.text)
		}
	}
	return reflect.DeepEqual(va, vb)
}
