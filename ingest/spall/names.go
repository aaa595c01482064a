package spall

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// nameTable gives each distinct name a number, in order of appearance. It is
// open addressing over 64-bit hashes, since nearly every event looks a name up.
type nameTable struct {
	slots []nameSlot
	text  []string // as in the file, by number
	fresh []string // cleaned, those not yet given away
}

type nameSlot struct {
	hash uint64
	id   uint32 // plus 1; 0 marks a free slot
}

const (
	mul1 = 0x9E3779B97F4A7C15
	mul2 = 0xD6E8FEB86659FD93
)

// hashName mixes all bytes of a name.
func hashName(b []byte) uint64 {
	h := uint64(len(b)) * mul1
	if len(b) >= 8 {
		last := binary.LittleEndian.Uint64(b[len(b)-8:])
		for ; len(b) > 8; b = b[8:] {
			h = bits.RotateLeft64((h^binary.LittleEndian.Uint64(b))*mul2, 29)
		}
		h = (h ^ last) * mul1
	} else if len(b) >= 4 {
		v := uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))<<32
		h = (h ^ v) * mul1
	} else if len(b) > 0 {
		v := uint64(b[0]) | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])<<16
		h = (h ^ v) * mul1
	}
	return h ^ h>>32
}

// find returns the number of a name whose hash is h, if it has one.
func (n *nameTable) find(b []byte, h uint64) (id uint32, known bool) {
	mask := uint64(len(n.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &n.slots[i&uint64(len(n.slots)-1)]
		if s.id == 0 {
			return 0, false
		}
		if s.hash == h && n.text[s.id-1] == string(b) {
			return s.id - 1, true
		}
	}
}

// id returns the number of a name, giving it one when it is new.
func (n *nameTable) id(b []byte) uint32 {
	h := hashName(b)
	id, known := n.find(b, h)
	if !known {
		id = n.add(b, h)
	}
	return id
}

func newNameTable() nameTable { return nameTable{slots: make([]nameSlot, 1<<10)} }

// add gives a number to a name that has none.
func (n *nameTable) add(b []byte, h uint64) uint32 {
	if 2*(len(n.text)+1) > len(n.slots) {
		old := n.slots
		n.slots = make([]nameSlot, 2*len(old))
		for _, s := range old {
			if s.id != 0 {
				n.put(s)
			}
		}
	}
	n.text = append(n.text, string(b))
	n.fresh = append(n.fresh, clean(b))
	n.put(nameSlot{h, uint32(len(n.text))})
	return uint32(len(n.text) - 1)
}

// raw gives a number to a name that is passed on as it is, and that id will
// not find.
func (n *nameTable) raw(name string) uint32 {
	n.text = append(n.text, name)
	n.fresh = append(n.fresh, name)
	return uint32(len(n.text) - 1)
}

func (n *nameTable) put(s nameSlot) {
	mask := uint64(len(n.slots) - 1)
	i := s.hash & mask
	for n.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	n.slots[i] = s
}

// clean makes text of a name: some writers count a C string's trailing NUL,
// and nothing says that names are UTF-8.
func clean(b []byte) string {
	return strings.ToValidUTF8(string(bytes.Trim(b, "\x00")), "\uFFFD")
}
