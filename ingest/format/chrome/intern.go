package chrome

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
)

// interner assigns small ids to strings, counting from 1: equal strings get equal ids,
// and 0 means none. It stores the text between the quotes as it is in the file.
type interner struct {
	seed  maphash.Seed
	slots []internSlot // hash table with open addressing
	raw   []string     // by id-1
	fresh int          // raw[fresh:] was interned since the last call of take
}

// internSlot is a slot of the hash table. It is free if its id is 0.
type internSlot struct {
	hash uint64
	id   uint32
}

func newInterner() *interner {
	return &interner{seed: maphash.MakeSeed(), slots: make([]internSlot, 256)}
}

// id interns the raw text of a string.
func (t *interner) id(raw []byte) uint32 { return intern(t, maphash.Bytes(t.seed, raw), raw) }

// idOf is like id, for a string that may be stored without copying.
func (t *interner) idOf(raw string) uint32 { return intern(t, maphash.String(t.seed, raw), raw) }

func intern[T string | []byte](t *interner, h uint64, raw T) uint32 {
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i].id != 0; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == h && t.raw[s.id-1] == string(raw) {
			return s.id
		}
	}
	t.raw = append(t.raw, string(raw))
	id := uint32(len(t.raw))
	t.slots[i] = internSlot{h, id}
	if 2*len(t.raw) > len(t.slots) {
		t.grow()
	}
	return id
}

func (t *interner) grow() {
	old := t.slots
	t.slots = column.Fresh[internSlot](2 * len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// take returns the strings interned since the last call.
func (t *interner) take() []string {
	f := t.raw[t.fresh:]
	t.fresh = len(t.raw)
	return f
}

// decoded decodes the raw text of a JSON string.
func decoded(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) {
		return raw
	}
	return jsonscan.Unescape([]byte(raw))
}

// ident is a process or thread id as written in a file: a number, or any other text.
type ident struct {
	n    int64
	text string
}

// threadKey identifies a thread.
type threadKey struct{ pid, tid ident }

// threadTable gives threads small ids, counting from 1. Nearly all threads have numeric
// ids, which go through a direct-mapped cache with four times as many slots as threads,
// up to mostThreads.
type threadTable struct {
	cache []threadSlot
	ids   map[threadKey]uint32
	keys  []threadKey
	fresh int
}

// threadSlot is a slot of the cache. It is empty if its id is 0.
type threadSlot struct {
	pid, tid int64
	id       uint32
}

const (
	fewThreads  = 1 << 6
	mostThreads = 1 << 14 // maximum number of slots in the cache
)

func newThreadTable() *threadTable {
	return &threadTable{cache: make([]threadSlot, fewThreads), ids: map[threadKey]uint32{}}
}

// id interns a thread whose ids are numbers.
func (t *threadTable) id(pid, tid int64) uint32 {
	c := &t.cache[(uint64(tid)*0x9E3779B97F4A7C15^uint64(pid)*0xC2B2AE3D27D4EB4F)>>40&uint64(len(t.cache)-1)]
	if c.id != 0 && c.pid == pid && c.tid == tid {
		return c.id
	}
	id := t.key(threadKey{ident{n: pid}, ident{n: tid}})
	*c = threadSlot{pid, tid, id}
	if n := len(t.cache); 4*len(t.keys) > n && n < mostThreads {
		t.cache = make([]threadSlot, 4*n)
	}
	return id
}

func (t *threadTable) key(k threadKey) uint32 {
	id, ok := t.ids[k]
	if !ok {
		t.keys = append(t.keys, k)
		id = uint32(len(t.keys))
		t.ids[k] = id
	}
	return id
}

func (t *threadTable) take() []threadKey {
	f := t.keys[t.fresh:]
	t.fresh = len(t.keys)
	return f
}

// parseIdent parses a process or thread id: a number, a number in quotes, or any other
// text. null counts as 0, like a missing id. Kineto writes "" for events that concern the
// whole trace: finalizeTrace in output_json.cpp.
func parseIdent(raw []byte) ident {
	q := jsonscan.Unquoted(raw)
	if len(q) == 0 {
		return ident{text: ofAll}
	}
	if n, ok := jsonscan.ParseInt(q); ok {
		return ident{n: n}
	}
	if m, ok := jsonscan.ParseMicros(q); ok && m.PS == 0 {
		return ident{n: m.US} // a number such as 1e3 or 17.0
	}
	return ident{text: jsonscan.Plain(raw)}
}

// ofAll names the process and the thread of events that concern the whole trace.
const ofAll = recording.WholeTrace
