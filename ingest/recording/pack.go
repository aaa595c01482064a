package recording

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"ashlar/ingest/column"
)

// Pack packs a recording that is Done. Each chunk is given to put, which says where it
// lies: at a multiple of 8. The memory of a chunk must not be written to. Beside says
// that the file which was read stays: texts of arguments that lie in it are not packed.
func (r *Recording) Pack(put func(chunk []byte) (at int64, err error), beside bool) (index []byte, err error) {
	if !r.Done {
		return nil, errors.New("the recording is not complete")
	}
	defer column.Recover(&err)
	a := column.NewArchive(put)
	texts := argTexts{of: r, beside: beside && r.ArgState != nil, to: a}
	a.References = texts.add
	column.Pack(a, r)
	texts.flush()
	s := stored{Blocks: texts.blocks, Args: r.Args != nil, CPU: r.CPU != nil, Beside: texts.beside}
	if s.Beside {
		s.State = r.ArgState()
	}
	column.Pack(a, &s)
	return a.Index(), nil
}

// stored has what functions of a recording know, which cannot be packed.
type stored struct {
	Blocks    []argBlock // texts of arguments
	Args, CPU bool       // whether there are such functions
	Beside    bool       // texts lie in the file that was read
	State     []byte     // see [Recording.ArgState]
}

// Unpack makes a recording of an index and of chunks, of which get gives n bytes at a
// place. They have to stay for as long as keep can be reached, and some seconds more:
// see [column.Shelf]. What is said is checked but for what is in the chunks of spans and
// samples; see [Recording.Verify].
func Unpack(index []byte, get func(at, n int64) ([]byte, error), keep any) (r *Recording, err error) {
	defer column.Recover(&err)
	a := column.OpenArchive(index, get, keep)
	r = &Recording{CPUTimes: new(CPUTimes)}
	column.Pack(a, r)
	var s stored
	column.Pack(a, &s)
	a.Close()
	texts := textsOf(a, &s)
	switch {
	case s.Beside:
		r.ArgState = func() []byte { return s.State }
	case s.Args:
		r.Args = texts.text
	}
	if s.CPU && !s.Beside {
		r.CPU = texts.cpu
	}
	return r, r.verifyShape()
}

// Pack implements [column.Packer].
func (l *Lane) Pack(a *column.Archive) {
	n := int(a.Signed(int64(l.n)))
	if a.Reading() {
		if n < 0 || n > math.MaxInt64/64 {
			column.Fail("a lane has more spans than can be in it")
		}
		l.n, l.shelf = n, a.Shelf()
		l.chunks = make([]laneChunk, a.Chunks(n, unsafe.Sizeof(laneChunk{})))
	}
	for k := range a.Chunks(n, 0) {
		c, of := &l.chunks[k], min(column.ChunkLen, n-k<<column.ChunkBits)
		column.PackChunk(a, &c.starts, of)
		column.PackChunk(a, &c.durs, of)
		column.PackChunk(a, &c.calls, of)
	}
	more := l.laneMore
	if more == &noMore {
		more = nil
	}
	if column.Pack(a, &more); a.Reading() {
		l.laneMore = cmp.Or(more, &noMore)
	}
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

// argColumn holds the arguments of those spans of a lane that have any.
type argColumn struct{ column.Sparse }

// Pack has references to where the texts are now.
func (c *argColumn) Pack(a *column.Archive) { c.PackAs(a, a.References) }

// Layout is a number for what Pack writes on this kind of machine. Another Layout
// cannot be unpacked.
var Layout = sync.OnceValue(func() uint64 {
	return column.Layout(reflect.TypeFor[Recording](), leafBits, fanBits, counterBits, textBlock)
})
