package perfetto

import (
	"hash/maphash"

	"ashlar/ingest/model/column"
)

// labelTable numbers pairs of a name and a category; 0 is for events with neither. A
// trace may give every event a different name, so pairs are forgotten from time to time
// and get a new number when they occur again.
type labelTable struct {
	seed  maphash.Seed
	slots []labelSlot // hash table with open addressing
	kept  []labelText // entries of the slots
	n     uint32      // last number assigned
	// shown has a bit for each label whose name was passed to the maker.
	shown []uint64
}

type labelSlot struct {
	hash uint32
	kept uint32 // index in labelTable.kept plus 1; 0 if the slot is free
}

// labelText is the name and category of a label.
type labelText struct {
	name, category string
	number         uint32
}

const (
	fewLabels  = 1 << 10
	mostLabels = 1 << 18
)

func newLabelTable() labelTable {
	return labelTable{seed: maphash.MakeSeed(), slots: make([]labelSlot, 2*fewLabels)}
}

// number returns the label of a name and a category; fresh is its text if the label is
// new.
func (t *labelTable) number(name, category []byte) (n uint32, fresh *labelText) {
	if len(name)+len(category) == 0 {
		return 0, nil
	}
	h := uint32(maphash.Bytes(t.seed, name)>>32) ^ 31*uint32(maphash.Bytes(t.seed, category)>>32)
	mask := uint32(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i].kept != 0; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == h {
			if k := &t.kept[s.kept-1]; k.name == string(name) && k.category == string(category) {
				return k.number, nil
			}
		}
	}
	if len(t.kept) == mostLabels {
		t.kept = nil
		clear(t.slots)
		i = h & mask
	}
	t.n++
	t.kept = append(t.kept, labelText{string(name), string(category), t.n})
	t.slots[i] = labelSlot{h, uint32(len(t.kept))}
	fresh = &t.kept[len(t.kept)-1]
	if 2*len(t.kept) > len(t.slots) {
		t.grow()
	}
	return t.n, fresh
}

func (t *labelTable) grow() {
	old := t.slots
	t.slots = column.Fresh[labelSlot](2 * len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.kept == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].kept != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// named caches the label of a numbered name in a sequence. It is valid until a number of
// the sequence gets another text (see version).
type named struct {
	category uint64
	label    uint32
	version  uint32
}

// severalIDs marks a number that joins the numbers of several categories. Alone, it
// stands for an event without a category.
const (
	severalIDs = 1 << 63
	noCategory = severalIDs
)

// numbers returns the joined numbers of an event's categories. numbered reports whether
// the event has numbers, not texts, for its name and categories.
func (p *packet) numbers() (category uint64, numbered bool) {
	switch p.is & (byName | byCategory | hasCategory | several | mixed) {
	case byName:
		return noCategory, true
	case byName | byCategory | hasCategory:
		return p.categoryID, p.categoryID < severalIDs
	case byName | byCategory | hasCategory | several:
		return p.categoryID | severalIDs, true
	}
	return 0, false
}

// labelOf returns the label of an event. Labels of numbered names are looked up once per
// sequence.
func (r *reader) labelOf(s *sequence, e *trackEvent) uint32 {
	if e.is&(hasCategory|byName) == 0 && e.nameID == 0 && !e.spelled {
		return 0
	}
	category, numbered := e.numbers()
	if !numbered || e.spelled {
		r.spell(s, e)
		return r.label(e.name, e.category)
	}
	if id := e.nameID; id < uint64(len(s.named)) {
		if n := &s.named[id]; n.version == s.version && n.category == category {
			return n.label
		}
	}
	return r.namedLabel(s, e, category)
}

// namedLabel is like labelOf, for numbered names that are not cached yet.
func (r *reader) namedLabel(s *sequence, e *trackEvent, category uint64) uint32 {
	id := e.nameID
	r.spell(s, e)
	label := r.label(e.name, e.category)
	names := s.texts[internName]
	if len(e.name) == 0 || !s.hasCategories(e) || id >= uint64(len(names.dense)) {
		return label // later data may change it, or the cache has no place for it
	}
	for uint64(len(s.named)) <= id {
		s.named = append(s.named, named{version: s.version - 1})
	}
	s.named[id] = named{category, label, s.version}
	return label
}

// hasCategories reports whether the texts of all of an event's category numbers are
// known.
func (s *sequence) hasCategories(e *trackEvent) bool {
	if e.is&hasCategory == 0 {
		return true
	}
	if e.is&several == 0 {
		return s.texts[internCategory].get(e.categoryID) != ""
	}
	for ids := e.categoryID; ids != 0; ids >>= idBits {
		if s.texts[internCategory].get(ids&mostID) == "" {
			return false
		}
	}
	return true
}

// label returns the label of a name and a category.
func (r *reader) label(name, category []byte) uint32 {
	n, fresh := r.labels.number(name, category)
	if fresh != nil {
		r.next.labels = append(r.next.labels, *fresh)
	}
	return n
}

// show passes the name of a label to the maker. Instants and events on tracks without a
// name need it in addition to the label's function.
func (r *reader) show(s *sequence, e *trackEvent, label uint32) {
	r.showAs(label, func() string {
		r.spell(s, e)
		return string(e.name)
	})
}

func (r *reader) showAs(label uint32, name func() string) {
	k := int(label >> 6)
	if k < len(r.labels.shown) && r.labels.shown[k]>>(label&63)&1 != 0 || label == 0 {
		return
	}
	for k >= len(r.labels.shown) {
		r.labels.shown = append(r.labels.shown, 0)
	}
	r.labels.shown[k] |= 1 << (label & 63)
	r.next.shown = append(r.next.shown, shownLabel{label, name()})
}

// shownLabel is the name of a label.
type shownLabel struct {
	label uint32
	name  string
}
