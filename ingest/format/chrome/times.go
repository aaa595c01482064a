package chrome

import (
	"strconv"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// million is the number of picoseconds in a microsecond.
const million = 1_000_000

// roundedBy is how many picoseconds after its parent a span may end: many programs truncate
// start and duration to whole microseconds.
const roundedBy = million

// The origin is chosen after this many times, or this many elements.
const (
	originTimes = 256
	originSeen  = 1 << 16
)

// begin chooses the origin and builds the held batches. The origin is the first event's
// time, so that most times are small and positive. But if most of the first times are too
// far from it, for example from a stray zero, the origin is another: 64 bits of picoseconds
// cover only some months.
func (d *decoder) begin() {
	if d.begun {
		return
	}
	d.begun = true
	if d.origin = d.start.US; len(d.timed) > 0 {
		times := make([]decode.Picos, len(d.timed))
		for i, t := range d.timed {
			times[i] = decode.Picos{Mantissa: t.US, Scale: -6}
		}
		d.origin = d.timed[decode.Anchor(times)].US
	}
	*d.b.Clock() = recording.Clock{Unit: "us", PerUnit: million, Origin: recording.Decimal{Mantissa: d.origin}}
	for _, t := range d.timed {
		if d.inRange(t.US) {
			d.first = min(d.first, (t.US-d.origin)*million+int64(t.PS))
		}
	}
	d.b.Touch(resolution(d.timed))
	for _, bt := range d.held {
		d.build(bt)
	}
	d.held, d.timed = nil, nil
}

// resolution returns the unit to which times were rounded, in picoseconds: a microsecond or a
// decimal part of it.
func resolution(times []jsonscan.Micros) int64 {
	unit := int64(million)
	for _, t := range times {
		for int64(t.PS)%unit != 0 {
			unit /= 10
		}
	}
	return unit
}

// maxTime is the maximum distance of a time from the origin: 53 days, so that sums and
// differences of two times fit.
const maxTime = 1<<62 - 1

// inRange reports whether a time is close enough to the origin.
func (d *decoder) inRange(us int64) bool {
	diff := us - d.origin
	if (diff < 0) != (us < d.origin) {
		return false
	}
	return diff < maxTime/million && diff > -maxTime/million
}

// at converts a time of the file to the recording's picoseconds.
func (d *decoder) at(t jsonscan.Micros, off int64) int64 {
	if !d.inRange(t.US) {
		d.warn(timeFar, off, "The time "+strconv.FormatInt(t.US, 10)+" µs")
		start, _, ok := d.b.Extent()
		switch {
		case t.US > d.origin:
			return d.latest
		case ok:
			return min(start, d.first)
		}
		return d.first
	}
	v := (t.US-d.origin)*million + int64(t.PS)
	d.latest = max(d.latest, v)
	return v
}
