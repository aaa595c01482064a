// Package otlp reads OpenTelemetry profiles: a single protobuf message, the collector's
// file of messages with big-endian 32-bit length prefixes, and JSON, as one object per
// line or as one document.
//
// The protobuf layout changed without a new package name; the samples of a file reveal
// its layout (see evidence).
package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the OTLP profiles format.
var Format = codec.Format{
	Name:       "otlp",
	Title:      "OpenTelemetry profile",
	Plural:     "OpenTelemetry profiles",
	Holds:      "protobuf, framed protobuf, JSON lines",
	Extensions: []string{".otlp", ".otlp.json", ".jsonl"},
	Sniff:      Sniff,
	Decode:     Decode,
	Encode:     &codec.Encoder{Extensions: []string{".otlp"}, Write: write},
}

// maxContent is the maximum size of a file, which is held in memory as a whole because
// its beginning refers to its end.
const maxContent = 2 << 30

var errOld = errors.New("OpenTelemetry profiles of proto 1.7 or older are not supported; record or export with proto 1.8 or later")

// Decode reads all messages of a file. Profiles of one sample type become one event;
// resources become processes. Every sample becomes a stack record; samples with
// timestamps are also on their thread's track.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	content, readErr := in.All(maxContent)
	if len(content) == 0 {
		if readErr == nil {
			readErr = errors.New("the file is empty")
		}
		return readErr
	}
	note := func(code, place, text string) { b.Warn(code, place, "%s", text) }
	var messages []*message
	var err error
	if isJSON(content) {
		messages, err = readJSON(content, b)
	} else {
		messages, err = readProto(content, b, note)
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := newConverter(b, messages)
	if err := c.convert(ctx); err != nil {
		return err
	}
	if c.profiles == 0 && readErr == nil {
		return errors.New("the file has no profiles")
	}
	return readErr
}

// readProto reads one message, or several with length prefixes.
func readProto(content []byte, b *recording.Builder, note func(code, place, text string)) ([]*message, error) {
	frames, prefix := messages(content), 0
	if framed(content) {
		frames, prefix = split(content, note), 4
	}
	silent := &reader{content: content, note: func(_, _, _ string) {}}
	var e evidence
	for _, f := range frames {
		e.look(silent, f)
	}
	era, mixed := e.era()
	if era == era17 {
		return nil, errOld
	}
	if mixed {
		b.Warn("era-mixed", "", "The samples fit two versions of the format; they were read as %s", era)
	}
	b.Source().Version = era.String()
	r := &reader{content: content, era: era, note: note}
	var out []*message
	before := newOnce(b)
	at := 0
	for _, f := range frames {
		at += prefix
		m := r.message(f)
		if before.again(f, m, decode.Byte(int64(at))) {
			k := b.Tally("repeated message")
			k.Read++
			k.Leave(decode.Byte(int64(at)))
		} else {
			out = append(out, m)
		}
		at += len(f)
	}
	return out, nil
}

// messages splits messages that follow one another without length prefixes, as cat joins
// them. A message has one dictionary, either first or last.
func messages(content []byte) (all [][]byte) {
	begin, at, first := 0, 0, protowire.Number(0)
	dictionaries := 0
	for at < len(content) {
		num, typ, n := protowire.ConsumeTag(content[at:])
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(num, typ, content[at+n:])
		if size < 0 {
			break
		}
		if first == 0 {
			first = num
		}
		if num == 2 {
			if dictionaries++; first == 2 && dictionaries > 1 {
				all, begin = append(all, content[begin:at]), at
			}
		}
		if at += n + size; num == 2 && first != 2 {
			all, begin = append(all, content[begin:at]), at
		}
	}
	if dictionaries < 2 {
		return [][]byte{content}
	}
	if rest := content[begin:]; len(rest) > 0 {
		all = append(all, rest)
	}
	return all
}

// isJSON reports whether content begins with a JSON object. A brace after a line break does
// not prove it, because in a message these two bytes can be a tag and a length.
func isJSON(content []byte) bool {
	const blank = " \t\r\n"
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(content, blank), []byte{'{'})
	if rest = bytes.TrimLeft(rest, blank); !ok || len(rest) == 0 {
		return ok
	}
	return rest[0] == '}' || rest[0] == '"' && (len(rest) == 1 || rest[1] >= 'A')
}

// framed reports whether content begins with a length prefix instead of a message.
func framed(content []byte) bool {
	if len(content) < 5 {
		return false
	}
	n := binary.BigEndian.Uint32(content)
	return content[0] != 0x0a && content[0] != 0x12 && n > 0 && (content[4] == 0x0a || content[4] == 0x12)
}

// split splits a file of length-prefixed messages.
func split(content []byte, note func(code, place, text string)) (frames [][]byte) {
	for at := 0; at < len(content); {
		rest := content[at:]
		place := fmt.Sprintf("byte %d", at)
		if len(rest) < 4 {
			note("cut", place, fmt.Sprintf("The file ends within the length of a message at %s", place))
			break
		}
		n := uint64(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if n > uint64(len(rest)) {
			note("cut", place, fmt.Sprintf("The message at %s should have %s but has %d: the file is truncated or damaged there", place, safetext.Plural(n, "byte"), len(rest)))
			n = uint64(len(rest))
		}
		frames = append(frames, rest[:n])
		at += 4 + int(n)
	}
	return frames
}

// readJSON reads one object per line, or one object over all lines.
func readJSON(content []byte, b *recording.Builder) (out []*message, err error) {
	b.Source().Version = "JSON"
	first, _, _ := bytes.Cut(content, []byte("\n"))
	if !json.Valid(first) && json.Valid(content) {
		m, old, err := parseJSON(content)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the JSON is not an OpenTelemetry profile: %v", err)
		case old:
			return nil, errOld
		}
		b.Tally("message").Read, b.Tally("message").Kept = 1, 1
		return []*message{m}, nil
	}
	t := b.Tally("message")
	before := newOnce(b)
	for n, rest := 1, content; len(rest) > 0; n++ {
		var l []byte
		l, rest, _ = bytes.Cut(rest, []byte("\n"))
		if l = bytes.TrimSpace(l); len(l) == 0 {
			continue
		}
		t.Read++
		m, old, err := parseJSON(l)
		if old {
			return nil, errOld
		}
		if err != nil {
			t.LeftOut++
			place := fmt.Sprintf("line %d", n)
			if t.FirstLeftOut == "" {
				t.FirstLeftOut = place
			}
			b.Warn("bad-line", place, "Line %d is damaged or truncated and was left out: %v", n, err)
			continue
		}
		if place := fmt.Sprintf("line %d", n); before.again(l, m, place) {
			t.Leave(place)
			continue
		}
		t.Kept++
		out = append(out, m)
	}
	if len(out) == 0 {
		return nil, errors.New("no line of the JSON could be read")
	}
	return out, nil
}

// Sniff looks for messages with profiles. Their dictionary distinguishes them from
// OpenTelemetry's traces and logs.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	if isJSON(head) {
		if bytes.Contains(head, []byte(`"resourceProfiles"`)) || bytes.Contains(head, []byte(`"dictionary"`)) && tables().Match(head) {
			return decode.Certain, nil
		}
		return decode.No, nil
	}
	if framed(head) {
		n := uint64(binary.BigEndian.Uint32(head))
		head = head[4:]
		cut := !whole || n > uint64(len(head))
		return sniffMessage(head[:min(n, uint64(len(head)))], cut)
	}
	return sniffMessage(head, !whole)
}

// tables matches the members of a dictionary. Keys may be in any order, so the beginning
// of a file may contain only one of these.
var tables = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(mapping|location|function|link|string|attribute|stack)Table"`)
})

// shape lists the fields of a message and whether each one holds bytes. strict means that
// there are no other fields.
type shape struct {
	bytes  map[protowire.Number]bool
	strict bool
}

var (
	dictionaryShape = shape{map[protowire.Number]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true}, true}
	resourceShape   = shape{map[protowire.Number]bool{1: true, 2: true, 3: true}, true}
	scopeShape      = resourceShape
	// Field 3 is a fixed64 time since 1.8, and bytes before.
	profileShape = shape{map[protowire.Number]bool{1: true, 2: true, 4: false, 5: true, 6: false, 7: true}, false}

	// Forms of 1.7 and older: a profile with these types and samples, and either with
	// times in fields 4 and 5 or with its own tables; or a profile in a container.
	oldTypeShape   = shape{map[protowire.Number]bool{1: false, 2: false, 3: false}, true}
	oldSampleShape = shape{map[protowire.Number]bool{1: false, 2: false, 3: true, 4: true, 5: false, 6: true}, true}
	containerShape = shape{map[protowire.Number]bool{1: true, 2: false, 3: false, 4: true, 5: false, 6: true, 7: true, 8: true}, true}
)

// oldProfile reports whether a profile is of proto 1.7 or older. OpenTelemetry's metrics
// and traces have strings in the fields that hold a profile's types and samples.
func oldProfile(b []byte) bool {
	types, samples, inside := 0, 0, 0
	fits := walk(b, func(num protowire.Number, body []byte, isBytes bool) bool {
		switch {
		case num == 1 && isBytes && len(body) > 0:
			types++
			return walkShape(body, oldTypeShape, nil)
		case num == 2 && isBytes && len(body) > 0:
			samples++
			return walkShape(body, oldSampleShape, nil)
		}
		return num > 2 || len(body) == 0 && isBytes
	})
	if fits && types > 0 && samples > 0 {
		return true
	}
	return walkShape(b, containerShape, func(num protowire.Number, body []byte) bool {
		if num == 8 && len(body) > 0 {
			inside++
		}
		return true
	}) && inside == 1
}

// sniffMessage rates one message, which may be cut off.
func sniffMessage(b []byte, cut bool) (decode.Confidence, error) {
	dicts, profiles, old := 0, 0, 0
	ok := walk(b, func(num protowire.Number, body []byte, _ bool) bool {
		switch num {
		case 1:
			return walkShape(body, resourceShape, func(num protowire.Number, body []byte) bool {
				if num != 2 {
					return true
				}
				return walkShape(body, scopeShape, func(num protowire.Number, body []byte) bool {
					if num != 2 {
						return true
					}
					if walkShape(body, profileShape, nil) {
						profiles++
						return true
					}
					old++
					return oldProfile(body)
				})
			})
		case 2:
			dicts++
			return walkShape(body, dictionaryShape, nil)
		}
		return false
	})
	switch {
	case !ok:
		return decode.No, nil
	case old > 0:
		return decode.Likely, errOld
	case dicts > 0 && (profiles > 0 || cut):
		return decode.Certain, nil
	case profiles > 0 && cut:
		return decode.Likely, nil
	}
	return decode.No, nil
}

func walkShape(b []byte, s shape, f func(protowire.Number, []byte) bool) bool {
	return walk(b, func(num protowire.Number, body []byte, isBytes bool) bool {
		want, known := s.bytes[num]
		if known && want != isBytes || !known && s.strict {
			return false
		}
		return f == nil || !isBytes || f(num, body)
	})
}

// walk calls f with each field until f returns false; a field that reaches past the end
// is cut there.
func walk(b []byte, f func(num protowire.Number, body []byte, isBytes bool) bool) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return len(b) < binary.MaxVarintLen64
		}
		b = b[n:]
		if typ != protowire.BytesType {
			n = protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return len(b) < binary.MaxVarintLen64
			}
			if !f(num, nil, false) {
				return false
			}
			b = b[n:]
			continue
		}
		size, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return len(b) < binary.MaxVarintLen64
		}
		b = b[n:]
		size = min(size, uint64(len(b)))
		if !f(num, b[:size], true) {
			return false
		}
		b = b[size:]
	}
	return true
}
