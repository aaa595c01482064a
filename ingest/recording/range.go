package recording

import (
	"fmt"
	"strings"
)

// Range is a stretch of a recording, as offsets from its start in picoseconds.
// Without HasFrom it begins where the recording does, without HasTo it ends
// where the recording does. Its zero value is everything.
type Range struct {
	From, To       int64
	HasFrom, HasTo bool
}

// Offsets is the Range from one offset to another.
func Offsets(from, to int64) Range { return Range{from, to, true, true} }

// IsSet reports whether the range leaves anything out.
func (r Range) IsSet() bool { return r.HasFrom || r.HasTo }

// String writes the range as FROM..TO, FROM.. or ..TO, exactly; "" when it limits
// nothing.
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

// Offset writes an offset as ranges have it, exactly: 1.5ms.
func Offset(ps int64) string {
	if ps == 0 {
		return "0s"
	}
	return strings.ReplaceAll(Length(ps), " ", "")
}

// Ends are the moments between which the range lies in a recording, which may
// not reach as far.
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

// In is the scope that the range means in a recording, which it is clipped to.
// The error is a *[BehindEnd].
func (r Range) In(rec *Recording) (in Scope, err error) {
	length := rec.Duration()
	if r.HasFrom && r.From > length {
		return in, &BehindEnd{r, length}
	}
	r.To = min(r.To, length)
	from, to := r.Ends(rec)
	return Between(from, to), nil
}

// BehindEnd is the error of a range that lies behind a recording's end: a problem
// with that recording, since the range may be one of another.
type BehindEnd struct {
	Range  Range
	Length int64
}

func (e *BehindEnd) Error() string {
	return fmt.Sprintf("the range %s begins after the recording's end at %s", e.Range, Offset(e.Length))
}
