package spaa

import "ashlar/ingest/model/recording"

// names numbers the strings of all workers. Number 0 stands for absent.
type names struct {
	ids  map[string]uint32
	text []string
}

func newNames() names { return names{ids: map[string]uint32{}, text: []string{""}} }

func (n *names) id(s string) uint32 {
	id, ok := n.ids[s]
	if !ok {
		id = uint32(len(n.text))
		n.text = append(n.text, s)
		n.ids[s] = id
	}
	return id
}

// mirror is the merger's view of one worker's dict.
type mirror struct {
	names    []uint32 // by string number - 1
	nodes    []mirrorNode
	bigs     []int64
	contexts []mirrorContext
}

type mirrorNode struct {
	node
	call recording.CallID // NoCall until it is known
}

type mirrorContext struct {
	rec      contextRec
	resolved bool
	id       recording.ContextID
	event    int32
	track    *trackState
}

// learn copies the additions to the dict that a batch carries.
func (mi *mirror) learn(b *batch, n *names) {
	if b.reset {
		*mi = mirror{names: mi.names[:0], nodes: mi.nodes[:0]}
	}
	for _, s := range b.strings {
		mi.names = append(mi.names, n.id(s))
	}
	for _, nd := range b.nodes {
		mi.nodes = append(mi.nodes, mirrorNode{node: nd})
	}
	mi.bigs = append(mi.bigs, b.bigs...)
	for _, c := range b.contexts {
		mi.contexts = append(mi.contexts, mirrorContext{rec: c})
	}
}

// name converts a worker's string number to the merger's.
func (mi *mirror) name(id uint32) uint32 {
	if id == 0 {
		return 0
	}
	return mi.names[id-1]
}

// ref converts the string number in a stack id to the merger's.
func (mi *mirror) ref(r idRef) idRef {
	if r.form == formText || r.form == formNumberText {
		r.word = uint64(mi.name(uint32(r.word)))
	}
	return r
}

// resolve converts the string numbers in weights to the merger's, in place.
func (mi *mirror) resolve(ws []weightRec) []weightRec {
	for i := range ws {
		ws[i].metric, ws[i].unit = mi.name(ws[i].metric), mi.name(ws[i].unit)
	}
	return ws
}

// context resolves a context when a record first uses it.
func (m *merger) context(mi *mirror, k uint32, line int64) *mirrorContext {
	c := &mi.contexts[k]
	if !c.resolved {
		c.resolved = true
		c.id = m.b.Context(c.rec.attrs)
		if c.rec.event != 0 {
			c.event = m.event(mi.name(c.rec.event), line)
		}
	}
	if c.rec.event == 0 {
		c.event = m.defaultEvent(line)
	}
	return c
}
