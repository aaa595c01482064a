package shell

import "ashlar/ingest/recording"

// lowerPlace is the part of a [place] that is about the lower half.
type lowerPlace struct {
	Up bool // the flamegraph's root is at the bottom
	// Near is the function whose callers and callees are shown.
	Near  recording.Function
	Any   bool
	Lists bool
	// NearZoom is how both sides of their picture are zoomed.
	NearZoom [2][]step
	Table    tableShape
}

func (p *pane) lowerPlace() lowerPlace {
	return lowerPlace{Up: p.flame.up, Near: p.near.of, Any: p.near.any, Lists: p.near.lists, NearZoom: p.near.zoom, Table: p.table.tableShape}
}

func (p *pane) goToLower(l lowerPlace) {
	p.flame.up = l.Up
	p.near.of, p.near.any, p.near.lists, p.near.zoom = l.Near, l.Any, l.Lists, l.NearZoom
	p.table.tableShape = l.Table
	p.pick.near = true // or it would take the middle at once
}
