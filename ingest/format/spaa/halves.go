package spaa

import (
	"ashlar/ingest/model/recording"
)

// half is which part of a stack a record has: its stack_type.
type half uint8

const (
	whole half = iota
	userHalf
	kernelHalf
)

func halfOf(stackType string) half {
	switch stackType {
	case "user":
		return userHalf
	case "kernel":
		return kernelHalf
	}
	return whole
}

// halves finds the stack records that are two views of the same samples (spec,
// 4.2): of one event, one of type user, the other of type kernel, and at least
// one of them names the other in related_stacks. Ids are not unique, so what an
// id stands for is, in this order, the record of the same context, of the same
// thread, of no thread, and the only one there is. One whose context says
// otherwise (another processor, another process) is none. Where it is not told
// the two stay apart.
type halves struct {
	// rows are by record of the id table, as far as any is a half: which of the
	// event's records it is, and which half.
	rows  []halfRow
	links []link
}

type halfRow struct {
	row  int32
	half half
}

// link is one id that a record names as related.
type link struct {
	id           uint32 // of the id table
	event, track int32
	context      recording.ContextID
	row          int
	half         half
}

// add notes which half record k of the id table is.
func (h *halves) add(k int32, row int, part half) {
	if part == whole {
		return
	}
	for len(h.rows) <= int(k) {
		h.rows = append(h.rows, halfRow{})
	}
	h.rows[k] = halfRow{int32(row), part}
}

func (h *halves) link(l link) { h.links = append(h.links, l) }

// of describes record k of the id table.
func (h *halves) of(k int32) halfRow {
	if int(k) < len(h.rows) {
		return h.rows[k]
	}
	return halfRow{}
}

// find returns the row of the other half that a link names, -1 when that is not
// told.
func (h *halves) find(b *recording.Builder, t *idTable, l *link) int {
	const (
		other = iota // another thread's
		noThread
		sameThread
		sameContext
	)
	best, at, alike, n := other-1, int32(-1), 0, 0
	for k := t.entries[l.id].last; k >= 0 && n < mostScanned; k = t.records[k].prev {
		n++
		r, part := &t.records[k], h.of(k).half
		if r.event != l.event || part == whole || part == l.half || !compatible(b.ContextOf(r.context), b.ContextOf(l.context)) {
			continue
		}
		fit := other
		switch {
		case r.context == l.context && r.track == l.track:
			fit = sameContext
		case r.track == l.track:
			fit = sameThread
		case r.track == recording.NoTrack || l.track == recording.NoTrack:
			fit = noThread
		}
		switch {
		case fit > best:
			best, at, alike = fit, k, 1
		case fit == best:
			at = k // the first in the file, which comes last here
			alike++
		}
	}
	if at < 0 || best == other && alike > 1 {
		return -1
	}
	return int(h.of(at).row)
}

// joinHalves tells the builder which records belong together, once all of them
// are known.
func (m *merger) joinHalves() {
	type pair struct{ event, user, kernel int }
	known := map[pair]bool{}
	for i := range m.halves.links {
		l := &m.halves.links[i]
		row := m.halves.find(m.b, &m.ids, l)
		if row < 0 {
			continue
		}
		p := pair{int(l.event), l.row, row}
		if l.half == kernelHalf {
			p.user, p.kernel = row, l.row
		}
		if !known[p] {
			known[p] = true
			m.b.Join(p.event, p.user, p.kernel)
		}
	}
	m.halves = halves{}
}

// compatible reports whether contexts, which are sorted by key, have the same values
// for what both say.
func compatible(a, b recording.Context) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Key < b[0].Key:
			a = a[1:]
		case a[0].Key > b[0].Key:
			b = b[1:]
		case a[0].Value != b[0].Value:
			return false
		default:
			a, b = a[1:], b[1:]
		}
	}
	return true
}
