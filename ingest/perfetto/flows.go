package perfetto

import "ashlar/ingest/recording"

// openFlow is a flow that may go on. Most pass one track and end on the next.
type openFlow struct {
	first recording.FlowStep
	rest  []recording.FlowStep
}

// last is where it passed last.
func (f *openFlow) last() recording.FlowStep {
	if n := len(f.rest); n > 0 {
		return f.rest[n-1]
	}
	return f.first
}

// flow takes a flow that passes a track.
func (m *maker) flow(x *wide, at int64) {
	id := uint64(x.value)
	step := recording.FlowStep{Track: m.places[x.group].builder.Index(), Time: at}
	f, begun := m.flows[id]
	switch {
	case x.kind == flowEnds && begun:
		delete(m.flows, id)
		m.addFlow(f.first, append(f.rest, step)...)
		return
	case x.kind == flowArrives && begun:
		m.addFlow(f.last(), step)
		return
	case x.kind != flowPasses:
		return
	case begun:
		f.rest = append(f.rest, step)
	default:
		f.first = step
	}
	m.flows[id] = f
}

// addFlow adds a flow that has more steps than one.
func (m *maker) addFlow(first recording.FlowStep, rest ...recording.FlowStep) {
	n := 1 + len(rest)
	if n == 1 {
		return
	}
	if n > cap(m.steps)-len(m.steps) {
		m.steps = make([]recording.FlowStep, 0, max(n, 1<<10))
	}
	from := len(m.steps)
	m.steps = append(append(m.steps, first), rest...)
	m.b.AddFlow(recording.Flow{Name: "flow", Steps: m.steps[from:len(m.steps):len(m.steps)]})
}
