package extract

import (
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Calls maps calls of a recording to calls of a copy, after transforms.
type Calls struct {
	rec   *recording.Recording
	b     *recording.Builder
	re    *analyze.Rewriting // nil without transforms
	calls []recording.CallID // 1 + the new call, by call or by node of re; 0 if unknown yet
	// several is set if the copy also has calls of other recordings, so that the numbers of
	// mappings and types of frames change.
	several bool
}

// NewCalls returns the mapping of calls of a recording to a builder of several recordings.
func NewCalls(rec *recording.Recording, b *recording.Builder) *Calls {
	m := newCalls(rec, b, nil)
	m.several = true
	return m
}

func newCalls(rec *recording.Recording, b *recording.Builder, ts []analyze.Transform) *Calls {
	m := &Calls{rec: rec, b: b}
	n := rec.Calls.Len()
	if ts != nil {
		m.re = analyze.Rewrite(rec, ts...)
		n = m.re.Nodes()
	}
	m.calls = make([]recording.CallID, max(1, n))
	m.calls[0] = recording.NoCall + 1
	return m
}

// Of returns the new call for an old one.
func (m *Calls) Of(c recording.CallID) recording.CallID {
	if known := m.calls[c]; known != 0 {
		return known - 1
	}
	return m.of(int32(c))
}

// call returns the new call for an old one; false if its stack was removed.
func (m *Calls) call(c recording.CallID) (recording.CallID, bool) {
	if m.re == nil {
		return m.of(int32(c)), true
	}
	n, ok := m.re.Node(c)
	if !ok {
		return 0, false
	}
	return m.of(n), true
}

// of returns the new call for a call or a node.
func (m *Calls) of(n int32) recording.CallID {
	var path []int32 // from n up to the first known node
	for m.calls[n] == 0 {
		path = append(path, n)
		n = m.parent(n)
	}
	call := m.calls[n] - 1
	for i := len(path) - 1; i >= 0; i-- {
		f, fn := m.frame(path[i])
		if m.several {
			if at := m.rec.Source.MappingOf(&f); at != nil {
				f.Mapping = m.b.Mapping(*at)
			}
			f.Type = m.b.FrameType(m.rec.Source.TypeOf(&f))
		}
		f.Func = m.b.Function(fn)
		call = m.b.Call(call, m.b.Frame(f))
		m.calls[path[i]] = call + 1
	}
	return call
}

func (m *Calls) parent(n int32) int32 {
	if m.re != nil {
		return m.re.Parent(n)
	}
	return int32(m.rec.Calls.Parent(recording.CallID(n)))
}

func (m *Calls) frame(n int32) (recording.Frame, recording.Function) {
	if m.re != nil {
		return m.re.Frame(n)
	}
	f := m.rec.Frames.At(int(m.rec.Calls.Frame(recording.CallID(n))))
	return f, m.rec.Functions.At(int(f.Func))
}
