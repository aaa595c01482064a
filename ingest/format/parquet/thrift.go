package parquet

import "encoding/binary"

// thrift writes Thrift's compact protocol. Fields must be written in the order of their IDs.
type thrift struct {
	b    []byte
	last []int // the last ID of each open structure
}

// Types of fields.
const (
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int, kind byte) {
	last := &t.last[len(t.last)-1]
	t.b = append(t.b, byte(id-*last)<<4|kind)
	*last = id
}

func (t *thrift) number(id int, kind byte, v int64) {
	t.field(id, kind)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) flag(id int, is bool) {
	kind := byte(compactFalse)
	if is {
		kind = compactTrue
	}
	t.field(id, kind)
}

func (t *thrift) binary(id int, s []byte) {
	t.field(id, thriftBinary)
	t.bytes(s)
}

func (t *thrift) text(id int, s string) { t.binary(id, []byte(s)) }

func (t *thrift) bytes(s []byte) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

// list begins a list of n elements, which follow without IDs.
func (t *thrift) list(id int, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
}

// structure writes a structure as a field, or for ID 0 as an element of a list.
func (t *thrift) structure(id int, fields func()) {
	if id > 0 {
		t.field(id, thriftStruct)
	}
	t.begin()
	fields()
	t.end()
}
