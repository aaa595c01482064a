package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"ashlar/ingest/input/safetext"
)

// Types of values as stored.
const (
	physicalBool = iota
	physicalInt32
	physicalInt64
	physicalInt96
	physicalFloat
	physicalDouble
	physicalBytes
	physicalFixed
)

// meaning is how stored values are to be understood.
type meaning uint8

const (
	asStored meaning = iota
	asUnsigned
	asText
	asDecimal   // an integer times 10^-scale
	asTimestamp // an integer in units of 10^exp picoseconds since 1970
	asDate
	asTimeOfDay
	asInterval
)

// leaf is a column with values: a top-level field, or one inside it.
type leaf struct {
	path     []string
	physical int
	width    int // bytes of a value, if fixed
	means    meaning
	exp      int // of a timestamp: its unit in picoseconds is 10^exp
	scale    int // of a decimal
	// maxRep and maxDef are the maximum levels; listDef is the level from which an element of
	// a list exists.
	maxRep, maxDef, listDef int
}

func (l *leaf) name() string { return strings.Join(l.path, ".") }

// chunk is the part of a column in a row group.
type chunk struct {
	codec        int
	values       int64
	offset, size int64
	foreign      bool // in another file
	encrypted    bool
}

type rowGroup struct {
	rows   int64
	chunks []chunk
}

// file is the metadata of a Parquet file.
type file struct {
	content []byte
	leaves  []leaf
	groups  []rowGroup
	tool    string
	notes   [][2]string
}

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	// maxFooter is the maximum size of the metadata in bytes.
	maxFooter = 64 << 20
	// maxLeaves is the maximum number of columns.
	maxLeaves = 10_000
)

// openFile reads the metadata at the end of the file.
func openFile(content []byte) (*file, error) {
	const ends = 4 + len(magic) // the length of the metadata, and the magic number
	n := len(content)
	if n < len(magic)+ends || !bytes.HasSuffix(content, []byte(magic)) {
		if bytes.HasSuffix(content, []byte(magicEncrypted)) {
			return nil, errEncrypted
		}
		return nil, errors.New("the Parquet file is truncated: its metadata, which ends it, is missing")
	}
	size := int64(binary.LittleEndian.Uint32(content[n-ends:]))
	if size > int64(n-ends-len(magic)) || size > maxFooter {
		return nil, fmt.Errorf("the metadata of the Parquet file is damaged: it claims to be %s long", safetext.Plural(size, "byte"))
	}
	f := &file{content: content[:int64(n-ends)-size]}
	c := &compact{b: content[int64(n-ends)-size : n-ends]}
	var elements []element
	c.fields(func(id int, kind byte) {
		switch {
		case id == 2 && kind == 9:
			c.list(func(byte) { elements = append(elements, readElement(c)) })
		case id == 4 && kind == 9:
			c.list(func(byte) { f.groups = append(f.groups, readGroup(c)) })
		case id == 5 && kind == 9:
			c.list(func(byte) { f.notes = append(f.notes, readPair(c)) })
		case id == 6 && kind == 8:
			f.tool = string(c.binary())
		default:
			c.skip(kind)
		}
	})
	if c.bad {
		return nil, errors.New("the metadata of the Parquet file is damaged")
	}
	return f, f.schema(elements)
}

// table returns the name of the table of a recording that the file holds, "" for none.
func (f *file) table() (name string) {
	for _, kv := range f.notes {
		if kv[0] == tableKey {
			name = kv[1]
		}
	}
	return name
}

var errEncrypted = errors.New("the Parquet file is encrypted, which is not supported. Write it without encryption")

// element is an entry of the schema, in which groups come before what they contain.
type element struct {
	name       string
	physical   int // -1 for a group
	width      int
	repetition int // 0 required, 1 optional, 2 repeated
	children   int
	converted  int // -1 for none
	leaf
}

func readElement(c *compact) element {
	e := element{physical: -1, converted: -1}
	c.fields(func(id int, kind byte) {
		switch {
		case id == 1 && kind == 5:
			e.physical = int(c.int())
		case id == 2 && kind == 5:
			e.width = int(c.int())
		case id == 3 && kind == 5:
			e.repetition = int(c.int())
		case id == 4 && kind == 8:
			e.name = string(c.binary())
		case id == 5 && kind == 5:
			e.children = int(c.int())
		case id == 6 && kind == 5:
			e.converted = int(c.int())
		case id == 7 && kind == 5:
			e.scale = int(c.int())
		case id == 10 && kind == 12:
			readLogical(c, &e.leaf)
		default:
			c.skip(kind)
		}
	})
	return e
}

// readLogical reads a logical type.
func readLogical(c *compact, l *leaf) {
	c.fields(func(id int, kind byte) {
		if kind != 12 {
			c.skip(kind)
			return
		}
		switch id {
		case 1, 4, 12:
			l.means = asText
		case 5:
			l.means = asDecimal
		case 6:
			l.means = asDate
		case 7:
			l.means = asTimeOfDay
		case 8:
			l.means = asTimestamp
		}
		c.fields(func(field int, kind byte) {
			switch {
			case id == 5 && field == 1 && kind == 5:
				l.scale = int(c.int())
			case id == 8 && field == 2 && kind == 12:
				c.fields(func(unit int, kind byte) {
					l.exp = 12 - 3*unit
					c.skip(kind)
				})
			case id == 10 && field == 2:
				if kind == compactFalse {
					l.means = asUnsigned
				}
			default:
				c.skip(kind)
			}
		})
	})
}

// convert fills in the meaning from the older kind of logical type.
func (e *element) convert() {
	if e.means != asStored {
		return
	}
	switch e.converted {
	case 0, 4, 19:
		e.means = asText
	case 5:
		e.means = asDecimal
	case 6:
		e.means = asDate
	case 7, 8:
		e.means = asTimeOfDay
	case 9:
		e.means, e.exp = asTimestamp, 9
	case 10:
		e.means, e.exp = asTimestamp, 6
	case 11, 12, 13, 14:
		e.means = asUnsigned
	case 21:
		e.means = asInterval
	}
}

func readGroup(c *compact) (g rowGroup) {
	c.fields(func(id int, kind byte) {
		switch {
		case id == 1 && kind == 9:
			c.list(func(byte) { g.chunks = append(g.chunks, readChunk(c)) })
		case id == 3 && kind == 6:
			g.rows = c.int()
		default:
			c.skip(kind)
		}
	})
	return g
}

func readChunk(c *compact) (x chunk) {
	var data, dictionary int64
	known := false
	c.fields(func(id int, kind byte) {
		switch {
		case id == 1 && kind == 8:
			x.foreign = len(c.binary()) > 0
		case id == 8 && kind == 12:
			x.encrypted = true
			c.skip(kind)
		case id == 3 && kind == 12:
			known = true
			c.fields(func(id int, kind byte) {
				switch {
				case id == 4 && kind == 5:
					x.codec = int(c.int())
				case id == 5 && kind == 6:
					x.values = c.int()
				case id == 7 && kind == 6:
					x.size = c.int()
				case id == 9 && kind == 6:
					data = c.int()
				case id == 11 && kind == 6:
					dictionary = c.int()
				default:
					c.skip(kind)
				}
			})
		default:
			c.skip(kind)
		}
	})
	x.offset = data
	if dictionary > 0 && dictionary < data {
		x.offset = dictionary
	}
	if !known {
		x.size = -1
	}
	return x
}

func readPair(c *compact) (kv [2]string) {
	c.fields(func(id int, kind byte) {
		if id >= 1 && id <= 2 && kind == 8 {
			kv[id-1] = string(c.binary())
			return
		}
		c.skip(kind)
	})
	return kv
}

// schema turns the elements into leaves.
func (f *file) schema(elements []element) error {
	bad := errors.New("the schema of the Parquet file is damaged")
	if len(elements) == 0 || elements[0].children < 0 {
		return bad
	}
	at := 1
	var walk func(path []string, rep, def, listDef, children int) bool
	walk = func(path []string, rep, def, listDef, children int) bool {
		for range children {
			if at >= len(elements) || len(path) >= maxNesting || len(f.leaves) >= maxLeaves {
				return false
			}
			e := &elements[at]
			at++
			r, d, l := rep, def, listDef
			switch e.repetition {
			case 0:
			case 1:
				d++
			case 2:
				r, d = r+1, d+1
				l = d
			default:
				return false
			}
			below := append(append([]string{}, path...), e.name)
			if e.physical < 0 || e.children > 0 {
				if e.children < 0 || !walk(below, r, d, l, e.children) {
					return false
				}
				continue
			}
			e.convert()
			e.leaf.path, e.leaf.physical = below, e.physical
			e.leaf.maxRep, e.leaf.maxDef, e.leaf.listDef = r, d, l
			switch e.physical {
			case physicalBool, physicalBytes:
			case physicalInt32, physicalFloat:
				e.leaf.width = 4
			case physicalInt64, physicalDouble:
				e.leaf.width = 8
			case physicalInt96:
				e.leaf.width = 12
				e.means = asTimestamp
			case physicalFixed:
				if e.leaf.width = e.width; e.width <= 0 || e.width > 1<<16 {
					return false
				}
			default:
				return false
			}
			if e.means == asTimestamp && e.exp != 3 && e.exp != 6 && e.exp != 9 {
				e.exp = 3
			}
			if e.scale < 0 || e.scale > 38 {
				return false
			}
			f.leaves = append(f.leaves, e.leaf)
		}
		return true
	}
	if !walk(nil, 0, 0, 0, elements[0].children) || at != len(elements) {
		return bad
	}
	for i := range f.groups {
		if g := &f.groups[i]; len(g.chunks) != len(f.leaves) || g.rows < 0 {
			return errors.New("the metadata of the Parquet file is damaged: a row group has another number of columns than the schema")
		}
	}
	return nil
}
