package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/causes"
	"ashlar/render/units"
)

const (
	// mostNamed is the maximum number of causes that are named. The change of each must
	// be at least leastNamed times that of the first.
	mostNamed  = 3
	leastNamed = .2
	// mostShare is the largest share of the change that is stated for a cause. A larger
	// share means that other changes offset the cause.
	mostShare = 1.25
	// leastShare is the smallest share of the total's change at which a cause or a caller is
	// named: smaller ones may be certain, but do not explain it.
	leastShare = .05
	// leastOfTotal is the smallest share of the larger total that is worth a first sentence.
	leastOfTotal = .001
)

// choose finds the causes of the change that are certain, or whose confidence is unknown,
// and the callers whose totals these do not explain. If the change of the total may be
// chance, both need a higher confidence.
func (d *verdict) choose(chance bool) {
	if d.pending() {
		return
	}
	least := certain
	if chance {
		least = despite
	}
	for i := range d.causes {
		cause := &d.causes[i]
		if cause.Delta == 0 || cause.Kind == causes.Inner || cause.Rows[0].Interrupted() || cause.Sure != nil && cause.Sure.Level() < least || d.slight(cause.Delta) {
			continue
		}
		if n := len(d.reported); n == mostNamed || n > 0 && float64(size(cause.Delta)) < leastNamed*float64(size(d.reported[0].Delta)) {
			break
		}
		d.reported = append(d.reported, cause)
	}
	d.callers = causes.Callers(d.c, d.t, d.causes, d.reported, least, mostNamed)
	d.callers = slices.DeleteFunc(d.callers, func(x causes.Caller) bool { return d.slight(x.Delta) })
	d.fewest()
}

// slight reports whether a change is too small a part of the total's to explain it, or of the
// totals to matter.
func (d *verdict) slight(delta int64) bool {
	a, b := d.c.A().Total, d.c.B().Total
	return float64(size(delta)) < max(leastShare*float64(size(b-a)), leastOfTotal*float64(max(size(a), size(b))))
}

// fewest keeps the mostNamed largest of the causes and callers.
func (d *verdict) fewest() {
	var sizes []int64
	for _, cause := range d.reported {
		sizes = append(sizes, size(cause.Delta))
	}
	for i := range d.callers {
		sizes = append(sizes, size(d.callers[i].Delta))
	}
	if len(d.callers) == 0 {
		return
	}
	slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	small := func(v int64) bool {
		return float64(size(v)) < leastNamed*float64(sizes[0]) || len(sizes) > mostNamed && size(v) < sizes[mostNamed-1]
	}
	d.reported = slices.DeleteFunc(d.reported, func(x *causes.Cause) bool { return small(x.Delta) })
	d.callers = slices.DeleteFunc(d.callers, func(x causes.Caller) bool { return small(x.Delta) })
}

// named adds the causes and callers of choose, the largest change first.
func (d *verdict) named(whole int64, chance bool) bool {
	d.choose(chance)
	callers, reported := d.callers, d.reported
	for i := 0; len(callers)+len(reported) > 0; i++ {
		switch {
		case i > 0:
			d.say(", ")
		case d.c.PerCall() && d.only():
			d.say("per call only ")
		case d.c.PerCall():
			d.say("per call ")
		case d.c.Normalize != compare.Raw && d.c.Normalize != compare.Calls:
			d.say("Normalised by %s: ", d.c.Normalize)
		case d.alike() != "":
			d.say("Most functions changed by about %s; exceptions: ", d.alike())
		}
		if len(reported) == 0 || len(callers) > 0 && size(callers[0].Delta) > size(reported[0].Delta) {
			d.caller(&callers[0])
			callers = callers[1:]
			continue
		}
		d.cause(reported[0], whole)
		reported = reported[1:]
	}
	any := len(d.callers)+len(d.reported) > 0
	switch {
	case any:
		d.say(". ")
	case d.c.PerCall():
		d.say("per call, no function changed beyond chance. ")
	}
	return any
}

// alike returns the relative change that is common to all functions, such as "+112 %"; "" if
// it is less than 10 % or unknown.
func (d *verdict) alike() string {
	const least = .1
	common := d.t.Common
	if common == 0 || d.chance() || d.c.Normalize != compare.Raw || math.Abs(math.Log(common)) < math.Log(1+least) {
		return ""
	}
	return units.Change(1000, int64(math.Round(1000*common)))
}

// open says why no function is named although the totals differ. It reports whether single
// functions may have changed.
func (d *verdict) open(a, b int64) bool {
	switch {
	case d.explained(a, b) && !d.standsOut(b-a):
		d.say(", about the same in all functions")
		d.common = true
		return false
	case d.c.Method() != compare.FromCounts:
		d.say("; no single function changed for certain")
	case len(d.c.Runs) == 2:
		d.say("; too close to call with one run per side")
	default:
		d.say("; too close to call with so few runs")
	}
	return true
}

// explained reports whether the factor common to all functions explains most of the change of
// the total from a to b, and all but a tenth.
func (d *verdict) explained(a, b int64) bool {
	const near = .1
	if d.t.Common == 0 || d.c.Normalize != compare.Raw {
		return false
	}
	whole := math.Log(float64(b) / float64(a))
	rest := math.Abs(whole - math.Log(d.t.Common))
	return rest < min(math.Log(1+near), math.Abs(whole)/2)
}

// candidates returns the causes that are likely though not certain, at most two.
func (d *verdict) candidates() (all []*causes.Cause) {
	const most, doubtful = 2, .1
	for i := range d.causes {
		c := &d.causes[i]
		if len(all) < most && c.Delta != 0 && c.Kind != causes.Inner && c.Sure != nil && c.Sure.P < doubtful && !c.Rows[0].Interrupted() {
			all = append(all, c)
		}
	}
	return all
}

// standsOut reports whether a likely cause accounts for much of the change, beyond the factor
// common to all functions.
func (d *verdict) standsOut(whole int64) bool {
	const much = .2
	return slices.ContainsFunc(d.candidates(), func(c *causes.Cause) bool {
		expected := 0.0
		for _, r := range c.Rows {
			if c.Kind == causes.Callees {
				expected += (d.t.Common - 1) * float64(r.ATotal)
				break
			}
			expected += (d.t.Common - 1) * float64(r.ASelf)
		}
		return math.Abs(float64(c.Delta)-expected) > much*math.Abs(float64(whole))
	})
}

// likely names the most likely changes, none of them certain, and how many runs would make the
// first certain. It reports whether there is one.
func (d *verdict) likely() bool {
	const reasonable = 20
	all := d.candidates()
	if len(all) == 0 {
		return false
	}
	d.say(" Most likely changes, not certain: ")
	for i, c := range all {
		if i > 0 {
			d.say(", ")
		}
		about := d.members(c)
		d.amount(c)
		if len(about) > 0 {
			d.say(" (%s)", strings.Join(about, ", "))
		}
	}
	d.say(".")
	if n := all[0].Sure.RunsNeeded(); n > 0 && n <= reasonable {
		d.say(" %s per side would settle it.", units.Plural(int64(n), "more run"))
	}
	return true
}

// pending reports whether the confidences are not known yet.
func (d *verdict) pending() bool {
	return !d.t.Judged && d.c.Method() == compare.FromDurations && d.c.A().Total != d.c.B().Total
}

// cause names a cause: hash +80.1 ms (100 % of the change, >99.9 % sure).
func (d *verdict) cause(cause *causes.Cause, whole int64) {
	first := cause.Rows[0]
	about := d.members(cause)
	if d.c.PerCall() && cause.Kind == causes.Alone {
		d.say(" changed: %s,", units.Change(first.ASelf, first.BSelf))
	} else if a, b := d.c.CallsOf(first.Key); !d.c.PerCall() && d.c.Normalize == compare.Raw && a > 0 && b > 0 && (b > 1.1*a || a > 1.1*b) {
		about = append(about, times(b/a)+" times as many calls")
	}
	d.amount(cause)
	if share := float64(cause.Delta) / float64(whole); whole != 0 && share > 0 && share <= mostShare && len(d.reported) > 0 {
		about = append(about, units.Percent(cause.Delta, whole)+" of the change")
	}
	if cause.Sure != nil {
		about = append(about, certainty(cause.Sure))
	}
	if len(about) > 0 {
		d.say(" (%s)", strings.Join(about, ", "))
	}
	if d.c.Chosen(first) && cause.Kind == causes.Alone && len(d.reported) == 1 {
		d.inside(first)
	}
}

// members adds the functions of a cause and returns what happened to them. Of the function
// whose calls are compared, only its own code is a cause.
func (d *verdict) members(cause *causes.Cause) (about []string) {
	d.function(Function, cause.Rows[0])
	switch cause.Kind {
	case causes.Alone:
		if d.c.Chosen(cause.Rows[0]) {
			d.say("'s own code")
		}
	case causes.Split, causes.Inlined, causes.Replaced:
		d.say(" with ")
		d.functions(cause.Rows[1:])
		about = append(about, string(cause.Kind))
	case causes.Callees:
		d.say(" with callees")
	case causes.Added: // the amount leaves out callees that A has too
		about = append(about, "new"+withCallees(cause, "new callee"))
	case causes.Removed:
		about = append(about, "gone"+withCallees(cause, "callee"))
	}
	return about
}

// withCallees says how many functions below the first belong to a cause.
func withCallees(cause *causes.Cause, callee string) string {
	if n := len(cause.Rows) - 1; n > 0 {
		return " with " + units.Plural(int64(n), callee)
	}
	return ""
}

// amount adds the difference of a cause.
func (d *verdict) amount(cause *causes.Cause) {
	d.say(" ")
	if amount := Signed(d.c.Metric, cause.Delta); len(cause.Rows) == 1 {
		d.link(Function, "%s", amount).Row = cause.Rows[0]
	} else {
		d.say("%s", amount)
	}
	d.say("%s", d.per())
}

// function adds the name of a row's function, and its name in B if different.
func (d *verdict) function(to To, r *compare.Row) {
	d.name(to, r.Name).Row = r
	if r.NameB != "" && r.NameB != r.Name {
		d.say(" → ")
		d.name(to, r.NameB).Row = r
	}
}

// functions adds the names of at most mostNamed functions.
func (d *verdict) functions(rows []*compare.Row) {
	d.list(len(rows), func(i int) { d.function(Function, rows[i]) })
}

// list adds at most mostNamed of n items: "a, b and c", "a, b, c and 4 more".
func (d *verdict) list(n int, item func(i int)) {
	for i := range min(n, mostNamed) {
		switch {
		case i == 0:
		case i == n-1:
			d.say(" and ")
		default:
			d.say(", ")
		}
		item(i)
	}
	if n > mostNamed {
		d.say(" and %s more", units.Count(int64(n-mostNamed)))
	}
}

// tells reports whether a function is among the named causes.
func (d *verdict) tells(f int32) bool {
	return slices.ContainsFunc(d.reported, func(c *causes.Cause) bool {
		return slices.ContainsFunc(c.Rows, func(r *compare.Row) bool { return r.Key == f })
	})
}

// paired adds the functions that were matched under other names.
func (d *verdict) paired() {
	if len(d.c.Renames) == 0 {
		return
	}
	d.say(" Matched as renamed: ")
	d.list(len(d.c.Renames), func(i int) {
		r := &d.c.Renames[i]
		d.name(Nowhere, r.A.Name)
		d.say(" → ")
		d.name(Nowhere, r.B.Name)
		d.say(" (%s alike)", Likeness(r.Likeness))
	})
	d.say(".")
}

// Likeness formats the similarity of two functions.
func Likeness(v float64) string { return fmt.Sprintf("%d %%", min(99, int(v*100+.5))) }

// sure adds the last sentence: the basis of the certainty, or the smallest detectable
// change.
func (d *verdict) sure(chance bool) {
	a, b := d.c.A(), d.c.B()
	switch {
	case a.Total == b.Total && len(d.reported)+len(d.callers) == 0 && d.t.Moved == 0:
		return
	case d.c.Method() == compare.NoMethod:
		d.say(" Confidence is unknown: there are no sample counts.")
		return
	case d.pending():
		d.say(" Confidence is being computed.")
		return
	}
	if w := d.t.Whole; chance && w != nil && w.Detectable > 0 && w.Detectable < 1e18 {
		v := int64(w.Detectable)
		d.say(" Smallest detectable change: %s", d.value(v))
		if v <= 10*a.Total {
			d.say(" (%s)", units.Percent(v, a.Total))
		}
		d.say(".")
		if n := w.MoreRuns(); n > 0 {
			d.say(" %s per side would settle it.", units.Plural(int64(n), "more run"))
		}
		return
	}
	if d.c.Method() == compare.FromRuns {
		d.say(" Confidence comes from the spread of %s and %s.", units.Count(int64(a.Recordings)), units.Plural(int64(b.Recordings), "run"))
		return
	}
	known := false
	var single []*compare.Row // with one call per side
	for _, cause := range d.reported {
		inA, inB := d.c.CallsOf(cause.Rows[0].Key)
		if known = known || cause.Sure != nil; cause.Sure == nil && inA == 1 && inB == 1 {
			single = append(single, cause.Rows[0])
		}
	}
	for i := range d.callers {
		known = known || d.callers[i].Row.Total != nil
	}
	switch {
	case known && d.t.Common != 0:
		d.say(" The spread between runs is estimated from all functions; more runs per side would measure it.")
	case known:
		d.say(" Confidence excludes the spread between runs, which is unknown.")
	}
	if len(single) > 0 {
		d.say(" For ")
		d.functions(single)
		d.say(", one call per side gives no certainty.")
	}
}

// only reports whether the single named cause makes up nearly all of the certain change.
func (d *verdict) only() bool {
	const most = .05 // largest change of any other cause, as a fraction of the named one
	if len(d.callers) > 0 {
		return false
	}
	for i := range d.causes {
		c := &d.causes[i]
		if len(d.reported) != 1 || c != d.reported[0] && float64(size(c.Delta)) > most*float64(size(d.reported[0].Delta)) && (c.Sure == nil || c.Sure.Level() >= certain) {
			return false
		}
	}
	return true
}

// work adds how the amount of work differs: B's number of threads, and its number of
// calls relative to A.
func (d *verdict) work() {
	w := d.c.Work()
	begin := "B "
	if a, b := w.Threads[0], w.Threads[1]; a != b && a > 0 && b > 0 {
		d.say("%sruns on %s instead of %s", begin, units.Plural(b, "thread"), units.Count(a))
		begin = " and "
	}
	if w.Differs() && (d.c.PerCall() || d.c.Normalize == compare.Raw) {
		d.say("%smakes %s times as many calls", begin, times(w.Ratio))
		begin = ""
	}
	switch {
	case begin == "B ":
	case d.c.PerCall() && !d.pending():
		d.say("; ")
	default:
		d.say(". ")
	}
}

func times(v float64) string {
	if v < .95 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// scaled adds B's cost at A's numbers of calls.
func (d *verdict) scaled(a, b compare.Side) {
	d.say("; with A's call counts ")
	if a.Total == b.Total {
		d.say("unchanged")
		return
	}
	d.link(Totals, "%s", units.Change(a.Total, b.Total))
	d.say(" (%s)", Signed(d.c.Metric, b.Total-a.Total))
}
