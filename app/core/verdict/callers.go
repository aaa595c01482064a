package verdict

import (
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/causes"
	"ashlar/render/units"
)

// inside adds the functions called by the one whose calls are compared, if much of the change
// is in them but none is a cause of its own.
func (d *verdict) inside(r *compare.Row) {
	list := causes.CallsOf(d.c, r)
	list = slices.DeleteFunc(list, func(k causes.Callee) bool { return k.Func < 0 })
	rest := recording.Saturated(r.DeltaTotal(), -r.DeltaSelf())
	if len(list) == 0 || (rest < 0) != (r.DeltaTotal() < 0) || float64(size(rest)) < leastNamed*float64(size(r.DeltaTotal())) {
		return
	}
	d.say(", %s in its callees: ", Signed(d.c.Metric, rest))
	d.callees(list)
}

// caller names a function whose total changed: main.key total +1.2 s (newly calls
// fmt.Sprintf; 4.2 % of A, 12.3 % of B; >99 % sure).
func (d *verdict) caller(x *causes.Caller) {
	d.function(Total, x.Row)
	d.say(" total ")
	d.link(Total, "%s", Signed(d.c.Metric, x.Delta)).Row = x.Row
	d.say("%s (", d.per())
	switch x.Row.Status {
	case compare.New, compare.Gone:
		d.say("%s", x.Row.Status)
		if x.From >= 0 {
			d.say(", called by ")
			d.name(Branch, d.c.Tree.Name(x.From)).Node = x.From
		}
		d.say("; ")
	default:
		d.calls(x)
	}
	a, b := d.c.A().Total, d.c.B().Total
	d.say("%s of A, %s of B; %s)", units.Percent(x.Row.ATotal, a), units.Percent(x.Row.BTotal, b), certainty(x.Row.Total))
}

// calls adds what a caller newly calls or no longer calls or, if it calls the same
// functions, those that account for its change.
func (d *verdict) calls(x *causes.Caller) {
	list := slices.Clone(x.Calls)
	if len(list) == 0 {
		return
	}
	status := list[0].Status
	list = slices.DeleteFunc(list, func(k causes.Callee) bool { return k.Status != status })
	switch status {
	case compare.New:
		d.say("newly calls ")
	case compare.Gone:
		d.say("no longer calls ")
	default:
		d.say("mostly in ")
	}
	d.callees(list)
	d.say("; ")
}

// callees adds the names of at most mostNamed callees.
func (d *verdict) callees(all []causes.Callee) {
	d.list(len(all), func(i int) {
		if k := &all[i]; k.Func < 0 {
			d.say("its own code")
		} else {
			d.name(Branch, d.c.Tree.Name(k.Node)).Node = k.Node
		}
	})
}
