package convert

import (
	"fmt"

	"ashlar/ingest/recording"
)

// Report says what a conversion made.
type Report struct {
	// Records is how many records were written: lines of SPAA, samples of a
	// profile, events of a trace.
	Records int64
	// Lost is what could not be carried over, in the order in which it was
	// found.
	Lost []Loss
}

// Loss is one kind of thing that the target cannot hold.
type Loss struct {
	// What names the things, in the plural: "instants".
	What  string `json:"what"`
	Count int64  `json:"count"`
	// Why is half a sentence: "a profile has no timeline".
	Why string `json:"why"`
}

// String is "instants (12): a profile has no timeline".
func (l Loss) String() string { return fmt.Sprintf("%s (%d): %s", l.What, l.Count, l.Why) }

// lose notes n things that are not carried over; none is no loss. The same
// loss again is added to the first.
func (r *Report) lose(n int64, what, why string, args ...any) {
	if n <= 0 {
		return
	}
	if len(args) > 0 {
		why = fmt.Sprintf(why, args...)
	}
	for i := range r.Lost {
		if l := &r.Lost[i]; l.What == what && l.Why == why {
			l.Count += n
			return
		}
	}
	r.Lost = append(r.Lost, Loss{what, n, why})
}

// loseTrace notes what only traces hold.
func (j *job) loseTrace(why string) {
	c := &j.rec.Counts
	j.lose(c.Spans, "times of spans", "%s; what they add up to by stack is carried", why)
	j.loseMarks(why)
}

// loseMarks notes what is beside the spans of a trace.
func (j *job) loseMarks(why string) {
	rec := j.rec
	j.lose(rec.Counts.Instants, "instants", why)
	j.lose(points(rec), "points of counters", why)
	j.lose(int64(len(rec.Flows)), "flows", why)
}

func points(rec *recording.Recording) int64 {
	var n int64
	for _, c := range rec.Counters {
		n += int64(c.Len())
	}
	return n
}

// loseArgs notes the arguments of spans.
func (j *job) loseArgs(why string) {
	if j.rec.Args == nil {
		return
	}
	var n int64
	for _, t := range j.rec.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := range l.Len() {
				if l.Args(k) != 0 {
					n++
				}
			}
		}
	}
	j.lose(n, "arguments of spans", why)
}

// loseWindows notes the windows.
func (j *job) loseWindows(why string) {
	var n int64
	for _, w := range j.rec.Windows {
		n += int64(len(w.Windows))
	}
	j.lose(n, "windows", why)
}

// Samples is how many samples a recording has on its timeline.
func samples(rec *recording.Recording) int64 {
	var n int64
	for _, t := range rec.Tracks {
		for _, s := range t.Samples {
			n += int64(s.Len())
		}
	}
	return n
}
