package join

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/ranks"
)

// placed says how the clocks of the parts were aligned.
type placed struct {
	shift []int64 // what is added to the times of each part, in picoseconds
	clock recording.Clock
	note  string
}

// most is the limit of a part's times on the joined timeline.
const most = 1 << 62

// farOff is the difference between clocks of machines from which on it is not believed that
// they show the same time.
const farOff = int64(time.Second/time.Nanosecond) * 1000

// place aligns the parts. Collective operations end on all ranks of a job at the same time,
// which is known better than the time of day on several machines. Without either, all parts
// start at the same time.
func place(ctx context.Context, parts []Part) placed {
	var timed []int
	var recs []*recording.Recording
	for i := range parts {
		if parts[i].Rec.HasTime {
			timed, recs = append(timed, i), append(recs, parts[i].Rec)
		}
	}
	out := placed{shift: make([]int64, len(parts))}
	if len(recs) == 0 {
		return out
	}
	out.clock = recs[0].Clock
	if len(recs) == 1 {
		return out
	}
	shift, unit := byClock(recs)
	sync, spread, ok := ranks.Offsets(ctx, recs)
	if ok {
		sync = fromFirst(sync)
		ok = fits(recs, sync)
	}
	switch {
	case ok && (shift == nil || apart(shift, sync) <= farOff):
		out.note = "aligned where collective operations end, to within " + about(spread)
		if shift != nil {
			out.note += "; the clocks differ by up to " + about(apart(shift, sync))
		} else {
			out.clock = recording.Clock{Unit: "ns", PerUnit: 1000}
		}
		shift = sync
	case ok:
		out.note = fmt.Sprintf("placed by the %s in the files; aligning collective operations would move them by up to %s", unit, about(apart(shift, sync)))
	case shift != nil:
		out.note = "placed by the " + unit + " in the files"
	default:
		shift = make([]int64, len(recs))
		for i := range recs {
			shift[i] = recs[0].Start - recs[i].Start
		}
		out.clock = recording.Clock{Unit: "ns", PerUnit: 1000}
		out.note = "unknown: the files have no common clock, so all start at the same time"
	}
	for i, k := range timed {
		out.shift[k] = shift[i]
	}
	return out
}

// byClock places recordings by the clocks in their files. It returns nil unless all have one
// and, on it, they follow each other without a gap: otherwise it is not the same clock.
func byClock(recs []*recording.Recording) (shift []int64, unit string) {
	unit = "times of day"
	zeros := make([]*big.Int, len(recs))
	for i, r := range recs {
		if zeros[i] = wall(r); zeros[i] == nil {
			unit = ""
			break
		}
	}
	if unit == "" {
		unit = "clock"
		for i, r := range recs {
			if r.Clock.PerUnit <= 0 || r.Clock.Unit != recs[0].Clock.Unit || r.Clock.Origin.Mantissa == 0 {
				return nil, ""
			}
			zeros[i] = origin(r)
		}
	}
	shift = make([]int64, len(recs))
	for i := range recs {
		d := new(big.Int).Sub(zeros[i], zeros[0])
		if !d.IsInt64() {
			return nil, ""
		}
		shift[i] = d.Int64()
	}
	if !fits(recs, shift) || !overlap(recs, shift) {
		return nil, ""
	}
	return shift, unit
}

// origin returns the time of picosecond 0 on the file's clock, in picoseconds.
func origin(r *recording.Recording) *big.Int {
	o := r.Clock.Origin
	ps := new(big.Int).Mul(big.NewInt(o.Mantissa), big.NewInt(r.Clock.PerUnit))
	return ps.Quo(ps, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(0, o.Scale))), nil))
}

// Times of day, in picoseconds since 1970: the year 2000 and the year 2100.
var (
	earliest = new(big.Int).Mul(big.NewInt(946684800), big.NewInt(1e12))
	latest   = new(big.Int).Mul(big.NewInt(4102444800), big.NewInt(1e12))
)

// wall returns the time of day of picosecond 0, in picoseconds since 1970; nil if unknown.
func wall(r *recording.Recording) *big.Int {
	if r.Clock.PerUnit > 0 {
		if o := origin(r); o.Cmp(earliest) > 0 && o.Cmp(latest) < 0 {
			return o
		}
	}
	for _, v := range r.Source.NotesOf(recording.NoteTime) {
		if ns, ok := recording.NoteUnixNanos(v); ok {
			return new(big.Int).Mul(big.NewInt(ns), big.NewInt(1000))
		}
	}
	return nil
}

// fits reports whether all shifted times are in range.
func fits(recs []*recording.Recording, shift []int64) bool {
	for i, r := range recs {
		for _, t := range []int64{r.Start, r.End} {
			if abs(shift[i]) > most || abs(t) > most || abs(t+shift[i]) > most {
				return false
			}
		}
	}
	return true
}

// overlap reports whether the shifted recordings follow each other without a gap.
func overlap(recs []*recording.Recording, shift []int64) bool {
	order := make([]int, len(recs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(recs[a].Start+shift[a], recs[b].Start+shift[b])
	})
	end := recs[order[0]].End + shift[order[0]]
	for _, i := range order[1:] {
		if recs[i].Start+shift[i] > end {
			return false
		}
		end = max(end, recs[i].End+shift[i])
	}
	return true
}

// fromFirst returns shifts relative to the first.
func fromFirst(shift []int64) []int64 {
	out := make([]int64, len(shift))
	for i := range shift {
		out[i] = shift[i] - shift[0]
	}
	return out
}

// apart returns the largest difference between two placements, apart from moving all parts
// together.
func apart(a, b []int64) int64 {
	lo, hi := a[0]-b[0], a[0]-b[0]
	for i := range a {
		lo, hi = min(lo, a[i]-b[i]), max(hi, a[i]-b[i])
	}
	return hi - lo
}

// about returns a duration of picoseconds, rounded up to three digits, for people.
func about(ps int64) string {
	step := int64(1)
	for ps/step >= 1000 {
		step *= 10
	}
	return decimal.Length((ps + step - 1) / step * step)
}

func abs(v int64) int64 { return recording.Abs(v) }

// describe fills in the source and the clock of the joined recording.
func (j *joining) describe(p *placed) {
	first := &j.parts[0].Rec.Source
	src := j.b.Source()
	*src = recording.Source{Format: first.Format, Version: first.Version, Compression: first.Compression, Tool: first.Tool, Command: first.Command, Checked: true}
	*j.b.Clock() = p.clock
	var names []string
	for i := range j.parts {
		s := &j.parts[i].Rec.Source
		names = append(names, j.parts[i].Name)
		for _, f := range []struct {
			to  *string
			own string
		}{{&src.Format, s.Format}, {&src.Version, s.Version}, {&src.Compression, s.Compression}, {&src.Tool, s.Tool}, {&src.Command, s.Command}} {
			if *f.to != f.own {
				*f.to = ""
			}
		}
		src.Redacted = src.Redacted || s.Redacted
		src.Checked = src.Checked && s.Checked
		src.Errors += s.Errors
		if src.Bytes >= 0 {
			src.Bytes += s.Bytes
		}
		if s.Bytes < 0 {
			src.Bytes = -1
		}
	}
	src.Note(NoteParts, safetext.Plural(len(names), "recording")+": "+strings.Join(names, ", "))
	src.Note(NoteClocks, p.note)
	j.notes()
}

// notes copies the notes of the parts, those that differ as one text a key.
func (j *joining) notes() {
	src := j.b.Source()
	var keys []string
	values := map[string][]string{} // by key, then by part
	for i := range j.parts {
		s := &j.parts[i].Rec.Source
		for _, n := range s.Notes {
			if values[n.Key] == nil {
				keys = append(keys, n.Key)
				values[n.Key] = make([]string, len(j.parts))
			}
			if v := &values[n.Key][i]; *v == "" {
				*v = n.Value
			} else {
				*v += ", " + n.Value
			}
		}
		src.MoreNotes += s.MoreNotes
	}
	for _, k := range keys {
		v := values[k]
		if len(slices.Compact(slices.Clone(v))) == 1 {
			for _, n := range j.parts[0].Rec.Source.NotesOf(k) {
				src.Note(k, n)
			}
			continue
		}
		var all []string
		for i := range v {
			if v[i] != "" {
				all = append(all, j.parts[i].Name+": "+v[i])
			}
		}
		src.Note(k, strings.Join(all, "; "))
	}
}
