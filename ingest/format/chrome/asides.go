package chrome

import (
	"bytes"
	"strings"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// Some spans are not work of the thread they are written for. They get rows beside the
// threads, like async operations, so that sums count everything once:
//
//   - clang's -ftime-trace ends with totals: for each kind of work, one event that starts
//     at 0 and is as long as all work of that kind together. It is the only event of its
//     thread.
//   - PyTorch's profiler writes a span for its whole recording, and on each GPU stream the
//     annotations during which its kernels ran. Between the kernels the stream is idle.
//
// asides is one such row, and the number of its spans so far.
type asides struct {
	track *recording.TrackBuilder
	n     uint32
}

// aside adds a span to the row with a key.
func (d *decoder) aside(it *item, t *thread, k *recording.Tally, key recording.TrackKey, sort int) {
	s := d.asides[key]
	if s == nil {
		s = &asides{track: d.b.Track(key)}
		s.track.SetName(key.Name)
		s.track.SetSort(sort)
		d.asides[key] = s
		d.process(t)
	}
	d.spans()
	at := d.at(it.ts, it.off)
	_, end := d.length(it, at, k)
	s.n++
	s.track.SpanOf(s.n, at, min(end, maxTime), d.frame(it.name, it.cat), d.ref(it), end == never)
}

// total adds the item if it is one of clang's totals, and reports whether it is. The item
// must be the first event of its thread.
func (d *decoder) total(it *item, t *thread, k *recording.Tally) bool {
	if it.ph != 'X' || it.flags&hasArgs == 0 || it.ts.US != 0 || it.ts.PS != 0 || !strings.HasPrefix(d.textOf(it.name), "Total ") {
		return false
	}
	args := jsonscan.Member(it.text(), "args")
	if jsonscan.Member(args, "count") == nil || !bytes.Contains(args, []byte(`"avg ms"`)) {
		return false
	}
	d.b.Remark("compiler-totals", place(it.off), "The compiler's own totals (%s and others) are shown as separate rows and excluded from totals, like async spans", d.textOf(it.name))
	d.aside(it, t, k, recording.TrackKey{Kind: recording.AsyncTrack, PID: t.pid, Name: "totals"}, 1<<30)
	return true
}

// The categories of PyTorch's annotations (libkineto/src/ActivityType.cpp and
// output_json.cpp in github.com/pytorch/kineto).
const (
	streamAnnotation = "gpu_user_annotation"
	wholeTrace       = "Trace" // of the span "PyTorch Profiler (0)" in process "Spans"
)

// annotation adds the item if it is one of PyTorch's annotations, and reports whether it
// is.
func (d *decoder) annotation(it *item, t *thread, k *recording.Tally) bool {
	key := recording.TrackKey{Kind: recording.AsyncTrack, PID: t.pid, TID: t.tid}
	switch {
	case it.ph != 'X':
		return false
	case d.textOf(it.cat) == streamAnnotation:
		key.Name = "annotations of stream " + recording.IDText(t.tid)
	case t.key.pid.text == "Spans" && strings.HasPrefix(d.textOf(it.name), t.key.tid.text):
		key.Name = t.key.tid.text
	default:
		return false
	}
	d.aside(it, t, k, key, 0)
	return true
}
