package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/store"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// few returns small recordings that together contain everything a store can hold: spans
// with arguments, samples, records, windows, counters and flows.
func few(t testing.TB) map[string]*recording.Recording {
	t.Helper()
	contents := made(t, 300)
	contents["events.json"] = []byte(`[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":9,"name":"f","args":{"a":1}},{"ph":"X","pid":1,"tid":1,"ts":2,"dur":5e6,"name":"g","tdur":3},
		{"ph":"i","pid":1,"tid":1,"ts":3,"name":"now","args":{"b":"text"}},{"ph":"C","pid":1,"ts":4,"name":"c","args":{"v":4}},{"ph":"C","pid":1,"ts":5,"name":"c","args":{"v":5}},
		{"ph":"s","pid":1,"tid":1,"ts":2,"id":7,"name":"go","cat":"x"},{"ph":"f","pid":1,"tid":2,"ts":6,"id":7,"name":"go","cat":"x","bp":"e"},{"ph":"X","pid":1,"tid":2,"ts":5,"dur":3,"name":"_ZN3foo3barEv"},
		{"ph":"B","pid":1,"tid":3,"ts":2,"name":"open"}]`)
	all := map[string]*recording.Recording{}
	for name, content := range contents {
		l := newLoadOf(name, unpacked(t, content), variant{workers: 1})
		if err := l.Wait(); err != nil {
			t.Fatal(name, err)
		}
		defer l.Close()
		all[name] = l.Snapshot()
	}
	return all
}

// TestDamagedStores checks that reading a store fails with a one-sentence error if any bit
// of it is flipped or if it is cut anywhere.
func TestDamagedStores(t *testing.T) {
	rounds.Unraced(t)
	for name, rec := range few(t) {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := store.Write(&b, rec, map[string][]byte{"origin": []byte("test")}, false); err != nil {
				t.Fatal(err)
			}
			good := b.Bytes()
			opened := func(content []byte) error {
				f, err := store.Read(content, nil)
				if err == nil {
					err = f.Verify(t.Context())
				}
				return err
			}
			if err := opened(good); err != nil {
				t.Fatal(err)
			}
			// Long stores are only sampled: every byte near either end, some of the bytes
			// between.
			ends, step := rounds.Of(256), max(1, len(good)/rounds.Of(1000))
			for at := 0; at < len(good); at++ {
				if at > ends && at < len(good)-ends && at%step != 0 {
					continue
				}
				damaged := bytes.Clone(good)
				damaged[at] ^= 1 << (at % 8)
				err := opened(damaged)
				if err == nil && at >= 24 && at < 32 {
					err = errors.New("is no more than room") // unused bytes of the header
				}
				if err == nil || !strings.Contains(err.Error(), " ") {
					t.Fatalf("with another bit in byte %d of %d it is opened: %v", at, len(good), err)
				}
				if err := opened(good[:at]); err == nil {
					t.Fatalf("cut to %d bytes of %d it is opened", at, len(good))
				}
			}
			other := bytes.Clone(good)
			binary.LittleEndian.PutUint64(other[16:], recording.Layout()+1)
			if err := opened(other); err == nil || !strings.Contains(err.Error(), "another version of Ashlar") {
				t.Errorf("of another layout: %v", err)
			}
		})
	}
}

// packed returns a recording's index and chunks.
func packed(t testing.TB, rec *recording.Recording) (index, data []byte) {
	t.Helper()
	index, err := rec.Pack(func(chunk []byte) (int64, error) {
		at := int64(len(data))
		data = append(data, chunk...)
		for len(data)%8 != 0 {
			data = append(data, 0)
		}
		return at, nil
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	return index, data
}

// unpackedFrom reads a store that may be invalid and, if that succeeds, visits all of the
// recording.
func unpackedFrom(t *testing.T, index, data []byte) {
	aligned := append(make([]byte, 0, len(data)+64), data...)
	left := int64(len(data))
	rec, err := recording.Unpack(index, func(at, n int64) ([]byte, error) {
		if at < 0 || at%8 != 0 || n < 0 || at > int64(len(data)) || n > int64(len(data))-at || n > left {
			return nil, errors.New("outside")
		}
		left -= n
		return aligned[at : at+n : at+n], nil
	}, nil)
	if err != nil || rec.Verify(t.Context()) != nil {
		return
	}
	fingerprintOf(rec)
}

// FuzzStored checks that no index and no column data make reading a store panic.
func FuzzStored(f *testing.F) {
	rounds.Unraced(f)
	for _, rec := range few(f) {
		index, data := packed(f, rec)
		if len(data) < 20_000 {
			f.Add(index, data)
		}
	}
	f.Fuzz(func(t *testing.T, index, data []byte) { unpackedFrom(t, index, data) })
}

// TestHostileStores does the same with random changes. It bypasses the checksums, as a
// forged store with valid checksums would.
func TestHostileStores(t *testing.T) {
	rounds.Unraced(t)
	random := rand.New(rand.NewPCG(1, 2))
	for name, rec := range few(t) {
		t.Run(name, func(t *testing.T) {
			index, data := packed(t, rec)
			for range rounds.Of(400) {
				i, d := bytes.Clone(index), bytes.Clone(data)
				for range 1 + random.IntN(3) {
					b := i
					if random.IntN(2) == 0 && len(d) > 0 {
						b = d
					}
					b[random.IntN(len(b))] = byte(random.Uint32() >> random.IntN(8))
				}
				unpackedFrom(t, i, d)
			}
		})
	}
}
