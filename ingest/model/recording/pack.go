package recording

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// Pack packs a recording that is Done. It passes each chunk to put, which returns the
// chunk's place, a multiple of 8. put must not write to the chunk. With beside, the
// original file stays available, so texts of arguments in that file are not packed.
func (r *Recording) Pack(put func(chunk []byte) (at int64, err error), beside bool) (index []byte, err error) {
	if !r.Done {
		return nil, errors.New("the recording is incomplete")
	}
	defer column.Recover(&err)
	a := column.NewArchive(put)
	texts := column.NewTexts(a)
	texts.Of = r.Args
	if r.CPU != nil {
		texts.Number = r.packCPU
	}
	beside = beside && r.ArgState != nil
	if a.References = texts.Add; beside {
		a.References = func(ref uint64) uint64 { return ref }
	}
	column.Pack(a, r)
	texts.Flush()
	s := stored{Blocks: texts.Blocks, Args: r.Args != nil, CPU: r.CPU != nil, Beside: beside}
	if s.Beside {
		s.State = r.ArgState()
	}
	column.Pack(a, &s)
	return a.Index(), nil
}

// stored replaces the functions of a recording, which cannot be packed.
type stored struct {
	Blocks    []column.TextBlock // of arguments
	Args, CPU bool               // whether the recording has these functions
	Beside    bool               // the texts stay in the original file
	State     []byte             // see [Recording.ArgState]
}

// packCPU returns 1 + the CPU time of the span with an argument, or 0 if unknown.
func (r *Recording) packCPU(ref uint64) uint64 {
	if cpu, known := r.CPU(ref); known {
		return uint64(cpu) + 1
	}
	return 0
}

// Unpack rebuilds a recording from an index and chunks; get returns n bytes at a place. The
// chunks must stay valid while keep is reachable, and some seconds longer: see
// [column.Shelf]. The index is checked, but not the chunks of spans and samples; see
// [Recording.Verify].
func Unpack(index []byte, get func(at, n int64) ([]byte, error), keep any) (r *Recording, err error) {
	defer column.Recover(&err)
	a := column.OpenArchive(index, get, keep)
	r = &Recording{CPUTimes: new(CPUTimes)}
	column.Pack(a, r)
	var s stored
	column.Pack(a, &s)
	a.Close()
	texts := column.OpenTexts(a, s.Blocks, s.CPU)
	switch {
	case s.Beside:
		r.ArgState = func() []byte { return s.State }
	case s.Args:
		r.Args = texts.Text
	}
	if s.CPU && !s.Beside {
		r.CPU = func(ref uint64) (ps int64, known bool) {
			n := texts.Number(ref)
			return int64(n) - 1, n > 0
		}
	}
	return r, r.verifyShape()
}

// Pack implements [column.Packer].
func (x *Instant) Pack(a *column.Archive) {
	column.Pack(a, &x.Time)
	column.Pack(a, &x.Name)
	ref := x.Args
	if !a.Reading() {
		ref = a.References(ref)
	}
	if column.Pack(a, &ref); a.Reading() {
		x.Args = ref
	}
}

func (m *sharedSymbols) Pack(a *column.Archive) {
	type entry struct {
		id FuncID
		n  int
	}
	var all []entry
	for _, id := range slices.Sorted(maps.Keys(*m)) {
		all = append(all, entry{id, (*m)[id]})
	}
	column.Pack(a, &all)
	for i, e := range all {
		if a.Reading() {
			if i == 0 {
				*m = sharedSymbols{}
			}
			(*m)[e.id] = e.n
		}
	}
}

// Layout returns a hash of the packed format on this kind of machine. Recordings with
// another Layout cannot be unpacked.
var Layout = sync.OnceValue(func() uint64 {
	return column.Layout(reflect.TypeFor[Recording](), lanes.LeafBits, lanes.FanBits, counterBits)
})
