package chrome

import (
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// stackTable holds the frames of the top-level stackFrames: a tree whose nodes name their
// parents. The frames may be in any order, and may come after the samples that use them.
type stackTable struct {
	d     *decoder
	nodes map[uint32]*stackNode // by interned id
}

type stackNode struct {
	parent uint32 // 0 for an outermost frame
	frame  recording.FrameID
	call   recording.CallID
	state  nodeState
}

type nodeState uint8

const (
	unresolved nodeState = iota
	resolving            // being resolved from a child; meeting it again means a loop
	resolved
)

func (s *stackTable) init(d *decoder) { s.d, s.nodes = d, map[uint32]*stackNode{} }

// define adds a frame: "id": {"category": …, "name": …, "parent": …}.
func (s *stackTable) define(it *item) {
	k := s.d.kind("stackFrames")
	k.Read++
	text := it.text()
	e, _, st := jsonscan.Str(text, 1)
	p := jsonscan.Space(text, min(e+1, len(text)))
	if st != jsonscan.Good || p >= len(text) {
		s.d.left(k, it.off)
		return
	}
	n := new(stackNode)
	var f recording.Function
	for key, v := range jsonscan.Object(text[p+1:]).All {
		switch string(key) {
		case "name":
			f.Name = jsonscan.Plain(v)
		case "category":
			f.Module = jsonscan.Plain(v)
		case "parent":
			if q := jsonscan.Unquoted(v); len(q) > 0 && string(v) != "null" {
				n.parent = s.d.ids.id(q)
			}
		}
	}
	if f.Name == "" {
		f.Name = nameless
		s.d.repaired(k, it.off)
		s.d.warn(noName, it.off, "")
	}
	n.frame = s.d.b.FunctionFrame(s.d.b.Function(f))
	s.nodes[s.d.ids.id(text[1:e])] = n
	k.Kept++
}

// call returns the innermost call of a frame's stack. known is false if an ancestor of
// the frame is missing in the table, or if a frame is its own ancestor.
func (s *stackTable) call(id uint32) (call recording.CallID, known bool) {
	var path []*stackNode
	known = true
	for {
		n := s.nodes[id]
		if n == nil || n.state == resolving {
			known = false
			break
		}
		if n.state == resolved {
			call = n.call
			break
		}
		n.state = resolving
		path = append(path, n)
		if id = n.parent; id == 0 {
			break
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i]
		call = s.d.b.Call(call, n.frame)
		n.call, n.state = call, resolved
	}
	return call, known
}
