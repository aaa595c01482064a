// Package speedscope reads speedscope files, which py-spy, rbspy and others also write:
// JSON with a table of frames and one or more profiles, each of which becomes a thread.
// See https://www.speedscope.app/file-format-schema.json.
//
// An evented profile opens and closes frames. If its unit is a unit of time, they become
// spans with the exact times of the file. A sampled profile has stacks with weights. If
// the weights are times, the samples follow each other from the start of the profile, each
// as long as its weight, as in speedscope. Profiles in other units have no timeline: their
// weights are summed by stack, for evented profiles as the amount that passed while the
// stack was open.
//
// The frames may follow the profiles that refer to them by index. Until then only a few
// bytes are kept for each event.
package speedscope

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is speedscope's JSON.
var Format = codec.Format{
	Name:       "speedscope",
	Title:      "speedscope",
	Holds:      "evented and sampled profiles, one thread each; also written by py-spy and rbspy",
	Extensions: []string{".speedscope.json", ".speedscope"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// Sniff looks for the schema's name, or for profiles of the two kinds.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	keys := jsonscan.KeysOf(head, whole)
	kinds := bytes.Contains(head, []byte(`"evented"`)) || bytes.Contains(head, []byte(`"sampled"`))
	switch {
	case keys["traceEvents"]:
		return decode.No, nil
	case keys["$schema"] && strings.Contains(jsonscan.Plain(jsonscan.Member(head[jsonscan.Space(head, 0):], "$schema")), "speedscope"):
		return decode.Certain, nil
	case keys["profiles"] && (keys["shared"] || kinds && bytes.Contains(head, []byte(`"unit"`))):
		return decode.Certain, nil
	case keys["shared"] && !whole && bytes.Contains(head, []byte(`"frames"`)):
		return decode.Likely, nil // the profiles come after head
	}
	return decode.No, nil
}

// decoder turns the file into a recording.
type decoder struct {
	b   *recording.Builder
	in  *source.Input
	s   *jsonscan.Stream
	ctx context.Context

	frames  []recording.FrameID
	known   bool // the frames have been read
	waiting []*profile
	tracks  map[string]int // number of profiles by name
	origin  *decode.Picos  // the file's time at picosecond 0, nil until known
	events  map[eventKey]int
	nodes   tree
	any     bool

	eventTally, sampleTally *recording.Tally
}

// Decode reads all profiles into b. From a truncated or damaged file it reads everything
// before the damage.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{
		b: b, in: in, ctx: ctx, tracks: map[string]int{}, events: map[eventKey]int{},
	}
	if err := decode.JSON(ctx, in, b, d.file); err != nil {
		return err
	}
	if !d.known {
		if len(d.waiting) > 0 {
			b.Warn("frames-missing", "", "The file has no table of frames; frames are shown by index")
		}
		d.known = true
		if err := d.buildWaiting(); err != nil {
			return err
		}
	}
	if !d.any {
		return fmt.Errorf("the file has no evented or sampled profile")
	}
	return nil
}

// file reads the outermost object.
func (d *decoder) file(s *jsonscan.Stream) {
	if d.s = s; !d.s.Enter('{') {
		return
	}
	for key := range d.s.Members {
		switch {
		case key == "profiles" && d.s.Enter('['):
			for d.s.Next() {
				d.profile()
			}
		case key == "shared" && d.s.Enter('{'):
			d.shared()
		case d.s.Peek() == '{' || d.s.Peek() == '[':
			d.leaveMember(key)
		default:
			raw, ok := d.s.Value()
			if ok {
				d.about(key, jsonscan.Plain(raw))
			}
		}
	}
}

// leaveMember skips an unknown member.
func (d *decoder) leaveMember(key string) {
	t := d.b.Tally("member")
	t.Read++
	t.Leave(decode.Byte(d.s.Offset()))
	d.b.Remark("member-unknown", decode.Byte(d.s.Offset()), "The member %q is unknown in speedscope files and was left out", key)
	d.s.Skip()
}

// about keeps the file's metadata.
func (d *decoder) about(key, value string) {
	src := d.b.Source()
	switch key {
	case "$schema", "activeProfileIndex": // activeProfileIndex is the profile that speedscope shows first
	case "version":
		src.Version = value
	case "exporter":
		src.Tool = value
	case "name":
		d.b.ProcessInfo(d.b.Process(0)).Name = value
	default:
		src.Note(key, value)
	}
}

func (d *decoder) shared() {
	for key := range d.s.Members {
		switch {
		case key == "frames" && d.s.Enter('['):
			for raw := range d.s.Values {
				d.frame(raw)
			}
			d.known = true
			if err := d.buildWaiting(); err != nil {
				return // the context's error, which the caller finds too
			}
		default:
			d.leaveMember(key)
		}
	}
}

// frame adds a frame of the table.
func (d *decoder) frame(raw []byte) {
	t := d.b.Tally("frame")
	t.Read++
	t.Kept++
	var fn recording.Function
	var fr recording.Frame
	for k, v := range jsonscan.Object(raw).All {
		switch string(k) {
		case "name":
			fn.Name = jsonscan.Plain(v)
		case "file":
			fn.File = jsonscan.Plain(v)
		case "line":
			fr.Line = ordinal(v)
		case "col":
			fr.Column = ordinal(v)
		}
	}
	if fn.Name == "" {
		fn.Name = fmt.Sprintf("[frame %d]", len(d.frames))
		t.Mend(decode.Byte(d.s.Offset()))
	}
	// Functions with the same name in different files are different functions.
	fn.Module = fn.File
	fr.Func = d.b.Function(fn)
	d.frames = append(d.frames, d.b.Frame(fr))
}

func ordinal(v []byte) int32 {
	n, ok, fits := decode.ParseNumber(jsonscan.Unquoted(v))
	if !ok || !fits || n.Scale > 0 || n.Mantissa < 0 || n.Mantissa > 1<<31-1 {
		return 0
	}
	return int32(n.Mantissa)
}

// frameOf returns the frame with a number. If the table does not have it, the frame's
// name is the number.
func (d *decoder) frameOf(n uint32) recording.FrameID {
	if int(n) < len(d.frames) {
		return d.frames[n]
	}
	if d.known {
		d.b.Warn("frame-missing", "", "A stack refers to frame %d, but the file has only %s; its number is shown", n, safetext.Plural(len(d.frames), "frame"))
	}
	return d.b.FunctionFrame(d.b.Function(recording.Function{Name: fmt.Sprintf("[frame %d]", n), Unresolved: true}))
}
