package claims

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// spoken matches a number as people write it: its digits, perhaps in groups, and its unit.
var spoken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-+]?[0-9][0-9 ]*(?:\.[0-9]+)?) ?(.*)$`)
})

// even replaces every white-space character by a space and every minus sign by a hyphen.
func even(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '−':
			return '-'
		}
		return r
	}, strings.TrimSpace(s))
}

// says reports whether a bold number matches a claim: it has either the claimed digits or
// the form for people, possibly with fewer digits or, as 12.34 M for 12.34 M cycles, without
// the unit.
func says(bold, number, people string) bool {
	digits := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), " ", "") }
	b := spoken().FindStringSubmatch(bold)
	if b[2] == "" || people == "" {
		return same(digits(b[1]), number, false)
	}
	p := spoken().FindStringSubmatch(people)
	return p != nil && (b[2] == p[2] || strings.HasPrefix(p[2], b[2]+" ")) && (digits(b[1]) == digits(p[1]) || len(digits(b[1])) < len(digits(p[1])) && same(digits(p[1]), digits(b[1]), true))
}

// people formats the number at a path of a command's answer for people; it returns "" if the
// number has no unit.
func people(command string, answer any, path string) string {
	v, err := follow(answer, path)
	n, ok := v.(json.Number)
	if err != nil || !ok {
		return ""
	}
	is, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return ""
	}
	return unitOf(command, answer, path).format(is)
}

// unit is the unit of a number, "" for a count, and its metric if that changes how values are
// written.
type unit struct{ name, metric string }

// share is the unit of parts of a whole, which people write in percent.
const share = "share"

// format writes a number for people; it returns "" without a unit.
func (u unit) format(v *big.Rat) string {
	switch u.name {
	case "":
		return ""
	case share:
		f, _ := v.Float64()
		return even(strconv.FormatFloat(100*f, 'f', 1, 64) + " %")
	}
	digits, exact := v.FloatPrec()
	if !exact {
		digits = 3
	}
	whole, fraction, _ := strings.Cut(v.FloatString(digits), ".")
	mantissa, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return ""
	}
	return even(safetext.Text(units.Full(mantissa, &recording.Metric{Name: u.metric, Unit: u.name, Decimals: len(fraction)})))
}

// unitOf returns the unit of a number: that of the nearest enclosing object that has one, or
// that of the command.
func unitOf(command string, answer any, path string) unit {
	last := path[strings.LastIndexByte(path, '.')+1:]
	if m := cell().FindStringSubmatch(path); m != nil { // of a query: the column's name is the field's
		if v, err := follow(answer, "columns["+m[1]+"]"); err == nil {
			last = fmt.Sprint(v)
		}
	}
	switch {
	case last == share || last == "covered" || strings.HasSuffix(last, "_share"):
		return unit{name: share}
	case strings.HasSuffix(last, "_ns"):
		return unit{name: "ns"}
	case strings.HasSuffix(last, "_bytes"):
		return unit{name: "bytes"}
	case counts[last]:
		return unit{}
	}
	for at := path; at != ""; {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
		v, err := follow(answer, strings.TrimPrefix(at+".unit", "."))
		if err != nil {
			continue
		}
		u := unit{}
		if u.name, _ = v.(string); u.name == "bytes" || u.name == "byte" || u.name == "B" {
			m, _ := follow(answer, strings.TrimPrefix(at+".metric", "."))
			u.metric, _ = m.(string)
		}
		return u
	}
	words := strings.Fields(command)
	if fields := ""; len(words) > 1 {
		for rest := path; rest != ""; {
			m := step().FindStringSubmatch(rest)
			if m == nil {
				return unit{}
			}
			if m[1] != "" {
				fields += "." + m[1]
			}
			rest = rest[len(m[0]):]
		}
		if strings.Contains(times[words[1]]+" ", " "+fields+" ") {
			return unit{name: "ns"}
		}
	}
	return unit{}
}

// cell matches the path of a number in the answer of sql.
var cell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^rows\[[0-9]+\]\[([0-9]+)\]$`) })

// times are the fields of answers that are times in nanoseconds, by command. Other answers
// have units or field names that end in _ns.
var times = map[string]string{
	"calls": " .sum .together .min .max .mean .median .p90 .p99 .p999 .histogram.from .histogram.to .modes.from .modes.to .rows.start .rows.duration .rows.self .rows.cpu .rows.waiting",
	"gpu":   " .devices.window .devices.busy .devices.copying .devices.communication .devices.hidden .devices.exposed .devices.idle.time .memory.allocated.time .memory.reserved.time .work_time .operators.self .operators.total .operators.outermost .operators.backward .operators.kernels.time .modules.self .modules.total .modules.outermost .modules.backward .modules.kernels.time .annotations.self .annotations.total .annotations.outermost .annotations.backward .annotations.kernels.time .loop.median .loop.median_gpu .loop.causes.slow .loop.causes.usual .ranks.window .ranks.ranks.late .ranks.ranks.wait .ranks.ranks.compute .ranks.collectives.wait .ranks.cause.time .ranks.cause.median .steps.start .steps.duration .steps.gpu",
	"locks": " .blocked .idle_left_out .locks.lost .locks.longest .locks.holds_derived.sum .locks.holds_derived.median .locks.holds_derived.longest .locks.holders.sum .locks.holders.median .locks.holders.longest .locks.losers.lost .locks.losers.longest .locks.convoy.start .locks.convoy.length",
}

// counts are the fields to which the unit of the enclosing object does not apply.
var counts = map[string]bool{"records": true, "count": true, "samples": true, "confidence": true, "calls": true, "ratio": true}

// same is like [equals] for two decimals.
func same(right, said string, rounded bool) bool {
	a, ok := new(big.Rat).SetString(right)
	return ok && equals(a, said, rounded)
}

// equals reports whether a number is equal to the decimal said or, if rounded is true, whether
// it rounds to said at said's number of digits.
func equals(a *big.Rat, said string, rounded bool) bool {
	b, ok := new(big.Rat).SetString(said)
	if !ok {
		return false
	}
	if !rounded {
		return a.Cmp(b) == 0
	}
	_, digits, _ := strings.Cut(said, ".")
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil)))
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(half) <= 0
}
