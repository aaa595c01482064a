package spaa

import (
	"strings"
	"unicode/utf8"

	"ashlar/ingest/model/pairmap"
	format "ashlar/spaa"
)

// Sizes at which a dict is emptied, to limit its memory and keep its tables in the cache.
const (
	dictNodes    = 1 << 18
	dictStrings  = 1 << 17
	dictText     = 16 << 20
	dictContexts = 1 << 15
)

// dict assigns small numbers to values that repeat in the lines that one worker parses.
// The merger keeps a mirror of each worker's dict.
type dict struct {
	strings  map[string]uint32
	keys     []string // the keys of strings, by number - 1
	text     int      // total bytes of strings
	calls    pairmap.Table
	nodes    uint32
	bigs     map[int64]uint32
	contexts map[*format.Context]uint32
	// names remembers the last string looked up for each of the keys nameEvent to
	// nameUnit.
	names [4]lastName

	lastContext   *format.Context
	lastContextID uint32

	// prevFrames are the frames of the last stack, root first, and prev their nodes.
	prevFrames []int64
	prev       []uint32
}

type lastName struct {
	text string
	id   uint32
}

func newDict() *dict {
	return &dict{strings: map[string]uint32{}, bigs: map[int64]uint32{}, contexts: map[*format.Context]uint32{}}
}

func (d *dict) full() bool {
	return d.nodes > dictNodes || len(d.strings) > dictStrings || d.text > dictText || len(d.contexts) > dictContexts
}

// str returns the number of a string, 0 for the empty one.
func (d *dict) str(b *batch, s string) uint32 {
	return d.present(b, s, s != "")
}

// present is like str, but distinguishes an empty string from an absent one: only if ok
// is false does it return 0.
func (d *dict) present(b *batch, s string, ok bool) uint32 {
	if !ok {
		return 0
	}
	if id, ok := d.strings[s]; ok {
		return id
	}
	key := strings.Clone(s)
	id := uint32(len(d.strings) + 1)
	b.strings = append(b.strings, validText(key))
	d.strings[key] = id
	d.keys = append(d.keys, key)
	d.text += len(key)
	return id
}

// name is like str, for a key whose value is mostly the same as last time.
func (d *dict) name(b *batch, which int, s string) uint32 {
	n := &d.names[which]
	if s != n.text {
		n.id = d.str(b, s)
		n.text = ""
		if n.id != 0 {
			n.text = d.keys[n.id-1]
		}
	}
	return n.id
}

// validText replaces invalid UTF-8, so that the text can be shown.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// id converts a stack id to an idRef's word and form.
func (d *dict) id(b *batch, id format.ID) (word uint64, form uint8) {
	if id.IsZero() {
		return 0, formNone
	}
	word, packed := id.Key()
	switch {
	case packed != format.IDText:
		return word, uint8(packed)
	case id.IsNumber():
		form = formNumberText
	default:
		form = formText
	}
	return uint64(d.present(b, id.String(), true)), form
}

func (d *dict) ref(b *batch, id format.ID) idRef {
	word, form := d.id(b, id)
	return idRef{word, form}
}

// stack returns the node of a stack's leaf. rootFirst reports whether frames begins with
// the outermost frame. Consecutive stacks mostly share their outer frames, which are not
// looked up again.
func (d *dict) stack(b *batch, frames []int64, rootFirst bool) uint32 {
	n := len(frames)
	same := 0
	parent := uint32(0)
	if rootFirst {
		for same < n && same < len(d.prevFrames) && frames[same] == d.prevFrames[same] {
			same++
		}
	} else {
		for same < n && same < len(d.prevFrames) && frames[n-1-same] == d.prevFrames[same] {
			same++
		}
	}
	d.prevFrames, d.prev = d.prevFrames[:same], d.prev[:same]
	if same > 0 {
		parent = d.prev[same-1]
	}
	for i := same; i < n; i++ {
		f := frames[i]
		if !rootFirst {
			f = frames[n-1-i]
		}
		parent = d.call(b, parent, d.frame(b, f))
		d.prevFrames = append(d.prevFrames, f)
		d.prev = append(d.prev, parent)
	}
	return parent
}

func (d *dict) call(b *batch, parent, frame uint32) uint32 {
	if id := d.calls.Get(parent, frame); id != 0 {
		return id
	}
	d.nodes++
	b.nodes = append(b.nodes, node{parent, frame})
	d.calls.Put(parent, frame, d.nodes)
	return d.nodes
}

// frame packs a frame id of the file.
func (d *dict) frame(b *batch, id int64) uint32 {
	if id >= 0 && id < bigFrame {
		return uint32(id)
	}
	k, ok := d.bigs[id]
	if !ok {
		k = uint32(len(d.bigs))
		d.bigs[id] = k
		b.bigs = append(b.bigs, id)
	}
	return bigFrame | k
}

// context returns the number of a context, from 0. The parser returns the same pointer
// for the same text. Stacks without a context share the empty one.
func (d *dict) context(b *batch, c *format.Context) uint32 {
	if c == nil {
		c = &noContext
	}
	if c == d.lastContext {
		return d.lastContextID
	}
	id, ok := d.contexts[c]
	if !ok {
		id = uint32(len(d.contexts))
		b.contexts = append(b.contexts, d.contextRec(b, c))
		d.contexts[c] = id
	}
	d.lastContext, d.lastContextID = c, id
	return id
}

var noContext format.Context
