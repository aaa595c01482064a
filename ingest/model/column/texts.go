package column

import (
	"encoding/binary"
	"slices"
)

// Texts are packed into blocks, one after the other. A reference to a text consists of
// its block and its offset in the block. Each text follows its length and, if all texts
// have one, a number.

// textBlock is the length of a block. A longer text has a block of its own. A reference
// is 1 + block<<textBits + offset.
const (
	textBits  = 20
	textBlock = 1 << textBits
)

// mostKnown is the maximum number of references that are remembered, so that the text of
// a repeated reference is stored once.
const mostKnown = 1 << 16

// Texts writes texts into blocks of an archive.
type Texts struct {
	// Of returns the text of a reference, Number the number stored with it; nil if there
	// are no texts, or no numbers.
	Of     func(ref uint64) string
	Number func(ref uint64) uint64

	// Blocks are the full blocks; after Flush, all of them.
	Blocks []TextBlock

	to    *Archive
	block []byte            // the block being filled
	known map[uint64]uint64 // old references to new ones, for a limited number of texts
}

// TextBlock is the place and length of a block.
type TextBlock struct{ At, Len int64 }

// NewTexts returns a writer of texts for an archive.
func NewTexts(to *Archive) *Texts { return &Texts{to: to} }

// Add packs the text of ref and returns its new reference.
func (t *Texts) Add(ref uint64) uint64 {
	if ref == 0 || t.Of == nil {
		return 0
	}
	if now, ok := t.known[ref]; ok {
		return now
	}
	text := t.Of(ref)
	if len(t.block) > 0 && len(t.block)+len(text)+2*binary.MaxVarintLen64 > textBlock {
		t.Flush()
	}
	now := 1 + uint64(len(t.Blocks))<<textBits + uint64(len(t.block))
	t.block = binary.AppendUvarint(t.block, uint64(len(text)))
	if t.Number != nil {
		t.block = binary.AppendUvarint(t.block, t.Number(ref))
	}
	t.block = append(t.block, text...)
	if t.known == nil || len(t.known) >= mostKnown {
		t.known = map[uint64]uint64{}
	}
	t.known[ref] = now
	return now
}

// Flush ends the current block and writes it to the archive.
func (t *Texts) Flush() {
	if len(t.block) == 0 {
		return
	}
	t.Blocks = append(t.Blocks, TextBlock{t.to.Put(t.block), int64(len(t.block))})
	t.block = t.block[:0]
}

// StoredTexts are texts in the blocks of an archive.
type StoredTexts struct {
	blocks  [][]byte
	numbers bool
	shelf   *Shelf
}

// OpenTexts returns the texts in blocks of an archive. numbers means that a number is
// stored with each text.
func OpenTexts(a *Archive, blocks []TextBlock, numbers bool) *StoredTexts {
	t := &StoredTexts{numbers: numbers, shelf: a.Shelf()}
	for _, b := range blocks {
		t.blocks = append(t.blocks, slices.Clip(a.Get(b.At, b.Len)))
	}
	return t
}

// at returns the rest of the block after the length of a text, and that length; nil for
// an invalid reference.
func (t *StoredTexts) at(ref uint64) (b []byte, length uint64) {
	block, off := (ref-1)>>textBits, (ref-1)&(textBlock-1)
	if ref == 0 || block >= uint64(len(t.blocks)) || off > uint64(len(t.blocks[block])) {
		return nil, 0
	}
	b = t.blocks[block][off:]
	length, n := binary.Uvarint(b)
	return b[max(n, 0):], length
}

// Text returns the text of a reference, "" for an invalid one.
func (t *StoredTexts) Text(ref uint64) string {
	b, length := t.at(ref)
	if t.numbers {
		_, n := binary.Uvarint(b)
		b = b[max(n, 0):]
	}
	if length > uint64(len(b)) {
		return ""
	}
	return string(b[:length])
}

// Number returns the number stored with a text, 0 for an invalid reference.
func (t *StoredTexts) Number(ref uint64) uint64 {
	b, _ := t.at(ref)
	v, _ := binary.Uvarint(b)
	return v
}
