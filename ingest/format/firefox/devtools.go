package firefox

import (
	"strconv"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// timeline holds the page's activities and redraws, which the old DevTools recorded in
// addition to a raw profile.
type timeline struct {
	names  []string
	number map[string]int // index of a name
	marks  *table
}

// timelineKeys are the members of a recording of the old DevTools that hold timeline
// rows, or rows that no view can show.
var timelineKeys = map[string]bool{"markers": true, "ticks": true, "memory": true, "frames": true, "sites": true}

// timeline reads the rows of one of the members in timelineKeys. The reader is already
// inside its value.
func (r *reader) timeline(l *timeline, key string) {
	for r.s.Next() {
		switch {
		case key == "markers" && r.s.Peek() == '{':
			if raw, ok := r.s.Value(); ok {
				l.add(r.d, raw)
			}
		case key == "ticks":
			if raw, ok := r.s.Value(); ok {
				l.row(r.d, "tick of the refresh driver", "0", raw, raw, nil)
			}
		default:
			left := r.d.b.Tally(key + " of DevTools")
			left.Read++
			left.Leave(decode.Byte(r.s.Offset()))
			r.s.Skip()
		}
	}
}

// devtools reads the raw profile in a recording of the old DevTools. DevTools made the
// times of samples relative to the recording's start, but not the times of thread
// markers, which still use the process's clock. The difference is not recorded.
func (r *reader) devtools(p *profile, depth int) {
	r.profile(p, depth)
	for _, t := range p.threads {
		n := t.markers.rows()
		if n == 0 {
			continue
		}
		t.markers = nil
		r.d.markers.Read += int64(n)
		for range n {
			r.d.markers.Leave(decode.Byte(t.from))
		}
		r.d.b.Remark("other-clock", decode.Byte(t.from), "The markers of thread %q use a different clock than its samples and were left out", t.name)
	}
}

// add adds a marker: an object with a name, a start and an end in milliseconds, and
// members that depend on its kind.
func (l *timeline) add(d *decoder, raw []byte) {
	var name string
	var start, end []byte
	for k, v := range jsonscan.Object(raw).All {
		switch string(k) {
		case "name":
			name = jsonscan.Plain(v)
		case "start":
			start = v
		case "end":
			end = v
		}
	}
	l.row(d, name, "1", start, end, raw)
}

func (l *timeline) row(d *decoder, name, phase string, start, end, data []byte) {
	if l.marks == nil {
		l.marks, l.number = &table{cols: map[string]*numbers{}}, map[string]int{}
	}
	n, ok := l.number[name]
	if !ok {
		n = len(l.names)
		l.number[name], l.names = n, append(l.names, name)
	}
	l.marks.add(d, "name", strconv.AppendInt(nil, int64(n), 10))
	l.marks.add(d, "phase", []byte(phase))
	l.marks.add(d, "startTime", start)
	l.marks.add(d, "endTime", end)
	l.marks.add(d, "data", data)
}

// join attaches the timeline to the first thread, which ran the page.
func (l *timeline) join(threads []*thread) {
	if l.marks != nil && len(threads) > 0 {
		threads[0].timeline = l
	}
}

// addTimeline adds a timeline as a track of its own.
func (d *decoder) addTimeline(x *stacks, key recording.TrackKey, l *timeline) error {
	key.Kind, key.Name = recording.AsyncTrack, "DevTools timeline"
	marks := d.b.Track(key)
	marks.SetName(key.Name)
	marks.SetSort(d.sort)
	d.sort++
	return d.addMarkers(&stacks{d: d, p: x.p, tables: &tables{strings: l.names}, shift: x.shift}, marks, l.marks)
}
