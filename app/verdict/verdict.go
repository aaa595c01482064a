// Package verdict says in a sentence or two what a comparison came to. It stands first
// wherever a comparison is shown, so it is made in one place.
package verdict

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"ashlar/ingest/compare"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/render/units"
)

type verdict struct {
	c *compare.Comparison
	t *compare.Table
}

// Signed writes a difference in a metric of a comparison with its sign: +1.200 ms.
func Signed(m *compare.Metric, v int64) string {
	switch {
	case v > 0:
		return "+" + units.Value(m.Readable(v))
	case v < 0:
		return "−" + units.Value(m.Readable(-v))
	}
	return "0"
}

func (d *verdict) value(v int64) string { return units.Value(d.c.Metric.Readable(v)) }

// certain is the confidence from which on a difference is said to be one.
const certain = .95

// Of sums a comparison up. Its numbers are those of a table of it, whose Whole and
// whose first row in the direction of the whole are named; a Table of
// [compare.ByFunction] reads best.
func Of(c *compare.Comparison, t *compare.Table) string {
	d := &verdict{c, t}
	a, b := c.A(), c.B()
	var s string
	if d.c.Normalize == compare.Calls {
		s = d.ofCalls(a, b)
	} else {
		s = d.ofRuns(a, b)
	}
	if w := d.t.Whole; w != nil && w.Level() < certain && a.Total != b.Total && (a.Samples > 1 || b.Samples > 1) && (a.Calls != 1 || b.Calls != 1) {
		s += "; that may be chance"
	}
	return s + "." + d.most(b.Total < a.Total)
}

// ofCalls compares what one call of each set takes.
func (d *verdict) ofCalls(a, b compare.Side) string {
	verb := "take "
	if b.Calls == 1 {
		verb = "takes "
	}
	takes := verb + d.apart(a.Total, b.Total)
	if d.c.Metric.Common.Name != "time" {
		takes = strings.Replace(strings.Replace(verb, "takes", "has", 1), "take", "have", 1) + d.apart(a.Total, b.Total) + " " + plain.Short(d.c.Metric.Common.Name)
	}
	s := fmt.Sprintf("%s (B) %s each than %s (A): %s, %s", units.Plural(b.Calls, "call"), takes, units.Count(a.Calls), d.value(b.Total), d.value(a.Total))
	if a.OnCPU == nil || b.OnCPU == nil {
		return s
	}
	each := func(of, than *big.Rat) string {
		v, _ := new(big.Rat).Sub(of, than).Float64()
		return more(units.Duration(int64(math.Abs(math.Round(v)))), v)
	}
	return s + fmt.Sprintf("; %s on the CPU, %s waiting", each(b.OnCPU, a.OnCPU), each(b.Waiting, a.Waiting))
}

func more(amount string, v float64) string {
	if v < 0 {
		return amount + " less"
	}
	return amount + " more"
}

// apart says how much more or less B has.
func (d *verdict) apart(a, b int64) string {
	if b == a {
		return "as much"
	}
	return more(strings.TrimLeft(Signed(d.c.Metric, b-a), "+−"), float64(b)-float64(a))
}

// ofRuns compares two recordings, or parts of them: how long they are and what they
// cost, and where they are not as long, what a second of them costs.
func (d *verdict) ofRuns(a, b compare.Side) string {
	s := "costs " + costs(a.RawTotal, b.RawTotal) + fmt.Sprintf(" (%s, %s)", d.value(b.RawTotal), d.value(a.RawTotal))
	if a.RawTotal == b.RawTotal {
		s = "costs as much as A (" + d.value(a.RawTotal) + ")"
	}
	if a.Length <= 0 || b.Length <= 0 || 10*size(b.Length-a.Length) <= a.Length || d.c.Metric.Common.Kind != recording.Sum {
		return "B " + s
	}
	word := "longer"
	if b.Length < a.Length {
		word = "shorter"
	}
	s = fmt.Sprintf("B is %s %s (%s, %s); it %s", strings.TrimLeft(units.Change(a.Length, b.Length), "+−"), word, units.Duration(b.Length), units.Duration(a.Length), s)
	x := new(big.Rat).SetFrac(big.NewInt(a.RawTotal), big.NewInt(a.Length))
	y := new(big.Rat).SetFrac(big.NewInt(b.RawTotal), big.NewInt(b.Length))
	if x.Sign() <= 0 || y.Sign() <= 0 {
		return s
	}
	ratio, _ := y.Quo(y, x).Float64()
	const whole = 1 << 40 // of which Change takes the ratio
	return s + ", per second " + costs(whole, int64(math.Round(math.Min(ratio, 1<<20)*whole)))
}

func size(v int64) int64 { return max(v, -v) }

// costs says by how much B's cost differs from A's.
func costs(a, b int64) string {
	c := units.Change(a, b)
	switch {
	case a == b:
		return "as much"
	case strings.HasPrefix(c, "×"):
		return c[len("×"):] + " times as much"
	case b < a:
		return strings.TrimLeft(c, "−") + " less"
	}
	return strings.TrimLeft(c, "+") + " more"
}

// most names the row whose self changed most in the direction of the whole.
func (d *verdict) most(less bool) string {
	for i := range d.t.Rows {
		r := &d.t.Rows[i]
		if v := r.DeltaSelf(); v == 0 || (v < 0) != less {
			continue
		}
		what := "grew"
		if less {
			what = "fell"
		}
		sure := ""
		switch conf := r.Confidence(); {
		case conf == nil, d.c.A().Calls == 1 && d.c.B().Calls == 1: // of one call nothing can be said
		case conf.Level() >= certain:
			sure = ", " + units.Level(conf.Level()) + " sure"
		default:
			sure = ", which may be chance"
		}
		per, scaled := "", ""
		switch d.c.Normalize {
		case compare.Raw:
		case compare.Calls:
			per = " each"
		default:
			scaled = " Normalised by " + string(d.c.Normalize) + ","
		}
		return scaled + fmt.Sprintf(" %s %s most (%s%s%s).", plain.Short(r.Name), what, Signed(d.c.Metric, r.DeltaSelf()), per, sure)
	}
	return ""
}
