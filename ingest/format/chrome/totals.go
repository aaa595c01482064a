package chrome

import (
	"bytes"
	"strings"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// clang's -ftime-trace ends with totals: for each kind of work, one event that starts at
// 0 and is as long as all work of that kind together. It is the only event of its thread.
// Totals are not work of a thread, so each gets a row beside the threads, like async
// operations, and sums count everything once.

// totals is the track for the totals of a process, and their number so far.
type totals struct {
	track *recording.TrackBuilder
	n     uint32
}

// total adds the item if it is one of clang's totals, and reports whether it is. The item
// must be the first event of its thread.
func (d *decoder) total(it *item, t *thread, k *recording.Tally) bool {
	if it.ph != 'X' || it.flags&hasArgs == 0 || it.ts.US != 0 || it.ts.PS != 0 || !strings.HasPrefix(d.names[it.name].text, "Total ") {
		return false
	}
	args := jsonscan.Member(it.text(), "args")
	if jsonscan.Member(args, "count") == nil || !bytes.Contains(args, []byte(`"avg ms"`)) {
		return false
	}
	s := d.totals[t.pid]
	if s == nil {
		key := recording.TrackKey{Kind: recording.AsyncTrack, PID: t.pid, Name: "totals"}
		s = &totals{track: d.b.Track(key)}
		s.track.SetName(key.Name)
		s.track.SetSort(1 << 30)
		d.totals[t.pid] = s
		d.process(t)
		d.b.Remark("compiler-totals", place(it.off), "The compiler's own totals (%s and others) are shown as separate rows and excluded from totals, like async operations", d.names[it.name].text)
	}
	d.spans()
	at := d.at(it.ts, it.off)
	_, end := d.length(it, at, k)
	s.n++
	s.track.SpanOf(s.n, at, min(end, maxTime), d.frame(it.name, it.cat), d.ref(it), end == never)
	return true
}
