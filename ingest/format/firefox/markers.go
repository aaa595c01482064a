package firefox

import (
	"encoding/json"
	"fmt"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// phases of a marker
const (
	instant = iota
	interval
	intervalStart
	intervalEnd
)

// A marker has begun but not ended yet.
type marker struct {
	start int64
	frame recording.FrameID
	args  uint64
	group uint32
}

// addMarkers adds a thread's markers. An end closes the newest open begin with the same
// name, as in the Firefox Profiler. An end without a begin becomes a marker that starts at
// the thread's first time.
func (d *decoder) addMarkers(x *stacks, track *recording.TrackBuilder, t *table) error {
	if !d.spans {
		d.spans = true
		d.b.AddEvent(recording.SpanEvent())
		x.args()
	}
	open := map[uint32][]marker{}
	var order []uint32
	first, begun := int64(0), false
	for i := range t.col("name").len() {
		if err := d.pause(i); err != nil {
			return err
		}
		d.markers.Read++
		phase, start, end, ok := x.span(t, i)
		if !ok {
			d.markers.Leave("")
			d.b.Warn("no-time", "", "Marker %d of %q has no time, or a time more than 26 days from the first, and was left out", i, track.Name())
			continue
		}
		d.markers.Kept++
		name := x.text(t.col("name").index(i))
		if name == "" {
			name = fmt.Sprintf("[marker %d]", i)
		}
		if !begun || start < first {
			first, begun = start, true
		}
		m := marker{start: start, args: x.ref(t, i)}
		if phase == instant {
			track.Instant(start, name, m.args)
			continue
		}
		m.group = d.groupOf(name)
		m.frame = d.b.FunctionFrame(d.b.Function(recording.Function{Name: name, Module: x.p.meta.category(t.col("category").index(i))}))
		before := open[m.group]
		switch {
		case phase == intervalStart:
			if before == nil {
				order = append(order, m.group)
			}
			open[m.group] = append(before, m)
			d.b.Cover(start, start)
		case phase == intervalEnd && len(before) > 0:
			last := before[len(before)-1]
			open[m.group] = before[:len(before)-1]
			if last.args == 0 {
				last.args = m.args
			}
			d.span(track, last, end, false)
		case phase == intervalEnd:
			d.markers.Mend("")
			d.b.Remark("marker-unbegun", "", "Marker %q ends without a start; it is shown from the start of the recording", name)
			m.start = min(first, end)
			d.span(track, m, end, false)
		default:
			d.span(track, m, end, false)
		}
	}
	for _, g := range order {
		for _, m := range open[g] {
			_, end, _ := d.b.Extent()
			d.span(track, m, max(end, m.start), true)
		}
	}
	return nil
}

func (d *decoder) span(track *recording.TrackBuilder, m marker, end int64, unfinished bool) {
	if end < m.start {
		d.markers.Mend("")
		d.b.Warn("marker-backward", "", "A marker of %q ends before it starts; it is shown without length", track.Name())
		end = m.start
	}
	track.SpanOf(m.group, m.start, end, m.frame, m.args, unfinished)
}

func (d *decoder) groupOf(name string) uint32 {
	g, ok := d.group[name]
	if !ok {
		g = uint32(len(d.group)) + 1
		d.group[name] = g
	}
	return g
}

// span returns the phase and times of marker i. Profiles before version 27 have a single
// time and keep the rest in the marker's data.
func (x *stacks) span(t *table, i int) (phase int, start, end int64, ok bool) {
	var a, b decode.Number
	var began, ended bool
	if p := t.col("phase"); p != nil {
		phase = p.index(i)
		a, began = t.col("startTime").at(i)
		b, ended = t.col("endTime").at(i)
	} else {
		a, began = t.col("time").at(i)
		b, ended = a, began
		if p := t.col("data phase").index(i); p >= 0 {
			phase = p
		} else if s, ok := t.col("data start").at(i); ok {
			if e, ok := t.col("data end").at(i); ok {
				phase, a, b = interval, s, e
			}
		}
	}
	switch phase {
	case instant, intervalStart:
		b, ended = a, began
	case intervalEnd:
		a, began = b, ended
	case interval:
	default:
		return 0, 0, 0, false
	}
	if !began || !ended {
		return 0, 0, 0, false
	}
	start, ok = x.d.at(a, x.shift)
	end, also := x.d.at(b, x.shift)
	return phase, start, end, ok && also
}

// ref returns the reference to the data of marker i.
func (x *stacks) ref(t *table, i int) uint64 {
	if i >= t.refs.Len() {
		return 0
	}
	return t.refs.At(i)
}

// args makes the data of markers readable: it replaces string numbers by the strings, if
// all threads share one string table.
func (x *stacks) args() {
	texts, strings, fields := x.d.texts, x.d.root.tables.strings, x.d.root.meta.texts
	x.d.b.SetArgs(func(ref uint64) string {
		text := texts.Text(ref)
		byNumber := fields[jsonscan.Plain(jsonscan.Member([]byte(text), "type"))]
		if len(strings) == 0 || len(byNumber) == 0 {
			return text
		}
		out := []byte{'{'}
		for m := jsonscan.Object([]byte(text)); ; {
			k, v, ok := m.Next()
			if !ok {
				break
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, '"'), m.Raw...), `":`...)
			if n := readNumber(v); byNumber[string(k)] && n.ok && n.Scale == 0 && n.Mantissa >= 0 && n.Mantissa < int64(len(strings)) {
				if v, _ = json.Marshal(strings[n.Mantissa]); v == nil {
					v = []byte(`""`)
				}
			}
			out = append(out, v...)
		}
		return string(append(out, '}'))
	})
}
