package spaa

import (
	"ashlar/ingest/model/recording"
)

// half is the part of a stack that a record holds, from its stack_type.
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

// halves pairs stack records that are two views of the same samples (spec, 4.2): of the
// same event, one of type user and one of type kernel, and at least one names the other
// in related_stacks. Ids are not unique. An id refers to the record with the same
// context, else of the same thread, else without a thread, else to the only record. A
// record with a contradicting context (another CPU, another process) does not match.
// Ambiguous records stay separate.
type halves struct {
	// rows holds, for each record of the id table up to the last half, the row in its
	// event and which half it is.
	rows  []halfRow
	links []link
}

type halfRow struct {
	row  int32
	half half
}

// link is an id in a record's related_stacks.
type link struct {
	id           uint32 // index in the id table
	event, track int32
	context      recording.ContextID
	row          int
	half         half
}

// add notes that record k of the id table is a half.
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

// of returns the row and half of record k of the id table.
func (h *halves) of(k int32) halfRow {
	if int(k) < len(h.rows) {
		return h.rows[k]
	}
	return halfRow{}
}

// find returns the row of the other half that a link refers to, -1 if there is none or it
// is ambiguous.
func (h *halves) find(b *recording.Builder, t *idTable, l *link) int {
	const (
		other = iota // a record of another thread
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
			at = k // the first in the file, because the walk is backward
			alike++
		}
	}
	if at < 0 || best == other && alike > 1 {
		return -1
	}
	return int(h.of(at).row)
}

// joinHalves joins the matching halves in the builder, once all records are known.
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

// compatible reports whether two contexts, sorted by key, agree on all keys that they
// share.
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
