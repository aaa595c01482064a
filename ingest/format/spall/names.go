package spall

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"

	"ashlar/ingest/model/column"
)

// nameTable numbers distinct names in order of appearance. It uses open addressing over
// 64-bit hashes because nearly every event looks up a name.
type nameTable struct {
	slots  []nameSlot
	text   []string // by number, as in the file
	fresh  []string // cleaned names that are not in a batch yet
	recent []lateName
}

// lateName is a recently used name. Names of up to wholeName bytes are stored in it
// entirely, so that a lookup accesses memory only once.
type lateName struct {
	words   [wholeName / 8]uint64 // the name, padded with zeros
	len, id uint32                // id is the name's number plus 1; 0 marks a free slot
}

// Names of up to shortName bytes are compared without branches, names of up to wholeName
// bytes without reading text.
const (
	shortName = 24
	wholeName = 56
)

// Sizes of recent, for few names and for many.
const (
	lateFew  = 1 << 10
	lateMany = 1 << 14
)

// shortMasks are masks that keep the first bytes of three words, by number of bytes.
var shortMasks = func() (m [shortName + 1][3]uint64) {
	for n := range m {
		for i := range n {
			m[n][i/8] |= 0xff << (i % 8 * 8)
		}
	}
	return m
}()

// wordsOf returns three words of the name of n bytes at the start of r: all of a short
// name, padded with zeros, or the beginning, middle and end of a longer one.
func wordsOf(r []byte, n int) (a, b, c uint64) {
	if n > shortName {
		return binary.LittleEndian.Uint64(r), binary.LittleEndian.Uint64(r[(n-8)/2:]), binary.LittleEndian.Uint64(r[n-8:])
	}
	if len(r) < shortName {
		room := make([]byte, shortName)
		copy(room, r[:n])
		r = room
	}
	m := &shortMasks[n]
	return binary.LittleEndian.Uint64(r) & m[0], binary.LittleEndian.Uint64(r[8:]) & m[1], binary.LittleEndian.Uint64(r[16:]) & m[2]
}

func (n *nameTable) older(a, b, c uint64) *lateName {
	return &n.recent[(a*mul1^b*mul2^c*mul3)>>40&uint64(len(n.recent)-1)]
}

// quick returns the number of the name of size bytes at the start of r if the name was
// used recently. Most are found this way, with a single memory access.
func (n *nameTable) quick(r []byte, size int) (id uint32, known bool) {
	a, b, c := wordsOf(r, size)
	s := n.older(a, b, c)
	if s.len != uint32(size) || s.id == 0 {
		return 0, false
	}
	switch {
	case size <= shortName:
		known = s.words[0] == a && s.words[1] == b && s.words[2] == c
	case size <= wholeName && len(r) >= wholeName:
		known = s.is(r, size)
	default:
		known = n.text[s.id-1] == string(r[:size])
	}
	return s.id - 1, known
}

// tails are masks that keep the first bytes of the words after the first shortName bytes,
// by number of bytes in the name.
var tails = func() (m [wholeName + 1][wholeName/8 - shortName/8]uint64) {
	for n := range m {
		for i := shortName; i < n; i++ {
			m[n][(i-shortName)/8] |= 0xff << (i % 8 * 8)
		}
	}
	return m
}()

// is reports whether s is the name of size bytes at the start of r. size must be more
// than shortName and at most wholeName.
func (s *lateName) is(r []byte, size int) bool {
	t, m := (*[wholeName]byte)(r), &tails[size]
	d := binary.LittleEndian.Uint64(t[0:]) ^ s.words[0]
	d |= binary.LittleEndian.Uint64(t[8:]) ^ s.words[1]
	d |= binary.LittleEndian.Uint64(t[16:]) ^ s.words[2]
	d |= (binary.LittleEndian.Uint64(t[24:]) ^ s.words[3]) & m[0]
	d |= (binary.LittleEndian.Uint64(t[32:]) ^ s.words[4]) & m[1]
	d |= (binary.LittleEndian.Uint64(t[40:]) ^ s.words[5]) & m[2]
	return d|(binary.LittleEndian.Uint64(t[48:])^s.words[6])&m[3] == 0
}

// keep adds a name to those that quick finds.
func (n *nameTable) keep(name []byte, id uint32) {
	if len(n.text) > len(n.recent)/2 && len(n.recent) < lateMany {
		n.recent = make([]lateName, 4*len(n.recent))
	}
	s := n.older(wordsOf(name, len(name)))
	s.len, s.id = uint32(len(name)), id+1
	var whole [wholeName]byte
	copy(whole[:], name)
	for i := range s.words {
		s.words[i] = binary.LittleEndian.Uint64(whole[8*i:])
	}
}

type nameSlot struct {
	hash uint64
	id   uint32 // the name's number plus 1; 0 marks a free slot
}

const (
	mul1 = 0x9E3779B97F4A7C15
	mul2 = 0xD6E8FEB86659FD93
	mul3 = 0xA0761D6478BD642F
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

// find returns the number of a name whose hash is h, if it is in the table.
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

func newNameTable() nameTable {
	return nameTable{slots: make([]nameSlot, 1<<10), recent: make([]lateName, lateFew)}
}

// add adds a new name.
func (n *nameTable) add(b []byte, h uint64) uint32 {
	if 2*(len(n.text)+1) > len(n.slots) {
		old := n.slots
		n.slots = column.Fresh[nameSlot](2 * len(old))
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

// raw adds a name that is passed on unchanged and that id does not find.
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

// clean converts a name to valid text: some writers count a C string's trailing NUL, and
// nothing says that names are UTF-8.
func clean(b []byte) string {
	return strings.ToValidUTF8(string(bytes.Trim(b, "\x00")), "\uFFFD")
}
