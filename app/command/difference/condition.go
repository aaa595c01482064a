package difference

import (
	"context"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"sync"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/render/units"
)

// Quantities that a condition of --fail-if can test.
const (
	condTotal  = "total"
	condSelf   = "self"
	condModule = "module"
)

// Condition is the value of one --fail-if flag: a limit on the difference of a quantity.
type Condition struct {
	text       string
	what, name string // name is empty for the overall total
	op         string
	limit      *big.Rat
	unit       string // "%" for percent of A, "" for the metric's own unit
}

var conditionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*(total|self|module)\s*(?:\((.*)\))?\s*(>=|<=|>|<)\s*([+-]?[0-9]*\.?[0-9]+)\s*(%|[A-Za-zµμ]*)\s*$`)
})

// ParseCondition reads a condition. The error is one sentence.
func ParseCondition(text string) (Condition, error) {
	m := conditionForm().FindStringSubmatch(text)
	if m == nil {
		return Condition{}, fmt.Errorf("--fail-if %q is not a condition; write total>5%%, total(NAME)>10ms, self(NAME)>1%% or module(NAME)>0%%", text)
	}
	c := Condition{text: strings.TrimSpace(text), what: m[1], name: m[2], op: m[3], unit: m[5]}
	if c.name == "" && c.what != condTotal {
		return Condition{}, fmt.Errorf("--fail-if %q names no function or module; write %s(NAME)%s%s%s", text, c.what, c.op, m[4], m[5])
	}
	var ok bool
	if c.limit, ok = new(big.Rat).SetString(strings.TrimPrefix(m[4], "+")); !ok || len(m[4]) > 40 {
		return Condition{}, fmt.Errorf("--fail-if %q has an invalid number", text)
	}
	return c, nil
}

// Never reports whether a condition can never hold under a normalization that makes the
// totals equal.
func (c *Condition) Never(n compare.Normalize) bool {
	return c.what == condTotal && c.name == "" && n == compare.Total
}

// amountUnits are the units of limits by kind of measurement, each as a multiple of the
// smallest.
var amountUnits = map[string]map[string]int64{
	"time":  decimal.LengthUnits,
	"bytes": {"B": 1, "bytes": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
	"":      {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9},
}

// amount returns the limit in the metric's own unit.
func (c *Condition) amount(m *recording.Metric) (*big.Rat, error) {
	if c.unit == "" || c.unit == m.Unit {
		return c.limit, nil
	}
	class, base := compare.Measures(m)
	per, ok := amountUnits[class][c.unit]
	if !ok {
		return nil, fmt.Errorf("--fail-if %q has the unit %s, but %s is in %s", c.text, c.unit, m.Name, unitName(m))
	}
	v := new(big.Rat).Mul(c.limit, new(big.Rat).SetInt64(per))
	return v.Quo(v, new(big.Rat).SetInt64(base)), nil
}

func unitName(m *recording.Metric) string {
	if m.Unit == "" {
		return "no unit"
	}
	return safetext.Text(m.Unit)
}

// conditions returns the conditions that hold, with their numbers.
func (d *Answer) conditions(ctx context.Context) (failed []string, err error) {
	tables := map[compare.By]*compare.Table{d.By: d.t}
	table := func(by compare.By) (*compare.Table, error) {
		if tables[by] == nil {
			if tables[by], err = d.c.Table(ctx, by, d.Sure > 0); err != nil {
				return nil, err
			}
		}
		return tables[by], nil
	}
	for i := range d.If {
		cond := &d.If[i]
		vs, err := d.measured(cond, table)
		if err != nil {
			return nil, err
		}
		for _, v := range vs {
			holds, err := cond.holds(v.a, v.b, &d.c.Metric.Common)
			if err != nil {
				return nil, &Misuse{err}
			}
			if d.Sure > 0 && d.c.Method() != compare.NoMethod && (v.conf == nil || v.conf.Level() < d.Sure) {
				holds = false
			}
			if holds {
				failed = append(failed, fmt.Sprintf("%s: %s, from %s to %s", cond.text, units.Change(v.a, v.b), d.value(v.a), d.value(v.b)))
				break
			}
		}
	}
	return failed, nil
}

// Misuse is the error of a condition that does not fit the compared metric.
type Misuse struct{ error }

// measured is the value of a condition's quantity on both sides.
type measured struct {
	a, b int64
	conf *compare.Confidence
}

// measured finds the values for a condition; several functions may have the same name.
func (d *Answer) measured(cond *Condition, table func(compare.By) (*compare.Table, error)) ([]measured, error) {
	if cond.what == condTotal && cond.name == "" {
		return []measured{{d.c.A().Total, d.c.B().Total, d.t.Whole}}, nil
	}
	by := compare.ByFunction
	if cond.what == condModule {
		by = compare.ByModule
	}
	t, err := table(by)
	if err != nil {
		return nil, err
	}
	var vs []measured
	for i := range t.Rows {
		r := &t.Rows[i]
		if !named(r, cond) {
			continue
		}
		if cond.what == condTotal {
			vs = append(vs, measured{r.ATotal, r.BTotal, r.Total})
		} else {
			vs = append(vs, measured{r.ASelf, r.BSelf, r.Self})
		}
	}
	if vs == nil {
		return nil, fmt.Errorf("--fail-if %q: neither side has a %s called %s", safetext.Short(cond.text), by, safetext.Short(cond.name))
	}
	return vs, nil
}

func named(r *compare.Row, cond *Condition) bool {
	if r.Name == cond.name || r.NameB == cond.name {
		return true
	}
	if cond.what == condModule {
		return analyze.ModuleBase(r.Name) == cond.name || r.NameB != "" && analyze.ModuleBase(r.NameB) == cond.name
	}
	at := strings.LastIndexByte(cond.name, '@')
	return at > 0 && r.Name == cond.name[:at] && (r.Module == cond.name[at+1:] || analyze.ModuleBase(r.Module) == cond.name[at+1:])
}

// holds reports whether the condition holds, by exact arithmetic.
func (c *Condition) holds(a, b int64, m *recording.Metric) (bool, error) {
	d := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(b), big.NewInt(a)))
	limit := new(big.Rat)
	if c.unit == "%" {
		limit.Mul(c.limit, new(big.Rat).Quo(new(big.Rat).SetInt64(a), big.NewRat(100, 1)))
	} else {
		v, err := c.amount(m)
		if err != nil {
			return false, err
		}
		limit.Set(v)
		for range m.Decimals {
			limit.Mul(limit, big.NewRat(10, 1))
		}
	}
	switch c.op {
	case ">":
		return d.Cmp(limit) > 0, nil
	case ">=":
		return d.Cmp(limit) >= 0, nil
	case "<":
		return d.Cmp(limit) < 0, nil
	}
	return d.Cmp(limit) <= 0, nil
}
