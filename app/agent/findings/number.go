package findings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/scan"
	"ashlar/render/units"
)

// Number is a number in a finding's sentence.
type Number struct {
	// Text is the number with its unit, as in the sentence.
	Text string `json:"text"`
	// Value is the exact number in Unit: ns for times, share (from 0 to 1) for percentages,
	// empty for counts. Metric is set if the number is a value of a metric.
	Value  json.Number `json:"value"`
	Unit   string      `json:"unit"`
	Metric string      `json:"metric,omitempty"`
	// Check is a claim for check-claims, COMMAND # PATH = NUMBER. The command is findings
	// itself only if no other prints the number.
	Check string `json:"check"`

	noun    string   // follows Text in the sentence
	args    []string // of the command in Check; nil for findings
	path    string   // of the number in the command's answer
	claimed string   // the number there if it is not Value
	rounded bool     // claimed is Value rounded to the digits of Text
}

// String returns the number as [Finding.say] writes it, with its noun.
func (n Number) String() string { return n.Text + n.noun }

// say appends to a finding's sentence. Each of its numbers must be an argument of type
// [Number], so that it becomes one of the finding's numbers; names are of type [name].
func (f *Finding) say(format string, args ...any) {
	for _, a := range args {
		switch a := a.(type) {
		case Number:
			f.Numbers = append(f.Numbers, a)
		case name:
			f.names = append(f.names, string(a))
		}
	}
	f.Claim += fmt.Sprintf(format, args...)
}

// saying returns a finding with a sentence; see say.
func (f Finding) saying(format string, args ...any) Finding {
	f.say(format, args...)
	return f
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+(\x{2009}[0-9]{3})*(\.[0-9]+)?`) })

// repeat appends a sentence that was written elsewhere. All its numbers become numbers of the
// finding, with the digits and without the units that they have there.
func (f *Finding) repeat(sentence string) {
	for _, d := range digits().FindAllString(sentence, -1) {
		whole, rest, _ := strings.Cut(strings.ReplaceAll(d, "\u2009", ""), ".")
		f.Numbers = append(f.Numbers, Number{Text: d, Value: json.Number(strings.TrimSuffix(cmp.Or(strings.TrimLeft(whole, "0"), "0")+"."+rest, "."))})
	}
	f.Claim += sentence
}

// name is a name in a sentence without quotes. It may contain digits.
type name string

// count returns a count as a number.
func count[T int | int32 | int64](n T) Number {
	return Number{Text: units.Count(int64(n)), Value: json.Number(strconv.FormatInt(int64(n), 10))}
}

// plural returns a count with its noun.
func plural[T int | int64](n T, one string) Number {
	c := count(n)
	c.noun = " " + safetext.Noun(int64(n), one)
	return c
}

// plain returns a number without a unit that is rounded in the sentence.
func plain(v float64, text string) Number {
	return Number{Text: text, Value: fraction(v), claimed: text, rounded: true}
}

// duration returns a time in picoseconds as a number.
func duration(ps int64) Number {
	return Number{Text: units.Duration(ps), Value: exactnum.Nanoseconds(ps), Unit: "ns"}
}

// estimated is duration for an estimate, with the digits that stats has.
func estimated(ps float64) Number {
	return Number{Text: units.Duration(int64(ps)), Value: exactnum.Measured(ps/1000, 3), Unit: "ns"}
}

const shareUnit = "share"

// part returns a part of a whole as a percentage.
func part(of, whole int64) Number {
	n := Number{Text: units.Percent(of, whole), Value: "0", Unit: shareUnit}
	if whole != 0 {
		n.Value = fraction(float64(of) / float64(whole))
	}
	return n
}

// percentage returns a share as a percentage.
func percentage(share float64) Number {
	return Number{Text: percent(share), Value: fraction(share), Unit: shareUnit}
}

func fraction(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', -1, 64)) }

// by sets the command that prints the number in its JSON, at a path.
func (n Number) by(path string, args ...string) Number {
	n.path, n.args = path, args
	return n
}

// over sets the command that prints the part and the whole of a share, or the sum and the count
// of a mean, at two paths.
func (n Number) over(part, whole string, args ...string) Number {
	v, err := n.Value.Float64()
	if err != nil {
		return n
	}
	n = n.by(part+" / "+whole, args...)
	if n.claimed == "" {
		digits := 4
		if n.Unit == "ns" {
			digits = 0
		}
		n.claimed, n.rounded = strconv.FormatFloat(v, 'f', digits, 64), true
	}
	return n
}

// overAll is over for a share of the recording's length.
func (l *look) overAll(n Number, part string, args ...string) Number {
	return n.over(part, evidence.Command(l.rec, "info", evidence.File(l.rec))+" # time.duration_ns", args...)
}

// value returns a value of the metric as a number.
func (l *look) value(v int64) Number {
	return Number{Text: units.Value(v, l.metric), Value: exact(v, l.metric), Unit: l.metric.Unit, Metric: l.metric.Name}
}

// amount returns a part of the sum as a value and as a percentage.
func (l *look) amount(v int64) (Number, Number) { return l.value(v), part(v, l.sum) }

// cost is like amount for a part that may be a function's self or total. If it is, the
// numbers are those that top prints for the function.
func (l *look) cost(id recording.FuncID, v int64) (sum, share Number) {
	sum, share = l.amount(v)
	for _, r := range l.Rows() {
		if r.Func != id || !r.IsFunction(l.rec) {
			continue
		}
		args := l.withMetric("top", evidence.File(l.rec), "--callees-of", typed(l.rec, l.rec.Functions.At(int(id))), "-n", "1")
		switch v {
		case r.Self:
			return sum.by("function.self", args...), share.over("function.self", "total", args...)
		case r.Total:
			return sum.by("function.total", args...), share.over("function.total", "total", args...)
		}
	}
	return sum, share
}

// mostNames is the maximum number of functions in an expression that lists them.
const mostNames = 12

// expression returns an expression that matches these functions only, "" if there are too many
// or one has no name.
func (l *look) expression(of map[recording.FuncID]int64) string {
	var names []string
	for id := range of {
		f := l.rec.Functions.At(int(id))
		if isUnnamed(f) { // so are others
			return ""
		}
		names = append(names, regexp.QuoteMeta(f.Name))
	}
	if len(names) == 0 || len(names) > mostNames {
		return ""
	}
	slices.Sort(names)
	return "/^(" + strings.Join(names, "|") + ")$/"
}

// A counted is a sum of costs outside idle stacks: its value, its share of the total, and that
// of the total of stacks that are not idle.
type counted struct{ sum, share, busy Number }

// counted returns a sum, with a path in the answer of top with these arguments; part "" stands
// for a sum that top does not print.
func (l *look) counted(v int64, part string, args ...string) (c counted) {
	c.sum, c.share = l.amount(v)
	c.busy = percentage(l.share(v, l.busy()))
	if part == "" {
		return c
	}
	drop, ok := l.without(idling)
	if !ok {
		return c
	}
	args = l.withMetric(slices.Concat([]string{"top", evidence.File(l.rec), "-n", "1"}, drop, args)...)
	whole := "total"
	if drop != nil {
		whole = "whole"
	}
	c.sum, c.share, c.busy = c.sum.by(part, args...), c.share.over(part, whole, args...), c.busy.over(part, "total", args...)
	return c
}

// without returns the flags that remove stacks with a function of a class from totals; ok is
// false if none do.
func (l *look) without(c class) (flags []string, ok bool) {
	of := l.classed(c, 0)
	if len(of.first) == 0 {
		return nil, true
	}
	names := l.expression(of.first)
	return []string{"--drop", names}, names != ""
}

// stacksWith returns the total of the stacks, outside idle ones, with any of these functions.
func (l *look) stacksWith(of map[recording.FuncID]int64, total int64) counted {
	if names := l.expression(of); names != "" {
		return l.counted(total, "matched.total", "--search", names)
	}
	return l.counted(total, "")
}

// sayCost appends the metric of a cost and, if some stacks are idle, the cost as a percentage of
// the non-idle total.
func (l *look) sayCost(f *Finding, c *counted) {
	f.say(" of %s", l.costName())
	if l.busy() != l.sum {
		f.say(" (%s of the non-idle total)", c.busy)
	}
}

// withMetric adds the flags for the metric to a command's arguments, unless it is the
// recording's default.
func (l *look) withMetric(args ...string) []string {
	if l.isDefault() {
		return args
	}
	return append(args, "--metric", l.metric.Name, "--event", l.event.NameOrKind())
}

// isDefault reports whether the metric is the recording's default, which commands use.
func (l *look) isDefault() bool {
	return l.event == nil || &l.rec.Events[l.rec.DefaultEvent()] == l.event && l.event.Primary == l.query.Metric
}

// callsOf returns the arguments of calls for a query and, if the function was called on other
// tracks too, a track; nil if no arguments select just these calls.
func (l *look) callsOf(q *calls.Query, f recording.FuncID, track, n int) []string {
	args := []string{"calls", evidence.File(l.rec), q.String(), "-n", "1"}
	switch t := l.rec.Tracks[track]; {
	case l.callsIn(f) == int64(n):
		return args
	case t.Kind != recording.ThreadTrack || l.callsOn(f, track) != n:
		return nil
	default:
		if thread := l.threadFlag(track); thread != nil {
			return append(args, thread...)
		}
		return nil
	}
}

// threadFlag returns the flag that selects a track, nil if neither its id nor its name does.
func (l *look) threadFlag(track int) []string {
	t := l.rec.Tracks[track]
	for _, thread := range []string{strconv.FormatInt(t.TID, 10), t.Name} {
		only := recording.Part{Threads: []string{thread}}
		if thread != "" && !slices.ContainsFunc(l.rec.Tracks, func(other *recording.Track) bool { return other != t && only.Takes(other) }) {
			return []string{"--thread", thread}
		}
	}
	return nil
}

// callsIn returns the number of calls of a function on all tracks.
func (l *look) callsIn(f recording.FuncID) int64 {
	if l.called == nil {
		l.called = make([]int64, l.rec.Functions.Len())
		for c := 1; c < len(l.rec.SpanCount); c++ {
			l.called[l.rec.Func(recording.CallID(c))] += l.rec.SpanCount[c]
		}
	}
	return l.called[f]
}

// callsOn returns the number of calls of a function on a track.
func (l *look) callsOn(f recording.FuncID, track int) (n int) {
	at := functionOn{f, track}
	if n, known := l.calledOn[at]; known {
		return n
	}
	lanes := l.rec.Tracks[track].Lanes
	for row := range lanes {
		(&scan.Stretch{Lane: &lanes[row], Last: lanes[row].Len()}).EachCall(func(_ int, calls []recording.CallID) {
			for _, c := range calls {
				if l.rec.Func(c) == f {
					n++
				}
			}
		})
	}
	if l.calledOn == nil {
		l.calledOn = map[functionOn]int{}
	}
	l.calledOn[at] = n
	return n
}

// functionOn is a function on a track.
type functionOn struct {
	function recording.FuncID
	track    int
}

// trackRow returns the path of a track's row in the answer of top --by thread; "" if its id
// does not identify it.
func (l *look) trackRow(track int) string {
	of := l.rec.Tracks[track]
	for i, t := range l.rec.Tracks {
		if i != track && t.TID == of.TID {
			return ""
		}
	}
	return fmt.Sprintf("rows[tid=%q].", strconv.FormatInt(of.TID, 10))
}

// finish sets the commands that recompute the numbers of all findings. files are those that
// findings was asked about.
func (l *look) finish(files ...string) {
	first := map[string]int{}
	for i := range l.out {
		f := &l.out[i]
		if _, ok := first[f.Rule]; !ok {
			first[f.Rule] = i
		}
		at := fmt.Sprintf("findings[%d]", i)
		if first[f.Rule] == i {
			at = fmt.Sprintf("findings[rule=%q]", f.Rule)
		}
		for k := range f.Numbers {
			n := &f.Numbers[k]
			if n.args == nil {
				n.args, n.path = append([]string{"findings"}, files...), fmt.Sprintf("%s.numbers[%d].value", at, k)
			}
			claimed, is := n.claimed, "="
			if claimed == "" {
				claimed = n.Value.String()
			}
			if n.rounded {
				is = "~"
			}
			n.Check = evidence.Command(l.rec, n.args...) + " # " + n.path + " " + is + " " + claimed
		}
	}
}
