package panel

import (
	"slices"
	"strings"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/render/units"
)

// CallWords describes a set of calls in words. It returns an invalid set unchanged.
func CallWords(set string) string {
	q, err := calls.Parse(set)
	if err != nil {
		return set
	}
	names := slices.Clone(q.Functions)
	for i, name := range names {
		if folded, ok := funcname.OfFoldedPattern(strings.Trim(name, "/")); ok {
			names[i] = folded
		}
	}
	words := []string{strings.Join(names, ", ")}
	if len(q.Functions) == 0 {
		words[0] = "all functions"
	}
	add := func(s string) { words = append(words, s) }
	if q.Duration.IsSet() {
		add(limitWords(q.Duration, "or longer", "shorter than "))
	}
	if q.Self.IsSet() {
		add("self " + limitWords(q.Self, "or longer", "shorter than "))
	}
	if q.Started.IsSet() {
		add("started " + limitWords(q.Started, "or later", "before "))
	}
	for i := range q.Args {
		add(q.Args[i].String())
	}
	if q.Found != "" {
		add("with " + q.Found)
	}
	if q.Slowest > 0 {
		add("the slowest " + units.Count(int64(q.Slowest)))
	}
	switch n := len(q.At); {
	case n == 1:
		add("the call at " + shortLength(q.At[0].Time))
	case n > 1:
		add(units.Count(int64(n)) + " selected")
	}
	text := strings.Join(words, ", ")
	if q.Others {
		return "all but " + text
	}
	return text
}

// limitWords formats a range of times, such as 60 ms to 320 ms. If the end is missing it
// returns the start and the words from; if the start is missing, the words to and the
// end.
func limitWords(r recording.Range, from, to string) string {
	switch {
	case !r.HasTo:
		return shortLength(r.From) + " " + from
	case !r.HasFrom:
		return to + shortLength(r.To)
	}
	return shortLength(r.From) + " to " + shortLength(r.To)
}

// shortLength formats a duration exactly if that is short: 60 ms, not 60.00 ms.
func shortLength(ps int64) string {
	if exact := decimal.Length(ps); ps != 0 && len(exact) <= len("123.456 µs") {
		return exact
	}
	return units.Duration(ps)
}
