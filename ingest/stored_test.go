package ingest

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"ashlar/ingest/format/store"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// storedAndOpened writes a recording to a store and reads it back.
func storedAndOpened(t testing.TB, rec *recording.Recording) *recording.Recording {
	t.Helper()
	f := stored(t, rec, false)
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f.Recording
}

func stored(t testing.TB, rec *recording.Recording, beside bool) *store.File {
	t.Helper()
	var b bytes.Buffer
	if err := store.Write(&b, rec, nil, beside); err != nil {
		t.Fatal(err)
	}
	f, err := store.Read(b.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// storedBeside writes a recording to a store that is kept next to the original file, and
// reads it back. Arguments are read from the original content.
func storedBeside(t testing.TB, rec *recording.Recording, content []byte) *recording.Recording {
	t.Helper()
	opened := stored(t, rec, true).Recording
	if opened.ArgState == nil {
		return opened
	}
	for _, f := range Formats {
		if f.Name == opened.Source.Format {
			opened.Args, opened.CPU = f.Args(source.FromBytes("", content), opened.ArgState())
		}
	}
	return opened
}

// TestStoredIsTheSame checks that every recording is the same after it was stored and read
// back.
func TestStoredIsTheSame(t *testing.T) {
	rounds.Unraced(t)
	try := func(name string, content []byte) {
		t.Run(name, func(t *testing.T) {
			l := newLoadOf(name, unpacked(t, content), variant{workers: 2})
			defer l.Close()
			if l.Wait() != nil {
				return
			}
			rec := l.Snapshot()
			with := *rec
			var err error
			if with.Durations, err = compare.SumDurations(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			rec = &with
			want := fingerprintOf(rec)
			for _, opened := range []*recording.Recording{storedAndOpened(t, rec), storedBeside(t, rec, unpacked(t, content))} {
				if d := want.difference(fingerprintOf(opened)); d != "" {
					t.Error("different", d)
				}
				if d := alike(rec, opened); d != "" {
					t.Error("different", d)
				}
			}
		})
	}
	records := rounds.Of(int64(6000))
	for name, content := range made(t, records) {
		try(name, content)
	}
	for _, kind := range synth.Kinds() {
		for _, shape := range synth.Shapes(kind) {
			if testing.Short() {
				continue // storing starts no goroutines, so the race detector finds nothing in it
			}
			try(kind+" "+shape, synthesized(t, synth.Options{Kind: kind, Shape: shape, Records: records, Seed: 7}))
		}
	}
	for name, content := range samples.Each(t) {
		try(name, content)
	}
}

// alike compares two recordings by reflection, so that it includes unexported fields and
// fields added later. It returns the place of the first difference, "" for none.
func alike(a, b *recording.Recording) string {
	return differs(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), "", func(x, y uint64) bool {
		if x == 0 || y == 0 {
			return x == y
		}
		return a.Args(x) == b.Args(y)
	})
}

func differs(a, b reflect.Value, at string, sameArgs func(x, y uint64) bool) string {
	switch name := a.Type().Name(); {
	case a.Kind() == reflect.Func || a.Type() == reflect.TypeFor[*column.Shelf]():
		if a.Kind() == reflect.Func && a.IsNil() != b.IsNil() {
			return at
		}
		return ""
	case strings.HasPrefix(name, "Vec[") || name == "Lane":
		if d := chunksDiffer(a, b, at, sameArgs); d != "" {
			return d
		}
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i).Name
			if f == "chunks" || f == "room" || f == "tail" || f == "ArgState" {
				continue // the layout of columns in memory, and the source of texts
			}
			if f == "Args" && a.Field(i).Kind() == reflect.Uint64 {
				if !sameArgs(a.Field(i).Uint(), b.Field(i).Uint()) {
					return at + ".Args"
				}
				continue
			}
			if d := differs(a.Field(i), b.Field(i), at+"."+f, sameArgs); d != "" {
				return d
			}
		}
	case reflect.Slice:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return fmt.Sprint(at, " length ", a.Len(), " and ", b.Len())
		}
		for i := range a.Len() {
			if d := differs(a.Index(i), b.Index(i), fmt.Sprint(at, "[", i, "]"), sameArgs); d != "" {
				return d
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if d := differs(a.Index(i), b.Index(i), fmt.Sprint(at, "[", i, "]"), sameArgs); d != "" {
				return d
			}
		}
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return at
			}
			return ""
		}
		return differs(a.Elem(), b.Elem(), at, sameArgs)
	case reflect.Map:
		if a.Len() != b.Len() {
			return at
		}
		for _, k := range a.MapKeys() {
			if v := b.MapIndex(k); !v.IsValid() || v.Int() != a.MapIndex(k).Int() {
				return at
			}
		}
	default:
		if !a.Equal(b) {
			return at
		}
	}
	return ""
}

// chunksDiffer compares the elements of columns, which are in chunks of 4096.
func chunksDiffer(a, b reflect.Value, at string, sameArgs func(x, y uint64) bool) string {
	n := int(a.FieldByName("n").Int())
	if m := int(b.FieldByName("n").Int()); n != m {
		return fmt.Sprint(at, " length ", n, " and ", m)
	}
	first := 0
	if dense := a.FieldByName("dense"); dense.IsValid() { // compact chunks; differs compares them
		first = dense.Len()
	}
	for i := first * 4096; i < n; i += 4096 {
		k := i/4096 - first
		x, y, of := a.FieldByName("chunks").Index(k), b.FieldByName("chunks").Index(k), min(4096, n-i)
		place := fmt.Sprint(at, "[", i, "…]")
		if x.Kind() == reflect.Slice {
			x, y = x.Slice(0, of), y.Slice(0, of)
			if strings.HasSuffix(at, ".args.Sparse.values") {
				for k := range of {
					if !sameArgs(x.Index(k).Uint(), y.Index(k).Uint()) {
						return place
					}
				}
			} else if e := x.Type().Elem(); e.Kind() == reflect.Struct && e.Name() != "Node" || e.Kind() == reflect.Slice {
				if d := differs(x, y, place, sameArgs); d != "" {
					return d
				}
			} else if !bytes.Equal(raw(x), raw(y)) {
				return place
			}
			continue
		}
		for f := range x.NumField() { // a chunk of a lane is a struct of slices
			if x.Field(f).Len() == 0 && y.Field(f).Len() == 0 {
				continue // only states have wakers
			}
			if !bytes.Equal(raw(x.Field(f).Slice(0, of)), raw(y.Field(f).Slice(0, of))) {
				return place
			}
		}
	}
	return ""
}

// raw returns the bytes of a slice.
func raw(s reflect.Value) []byte {
	return unsafe.Slice((*byte)(s.UnsafePointer()), s.Len()*int(s.Type().Elem().Size()))
}
