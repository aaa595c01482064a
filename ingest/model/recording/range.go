package recording

import (
	"fmt"
	"strings"

	"ashlar/ingest/input/decimal"
)

// Range is a range of time in a recording, as offsets from its start in picoseconds.
// Without HasFrom it begins at the start of the recording, without HasTo it ends at the
// end. The zero value is everything.
type Range struct {
	From, To       int64
	HasFrom, HasTo bool
}

// Offsets returns the Range between two offsets.
func Offsets(from, to int64) Range { return Range{from, to, true, true} }

// IsSet reports whether the range leaves anything out.
func (r Range) IsSet() bool { return r.HasFrom || r.HasTo }

// String writes the range as FROM..TO, FROM.. or ..TO, exactly; "" if the range is
// everything.
func (r Range) String() string {
	var from, to string
	if !r.IsSet() {
		return ""
	}
	if r.HasFrom {
		from = Offset(r.From)
	}
	if r.HasTo {
		to = Offset(r.To)
	}
	return from + ".." + to
}

// typed replaces what is not on every keyboard.
var typed = strings.NewReplacer(" ", "", "µ", "u")

// Offset formats an offset as in ranges, exactly: 1.5ms.
func Offset(ps int64) string {
	if ps == 0 {
		return "0s"
	}
	return typed.Replace(decimal.Length(ps))
}

// Ends returns the start and end of the range on a recording's clock. They may lie beyond
// the recording.
func (r Range) Ends(rec *Recording) (from, to int64) {
	from, to = rec.Start, rec.End
	if r.HasFrom {
		from = rec.Start + r.From
	}
	if r.HasTo {
		to = rec.Start + r.To
	}
	return from, to
}

// In returns the scope of the range in a recording, clipped to the recording. The error
// is a *[BehindEnd].
func (r Range) In(rec *Recording) (in Scope, err error) {
	length := rec.Duration()
	if r.HasFrom && r.From > length {
		return in, &BehindEnd{r, length}
	}
	r.To = min(r.To, length)
	from, to := r.Ends(rec)
	return Between(from, to), nil
}

// BehindEnd is the error for a range that begins after a recording's end. It gives the
// recording's length, because the range may be meant for another recording.
type BehindEnd struct {
	Range  Range
	Length int64
}

func (e *BehindEnd) Error() string {
	return fmt.Sprintf("the range %s begins after the recording's end at %s", e.Range, Offset(e.Length))
}

// rangeForm describes the syntax for ParseRange.
const rangeForm = "write START..END with times from the recording's start, like 1.2s..1.5s, 300ms.. or ..2min"

// ParseRange reads START..END, offsets from the recording's start. Either may be
// left out, but not both. A time is a number with a unit (ps, ns, us or µs, ms,
// s, min, h, d), or several, like 1min30s; a bare number is seconds. Times are
// exact to the picosecond. The error is one sentence.
func ParseRange(s string) (Range, error) {
	var r Range
	start, end, ok := strings.Cut(s, "..")
	if !ok {
		return r, fmt.Errorf("%q is not a range; %s", s, rangeForm)
	}
	start, end = strings.TrimSpace(start), strings.TrimSpace(end)
	if start == "" && end == "" {
		return r, fmt.Errorf("%q has neither a start nor an end; %s", s, rangeForm)
	}
	for _, side := range []struct {
		text string
		at   *int64
		has  *bool
	}{{start, &r.From, &r.HasFrom}, {end, &r.To, &r.HasTo}} {
		if side.text == "" {
			continue
		}
		t, err := decimal.ParseLength(side.text)
		if err != nil {
			return Range{}, fmt.Errorf("%q in the range %q %w", side.text, s, err)
		}
		*side.at, *side.has = t, true
	}
	if r.HasTo && r.To <= r.From {
		return Range{}, fmt.Errorf("the range %q ends at %s, which is not after its start at %s", s, Offset(r.To), Offset(r.From))
	}
	return r, nil
}
