package spaa

import (
	"fmt"
	"strconv"

	"ashlar/ingest/model/recording"
)

// late keeps records that precede the dictionary records they refer to. The specification
// says to reject such files; here they are read as if they were in order.
type late struct {
	// frames wait for their dsos, in file order. ofDSO maps a dso's id to their indices,
	// and unnamed has the ids of the frames still waiting.
	frames  []lateFrame
	ofDSO   map[int64][]int
	unnamed map[int64]bool
	// stacks are the stacks whose frames have no records yet. paths[i] has the frame ids of
	// stacks[i], leaf first.
	stacks  []stackIn
	paths   [][]int64
	awaited map[int64]bool // frames in paths that have no record yet
	related []uint32       // buffer of merger.stack
}

type lateFrame struct {
	frameRec
	line int64
}

func (l *late) hasFrame(id int64) bool { return l.unnamed[id] }

// awaits reports whether a waiting stack refers to a frame. Only the first call for a
// frame returns true.
func (l *late) awaits(id int64) bool {
	was := l.awaited[id]
	delete(l.awaited, id)
	return was
}

// addFrame defers a frame whose strings are numbers in the merger's names.
func (l *late) addFrame(f frameRec, line int64) {
	if l.ofDSO == nil {
		l.ofDSO, l.unnamed = map[int64][]int{}, map[int64]bool{}
	}
	l.ofDSO[f.dso] = append(l.ofDSO[f.dso], len(l.frames))
	l.frames = append(l.frames, lateFrame{f, line})
	l.unnamed[f.id] = true
}

// dso adds the frames that waited for a dso, and reports whether there are any.
func (l *late) dso(m *merger, id int64) bool {
	d := m.dsos[id]
	at := l.ofDSO[id]
	for _, i := range at {
		m.addFrame(&l.frames[i].frameRec, &d)
		delete(l.unnamed, l.frames[i].id)
	}
	delete(l.ofDSO, id)
	return len(at) > 0
}

// addStack defers a stack; it copies the stack.
func (l *late) addStack(s *stackIn, frames []int64) {
	c := *s
	c.weights = append([]weightRec(nil), s.weights...)
	c.related = append([]uint32(nil), s.related...)
	l.stacks, l.paths = append(l.stacks, c), append(l.paths, frames)
}

// framesOf returns the frame ids of a node's stack, leaf first.
func (m *merger) framesOf(mi *mirror, n uint32) (ids []int64) {
	for ; n != 0; n = mi.nodes[n-1].parent {
		id := mi.frameID(mi.nodes[n-1].frame)
		ids = append(ids, id)
		if m.frames.get(id) == 0 && !m.late.hasFrame(id) {
			if m.late.awaited == nil {
				m.late.awaited = map[int64]bool{}
			}
			m.late.awaited[id] = true
		}
	}
	return ids
}

// addLate adds the records that waited until the end of the file, with placeholders for
// missing definitions.
func (m *merger) addLate() {
	l := &m.late
	for i := range l.frames {
		if f := &l.frames[i]; l.unnamed[f.id] {
			m.addFrame(&f.frameRec, &dsoInfo{name: missingDSO})
			m.warn(warnMissingDSO, f.line, strconv.FormatInt(f.dso, 10))
		}
	}
	var path []recording.FrameID
	for i := range l.stacks {
		s := &l.stacks[i]
		path = path[:0]
		for k := len(l.paths[i]) - 1; k >= 0; k-- {
			id := l.paths[i][k]
			f := m.frames.get(id)
			if f == 0 {
				fn := m.function(recording.Function{Name: fmt.Sprintf("[missing frame %d]", id), Unresolved: true})
				f = uint32(m.b.Frame(recording.Frame{Func: fn})) + 1
				m.frames.set(id, f)
				m.warn(warnMissingFrame, s.line, strconv.FormatInt(id, 10))
			}
			path = append(path, recording.FrameID(f-1))
		}
		m.addStack(s, m.b.Stack(path))
	}
	*l = late{}
}
