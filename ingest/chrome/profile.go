package chrome

import (
	"maps"
	"slices"
	"strconv"

	"ashlar/ingest/jsonscan"
	"ashlar/ingest/recording"
)

// V8's CPU profiles: a tree of nodes, each a function called from its parent;
// for each sample the innermost node; and for each sample the microseconds
// since the one before, the first since startTime. In a trace they come in
// chunks (events Profile and ProfileChunk) or in one piece (an instant
// CpuProfile); a .cpuprofile file is one of them on its own.
//
// A sample's time is until the next one, as DevTools counts it, and the last
// one's until endTime. Samples of several threads of V8's are a little out of
// order (negative timeDeltas); the newest few are held back and sorted.

// profile is one CPU profile while it is read.
type profile struct {
	d      *decoder
	thread *thread
	known  bool // the thread is the one that was sampled
	time   micros
	timed  bool   // time is set: that of the last sample, or the start
	start  micros // what time began with
	end    micros
	ended  bool

	nodes  map[int64]*profileNode
	parent map[int64]int64 // from children, for nodes that name no parent

	// What is read of a chunk, and of a file ids and deltas that wait for each other.
	chunk, file struct {
		ids    []int64
		deltas []micros
	}

	held []heldSample
	last micros // of the last sample that was added
	any  bool
}

type profileNode struct {
	parent    int64
	hasParent bool
	root      bool // the node above all others, which is no function
	hits      int64
	frame     recording.FrameID
	call      recording.CallID
	state     nodeState
}

type heldSample struct {
	at   micros
	call recording.CallID
	off  int64
}

// holdBack is how many samples are held back to be put in order.
const holdBack = 64

func (d *decoder) newProfile() *profile {
	return &profile{d: d, nodes: map[int64]*profileNode{}, parent: map[int64]int64{}}
}

// read adds a chunk's nodes and samples. deltas may stand in the profile or
// beside it.
func (p *profile) read(cpu, deltas []byte, it *item) {
	m := jsonscan.Object(cpu)
	var samples []byte
	var start, end micros
	var starts, ends bool
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "nodes":
			for a := jsonscan.Array(v); ; {
				n, ok := a.Next()
				if !ok {
					break
				}
				p.node(n)
			}
		case "samples":
			samples = v
		case "timeDeltas":
			deltas = v
		case "startTime":
			start, starts = parseMicros(jsonscan.Unquoted(v))
		case "endTime":
			end, ends = parseMicros(jsonscan.Unquoted(v))
		}
	}
	if starts && !p.timed {
		p.begin(start)
	}
	if ends {
		if starts && p.timed {
			// The profile's own clock may be another one than the trace's.
			end = end.plus(start.negated()).plus(p.start)
		}
		p.end, p.ended = end, true
	}
	ids, ds := p.columns(samples, deltas)
	if !p.timed {
		at := it.ts
		for _, d := range ds { // the chunk was written behind its last sample
			at = at.plus(d.negated())
		}
		p.begin(at)
	}
	for i, id := range ids {
		var d micros
		if i < len(ds) {
			d = ds[i]
		}
		p.sample(id, d, it.off)
	}
	p.flush(holdBack)
}

// columns reads the nodes of samples, -1 for what is none, and their distances.
func (p *profile) columns(samples, deltas []byte) (ids []int64, ds []micros) {
	ids, ds = p.chunk.ids[:0], p.chunk.deltas[:0]
	for a := jsonscan.Array(samples); ; {
		v, ok := a.Next()
		if !ok {
			break
		}
		id, ok := parseInt(jsonscan.Unquoted(v))
		if !ok {
			id = -1
		}
		ids = append(ids, id)
	}
	for a := jsonscan.Array(deltas); ; {
		v, ok := a.Next()
		if !ok {
			break
		}
		d, _ := parseMicros(jsonscan.Unquoted(v))
		ds = append(ds, d)
	}
	p.chunk.ids, p.chunk.deltas = ids, ds
	return ids, ds
}

// begin says when the profile starts.
func (p *profile) begin(at micros) { p.time, p.start, p.timed = at, at, true }

// plus adds two times.
func (m micros) plus(o micros) micros {
	m.us += o.us
	if m.ps += o.ps; m.ps >= million {
		m.ps -= million
		m.us++
	}
	return m
}

// node adds a node of the tree.
func (p *profile) node(text []byte) {
	n := new(profileNode)
	var id int64 = -1
	frame, children := text, []byte(nil)
	m := jsonscan.Object(text)
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "id":
			id, _ = parseInt(jsonscan.Unquoted(v))
		case "parent":
			n.parent, n.hasParent = parseInt(jsonscan.Unquoted(v))
		case "callFrame":
			frame = v
		case "hitCount":
			n.hits, _ = parseInt(jsonscan.Unquoted(v))
		case "children":
			children = v
		}
	}
	for a := jsonscan.Array(children); ; {
		c, ok := a.Next()
		if !ok {
			break
		}
		if child, ok := parseInt(jsonscan.Unquoted(c)); ok {
			p.parent[child] = id
		}
	}
	var name string
	n.frame, name = CallFrame(p.d.b, frame)
	n.root = name == "(root)"
	p.nodes[id] = n
}

// CallFrame interns the function of a callFrame of V8's profiles and returns its
// name as well: a function is known by its name and script, one without a name by
// its line too. V8 counts lines and columns from 0.
func CallFrame(b *recording.Builder, text []byte) (recording.FrameID, string) {
	var f recording.Function
	var fr recording.Frame
	m := jsonscan.Object(text)
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "functionName":
			f.Name = jsonscan.Plain(v)
		case "url":
			f.Module = jsonscan.Plain(v)
		case "lineNumber":
			fr.Line = oneBased(v)
		case "columnNumber":
			fr.Column = oneBased(v)
		}
	}
	if f.Name == "" {
		f.Name = "(anonymous)"
		if fr.Line > 0 {
			f.Name += " " + strconv.Itoa(int(fr.Line)) + ":" + strconv.Itoa(int(fr.Column))
		}
	}
	f.File = f.Module
	if f.Module != "" {
		f.Kind = recording.KindManaged
	}
	fr.Func, fr.Kind = b.Function(f), f.Kind
	return b.Frame(fr), f.Name
}

func oneBased(v []byte) int32 {
	n, ok := parseInt(jsonscan.Unquoted(v))
	if !ok || n < 0 || n >= 1<<31-1 {
		return 0
	}
	return int32(n + 1)
}

// call is the innermost call of a node's stack.
func (p *profile) call(id int64) (call recording.CallID, known bool) {
	if p.nodes[id] == nil {
		return recording.NoCall, false
	}
	var path []*profileNode
	for {
		n := p.nodes[id]
		if n == nil || n.state == resolving {
			break
		}
		if n.state == resolved {
			call = n.call
			break
		}
		n.state = resolving
		path = append(path, n)
		if !n.hasParent {
			if n.parent, n.hasParent = p.parent[id]; !n.hasParent {
				break
			}
		}
		id = n.parent
	}
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i]
		if !n.root || call != recording.NoCall {
			call = p.d.b.Call(call, n.frame)
		}
		n.call, n.state = call, resolved
	}
	return call, true
}

// sample adds a sample that was taken delta after the one before.
func (p *profile) sample(id int64, delta micros, off int64) {
	k := p.d.kind("profile samples")
	k.Read++
	k.Kept++
	call, known := p.call(id)
	if !known {
		p.d.repaired(k, off)
		p.d.warn(noNode, off, "")
	}
	p.time = p.time.plus(delta)
	p.held = append(p.held, heldSample{p.time, call, off})
	if len(p.held) >= 4*holdBack {
		p.flush(holdBack)
	}
}

// latest is the later of two times, if there are two.
func (m micros) latest(o micros, any bool) micros {
	if any && m.before(o) {
		return o
	}
	return m
}

func (m micros) before(o micros) bool { return m.us < o.us || m.us == o.us && m.ps < o.ps }

// sampledLabel names V8's profiles of JavaScript as people do; V8 calls them cpu-profile.
const sampledLabel = "JS samples"

// flush adds the samples that were held back, all but the newest keep.
func (p *profile) flush(keep int) {
	sortHeld(p.held)
	n := len(p.held) - keep
	if n <= 0 {
		return
	}
	d := p.d
	s := &d.sampled
	if s.cpuEvent < 0 {
		// V8 says how long it was to each sample, since a busy machine takes them late: a
		// count alone would say less than there was.
		s.cpuEvent = d.b.AddEvent(recording.Event{Name: "cpu-profile", Label: sampledLabel, Kind: "timer", Basis: recording.FromSamples, Primary: 1, Metrics: []recording.Metric{
			{Name: "samples", Unit: "count", PerSample: recording.SampleOne},
			{Name: "time", Unit: "ns", Decimals: 3, PerSample: recording.SampleColumn},
		}})
	}
	if p.thread.track == nil {
		d.open(p.thread)
	}
	for i := range n {
		h := p.held[i]
		until := p.end
		switch {
		case i+1 < len(p.held):
			until = p.held[i+1].at
		case !p.ended:
			until = h.at
		}
		lasts, _ := until.plus(h.at.negated()).picos()
		lasts = max(lasts, 0)
		if p.any && h.at.before(p.last) {
			d.repaired(d.kind("profile samples"), h.off)
			d.warn(sampleBackward, h.off, "")
			lasts = 0
		}
		p.thread.track.Sample(s.cpuEvent, d.at(h.at, h.off), h.call, -1, []int64{1, lasts})
		p.last, p.any = h.at.latest(p.last, p.any), true
	}
	p.held = append(p.held[:0], p.held[n:]...)
}

// cpuProfile adds an element of a file that is one CPU profile.
func (d *decoder) cpuProfile(it *item) {
	p := d.profile
	if p == nil {
		p = d.newProfile()
		p.thread, p.known = d.thread(threadKey{}), true
		d.profile = p
		d.sampled.order = append(d.sampled.order, p)
	}
	switch it.ph {
	case phNode:
		d.kind("nodes").Read++
		d.kind("nodes").Kept++
		p.node(it.text())
	case phSampleID:
		p.file.ids = append(p.file.ids, it.ts.us)
	case phDelta:
		p.file.deltas = append(p.file.deltas, it.ts)
	case phStart:
		p.begin(it.ts)
	case phEnd:
		p.end, p.ended = it.ts, true
	}
}

// finishProfile adds the samples of a file that is one CPU profile: nodes,
// samples and times may stand in any order, so the end is the time for it.
func (d *decoder) finishProfile() {
	p := d.profile
	if p == nil {
		return
	}
	for i, id := range p.file.ids {
		var delta micros
		if i < len(p.file.deltas) {
			delta = p.file.deltas[i]
		}
		p.sample(id, delta, 0)
	}
	if len(p.file.ids) == 0 {
		p.countHits()
	}
	p.file.ids, p.file.deltas = nil, nil
}

// countHits takes what the nodes of a file without samples say they had.
func (p *profile) countHits() {
	event := -1
	for _, id := range slices.Sorted(maps.Keys(p.nodes)) {
		hits := p.nodes[id].hits
		if hits <= 0 {
			continue
		}
		if event < 0 {
			event = p.d.b.AddEvent(recording.Event{Name: "cpu-profile", Label: sampledLabel, Kind: "timer", Metrics: []recording.Metric{{Name: "samples", Unit: "count"}}})
		}
		call, _ := p.call(id)
		p.d.b.AddStack(event, call, recording.NoTrack, 0, []int64{hits})
	}
}
