package chrome

import (
	"encoding/json"
	"regexp"
	"sync"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
)

const (
	// pairRef marks a reference to the combined arguments of a begin event and its end event.
	pairRef = 1 << 63
	// maxText is the maximum size of the arguments shown for one event, in bytes.
	maxText = 4 << 20
)

// argStore returns the arguments of events. For a mapped file, a reference is the event's
// position, and its text is read again on demand. For a stream, the texts are stored. Its
// methods may be called from any goroutine, but add and pair from one only.
type argStore struct {
	in   *source.Input
	size int64 // size of the mapped content; -1 for a stream
	// clocked reports whether events have a CPU time (tts or tdur).
	clocked bool

	pairs decode.Pairs
	texts decode.Texts // texts of a stream
}

func newArgStore(in *source.Input) *argStore {
	a := &argStore{in: in, size: -1}
	if m := in.Mapped(); m != nil {
		a.size = int64(len(m))
	}
	return a
}

// state packs the data that the references need besides the file: whether events have CPU
// times, and the pairs.
func (a *argStore) state() []byte {
	out := []byte{0}
	if a.clocked {
		out[0] = 1
	}
	return a.pairs.Pack(out)
}

// argsOf implements codec.Format.Args.
func argsOf(in *source.Input, state []byte) (text func(uint64) string, cpu func(uint64) (int64, bool)) {
	a := newArgStore(in)
	if len(state) > 0 {
		a.clocked, state = state[0] == 1, state[1:]
	}
	a.pairs.Unpack(state)
	if a.clocked {
		cpu = a.cpu
	}
	return a.text, cpu
}

// add stores the arguments of the event with the given text, which begins at off in the
// content, and returns a reference to them. It returns 0 if there is no room left.
func (a *argStore) add(text []byte, off int64) uint64 {
	if a.size >= 0 {
		return uint64(off) + 1
	}
	return a.texts.Add(shown(text))
}

// pair returns a reference to the arguments of a begin and its end together.
func (a *argStore) pair(begin, end uint64) uint64 {
	if end == 0 || begin&pairRef != 0 {
		return begin
	}
	return pairRef | a.pairs.Add(begin, end)
}

// text returns the text of a reference: a JSON object with the members of the event's
// args as they are in the file, followed by the event's uncommon members. It returns ""
// for no reference, after a mapped file is closed, and if the file can no longer be read.
func (a *argStore) text(ref uint64) string {
	if ref&pairRef == 0 {
		return a.one(ref)
	}
	begin, end, ok := a.pairs.At(ref &^ pairRef)
	if !ok {
		return ""
	}
	return decode.JoinObjects(a.one(begin), a.one(end))
}

// cpu returns the time an event's thread spent on CPU during the event: the duration by
// the thread's clock (tdur) of an X, or the difference of the times by that clock (tts)
// of a begin and its end.
func (a *argStore) cpu(ref uint64) (ps int64, known bool) {
	if ref&pairRef == 0 {
		return a.micros(ref, "tdur")
	}
	begin, end, ok := a.pairs.At(ref &^ pairRef)
	if !ok {
		return 0, false
	}
	from, begun := a.micros(begin, "tts")
	to, ended := a.micros(end, "tts")
	return to - from, begun && ended && to >= from
}

// micros returns the time in member key of an event. If the event has several members of
// that name, the last one counts.
func (a *argStore) micros(ref uint64, key string) (ps int64, ok bool) {
	if a.size < 0 {
		return timeOf([]byte(a.one(ref)), key)
	}
	off := int64(ref - 1)
	read := ref != 0 && a.in.Look(off, int(min(maxEvent, a.size-off)), func(b []byte) { ps, ok = timeOf(b, key) })
	return ps, ok && read
}

// timeOf returns the time in member key of the object at the beginning of text. If the
// object has several members of that name, the last one counts.
func timeOf(text []byte, key string) (ps int64, ok bool) {
	for k, v := range jsonscan.Object(text).All {
		if string(k) == key {
			var t jsonscan.Micros
			if t, ok = jsonscan.ParseMicros(jsonscan.Unquoted(v)); ok {
				ps, ok = t.Picos()
			}
		}
	}
	return ps, ok
}

func (a *argStore) one(ref uint64) string {
	if ref == 0 {
		return ""
	}
	if a.size >= 0 {
		return a.mapped(int64(ref - 1))
	}
	return a.texts.Text(ref)
}

// mapped returns the arguments to show for the event at off, or "" if it cannot be read.
func (a *argStore) mapped(off int64) (s string) {
	a.in.Look(off, int(min(maxEvent, a.size-off)), func(b []byte) {
		if end, st := jsonscan.Value(b, 0, false); st == jsonscan.Good {
			s = string(shown(b[:end]))
		}
	})
	return s
}

// shown returns the arguments to show of an event's text.
func shown(text []byte) []byte {
	var rest []byte
	out := []byte{'{'}
	m := jsonscan.Object(text)
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "ph", "name", "cat", "ts", "dur", "pid", "tid":
		case "args":
			switch {
			case empty(v):
			case v[0] == '{':
				if len(out) > 1 {
					out = append(out, ',')
				}
				inner := v[1 : len(v)-1]
				out = append(out, trimmed(inner)...)
			default:
				rest = appendMember(rest, m.Raw, v)
			}
		default:
			rest = appendMember(rest, m.Raw, v)
		}
	}
	if len(rest) > 0 {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, rest[:len(rest)-1]...)
	}
	if len(out)+1 > maxText {
		return []byte(`{"too long to show":true}`)
	}
	if out = append(out, '}'); !json.Valid(out) {
		out = notFinite().ReplaceAllFunc(out, func(b []byte) []byte {
			if b[0] == '"' {
				return b
			}
			return append(append([]byte{'"'}, b...), '"')
		})
	}
	return out
}

// notFinite matches Infinity and NaN, which some programs write as numbers although JSON
// does not have them. It also matches strings, so that these words are skipped inside
// strings.
var notFinite = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN)\b`)
})

func appendMember(b, key, val []byte) []byte {
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, `":`...)
	b = append(b, val...)
	return append(b, ',')
}

// trimmed removes white space and surplus commas from both ends.
func trimmed(b []byte) []byte {
	for len(b) > 0 && (b[0] <= ' ' || b[0] == ',') {
		b = b[1:]
	}
	for n := len(b); n > 0 && (b[n-1] <= ' ' || b[n-1] == ','); n-- {
		b = b[:n-1]
	}
	return b
}
