package details

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/waits"
	"ashlar/render/timeline"
	"ashlar/render/units"
)

// Details of items on the timeline.

// inNS writes picoseconds exactly.
var inNS = recording.Metric{Unit: "ns", Decimals: 3}

func lengthDetail(key string, ps int64) Detail {
	return Detail{Key: key, Value: units.Duration(ps), Exact: units.Exact(ps, &inNS)}
}

// timeDetail formats a time from the recording's start; its copied form is the file's own
// time.
func (p *Panel) timeDetail(key string, at int64) Detail {
	return Detail{Key: key, Value: units.Duration(at - p.Rec.Start), Exact: strings.TrimSpace(p.Rec.Clock.Text(at) + " " + p.Rec.Clock.Unit)}
}

// barDetails returns the details of a span, or of a bar made of samples.
func (p *Panel) barDetails(s *panel.Host, h *timeline.Hit) (title, sub string, ds []Detail) {
	if h.IsState() {
		return p.stateDetails(s, h)
	}
	title = p.Rec.FuncName(h.Call)
	if h.Call == recording.NoCall {
		title = "[no stack]"
	}
	t := p.Rec.Tracks[h.Track]
	ds = append(ds, p.timeDetail("Start", h.Start))
	if h.Samples != nil {
		sub = units.Plural(int64(h.Last-h.First), "sample") + " in a row"
		ds = append(ds, p.sampleDetails(h)...)
	} else {
		sub = units.Duration(h.End - h.Start)
		if h.Unfinished {
			sub += ", never ended"
		}
		ds = append(ds, lengthDetail("Duration", h.End-h.Start))
		if h.Span >= 0 {
			self := selfTime(&p.Rec.Calls, t, h)
			d := lengthDetail("Self", self)
			d.Value += "  " + units.Percent(self, h.End-h.Start)
			ds = append(ds, d)
			if ps, known := p.Rec.SpanCPU(&t.Lanes[h.Lane], h.Span); known {
				ds = append(ds, onCPU(ps, h.End-h.Start-ps, h.End-h.Start)...)
			}
			if h.Call != recording.NoCall {
				if rank := p.rank.of(s, rankKey{p.Rec, p.Rec.Func(h.Call), h.End - h.Start}); rank != "" {
					ds = append(ds, Detail{Key: "Rank", Value: rank})
				}
			}
		}
	}
	ds = append(ds, p.trackDetails(t)...)
	if t.Kind == recording.ThreadTrack {
		ds = append(ds, Detail{Key: "Depth", Value: strconv.Itoa(p.Rec.Calls.Depth(h.Call))})
	}
	ds = append(ds, p.frameDetails(h.Call)...)
	if h.Samples != nil && h.Samples.Event == p.Event {
		ds = append(ds, ContextDetails(p.Doc.CallContexts(p.Rec, p.Event, p.Metric, h.Track, h.Call), p.MetricOf(), true)...)
	}
	ds = append(ds, p.flowDetails()...)
	ds = append(ds, p.argDetails(h.Args)...)
	return title, sub, append(ds, p.callers(h)...)
}

// onCPU splits a time into on-CPU, off-CPU and unknown.
func onCPU(cpu, waiting, all int64) (ds []Detail) {
	for _, part := range []struct {
		key string
		ps  int64
	}{{"On CPU", cpu}, {"Off CPU", waiting}, {"CPU unknown", all - cpu - waiting}} {
		if part.ps == 0 && part.key == "CPU unknown" {
			continue
		}
		d := lengthDetail(part.key, part.ps)
		d.Value += "  " + units.Percent(part.ps, all)
		ds = append(ds, d)
	}
	return ds
}

// stateDetails returns the details of a thread state: its reason, duration, place, and
// the thread that ended it.
func (p *Panel) stateDetails(s *panel.Host, h *timeline.Hit) (title, sub string, ds []Detail) {
	t := p.Rec.Tracks[h.Track]
	ds = append([]Detail{p.timeDetail("Start", h.Start), lengthDetail("Duration", h.End-h.Start)}, p.trackDetails(t)...)
	if w := h.Waker(p.Rec); w != recording.NoTrack {
		ds = append(ds, Detail{Key: "Woken by", Value: timeline.NameAndID(p.Rec.Tracks[w]), To: func() { p.GoToWaker(s) }})
	}
	if p.Rec.State(h.Call) == recording.Blocked {
		ds = append(ds, p.waitDetails(waits.At(p.Rec, h.Track, h.Span))...)
	}
	ds = append(ds, heading("This "+p.Rec.ThreadWord(h.Track)+", of the recording"))
	for _, state := range recording.States {
		if ps := t.InState[state]; ps > 0 {
			d := lengthDetail(panel.Title1(state.String()), ps)
			d.Share = units.Percent(ps, p.Rec.Duration()) // as in the gutter
			ds = append(ds, d)
		}
	}
	if up := p.Rec.Calls.Parent(h.Call); up != recording.NoCall {
		ds = append(ds, heading("In"))
		for n := 0; up != recording.NoCall && n < mostCallers; n++ {
			ds = append(ds, Detail{Value: p.Rec.FuncName(up)})
			up = p.Rec.Calls.Parent(up)
		}
	}
	return lanes.StateTitle(p.Rec, h.Call), units.Duration(h.End - h.Start), ds
}

// waitDetails returns who ended a wait, what that thread was doing and since when.
func (p *Panel) waitDetails(w waits.Wait) (ds []Detail) {
	if w.Waker.Track == recording.NoTrack {
		return nil
	}
	ds = append(ds, Detail{Key: "Ended by", Value: timeline.NameAndID(p.Rec.Tracks[w.Waker.Track])})
	if call, _ := w.Doing(p.Rec); call != recording.NoCall {
		ds = append(ds, Detail{Key: "Doing", Value: waits.StackText(p.Rec, call, mostCallers)})
	}
	if state, start := w.Since(p.Rec); state != recording.NoState {
		ds = append(ds, p.timeDetail(panel.Title1(state.String())+" since", start))
	}
	return ds
}

// stateSums returns the time that the selected threads spent in each state.
func (p *Panel) stateSums() (ds []Detail) {
	a := p.Doc.Answer()
	if a == nil || len(a.States) == 0 {
		return nil
	}
	var wall int64
	for i := range a.States {
		recording.Add(&wall, a.States[i].Self)
	}
	word := panel.Title1(p.Rec.ThreadWord(recording.NoTrack))
	switch in := &p.Scope; {
	case len(in.Tracks) != 1 || in.Outside:
		ds = append(ds, heading(word+" states in their lifetimes"))
	case in.Ranged: // percentages are of the time, as in the gutter, not of the thread's lifetime
		wall = in.To - in.From
		ds = append(ds, heading(word+" states in the selected time"))
	default:
		wall = p.Rec.Duration()
		ds = append(ds, heading(word+" states in the recording"))
	}
	for i, r := range a.States {
		if i == 12 {
			ds = append(ds, Detail{Value: "and " + units.Count(int64(len(a.States)-i)) + " more"})
			break
		}
		d := lengthDetail(panel.Title1(r.Name), r.Self)
		d.Share = units.Percent(r.Self, wall)
		ds = append(ds, d)
	}
	if a.Tree.Weights.Left.Waits {
		ds = append(ds, Detail{Value: analyze.IdleWaits + " hidden"})
	}
	return ds
}

func (p *Panel) sampleDetails(h *timeline.Hit) (ds []Detail) {
	m := p.MetricOf()
	var sum int64
	for i := h.First; i < h.Last; i++ {
		if v := h.Samples.Value(i, m, p.Metric); v != recording.Missing {
			sum += v
		}
	}
	length := "Until next sample"
	if h.Last == h.Samples.Len() || h.Samples.Time(h.Last) > h.End {
		length = "Drawn as" // end unknown: the next sample is far away or missing
	}
	ds = append(ds, lengthDetail(length, h.End-h.Start), Detail{Key: panel.Title1(m.Name), Value: units.Value(sum, m), Exact: units.Exact(sum, m)})
	if cpu := h.Samples.CPU(h.First); cpu >= 0 {
		ds = append(ds, Detail{Key: "CPU", Value: strconv.Itoa(cpu)})
	}
	return ds
}

// trackDetails returns the lines that name an item's thread or async row, and its
// process.
func (p *Panel) trackDetails(t *recording.Track) []Detail {
	key, name := "Thread", timeline.TrackName(t)
	if word := p.Rec.Processes[t.Process].Member; word != "" {
		key = panel.Title1(word)
	}
	switch {
	case t.Kind == recording.AsyncTrack:
		key = "Async"
	case t.TID != 0 && t.Name != "":
		name = strings.TrimSpace(name + "  " + recording.IDText(t.TID))
	}
	return append([]Detail{{Key: key, Value: name}}, p.processDetails(t.Process)...)
}

func (p *Panel) processDetails(i int) []Detail {
	pr := &p.Rec.Processes[i]
	name := pr.Title()
	if pr.PID != 0 {
		name = strings.TrimSpace(name + "  " + recording.IDText(pr.PID))
	}
	if name == "" {
		return nil
	}
	return []Detail{{Key: "Process", Value: name}}
}

// argDetails lists the arguments under their heading; the members of an object get a line
// each.
func (p *Panel) argDetails(ref uint64) []Detail {
	if ref == 0 || p.Rec.Args == nil {
		return nil
	}
	text := p.Rec.Args(ref)
	if text == "" || text == "{}" {
		return nil
	}
	ds := []Detail{heading("Arguments")}
	members, ok := objectMembers(text)
	if !ok {
		return append(ds, Detail{Value: cutText(text), Exact: text})
	}
	for _, m := range members {
		if len(m.key)+len(m.value) > 40 {
			ds = append(ds, Detail{Value: cutText(m.key + ": " + m.value), Exact: m.key + ": " + m.value})
		} else {
			ds = append(ds, Detail{Key: m.key, Value: m.value})
		}
	}
	return ds
}

// cutText cuts a text to a length that the panel can lay out.
func cutText(s string) string {
	if len(s) > 2000 {
		return strings.ToValidUTF8(s[:2000], "") + "…"
	}
	return s
}

type member struct{ key, value string }

// mostMembers is the maximum number of members of an object that are listed.
const mostMembers = 60

// objectMembers splits a JSON object into its members, texts without quotes and
// other values as they are written.
func objectMembers(text string) (ms []member, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		k, err := d.Token()
		key, is := k.(string)
		var raw json.RawMessage
		if err != nil || !is || d.Decode(&raw) != nil {
			return nil, false
		}
		value := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
			value = s
		}
		if len(ms) == mostMembers {
			return append(ms, member{"…", "more"}), true
		}
		ms = append(ms, member{key, value})
	}
	return ms, len(ms) > 0
}

// mostCallers is the maximum number of callers that are listed.
const mostCallers = 64

// callers lists the calls above a bar, innermost first; a click goes to one.
func (p *Panel) callers(h *timeline.Hit) (ds []Detail) {
	c, lane := h.Call, h.Lane
	for len(ds) < mostCallers && c != recording.NoCall {
		c = p.Rec.Calls.Parent(c)
		lane--
		if c == recording.NoCall {
			break
		}
		d := Detail{Value: p.Rec.FuncName(c)}
		at := lane
		d.To = func() { p.pickAbove(h, at) }
		ds = append(ds, d)
	}
	if len(ds) == 0 {
		return nil
	}
	if c != recording.NoCall && len(ds) == mostCallers {
		ds = append(ds, Detail{Value: fmt.Sprintf("and %d more", p.Rec.Calls.Depth(c)-1)})
	}
	return append([]Detail{heading("Callers")}, ds...)
}

// pickAbove selects the bar above another, in a given lane.
func (p *Panel) pickAbove(h *timeline.Hit, lane int) {
	t := p.Rec.Tracks[h.Track]
	if h.Samples != nil {
		if to, ok := p.SampleBarAt(h.Track, lane-len(t.Lanes), h.First, h.Samples); ok {
			p.PickShown(to)
		}
	} else if to, ok := lanes.BarAt(t, h.Track, lane, h.Start); ok {
		p.PickShown(to)
	}
}

// flowDetails lists the arrows of the selected span; a click follows one.
func (p *Panel) flowDetails() (ds []Detail) {
	for i, e := range p.Flows.Ends {
		if i == 12 {
			ds = append(ds, Detail{Value: "and " + units.Count(int64(len(p.Flows.Ends)-i)) + " more arrows"})
			break
		}
		to, incoming := p.Flows.Other(p.Timeline, e)
		key := "Arrow to"
		if incoming {
			key = "Arrow from"
		}
		name := timeline.TrackName(p.Rec.Tracks[to.Track])
		ds = append(ds, Detail{Key: key, Value: name + "  " + units.Duration(to.Time-p.Rec.Start), To: func() { p.GoToStep(to) }})
	}
	return ds
}

func (p *Panel) windowDetails(h *timeline.Hit) (title, sub string, ds []Detail) {
	ds = []Detail{p.timeDetail("Start", h.Start), p.timeDetail("End", h.End), lengthDetail("Length", h.End-h.Start)}
	if ws := p.Rec.Windows[h.Track]; h.Window < len(ws.Windows) {
		m := p.MetricOf()
		v := timeline.WindowWeight(ws, h.Window, p.Metric)
		ds = append(ds, Detail{Key: panel.Title1(m.Name), Value: units.Value(v, m), Exact: units.Exact(v, m)},
			Detail{Key: "Number", Value: units.Count(int64(h.Window+1)) + " of " + units.Count(int64(len(ws.Windows)))})
	}
	return "Window", units.Duration(h.End - h.Start), ds
}

// counterDetails returns the details of a counter's value: the exact value, its time, its
// change and, with a selected range, its extremes there.
func (p *Panel) counterDetails(h *timeline.Hit) (title, sub string, ds []Detail) {
	c := h.Counter
	value := func(key string, v float64) Detail {
		return Detail{Key: key, Value: units.Quantity(v, c.Unit), Exact: timeline.Number(v)}
	}
	v := c.Value(h.Point)
	ds = []Detail{{Key: "Value", Value: strings.TrimSpace(timeline.Number(v) + " " + c.Unit), Exact: timeline.Number(v)}, p.timeDetail("Since", h.Start)}
	if h.End > h.Start {
		ds = append(ds, lengthDetail("For", h.End-h.Start))
	}
	if h.Point > 0 {
		ds = append(ds, value("Change", v-c.Value(h.Point-1)))
	}
	if p.Scope.Ranged {
		if lo, hi := c.Extent(max(0, c.Search(p.Scope.From)-1), c.Search(p.Scope.To)); lo <= hi {
			ds = append(ds, value("Min in selection", lo), value("Max in selection", hi))
		}
	}
	lo, hi := c.Extent(0, c.Len())
	ds = append(ds, value("Min", lo), value("Max", hi), Detail{Key: "Point", Value: units.Count(int64(h.Point+1)) + " of " + units.Count(int64(c.Len()))})
	return c.Label(), "Counter", append(ds, p.processDetails(c.Process)...)
}

func (p *Panel) instantDetails(h *timeline.Hit) (title, sub string, ds []Detail) {
	ds = append([]Detail{p.timeDetail("Time", h.Start)}, p.trackDetails(p.Rec.Tracks[h.Track])...)
	return h.Instant.Name, "Instant", append(ds, p.argDetails(h.Instant.Args)...)
}
