package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// A recording is packed into the chunks of its columns, as they lie in memory, and an
// index, which has everything else and says where the chunks are. Unpacked columns are
// slices of the memory that the chunks lie in: that takes as long as there are chunks,
// tracks and names, whatever the number of spans.
//
// Both ways are one description of the types: see planOf. So what a type has more is
// packed too, and [Layout] is another.

// Pack packs a recording that is Done. Each chunk is given to put, which says where it
// lies: at a multiple of 8. The memory of a chunk must not be written to. Beside says
// that the file which was read stays: texts of arguments that lie in it are not packed.
func (r *Recording) Pack(put func(chunk []byte) (at int64, err error), beside bool) (index []byte, err error) {
	if !r.Done {
		return nil, errors.New("the recording is not complete")
	}
	defer recoverPack(&err)
	a := &archive{put: put, strings: map[string]uint64{"": 0}, texts: argTexts{of: r, beside: beside && r.ArgState != nil}}
	pack(a, r)
	a.texts.flush(a)
	body := a.data
	a.data = binary.AppendUvarint(nil, uint64(len(a.table)))
	for _, s := range a.table {
		a.data = binary.AppendUvarint(a.data, uint64(len(s)))
	}
	for _, s := range a.table {
		a.data = append(a.data, s...)
	}
	pack(a, &a.texts.blocks)
	has := [3]bool{r.Args != nil, r.CPU != nil, a.texts.beside}
	pack(a, &has)
	var state []byte
	if a.texts.beside {
		state = r.ArgState()
	}
	pack(a, &state)
	return append(a.data, body...), nil
}

// Unpack makes a recording of an index and of chunks, of which get gives n bytes at a
// place. They have to stay for as long as keep can be reached, and some seconds more:
// see [Shelf]. What is said is checked but for what is in the chunks of spans and
// samples; see [Recording.Verify].
func Unpack(index []byte, get func(at, n int64) ([]byte, error), keep any) (r *Recording, err error) {
	defer recoverPack(&err)
	a := &archive{reading: true, data: index, get: get, shelf: &Shelf{keep: keep}, left: 1<<20 + 64*int64(len(index))}
	lengths := make([]int, a.count(1))
	sum := 0
	for i := range lengths {
		lengths[i] = int(min(a.uvarint(), math.MaxInt32))
		if sum += lengths[i]; sum > len(a.data) {
			fail("names are cut")
		}
	}
	a.table = make([]string, 1, len(lengths)+1)
	for names := string(a.take(sum)); len(lengths) > 0; lengths = lengths[1:] {
		a.table = append(a.table, names[:lengths[0]])
		names = names[lengths[0]:]
	}
	pack(a, &a.texts.blocks)
	var has [3]bool
	var state []byte
	pack(a, &has)
	pack(a, &state)
	r = new(Recording)
	pack(a, r)
	if len(a.data) > 0 {
		fail("%d bytes are left over", len(a.data))
	}
	texts := textsOf(a)
	texts.cpus = has[1]
	switch beside := has[2]; {
	case beside:
		r.ArgState = func() []byte { return state }
	case has[0]:
		r.Args = texts.text
	}
	if has[1] && !has[2] {
		r.CPU = texts.cpu
	}
	return r, r.verifyShape()
}

// packError is what packing panics with.
type packError struct{ error }

func fail(format string, args ...any) { panic(packError{fmt.Errorf(format, args...)}) }

func recoverPack(err *error) {
	switch p := recover().(type) {
	case nil:
	case packError:
		*err = p.error
	default:
		panic(p)
	}
}

// archive is what is under way between a recording and its index.
type archive struct {
	reading bool
	data    []byte // of the index: what was written, or is to be read
	end     int64  // where the last chunk ended
	put     func([]byte) (int64, error)
	get     func(at, n int64) ([]byte, error)
	shelf   *Shelf
	left    int64 // how many more bytes of memory what is read may take
	strings map[string]uint64
	table   []string
	texts   argTexts
}

func (a *archive) take(n int) []byte {
	if n < 0 || n > len(a.data) {
		fail("the index is cut")
	}
	b := a.data[:n]
	a.data = a.data[n:]
	return b
}

func (a *archive) uvarint() uint64 {
	v, n := binary.Uvarint(a.data)
	if n <= 0 {
		fail("the index is cut")
	}
	a.data = a.data[n:]
	return v
}

// count reads how many things follow, for each of which so many bytes of memory will
// be taken.
func (a *archive) count(size uintptr) int {
	n := a.uvarint()
	if n > math.MaxInt32 || int64(n)*int64(size) > a.left {
		fail("the index has more than can be in it")
	}
	a.left -= int64(n) * int64(size)
	return int(n)
}

// signed is a number that is often near zero.
func (a *archive) signed(v int64) int64 {
	return unfolded(a.unsigned(folded(v)))
}

func (a *archive) unsigned(v uint64) uint64 {
	if a.reading {
		return a.uvarint()
	}
	a.data = binary.AppendUvarint(a.data, v)
	return v
}

func (a *archive) string(s string) string {
	if a.reading {
		i := a.uvarint()
		if i >= uint64(len(a.table)) {
			fail("a name is none of the names")
		}
		return a.table[i]
	}
	i, ok := a.strings[s]
	if !ok {
		a.table = append(a.table, s)
		i = uint64(len(a.table))
		a.strings[s] = i
	}
	a.data = binary.AppendUvarint(a.data, i)
	return s
}

// step packs or unpacks what is at a place.
type step func(a *archive, p unsafe.Pointer)

// packer are types that pack themselves.
type packer interface{ pack(a *archive) }

var packerType = reflect.TypeFor[packer]()

var plans sync.Map // by type

// pack packs a value, or unpacks it. Packing never writes to it.
func pack[T any](a *archive, p *T) { planOf(reflect.TypeFor[T]())(a, unsafe.Pointer(p)) }

// planOf says how values of a type are packed: by their fields and elements. Functions
// are not packed, and pointers to a Shelf are those of the archive.
func planOf(t reflect.Type) step {
	if s, ok := plans.Load(t); ok {
		return s.(step)
	}
	s := newPlan(t)
	plans.Store(t, s)
	return s
}

func newPlan(t reflect.Type) step {
	if reflect.PointerTo(t).Implements(packerType) {
		return func(a *archive, p unsafe.Pointer) { reflect.NewAt(t, p).Interface().(packer).pack(a) }
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Int8, reflect.Int32, reflect.Int64, reflect.Int, reflect.Float64:
		return numberPlan(t)
	case reflect.String:
		return func(a *archive, p unsafe.Pointer) {
			if s := a.string(*(*string)(p)); a.reading {
				*(*string)(p) = s
			}
		}
	case reflect.Struct:
		return structPlan(t)
	case reflect.Array:
		elem, size, n := planOf(t.Elem()), t.Elem().Size(), t.Len()
		return func(a *archive, p unsafe.Pointer) {
			for i := range n {
				elem(a, unsafe.Add(p, uintptr(i)*size))
			}
		}
	case reflect.Slice:
		return slicePlan(t)
	case reflect.Pointer:
		return pointerPlan(t)
	case reflect.Func:
		return func(*archive, unsafe.Pointer) {}
	}
	panic("recording: no plan for " + t.String())
}

// number is a plan for one kind of number, which is packed as wide.
func number[T comparable](to func(T) uint64, from func(uint64) T) step {
	return func(a *archive, p unsafe.Pointer) {
		x := (*T)(p)
		if !a.reading {
			a.data = binary.AppendUvarint(a.data, to(*x))
			return
		}
		v := a.uvarint()
		if *x = from(v); to(*x) != v {
			fail("a number is too large")
		}
	}
}

// folded are numbers near zero, of both signs, as small ones without a sign.
func folded(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func unfolded(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func numberPlan(t reflect.Type) step {
	switch t.Kind() {
	case reflect.Bool:
		return number(func(x bool) uint64 {
			if x {
				return 1
			}
			return 0
		}, func(v uint64) bool { return v == 1 })
	case reflect.Uint8:
		return number(func(x uint8) uint64 { return uint64(x) }, func(v uint64) uint8 { return uint8(v) })
	case reflect.Uint32:
		return number(func(x uint32) uint64 { return uint64(x) }, func(v uint64) uint32 { return uint32(v) })
	case reflect.Uint64:
		return number(func(x uint64) uint64 { return x }, func(v uint64) uint64 { return v })
	case reflect.Int8:
		return number(func(x int8) uint64 { return folded(int64(x)) }, func(v uint64) int8 { return int8(unfolded(v)) })
	case reflect.Int32:
		return number(func(x int32) uint64 { return folded(int64(x)) }, func(v uint64) int32 { return int32(unfolded(v)) })
	case reflect.Int64:
		return number(folded, unfolded)
	case reflect.Int:
		return number(func(x int) uint64 { return folded(int64(x)) }, func(v uint64) int { return int(unfolded(v)) })
	}
	return func(a *archive, p unsafe.Pointer) { // a float64
		x := (*float64)(p)
		if a.reading {
			*x = math.Float64frombits(binary.LittleEndian.Uint64(a.take(8)))
		} else {
			a.data = binary.LittleEndian.AppendUint64(a.data, math.Float64bits(*x))
		}
	}
}

func structPlan(t reflect.Type) step {
	type field struct {
		at  uintptr
		how step
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		fields = append(fields, field{f.Offset, planOf(f.Type)})
	}
	return func(a *archive, p unsafe.Pointer) {
		for _, f := range fields {
			f.how(a, unsafe.Add(p, f.at))
		}
	}
}

// slicePlan tells no elements from no slice.
func slicePlan(t reflect.Type) step {
	elem, size := planOf(t.Elem()), t.Elem().Size()
	return func(a *archive, p unsafe.Pointer) {
		s := reflect.NewAt(t, p).Elem()
		switch {
		case a.reading:
			n := a.count(0)
			if n == 0 {
				return
			}
			if n--; int64(n)*int64(size) > a.left {
				fail("the index has more than can be in it")
			}
			a.left -= int64(n) * int64(size)
			s.Set(reflect.MakeSlice(t, n, n))
		case s.IsNil():
			a.unsigned(0)
			return
		default:
			a.unsigned(uint64(s.Len()) + 1)
		}
		base := s.UnsafePointer()
		for i := range s.Len() {
			elem(a, unsafe.Add(base, uintptr(i)*size))
		}
	}
}

func pointerPlan(t reflect.Type) step {
	elem := planOf(t.Elem())
	return func(a *archive, p unsafe.Pointer) {
		s := reflect.NewAt(t, p).Elem()
		there := !s.IsNil()
		if pack(a, &there); !there {
			return
		}
		if a.reading {
			if a.left -= int64(t.Elem().Size()); a.left < 0 {
				fail("the index has more than can be in it")
			}
			s.Set(reflect.New(t.Elem()))
		}
		elem(a, s.UnsafePointer())
	}
}

// pack of a Shelf is never called: columns have that of the archive.
func (s *Shelf) pack(*archive) {}

// pack packs the elements of columns that have pointers into the index, others as
// chunks.
func (v *Vec[T]) pack(a *archive) {
	n := int(a.signed(int64(v.n)))
	t := reflect.TypeFor[T]()
	pointers, size := hasPointers(t), t.Size()
	if a.reading {
		if n < 0 || n > math.MaxInt64/64 || pointers && int64(n)*int64(size) > a.left {
			fail("a column has more than can be in it")
		}
		v.n = n
		v.chunks = make([][]T, a.chunks(n, unsafe.Sizeof(v.chunks[0])))
		if pointers {
			a.left -= int64(n) * int64(size)
		} else {
			v.shelf = a.shelf
		}
	}
	for k := range a.chunks(n, 0) {
		of := min(chunkLen, n-k<<chunkBits)
		if !pointers {
			chunk(a, &v.chunks[k], of)
			continue
		}
		elem := planOf(t)
		if a.reading {
			v.chunks[k] = make([]T, of)
		}
		for i := range of {
			elem(a, unsafe.Pointer(&v.chunks[k][i]))
		}
	}
}

// chunks is how many chunks so many elements take; that each takes some bytes of
// memory counts.
func (a *archive) chunks(n int, size uintptr) int {
	c := (n + chunkLen - 1) >> chunkBits
	if int64(c) > a.left/int64(max(size, 1)) && a.reading {
		fail("a column has more than can be in it")
	}
	a.left -= int64(c) * int64(size)
	return c
}

// chunk packs the first n elements of a chunk, which have no pointers.
func chunk[T any](a *archive, c *[]T, n int) {
	var x T
	size := int64(n) * int64(unsafe.Sizeof(x))
	if a.reading {
		at := a.end + a.signed(0)
		b, err := a.get(at, size)
		if err != nil {
			fail("%w", err)
		}
		a.end = (at + size + 7) &^ 7
		*c = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
		return
	}
	at, err := a.put(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*c))), size))
	if err != nil {
		panic(packError{err})
	}
	a.signed(at - a.end)
	a.end = (at + size + 7) &^ 7
}

func (l *Lane) pack(a *archive) {
	n := int(a.signed(int64(l.n)))
	if a.reading {
		if n < 0 || n > math.MaxInt64/64 {
			fail("a lane has more spans than can be in it")
		}
		l.n, l.shelf = n, a.shelf
		l.chunks = make([]laneChunk, a.chunks(n, unsafe.Sizeof(laneChunk{})))
	}
	for k := range a.chunks(n, 0) {
		c, of := &l.chunks[k], min(chunkLen, n-k<<chunkBits)
		chunk(a, &c.starts, of)
		chunk(a, &c.durs, of)
		chunk(a, &c.calls, of)
	}
	pack(a, &l.long)
	pack(a, &l.args)
	pack(a, &l.unfinished)
	pack(a, &l.levels)
}

// pack has references to where the texts are now.
func (c *argColumn) pack(a *archive) {
	pack(a, &c.groups)
	pack(a, &c.open)
	if a.reading {
		pack(a, &c.refs)
		return
	}
	n := c.refs.Len()
	a.signed(int64(n))
	var room []uint64
	for i := 0; i < n; {
		run := c.refs.Chunk(i)
		room = room[:0]
		for _, ref := range run {
			room = append(room, a.texts.add(a, ref))
		}
		chunk(a, &room, len(room))
		i += len(run)
	}
}

func (x *Instant) pack(a *archive) {
	pack(a, &x.Time)
	pack(a, &x.Name)
	ref := x.Args
	if !a.reading {
		ref = a.texts.add(a, ref)
	}
	if pack(a, &ref); a.reading {
		x.Args = ref
	}
}

func (m *sharedSymbols) pack(a *archive) {
	type entry struct {
		id FuncID
		n  int
	}
	var all []entry
	for _, id := range slices.Sorted(maps.Keys(*m)) {
		all = append(all, entry{id, (*m)[id]})
	}
	pack(a, &all)
	for i, e := range all {
		if a.reading {
			if i == 0 {
				*m = sharedSymbols{}
			}
			(*m)[e.id] = e.n
		}
	}
}

// hasPointers reports whether values of a type refer to memory elsewhere.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return hasPointers(t.Elem())
	}
	return t.Kind() > reflect.Complex128
}

// Layout is a number for what Pack writes on this kind of machine. Another Layout
// cannot be unpacked.
var Layout = sync.OnceValue(func() uint64 {
	h := fnv.New64a()
	// The version is one more whenever packing changes and types do not.
	fmt.Fprint(h, "version 1 ", chunkLen, leafBits, fanBits, counterBits, textBlock)
	describe(h, reflect.TypeFor[Recording](), map[reflect.Type]bool{})
	return h.Sum64()
})

// describe writes down what a type is made of.
func describe(w io.Writer, t reflect.Type, seen map[reflect.Type]bool) {
	fmt.Fprint(w, t.String(), t.Kind(), t.Size(), "(")
	defer fmt.Fprint(w, ")")
	if seen[t] || t == reflect.TypeFor[Shelf]() {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprint(w, f.Name, f.Offset)
			describe(w, f.Type, seen)
		}
	case reflect.Slice, reflect.Pointer, reflect.Array:
		describe(w, t.Elem(), seen)
	}
}
