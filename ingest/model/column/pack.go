package column

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"sync"
	"unsafe"
)

// Values are packed into the chunks of their columns, byte for byte as in memory, and
// into an index, which holds everything else and the places of the chunks. Unpacked
// columns are slices of the chunks' memory, so the time for unpacking depends on the
// number of chunks and names, not of elements.
//
// One description of a type serves both directions (see planOf). So a new field is packed
// too, and changes the [Layout].

// Archive packs a value into an index and chunks, or unpacks it. An error in an index
// causes a panic, which [Recover] catches.
type Archive struct {
	// References converts references to texts elsewhere into references to texts in the
	// archive, for types that ask for it when they are packed.
	References func(ref uint64) uint64

	reading bool
	data    []byte // the part of the index written so far, or still to be read
	end     int64  // end of the last chunk
	put     func([]byte) (int64, error)
	get     func(at, n int64) ([]byte, error)
	shelf   *Shelf
	left    int64 // number of bytes of memory that the unpacked values may still take
	strings map[string]uint64
	table   []string
}

// NewArchive returns an Archive that packs. It passes each chunk to put, which returns
// its place, a multiple of 8. put must not write to the chunk.
func NewArchive(put func(chunk []byte) (at int64, err error)) *Archive {
	return &Archive{put: put, strings: map[string]uint64{"": 0}}
}

// Index ends packing and returns the index.
func (a *Archive) Index() []byte {
	index := binary.AppendUvarint(nil, uint64(len(a.table)))
	for _, s := range a.table {
		index = binary.AppendUvarint(index, uint64(len(s)))
	}
	for _, s := range a.table {
		index = append(index, s...)
	}
	return append(index, a.data...)
}

// OpenArchive returns an Archive that unpacks an index and chunks. get returns the n bytes of
// chunk data at offset at; they must stay valid while keep is reachable and for some seconds
// after, see [Shelf]. Values must be unpacked in the order in which they were packed.
func OpenArchive(index []byte, get func(at, n int64) ([]byte, error), keep any) *Archive {
	a := &Archive{reading: true, data: index, get: get, shelf: &Shelf{keep: keep}, left: 1<<20 + 64*int64(len(index))}
	lengths := make([]int, a.count(1))
	sum := 0
	for i := range lengths {
		lengths[i] = int(min(a.uvarint(), math.MaxInt32))
		if sum += lengths[i]; sum > len(a.data) {
			Fail("the names are truncated")
		}
	}
	a.table = make([]string, 1, len(lengths)+1)
	for names := string(a.take(sum)); len(lengths) > 0; lengths = lengths[1:] {
		a.table = append(a.table, names[:lengths[0]])
		names = names[lengths[0]:]
	}
	return a
}

// Close panics if part of the index was not read.
func (a *Archive) Close() {
	if len(a.data) > 0 {
		Fail("%d extra bytes at the end", len(a.data))
	}
}

// Reading reports whether the archive is being unpacked rather than packed.
func (a *Archive) Reading() bool { return a.reading }

// Shelf returns the shelf of the unpacked columns.
func (a *Archive) Shelf() *Shelf { return a.shelf }

// Put writes bytes that belong to no column and returns their place, for Get.
func (a *Archive) Put(b []byte) (at int64) {
	at, err := a.put(b)
	if err != nil {
		panic(packError{err})
	}
	return at
}

// Get reads n bytes at a place.
func (a *Archive) Get(at, n int64) []byte {
	b, err := a.get(at, n)
	if err != nil {
		panic(packError{err})
	}
	return b
}

// packError carries the error of [Fail] to [Recover].
type packError struct{ error }

// Fail ends packing, unpacking or checking with an error.
func Fail(format string, args ...any) { panic(packError{fmt.Errorf(format, args...)}) }

// Must calls [Fail] unless ok is true.
func Must(ok bool, format string, args ...any) {
	if !ok {
		Fail(format, args...)
	}
}

// Recover, when deferred, stores the error of [Fail] in err.
func Recover(err *error) {
	switch p := recover().(type) {
	case nil:
	case packError:
		*err = p.error
	default:
		panic(p)
	}
}

func (a *Archive) take(n int) []byte {
	if n < 0 || n > len(a.data) {
		Fail("the index is truncated")
	}
	b := a.data[:n]
	a.data = a.data[n:]
	return b
}

func (a *Archive) uvarint() uint64 {
	v, n := binary.Uvarint(a.data)
	if n <= 0 {
		Fail("the index is truncated")
	}
	a.data = a.data[n:]
	return v
}

// count reads a number of elements, each of which will take size bytes of memory.
func (a *Archive) count(size uintptr) int {
	n := a.uvarint()
	if n > math.MaxInt32 || int64(n)*int64(size) > a.left {
		Fail("a length in the index is too large")
	}
	a.left -= int64(n) * int64(size)
	return int(n)
}

// Signed packs or unpacks a number that is often near zero.
func (a *Archive) Signed(v int64) int64 {
	return unfolded(a.unsigned(folded(v)))
}

func (a *Archive) unsigned(v uint64) uint64 {
	if a.reading {
		return a.uvarint()
	}
	a.data = binary.AppendUvarint(a.data, v)
	return v
}

func (a *Archive) string(s string) string {
	if a.reading {
		i := a.uvarint()
		if i >= uint64(len(a.table)) {
			Fail("the index refers to a missing name")
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

// step packs or unpacks the value at an address.
type step func(a *Archive, p unsafe.Pointer)

// Packer is a type that packs itself.
type Packer interface{ Pack(a *Archive) }

var packerType = reflect.TypeFor[Packer]()

var plans sync.Map // by type

// Pack packs or unpacks a value. Packing never writes to it. Its type must not contain
// itself. A map has to be a [Packer]; functions are left out.
func Pack[T any](a *Archive, p *T) { planOf(reflect.TypeFor[T]())(a, unsafe.Pointer(p)) }

// planOf returns the step for values of a type, which goes through their fields and
// elements. Functions are not packed, and pointers to a Shelf become the archive's.
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
		return func(a *Archive, p unsafe.Pointer) { reflect.NewAt(t, p).Interface().(Packer).Pack(a) }
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Int8, reflect.Int32, reflect.Int64, reflect.Int, reflect.Float64:
		return numberPlan(t)
	case reflect.String:
		return func(a *Archive, p unsafe.Pointer) {
			if s := a.string(*(*string)(p)); a.reading {
				*(*string)(p) = s
			}
		}
	case reflect.Struct:
		return structPlan(t)
	case reflect.Array:
		elem, size, n := planOf(t.Elem()), t.Elem().Size(), t.Len()
		return func(a *Archive, p unsafe.Pointer) {
			for i := range n {
				elem(a, unsafe.Add(p, uintptr(i)*size))
			}
		}
	case reflect.Slice:
		return slicePlan(t)
	case reflect.Pointer:
		return pointerPlan(t)
	case reflect.Func:
		return func(*Archive, unsafe.Pointer) {}
	}
	panic("recording: no plan for " + t.String())
}

// number returns the step for a kind of number, which is packed as a uint64.
func number[T comparable](to func(T) uint64, from func(uint64) T) step {
	return func(a *Archive, p unsafe.Pointer) {
		x := (*T)(p)
		if !a.reading {
			a.data = binary.AppendUvarint(a.data, to(*x))
			return
		}
		v := a.uvarint()
		if *x = from(v); to(*x) != v {
			Fail("a number is too large")
		}
	}
}

// folded maps numbers near zero, of both signs, to small unsigned ones.
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
	case reflect.Uint16:
		return number(func(x uint16) uint64 { return uint64(x) }, func(v uint64) uint16 { return uint16(v) })
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
	return func(a *Archive, p unsafe.Pointer) { // a float64
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
	return func(a *Archive, p unsafe.Pointer) {
		for _, f := range fields {
			f.how(a, unsafe.Add(p, f.at))
		}
	}
}

// slicePlan returns the step for a slice type. It keeps nil and empty slices apart.
func slicePlan(t reflect.Type) step {
	elem, size := planOf(t.Elem()), t.Elem().Size()
	return func(a *Archive, p unsafe.Pointer) {
		s := reflect.NewAt(t, p).Elem()
		switch {
		case a.reading:
			n := a.count(0)
			if n == 0 {
				return
			}
			if n--; int64(n)*int64(size) > a.left {
				Fail("a length in the index is too large")
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
	return func(a *Archive, p unsafe.Pointer) {
		s := reflect.NewAt(t, p).Elem()
		there := !s.IsNil()
		if Pack(a, &there); !there {
			return
		}
		if a.reading {
			if a.left -= int64(t.Elem().Size()); a.left < 0 {
				Fail("a length in the index is too large")
			}
			s.Set(reflect.New(t.Elem()))
		}
		elem(a, s.UnsafePointer())
	}
}

// Pack does nothing: unpacked columns use the shelf of the archive.
func (s *Shelf) Pack(*Archive) {}

// Pack packs or unpacks a column: into the index if its elements have pointers, otherwise
// as chunks.
func (v *Vec[T]) Pack(a *Archive) {
	n := int(a.Signed(int64(v.n)))
	t := reflect.TypeFor[T]()
	pointers, size := hasPointers(t), t.Size()
	if a.reading {
		if n < 0 || n > math.MaxInt64/64 || pointers && int64(n)*int64(size) > a.left {
			Fail("a column is too long")
		}
		v.n = n
		v.chunks = make([][]T, a.Chunks(n, unsafe.Sizeof(v.chunks[0])))
		if pointers {
			a.left -= int64(n) * int64(size)
		} else {
			v.shelf = a.shelf
		}
	}
	for k := range a.Chunks(n, 0) {
		of := min(ChunkLen, n-k<<ChunkBits)
		if !pointers {
			PackChunk(a, &v.chunks[k], of)
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

// Chunks returns the number of chunks for n elements. Each takes size bytes of memory
// when unpacked.
func (a *Archive) Chunks(n int, size uintptr) int {
	c := (n + ChunkLen - 1) >> ChunkBits
	if int64(c) > a.left/int64(max(size, 1)) && a.reading {
		Fail("a column is too long")
	}
	a.left -= int64(c) * int64(size)
	return c
}

// PackChunk packs the first n elements of a chunk, which have no pointers.
func PackChunk[T any](a *Archive, c *[]T, n int) {
	var x T
	size := int64(n) * int64(unsafe.Sizeof(x))
	if a.reading {
		at := a.end + a.Signed(0)
		b := a.Get(at, size)
		a.end = (at + size + 7) &^ 7
		*c = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
		return
	}
	at := a.Put(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*c))), size))
	a.Signed(at - a.end)
	a.end = (at + size + 7) &^ 7
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

// Layout returns a hash of the way in which values of a type are packed on this kind of
// machine, and of the values in also. An archive with another Layout cannot be unpacked.
func Layout(t reflect.Type, also ...any) uint64 {
	h := fnv.New64a()
	// Increase the version when packing changes but types do not.
	fmt.Fprint(h, "version 2 ", ChunkLen, textBlock, also)
	describe(h, t, map[reflect.Type]bool{})
	return h.Sum64()
}

// describe writes the structure of a type.
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
