package perfdata

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/recording"
)

// mapping is a part of a binary mapped into a process's memory.
type mapping struct {
	start, size, offset uint64
	name                string
	number              uint32 // number of the binary by name, from 1 on
	id                  []byte // build id, nil if the record has none
	data                bool   // the mapping is not executable
}

// maps are the mappings of a process, by address, without overlaps.
type maps struct {
	list   []mapping
	shared bool // a forked process uses the same list
	// version changes with each change of the maps and is unique, except that identical
	// maps share it; 0 while nothing is mapped.
	version uint64
}

// add adds a mapping. It replaces the parts of other mappings that it overlaps.
func (m *maps) add(n mapping) {
	if n.size == 0 || n.start+n.size < n.start {
		n.size = -n.start // up to the end of the address space
	}
	end := n.start + n.size - 1
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].last() >= n.start })
	j := i
	var with []mapping
	for ; j < len(m.list) && m.list[j].start <= end; j++ {
		if o := m.list[j]; o.start < n.start {
			o.size = n.start - o.start
			with = append(with, o)
		}
	}
	with = append(with, n)
	if j > i {
		if o := m.list[j-1]; o.last() > end {
			o.offset += end + 1 - o.start
			o.size, o.start = o.last()-end, end+1
			with = append(with, o)
		}
	}
	if m.shared {
		m.list, m.shared = slices.Clone(m.list), false
	}
	m.list = slices.Replace(m.list, i, j, with...)
}

func (m *mapping) last() uint64 { return m.start + m.size - 1 }

// at returns the mapping of an address, nil for none.
func (m *maps) at(addr uint64) *mapping {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].last() >= addr })
	if i == len(m.list) || m.list[i].start > addr {
		return nil
	}
	return &m.list[i]
}

type process struct{ maps maps }

func (d *decoder) process(pid int32) *process {
	p := d.processes[pid]
	if p == nil {
		p = new(process)
		d.processes[pid] = p
	}
	return p
}

func (d *decoder) mmap(misc uint16, pid int32, m mapping) {
	if misc&misccpu == miscKernel || pid == -1 {
		if mark, ok := strings.CutPrefix(m.name, kernelModule); ok && mark != "" {
			d.mark, d.marked = mark, m.offset // [kernel.kallsyms]_text, and its address
		}
		if m.name = kernelName(m.name); m.id != nil {
			d.ids[m.name] = m.id
		}
		d.mapIn(d.kernel, m)
		return
	}
	d.mapIn(&d.process(pid).maps, m)
}

// mapIn adds a mapping to the maps of a process or the kernel.
func (d *decoder) mapIn(to *maps, m mapping) {
	if m.number = d.numbers[m.name]; m.number == 0 {
		m.number = uint32(len(d.numbers)) + 1
		d.numbers[m.name] = m.number
	}
	to.add(m)
	d.versions++
	to.version = d.versions
}

// kernelName returns perf's name of the kernel or a module.
func kernelName(name string) string {
	if strings.HasPrefix(name, "[") {
		if i := strings.IndexByte(name, ']'); i > 0 {
			return name[:i+1]
		}
		return name
	}
	name = filepath.Base(name)
	name, _, _ = strings.Cut(name, ".ko")
	return "[" + strings.ReplaceAll(name, "-", "_") + "]"
}

// thread is a thread with samples.
type thread struct {
	comm  string
	track *recording.TrackBuilder
}

func (d *decoder) thread(tid int32) *thread {
	t := d.threads[tid]
	if t == nil {
		t = new(thread)
		d.threads[tid] = t
	}
	return t
}

func (d *decoder) comm(pid, tid int32, name string, exec bool) {
	t := d.thread(tid)
	d.states.Owner[int64(tid)], d.states.Names[int64(tid)] = int64(pid), name
	if t.comm = name; t.track != nil {
		t.track.SetName(name)
	}
	if pid == tid {
		d.b.ProcessInfo(d.b.Process(int64(pid))).Name = name
	}
	if exec {
		d.process(pid).maps = maps{}
	}
}

func (d *decoder) fork(pid, parent, tid, ptid int32) {
	if pid != parent {
		p := d.process(parent)
		p.maps.shared = true
		d.process(pid).maps = p.maps
	}
	from := d.thread(ptid)
	d.threads[tid] = &thread{comm: from.comm}
	d.states.Owner[int64(tid)], d.states.Names[int64(tid)] = int64(pid), from.comm
}

// binary opens the binary of a mapping. Its symbols are used only if it is the binary
// that ran.
func (d *decoder) binary(m *mapping) *program.Program {
	p, ok := d.binaries[m.name]
	if ok {
		return p
	}
	if filepath.IsAbs(m.name) && !strings.HasPrefix(m.name, "//") {
		if p = d.open(m); p == nil || p.Stripped() {
			d.missing++
		}
		if p != nil {
			p.FindUnits()
			p.Close()
		}
	}
	d.binaries[m.name] = p
	return p
}

// idOf returns the build id of a mapping, nil if unknown.
func (d *decoder) idOf(m *mapping) []byte {
	if m.id != nil {
		return m.id
	}
	return d.ids[m.name]
}

// open finds a binary's symbols: first where debuggers and perf keep them, then in the
// binary itself.
func (d *decoder) open(m *mapping) *program.Program {
	id := d.idOf(m)
	var paths []string
	if len(id) > 1 {
		paths = append(program.Copies(hex.EncodeToString(id)), program.DebugFiles(m.name)...)
	}
	for _, path := range paths {
		p, err := program.Open(path)
		if err != nil {
			continue
		}
		if p.BuildID != nil && program.SameID(id, p.BuildID) {
			return p
		}
		p.Close()
	}
	p, err := program.OpenStripped(m.name)
	if err != nil {
		return nil
	}
	if id != nil && p.BuildID != nil && !program.SameID(id, p.BuildID) {
		p.Close()
		d.changed++
		return nil
	}
	return p
}
