package column

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
)

// TestVecSnapshots checks that a copy of a column keeps its elements while the original
// grows.
func TestVecSnapshots(t *testing.T) {
	const n = 50_000
	snaps := make(chan Vec[int], 100)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for v := range snaps {
				for i := 0; i < v.Len(); {
					run := v.Chunk(i)
					for k, x := range run {
						if x != 3*(i+k) || v.At(i+k) != x {
							t.Errorf("element %d of %d is %d", i+k, v.Len(), x)
							return
						}
					}
					i += len(run)
				}
			}
		})
	}
	var v Vec[int]
	for i := range n {
		if i%97 == 0 {
			snaps <- v
		}
		v.Append(3 * i)
	}
	close(snaps)
	wg.Wait()
	s := v.Slice()
	if len(s) != n || s[n-1] != 3*(n-1) || v.Bytes(8) < 8*n || v.Bytes(8) > 8*(n+ChunkLen) {
		t.Errorf("%d elements, %d bytes", len(s), v.Bytes(8))
	}
}

// TestSparse compares a column, also after cutting rows, with a map, and a snapshot with a
// copy of the map.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var s, shown Sparse
	want := map[int]uint64{}
	same := func(s *Sparse, want map[int]uint64, n int) {
		t.Helper()
		s.Check(n)
		for i := range n {
			if s.At(i) != want[i] {
				t.Fatalf("row %d of %d has %d, want %d", i, n, s.At(i), want[i])
			}
		}
		if s.Values().Len() != len(want) {
			t.Fatalf("%d numbers, want %d", s.Values().Len(), len(want))
		}
	}
	n, before, kept := 0, map[int]uint64{}, 0
	for range 200 {
		for range rng.IntN(300) {
			if rng.IntN(4) == 0 {
				v := rng.Uint64()
				s.Set(n, v)
				want[n] = v
			}
			n++
		}
		same(&s, want, n)
		same(&shown, before, kept)
		switch rng.IntN(4) {
		case 0:
			shown, kept, before = s, n, map[int]uint64{}
			for i, v := range want {
				before[i] = v
			}
		case 1:
			cut := n - rng.IntN(min(n, 200)+1)
			s.Cut(cut, true)
			for i := cut; i < n; i++ {
				delete(want, i)
			}
			n = cut
		}
	}
}

// TestPack checks that unpacked values equal the packed ones, and that an index cut
// anywhere gives an error.
func TestPack(t *testing.T) {
	type part struct{ Name string }
	type thing struct {
		Name   string
		Less   int64
		Share  float64
		Many   []string
		None   *part
		Some   *part
		Points Vec[int32]
		Names  Vec[string]
		Few    Sparse
	}
	in := thing{Name: "a", Less: -5, Share: .25, Many: []string{"x", "", "x"}, Some: &part{"x"}}
	for i := range 10_000 {
		in.Points.Append(int32(i * i))
		if in.Names.Append("n"); i%7 == 0 {
			in.Few.Set(i, uint64(i+1))
		}
	}
	var store bytes.Buffer
	a := NewArchive(func(b []byte) (int64, error) {
		for store.Len()%8 != 0 {
			store.WriteByte(0)
		}
		at := int64(store.Len())
		store.Write(b)
		return at, nil
	})
	Pack(a, &in)
	index := a.Index()
	unpack := func(index []byte) (out thing, err error) {
		defer Recover(&err)
		a := OpenArchive(index, func(at, n int64) ([]byte, error) { return store.Bytes()[at : at+n], nil }, nil)
		Pack(a, &out)
		a.Close()
		return out, nil
	}
	out, err := unpack(index)
	if err != nil {
		t.Fatal(err)
	}
	out.Few.Check(10_000)
	if out.Name != in.Name || out.Less != in.Less || out.Share != in.Share || !reflect.DeepEqual(out.Many, in.Many) || out.None != nil || out.Some == nil || out.Some.Name != "x" ||
		!reflect.DeepEqual(out.Points.Slice(), in.Points.Slice()) || !reflect.DeepEqual(out.Names.Slice(), in.Names.Slice()) || !reflect.DeepEqual(out.Few.Values().Slice(), in.Few.Values().Slice()) {
		t.Errorf("%+v", out)
	}
	for n := range min(len(index), 200) {
		if _, err := unpack(index[:n]); err == nil {
			t.Errorf("an index of %d of %d bytes is taken", n, len(index))
		}
	}
}
