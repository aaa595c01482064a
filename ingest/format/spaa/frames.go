package spaa

import (
	"fmt"
	"strconv"

	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

type dsoInfo struct {
	name, buildID string
	kernel        bool
}

// missingDSO is the module of frames whose dso has no record.
const missingDSO = "[missing dso]"

func (m *merger) dso(mi *mirror, d *dsoRec, line int64) {
	if _, ok := m.dsos[d.id]; ok {
		m.warn(warnDuplicateDSO, line, strconv.FormatInt(d.id, 10))
		m.leaveOut(int(format.KindDSO), line)
		return
	}
	name := m.names.text[mi.name(d.name)]
	if d.name == 0 {
		name = fmt.Sprintf("[dso %d]", d.id)
	}
	if m.noModules[d.id] {
		name = ""
	}
	m.dsos[d.id] = dsoInfo{name, m.names.text[mi.name(d.buildID)], d.kernel}
	m.keep(format.KindDSO)
	if m.late.dso(m, d.id) {
		m.warn(warnLateDSO, line, strconv.FormatInt(d.id, 10))
	}
}

// frame adds a frame, or keeps it until its dso is known.
func (m *merger) frame(mi *mirror, f *frameRec, line int64) {
	if m.frames.get(f.id) != 0 || m.late.hasFrame(f.id) {
		m.warn(warnDuplicateFrame, line, strconv.FormatInt(f.id, 10))
		m.leaveOut(int(format.KindFrame), line)
		return
	}
	m.keep(format.KindFrame)
	if m.late.awaits(f.id) {
		m.warn(warnLateFrame, line, strconv.FormatInt(f.id, 10))
	}
	r := *f
	r.name, r.file = mi.name(f.name), mi.name(f.file)
	d, ok := m.dsos[f.dso]
	switch {
	case f.hasDSO && !ok:
		m.late.addFrame(r, line)
		return
	case !ok:
		d.name = missingDSO
	}
	m.addFrame(&r, &d)
}

// addFrame adds a frame whose strings are numbers in the merger's names.
func (m *merger) addFrame(f *frameRec, d *dsoInfo) {
	kind := f.kind
	if d.kernel {
		kind = recording.KindKernel
	}
	name := m.names.text[f.name]
	if f.name == 0 {
		name = fmt.Sprintf("[frame %d]", f.id)
	}
	file := m.names.text[f.file]
	of := recording.Function{Name: name, Module: d.name, File: file, Kind: kind, Unresolved: f.unresolved}
	if f.more != nil {
		of.Symbol = validText(f.more.Symbol)
	}
	fn := m.function(of)
	fr := recording.Frame{
		Func: fn, Addr: f.addr, Offset: f.offset, Line: f.line, Column: f.column,
		Inlined: f.inlined, InlineDepth: f.depth, Kind: kind, BuildID: d.buildID,
	}
	if file != m.files[fn] {
		fr.File = file
	}
	m.tell(f.more, &fr)
	m.frames.set(f.id, uint32(m.b.Frame(fr))+1)
}

func (m *merger) function(f recording.Function) recording.FuncID {
	id := m.b.Function(f)
	if int(id) == len(m.files) {
		m.files = append(m.files, f.File)
	}
	return id
}

// frameID returns the file's id of a node's frame.
func (mi *mirror) frameID(packed uint32) int64 {
	if packed >= bigFrame {
		return mi.bigs[packed-bigFrame]
	}
	return int64(packed)
}

// frameTable maps frame ids to 1 + FrameID. Most files have small, dense ids, but any id
// is valid.
type frameTable struct {
	pages [][]uint32
	rest  map[int64]uint32
}

const (
	pageBits = 12
	pageLen  = 1 << pageBits
	maxPaged = 1 << 31 // a table of pages for all of them takes 12 MB
)

func (t *frameTable) get(id int64) uint32 {
	if id < 0 || id >= maxPaged {
		return t.rest[id]
	}
	p := int(id >> pageBits)
	if p >= len(t.pages) || t.pages[p] == nil {
		return 0
	}
	return t.pages[p][id&(pageLen-1)]
}

func (t *frameTable) set(id int64, v uint32) {
	if id < 0 || id >= maxPaged {
		if t.rest == nil {
			t.rest = map[int64]uint32{}
		}
		t.rest[id] = v
		return
	}
	p := int(id >> pageBits)
	if p >= len(t.pages) {
		t.pages = append(t.pages, make([][]uint32, p+1-len(t.pages))...)
	}
	if t.pages[p] == nil {
		t.pages[p] = make([]uint32, pageLen)
	}
	t.pages[p][id&(pageLen-1)] = v
}
