// Package dhat reads the heap profiles of Valgrind's DHAT and the Rust crate dhat: for
// each call stack the bytes allocated, in use at the peak, and in use at the end. See
// "dhat-output-files" in https://valgrind.org/docs/manual/dh-manual.html and the head of
// Valgrind's dhat/dh_main.c.
package dhat

import (
	"bytes"
	"context"
	"errors"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is DHAT's heap profiles.
var Format = codec.Format{
	Name:       "dhat",
	Title:      "DHAT heap profile",
	Plural:     "DHAT heap profiles",
	Holds:      "stacks with bytes allocated, in use at the peak and at the end, read and written",
	Extensions: []string{".dhat", ".json"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// Sniff looks for the version, which DHAT writes first.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	if !bytes.Contains(head, []byte(`"dhatFileVersion"`)) {
		return decode.No, nil
	}
	if jsonscan.KeysOf(head, whole)["dhatFileVersion"] {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// version is the format version that Valgrind 3.17, dhat 0.3 and later write.
const version = "2"

// point is a program point: a stack of places in the table of frames, innermost first,
// and the numbers counted there.
type point struct {
	from   int64
	frames []int32
	values []int64
	bad    string // key of a value that is not a valid integer, "" if none
}

// decoder keeps the points until it has read the frame table, which follows them.
type decoder struct {
	b       *recording.Builder
	s       *jsonscan.Stream
	about   map[string]string
	measure []measure
	used    []bool // whether any point has the measure
	points  []point
	frames  []place
}

// Decode reads the file into one event with a metric for each thing counted.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, about: map[string]string{}, measure: measures, used: make([]bool, len(measures))}
	if err := decode.JSON(ctx, in, b, d.file); err != nil {
		return err
	}
	if v := d.about["dhatFileVersion"]; v != version {
		b.Usual("version", "", "The file has version %q; it is read as version %s", v, version)
	}
	if len(d.points) == 0 {
		return errors.New("the DHAT profile has no stacks")
	}
	return d.build(ctx)
}

func (d *decoder) file(s *jsonscan.Stream) {
	if d.s = s; !d.s.Enter('{') {
		return
	}
	for key := range d.s.Members {
		switch {
		case key == "pps" && d.s.Enter('['):
			for d.s.Next() {
				d.point()
			}
		case key == "ftbl" && d.s.Enter('['):
			for raw := range d.s.Values {
				d.frames = append(d.frames, parsePlace(jsonscan.Plain(raw)))
			}
		case d.s.Peek() == '[' || d.s.Peek() == '{':
			d.s.Skip()
		default:
			if raw, ok := d.s.Value(); ok {
				d.about[key] = jsonscan.Plain(raw)
			}
		}
	}
}

// point reads a program point.
func (d *decoder) point() {
	p := point{from: d.s.Offset()}
	if !d.s.Enter('{') {
		d.s.Skip()
		decode.LeaveValue(d.b, d.b.Tally("program point"), "not-a-point", p.from, "a program point")
		return
	}
	p.values = make([]int64, len(d.measure))
	for key := range d.s.Members {
		switch i := indexOf(d.measure, key); {
		case key == "fs" && d.s.Enter('['):
			for raw := range d.s.Values {
				p.frames = append(p.frames, frameNumber(raw))
			}
		case i >= 0:
			raw, ok := d.s.Value()
			if !ok {
				break
			}
			d.used[i] = true
			n, ok, fits := decode.ParseNumber(raw)
			if !ok || !fits || n.Scale != 0 || n.Mantissa < 0 {
				p.bad = key
			}
			p.values[i] = n.Mantissa
		default: // acc: accesses by byte of the block
			d.s.Skip()
		}
	}
	if d.s.Damage < 0 { // otherwise the point was cut off
		d.points = append(d.points, p)
	}
}

// frameNumber returns an index into the frame table, -1 if raw is not one.
func frameNumber(raw []byte) int32 {
	n, ok, fits := decode.ParseNumber(raw)
	if !ok || !fits || n.Scale != 0 || n.Mantissa < 0 || n.Mantissa > 1<<30 {
		return -1
	}
	return int32(n.Mantissa)
}
