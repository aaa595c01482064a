package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/model/relation"
)

const (
	// dictionaryBytes is the maximum size of a dictionary. Values that come after it is full
	// are written as they are.
	dictionaryBytes = 1 << 20
	// longStatistics is the length of texts from which a column has no statistics.
	longStatistics = 256
)

// encoder encodes a column of a row group.
type encoder struct {
	column *relation.Column
	batch  relation.Batch
	levels []byte // 1 for each value that is not NULL
	index  []uint32
	codes  []uint32 // by number of a text: 1 + its index in the dictionary
	page   []byte
	packed []byte
	zstd   *zstd.Encoder

	chunk       []byte // the pages
	out         []byte // the dictionary's page and the pages
	chosen      bool
	codec       int // of all row groups: some readers expect that
	dict        dict
	full        bool // the dictionary is
	encodings   [16]bool
	rows, nulls int64
	size        int64 // uncompressed
	any         bool
	low, high   relation.Value
}

// dict numbers values.
type dict struct {
	n     int
	plain []byte // the values
	small []uint32
	ints  map[int64]uint32
	texts map[string]uint32
	same  map[*byte]sameText
	place *byte
	last  sameText
	least string
	most  string
}

// sameText is a text that was looked up; texts of one place and length are equal.
type sameText struct {
	length int
	index  uint32
}

// smallInts is the number of integers from 0 that are found without hashing.
const smallInts = 1 << 14

// begin begins a row group.
func (e *encoder) begin() {
	e.chunk, e.full, e.encodings, e.rows, e.nulls, e.size = e.chunk[:0], !e.column.Few, [16]bool{}, 0, 0, 0
	e.any, e.low, e.high = false, relation.Value{}, relation.Value{}
	e.dict = dict{plain: e.dict.plain[:0], small: e.dict.small}
	clear(e.dict.small)
	clear(e.codes)
	if !e.full {
		e.dict.ints, e.dict.texts, e.dict.same = map[int64]uint32{}, map[string]uint32{}, map[*byte]sameText{}
		if e.dict.small == nil {
			e.dict.small = make([]uint32, smallInts)
		}
	}
	if e.zstd == nil {
		e.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<19))
	}
}

func (d *dict) int(v int64) uint32 {
	if uint64(v) < smallInts {
		if i := d.small[v]; i > 0 {
			return i - 1
		}
	} else if i, ok := d.ints[v]; ok {
		return i
	}
	i := uint32(d.n)
	if uint64(v) < smallInts {
		d.small[v] = i + 1
	} else {
		d.ints[v] = i
	}
	d.n++
	d.plain = binary.LittleEndian.AppendUint64(d.plain, uint64(v))
	return i
}

func (d *dict) text(s string) uint32 {
	place := unsafe.StringData(s)
	if d.n > 0 && place == d.place && len(s) == d.last.length {
		return d.last.index
	}
	at, ok := d.same[place]
	if !ok || at.length != len(s) {
		i, known := d.texts[s]
		if !known {
			i = uint32(d.n)
			d.texts[s] = i
			d.n++
			d.plain = append(binary.LittleEndian.AppendUint32(d.plain, uint32(len(s))), s...)
			if i == 0 {
				d.least, d.most = s, s
			}
			d.least, d.most = min(d.least, s), max(d.most, s)
		}
		at = sameText{len(s), i}
		d.same[place] = at
	}
	d.place, d.last = place, at
	return at.index
}

// encode adds the first n values of the batch as a page.
func (e *encoder) encode(n int) {
	e.rows += int64(n)
	e.page = e.page[:0]
	b := e.batch.Part(0, n)
	if e.column.Null {
		e.levels = e.levels[:0]
		missing := 0
		for _, null := range b.Null {
			if null {
				missing++
				e.levels = append(e.levels, 0)
			} else {
				e.levels = append(e.levels, 1)
			}
		}
		e.nulls += int64(missing)
		e.page = appendHybridSized(e.page, e.levels)
		if missing > 0 {
			b.Ints, b.Reals, b.Texts = present(b.Ints, b.Null), present(b.Reals, b.Null), present(b.Texts, b.Null)
		}
	}
	encoding := e.encodeValues(&b)
	e.encodings[encoding] = true
	e.write(&e.chunk, pageData, n, encoding)
}

// present moves the values that are not NULL to the front and returns them.
func present[T any](values []T, null []bool) []T {
	kept := values[:0]
	for i := range values {
		if !null[i] {
			kept = append(kept, values[i])
		}
	}
	return kept
}

// encodeValues appends values to the page.
func (e *encoder) encodeValues(b *relation.Batch) (encoding int) {
	switch {
	case len(b.Ints)+len(b.Reals)+len(b.Texts) == 0:
		return encodingPlain
	case e.column.Type == relation.Real:
		for _, v := range b.Reals {
			e.page = binary.LittleEndian.AppendUint64(e.page, math.Float64bits(v))
			e.reals(v)
		}
		return encodingPlain
	case !e.full:
		e.index = e.index[:0]
		switch {
		case b.Text != nil:
			for _, v := range b.Ints {
				e.index = append(e.index, e.numbered(v, b.Text))
			}
		case e.column.Type == relation.Text:
			for _, v := range b.Texts {
				e.index = append(e.index, e.dict.text(v))
			}
		default:
			for _, v := range b.Ints {
				e.index = append(e.index, e.dict.int(v))
			}
			e.bounds(b.Ints)
		}
		e.any = true
		width := bits.Len(uint(e.dict.n - 1))
		e.page = appendHybrid(append(e.page, byte(width)), e.index, width)
		e.full = len(e.dict.plain) > dictionaryBytes
		return encodingDictionary
	case e.column.Type == relation.Text:
		e.low.Null = true // too many to compare
		for _, v := range b.Texts {
			e.plain(v)
		}
		if b.Text != nil {
			for _, v := range b.Ints {
				e.plain(b.Text(v))
			}
		}
		return encodingPlain
	}
	e.bounds(b.Ints)
	e.page = appendDelta(e.page, b.Ints)
	return encodingDelta
}

func (e *encoder) plain(s string) {
	e.page = append(binary.LittleEndian.AppendUint32(e.page, uint32(len(s))), s...)
}

// numbered returns the index of a text in the dictionary by its number.
func (e *encoder) numbered(number int64, text func(int64) string) uint32 {
	if n := int(number); n >= len(e.codes) {
		e.codes = append(e.codes, make([]uint32, n+1-len(e.codes))...)
	}
	code := &e.codes[number]
	if *code == 0 {
		*code = e.dict.text(text(number)) + 1
	}
	return *code - 1
}

func (e *encoder) bounds(values []int64) {
	if !e.any {
		e.any, e.low, e.high = true, relation.Value{Int: values[0]}, relation.Value{Int: values[0]}
	}
	low, high := e.low.Int, e.high.Int
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	e.low.Int, e.high.Int = low, high
}

func (e *encoder) reals(v float64) {
	if !e.any {
		e.any, e.low, e.high = true, relation.Value{Type: relation.Real, Real: v}, relation.Value{Type: relation.Real, Real: v}
	}
	e.low.Real, e.high.Real = min(e.low.Real, v), max(e.high.Real, v) // NaN stays
}

// choose returns the compression of the column: none if its first page hardly shrinks.
func (e *encoder) choose(kind int) int {
	if !e.chosen && kind == pageData && e.full && len(e.packed) > len(e.page)*9/10 {
		e.codec = codecNone
	}
	e.chosen = true
	return e.codec
}

// write compresses the page and appends it with its header.
func (e *encoder) write(to *[]byte, kind, n, encoding int) {
	content := e.page
	if e.codec == codecZstd {
		e.packed = e.zstd.EncodeAll(e.page, e.packed[:0])
		if e.codec = e.choose(kind); e.codec == codecZstd {
			content = e.packed
		}
	}
	t := thrift{b: *to}
	before := len(t.b)
	t.structure(0, func() {
		t.number(1, thriftI32, int64(kind))
		t.number(2, thriftI32, int64(len(e.page)))
		t.number(3, thriftI32, int64(len(content)))
		if kind == pageDictionary {
			t.structure(7, func() {
				t.number(1, thriftI32, int64(n))
				t.number(2, thriftI32, encodingPlain)
			})
			return
		}
		t.structure(5, func() {
			t.number(1, thriftI32, int64(n))
			t.number(2, thriftI32, int64(encoding))
			t.number(3, thriftI32, encodingRLE)
			t.number(4, thriftI32, encodingRLE)
		})
	})
	e.size += int64(len(t.b)-before) + int64(len(e.page))
	*to = append(t.b, content...)
}

// finish returns the pages of the row group and the length of the dictionary's page, 0 for
// none.
func (e *encoder) finish() (pages []byte, dictionary int) {
	e.out = e.out[:0]
	if e.dict.n > 0 {
		e.page = append(e.page[:0], e.dict.plain...)
		e.write(&e.out, pageDictionary, e.dict.n, encodingPlain)
		dictionary = len(e.out)
	}
	e.out = append(e.out, e.chunk...)
	return e.out, dictionary
}

// statistics returns the smallest and the largest value of the row group.
func (e *encoder) statistics() (low, high []byte, ok bool) {
	switch {
	case !e.any || e.low.Null:
		return nil, nil, false
	case e.column.Type == relation.Text:
		return []byte(e.dict.least), []byte(e.dict.most), !e.full && len(e.dict.least) < longStatistics && len(e.dict.most) < longStatistics
	case e.column.Type == relation.Real:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(e.low.Real)), binary.LittleEndian.AppendUint64(nil, math.Float64bits(e.high.Real)), e.low.Real == e.low.Real && e.low.Real != 0 && e.high.Real != 0
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(e.low.Int)), binary.LittleEndian.AppendUint64(nil, uint64(e.high.Int)), true
}

// appendHybridSized appends levels of one bit with their length.
func appendHybridSized(b []byte, levels []byte) []byte {
	at := len(b)
	b = appendHybrid(append(b, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendHybrid appends numbers as runs of one number and as groups of eight in some bits each.
func appendHybrid[N byte | uint32](b []byte, numbers []N, width int) []byte {
	for at := 0; at < len(numbers); {
		run := at + 1
		for run < len(numbers) && numbers[run] == numbers[at] {
			run++
		}
		if run-at >= 8 {
			b = binary.AppendUvarint(b, uint64(run-at)<<1)
			for k := 0; k < width; k += 8 {
				b = append(b, byte(uint32(numbers[at])>>k))
			}
			at = run
			continue
		}
		end := at
		for end < len(numbers) && !repeats(numbers[end:]) {
			end += 8
		}
		b = binary.AppendUvarint(b, uint64(end-at)/8<<1|1)
		b = appendBits(b, numbers[at:min(end, len(numbers))], width)
		at = min(end, len(numbers))
	}
	return b
}

// repeats reports whether a run is worth its header.
func repeats[N byte | uint32](numbers []N) bool {
	const worth = 16
	if len(numbers) < worth {
		return false
	}
	for _, n := range numbers[1:worth] {
		if n != numbers[0] {
			return false
		}
	}
	return true
}

// appendBits appends groups of eight numbers; the last group is filled up with zeros.
func appendBits[N byte | uint32 | uint64](b []byte, numbers []N, width int) []byte {
	size := len(b) + (len(numbers)+7)/8*width
	var acc uint64
	n := 0
	for _, v := range numbers {
		acc |= uint64(v) << n
		if n += width; n >= 64 {
			b = binary.LittleEndian.AppendUint64(b, acc)
			if n -= 64; n > 0 {
				acc = uint64(v) >> (width - n)
			} else {
				acc = 0
			}
		}
	}
	for ; n > 0; n -= 8 {
		b = append(b, byte(acc))
		acc >>= 8
	}
	for len(b) < size {
		b = append(b, 0)
	}
	return b
}

// Blocks of integers stored as differences.
const (
	deltaBlock = 128
	deltaMini  = 32
)

// appendDelta appends integers as differences.
func appendDelta(b []byte, v []int64) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaBlock/deltaMini)
	b = binary.AppendUvarint(b, uint64(len(v)))
	first := int64(0)
	if len(v) > 0 {
		first = v[0]
	}
	b = binary.AppendVarint(b, first)
	var block [deltaBlock]uint64
	for at := 1; at < len(v); at += deltaBlock {
		n := min(deltaBlock, len(v)-at)
		least := int64(math.MaxInt64)
		for i := range n {
			block[i] = uint64(v[at+i]) - uint64(v[at+i-1])
			least = min(least, int64(block[i]))
		}
		b = binary.AppendVarint(b, least)
		var widths [deltaBlock / deltaMini]byte
		for m := range widths {
			var all uint64
			for i := m * deltaMini; i < min(n, (m+1)*deltaMini); i++ {
				block[i] -= uint64(least)
				all |= block[i]
			}
			widths[m] = byte(bits.Len64(all))
		}
		clear(block[n:])
		b = append(b, widths[:]...)
		for m, w := range widths {
			if m*deltaMini < n && w > 0 {
				b = appendBits(b, block[m*deltaMini:(m+1)*deltaMini], int(w))
			}
		}
	}
	return b
}
