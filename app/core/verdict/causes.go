package verdict

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/query/compare"
	"ashlar/render/units"
)

const (
	// mostNamed bounds the causes that are named; each has at least leastNamed of what the
	// first has.
	mostNamed  = 3
	leastNamed = .2
	// mostShare is up to where a cause is said to be a part of the change: beyond, others
	// make up for it.
	mostShare = 1.25
)

// named names what caused the change, if that is certain or nothing says how sure it is.
func (d *verdict) named(whole int64) bool {
	if d.pending() {
		return false
	}
	for i := range d.causes {
		cause := &d.causes[i]
		if cause.Delta == 0 || cause.Sure != nil && cause.Sure.Level() < certain {
			continue
		}
		if n := len(d.told); n == mostNamed || n > 0 && float64(size(cause.Delta)) < leastNamed*float64(size(d.told[0].Delta)) {
			break
		}
		d.told = append(d.told, cause)
	}
	for i, cause := range d.told {
		switch {
		case i > 0:
			d.say(", ")
		case d.c.Normalize != compare.Raw && d.c.Normalize != compare.Calls:
			d.say("Normalised by %s: ", d.c.Normalize)
		}
		d.cause(cause, whole)
	}
	if len(d.told) > 0 {
		d.say(". ")
	}
	return len(d.told) > 0
}

// pending reports whether it is not known yet how sure differences are.
func (d *verdict) pending() bool {
	return !d.t.Judged && d.c.Method() == compare.FromDurations && d.c.A().Total != d.c.B().Total
}

// cause names a cause: hash +80.1 ms (100 % of the change, >99.9 % sure).
func (d *verdict) cause(cause *compare.Cause, whole int64) {
	first := cause.Rows[0]
	d.function(first)
	var about []string
	switch cause.Kind {
	case compare.Split:
		d.say(" with ")
		d.functions(cause.Rows[1:])
		about = append(about, "split")
	case compare.Inlined:
		d.say(" with ")
		d.functions(cause.Rows[1:])
		about = append(about, "inlined")
	case compare.Replaced:
		d.say(" with ")
		d.functions(cause.Rows[1:])
		about = append(about, "replaced")
	case compare.Added:
		about = append(about, "new")
	case compare.Removed:
		about = append(about, "gone")
	}
	d.say(" ")
	if amount := Signed(d.c.Metric, cause.Delta); len(cause.Rows) == 1 {
		d.link(Function, "%s", amount).Row = first
	} else {
		d.say("%s", amount)
	}
	d.say("%s", d.per())
	if share := float64(cause.Delta) / float64(whole); whole != 0 && share > 0 && share <= mostShare && len(d.told) > 0 {
		about = append(about, units.Percent(cause.Delta, whole)+" of the change")
	}
	if cause.Sure != nil {
		about = append(about, certainty(cause.Sure))
	}
	if len(about) > 0 {
		d.say(" (%s)", strings.Join(about, ", "))
	}
}

// function names the function of a row, and what it is called in B.
func (d *verdict) function(r *compare.Row) {
	d.name(Function, r.Name).Row = r
	if r.NameB != "" && r.NameB != r.Name {
		d.say(" → ")
		d.name(Function, r.NameB).Row = r
	}
}

// functions names at most mostNamed functions.
func (d *verdict) functions(rows []*compare.Row) {
	for i, r := range rows {
		if i == mostNamed {
			d.say(" and %s more", units.Count(int64(len(rows)-i)))
			return
		}
		if i > 0 && i == len(rows)-1 {
			d.say(" and ")
		} else if i > 0 {
			d.say(", ")
		}
		d.function(r)
	}
}

// tells reports whether a function was named.
func (d *verdict) tells(f int32) bool {
	return slices.ContainsFunc(d.told, func(c *compare.Cause) bool {
		return slices.ContainsFunc(c.Rows, func(r *compare.Row) bool { return r.Key == f })
	})
}

// paired says which functions were found again under other names.
func (d *verdict) paired() {
	if len(d.c.Renames) == 0 {
		return
	}
	d.say(" Taken for renamed: ")
	for i, r := range d.c.Renames {
		if i == mostNamed {
			d.say(" and %s more", units.Count(int64(len(d.c.Renames)-i)))
			break
		}
		if i > 0 {
			d.say(", ")
		}
		d.name(Nowhere, r.A.Name)
		d.say(" → ")
		d.name(Nowhere, r.B.Name)
		d.say(" (%s alike)", Likeness(r.Likeness))
	}
	d.say(".")
}

// Likeness writes how much a pair of functions agrees.
func Likeness(v float64) string { return fmt.Sprintf("%d %%", min(99, int(v*100+.5))) }

// sure is the last sentence: what certainty is made from, or what could have been shown.
func (d *verdict) sure(chance bool) {
	a, b := d.c.A(), d.c.B()
	switch {
	case a.Total == b.Total && len(d.told) == 0 && d.t.Moved == 0:
		return
	case d.c.Method() == compare.NoMethod:
		d.say(" How sure that is is unknown: there are no sample counts.")
		return
	case d.pending():
		d.say(" How sure that is is being computed.")
		return
	}
	if w := d.t.Whole; chance && w != nil && w.Detectable > 0 && w.Detectable < 1e18 {
		v := int64(w.Detectable)
		d.say(" Smallest detectable change: %s", d.value(v))
		if v <= 10*a.Total {
			d.say(" (%s)", units.Percent(v, a.Total))
		}
		d.say(".")
		return
	}
	if d.c.Method() == compare.FromRuns {
		d.say(" Certainty is from the spread of %s and %s.", units.Count(int64(a.Recordings)), units.Plural(int64(b.Recordings), "run"))
		return
	}
	for _, cause := range d.told {
		if cause.Sure != nil {
			d.say(" Certainty is within these recordings; the spread between runs is not known.")
			return
		}
	}
}
