package shell

import (
	"slices"
	"strings"

	"ashlar/app/address"
	"ashlar/ingest/analyze"
)

// Words of an address for what is switched; they never change.
const (
	wordUp     = "up"
	wordLists  = "lists"
	wordLinear = "linear"
)

// lowerAddress says how the lower half shows things.
func (p *pane) lowerAddress(v *address.View, dp float32) {
	v.Split = p.split
	for _, w := range []struct {
		word string
		on   bool
	}{{wordUp, p.flame.up}, {wordLists, p.near.lists}, {wordLinear, p.stats.linear}} {
		if w.on {
			v.With = append(v.With, w.word)
		}
	}
	if to := p.tabScroll(); to != nil {
		v.Down = inDP(*to, dp)
	}
	if p.tab == tabSource {
		v.Line = int(p.sourcePart.at)
	}
	p.table.address(v)
}

// address says how the table is grouped, sorted and which columns it has, where
// that is not as it begins.
func (t *tableShape) address(v *address.View) {
	first := newTableShape()
	if t.group != first.group {
		v.Table = string(t.group)
	}
	if t.by != first.by || t.ascending != first.ascending {
		if v.Sort = columnInfos[t.by].name; t.ascending {
			v.Sort = "-" + v.Sort
		}
	}
	for c := range columnCount {
		if t.hidden != first.hidden && !t.hidden.has(c) {
			v.Columns = append(v.Columns, columnInfos[c].name)
		}
		if t.widths[c] != 0 {
			v.Widths = append(v.Widths, address.Width{Column: columnInfos[c].name, DP: t.widths[c]})
		}
	}
}

// goTo shapes the table as an address says.
func (t *tableShape) goTo(v *address.View, miss func(format string, args ...any)) {
	*t = newTableShape()
	if v.Table != "" {
		if t.group = analyze.By(v.Table); !slices.Contains(tableGroups, t.group) {
			miss("there is no table of %q", v.Table)
			t.group = analyze.ByFunction
		}
	}
	named := func(name string) (column, bool) {
		for c := range columnCount {
			if columnInfos[c].name == name {
				return c, true
			}
		}
		miss("the table has no column %q", name)
		return 0, false
	}
	if v.Sort != "" {
		name, back := strings.CutPrefix(v.Sort, "-")
		if c, ok := named(name); ok {
			t.by, t.ascending = c, back
		}
	}
	if v.Columns != nil {
		t.hidden = 1<<columnCount - 1
		for _, name := range v.Columns {
			if c, ok := named(name); ok {
				t.hidden &^= 1 << c
			}
		}
	}
	for _, w := range v.Widths {
		if c, ok := named(w.Column); ok {
			t.widths[c] = w.DP
		}
	}
}

// goToLowerAddress shows the lower half as an address says.
func (p *pane) goToLowerAddress(v *address.View, side *address.Side, miss func(format string, args ...any)) {
	p.near.lists, p.stats.linear = slices.Contains(v.With, wordLists), slices.Contains(v.With, wordLinear)
	if p.split = 0; v.Split > 0 {
		p.split = max(.1, min(.9, v.Split))
	}
	p.table.goTo(v, miss)
	if b := side.Bar; b != nil {
		if h, ok := p.barNamed(b); ok {
			p.pickHit(h)
		} else {
			miss("no bar of thread %d begins there", b.Thread.TID)
		}
	}
}
