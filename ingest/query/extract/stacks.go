package extract

import (
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// mapping maps calls of a recording to calls of the copy, after transforms.
type mapping struct {
	rec   *recording.Recording
	b     *recording.Builder
	re    *analyze.Rewriting // nil without transforms
	calls []recording.CallID // 1 + the new call, by call or by node of re; 0 if unknown yet
}

func newMapping(rec *recording.Recording, b *recording.Builder, ts []analyze.Transform) *mapping {
	m := &mapping{rec: rec, b: b}
	n := rec.Calls.Len()
	if ts != nil {
		m.re = analyze.Rewrite(rec, ts...)
		n = m.re.Nodes()
	}
	m.calls = make([]recording.CallID, max(1, n))
	m.calls[0] = recording.NoCall + 1
	return m
}

// call returns the new call for an old one; false if its stack was removed.
func (m *mapping) call(c recording.CallID) (recording.CallID, bool) {
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
func (m *mapping) of(n int32) recording.CallID {
	var path []int32 // from n up to the first known node
	for m.calls[n] == 0 {
		path = append(path, n)
		n = m.parent(n)
	}
	call := m.calls[n] - 1
	for i := len(path) - 1; i >= 0; i-- {
		f, fn := m.frame(path[i])
		f.Func = m.b.Function(fn)
		call = m.b.Call(call, m.b.Frame(f))
		m.calls[path[i]] = call + 1
	}
	return call
}

func (m *mapping) parent(n int32) int32 {
	if m.re != nil {
		return m.re.Parent(n)
	}
	return int32(m.rec.Calls.Parent(recording.CallID(n)))
}

func (m *mapping) frame(n int32) (recording.Frame, recording.Function) {
	if m.re != nil {
		return m.re.Frame(n)
	}
	f := m.rec.Frames.At(int(m.rec.Calls.Frame(recording.CallID(n))))
	return f, m.rec.Functions.At(int(f.Func))
}
