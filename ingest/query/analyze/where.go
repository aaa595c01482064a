package analyze

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// Where keeps only the records with a label that meets a condition: KEY=VALUE for exactly
// that value, KEY~EXPRESSION for values in which a regular expression matches, and
// KEY!=VALUE and KEY!~EXPRESSION for all others. Several conditions on one key are met if
// all the negated ones are met and, if there are others, at least one of those.
// Conditions on different keys must all be met.
//
// Labels describe where a stack was taken (see ContextKeys): the contexts of stack
// records, threads' pid, tid and comm, samples' cpu. A record without the key has the
// value "". If a stack was joined from two halves (see join), both halves are kept if one
// is.
func Where(condition string) Transform { return Transform{OpWhere, Ref{Text: condition}} }

// IsWhere reports whether a transform is one of Where.
func (t Transform) IsWhere() bool { return t.Op == OpWhere }

// condition is a parsed condition of Where.
type condition struct {
	key, value string
	re         *regexp.Regexp // nil unless ~
	not        bool
}

func parseCondition(s string) (c condition, err error) {
	i := strings.IndexAny(s, "=~")
	if i < 0 {
		return c, fmt.Errorf("%q is not a condition; write KEY=VALUE or KEY~EXPRESSION", s)
	}
	c.key, c.value = s[:i], s[i+1:]
	c.key, c.not = strings.CutSuffix(c.key, "!")
	if c.key == "" {
		return c, fmt.Errorf("the condition %q names no key; write KEY=VALUE, or KEY~EXPRESSION", s)
	}
	if s[i] == '~' {
		if c.re, err = search.Compile(c.value); err != nil {
			return c, fmt.Errorf("%q in the condition %q is not a regular expression: %w", safetext.Middle(c.value, 80), safetext.Middle(s, 80), err)
		}
	}
	return c, nil
}

// about reports whether the condition's value or expression matches, regardless of
// negation.
func (c *condition) about(v string) bool {
	if c.re != nil {
		return c.re.MatchString(v)
	}
	return v == c.value
}

// meets reports whether a key's value meets all conditions on that key.
func meets(cs []condition, v string) bool {
	any, ok := false, false
	for i := range cs {
		switch c := &cs[i]; {
		case c.not && c.about(v):
			return false
		case !c.not:
			any = true
			ok = ok || c.about(v)
		}
	}
	return ok || !any
}

// keyConditions parses conditions and groups them by key.
func keyConditions(texts []string) map[string][]condition {
	by := map[string][]condition{}
	for _, s := range texts {
		// Invalid conditions were rejected before; see Transform.Check.
		if c, err := parseCondition(s); err == nil {
			by[c.key] = append(by[c.key], c)
		}
	}
	return by
}

// With returns the query with the settings of transforms: OpSplitRelated and Where change
// which records are weighed.
func (q Query) With(rec *recording.Recording, ts []Transform) Query {
	q.Apart = false
	q.Where = nil
	for _, t := range ts {
		switch t.Op {
		case OpSplitRelated:
			q.Apart = true
		case OpWhere:
			q.Where = append(q.Where, t.Text)
		}
	}
	if q.Where == nil || q.Event < 0 || q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans {
		return q
	}
	// Spans have only the labels of their threads.
	chosen, is, tracks := q.Scope.TrackTest(), q.filter(rec), []int{}
	for i := range rec.Tracks {
		if chosen(i) && is(&Record{Track: i, CPU: -1}) {
			tracks = append(tracks, i)
		}
	}
	q.Scope.Tracks, q.Where = tracks, nil
	return q
}

// OfSamples reports whether samples have the labels that Where needs. Samples have no
// contexts.
func (q *Query) OfSamples() bool {
	for key := range keyConditions(q.Where) {
		if !slices.Contains(sampleKeys, key) {
			return false
		}
	}
	return true
}

// sampleKeys are the labels of samples and of threads.
var sampleKeys = []string{"tid", "pid", "comm", "cpu", recording.LabelRecording}

// filter returns a test for records that meet Where.
func (q *Query) filter(rec *recording.Recording) func(*Record) bool {
	const taken, left = 1, 2
	var keys []*labels
	for key, cs := range keyConditions(q.Where) {
		keys = append(keys, newLabels(rec, key, func(v string) int {
			if meets(cs, v) {
				return taken
			}
			return left
		}))
	}
	return func(r *Record) bool {
		for _, k := range keys {
			if k.of(r) == left {
				return false
			}
		}
		return true
	}
}

// Takes returns a test for a query's Where. It identifies a record by its track, or
// recording.NoTrack, its context and its processor, -1 if unknown.
func (q *Query) Takes(rec *recording.Recording) func(track int, of recording.ContextID, cpu int) bool {
	is := q.filter(rec)
	return func(track int, of recording.ContextID, cpu int) bool {
		return is(&Record{Track: track, Context: of, CPU: cpu})
	}
}

// filtered passes on the records that satisfy is.
type filtered struct {
	to sink
	is func(*Record) bool
}

func (f *filtered) add(r *Record) {
	if f.is(r) {
		f.to.add(r)
	}
}

func (f *filtered) window(w *recording.Window) { f.to.window(w) }

// CheckWhere returns an error of one sentence if a recording does not have the key or
// value of a condition. The error lists the keys or values that it has.
func CheckWhere(rec *recording.Recording, t Transform) error {
	c, err := parseCondition(t.Text)
	if err != nil {
		return err
	}
	keys := ContextKeys(rec)
	if !slices.Contains(keys, c.key) {
		if len(keys) == 0 {
			return fmt.Errorf("the recording has no labels, so there is no %q", c.key)
		}
		return fmt.Errorf("the recording has no label %q; it has %s", c.key, strings.Join(keys, ", "))
	}
	values := labelValues(rec, c.key)
	if c.not || slices.ContainsFunc(values, c.about) {
		return nil
	}
	const most = 5
	like := strings.Join(values[:min(most, len(values))], ", ")
	if n := len(values) - most; n > 0 {
		like += fmt.Sprintf(" and %d more", n)
	}
	if c.re != nil {
		return fmt.Errorf("the recording has no %s that matches %q; values: %s", c.key, c.value, like)
	}
	return fmt.Errorf("the recording has no %s %q; values: %s", c.key, c.value, like)
}

// labelValues lists the values of a key.
func labelValues(rec *recording.Recording, key string) []string {
	set := map[string]bool{}
	l := newLabels(rec, key, func(v string) int {
		if v != "" {
			set[v] = true
		}
		return 1
	})
	for i := range rec.Contexts.Len() {
		l.of(&Record{Track: recording.NoTrack, Context: recording.ContextID(i), CPU: -1})
	}
	for ti, t := range rec.Tracks {
		l.of(&Record{Track: ti, CPU: -1})
		for _, s := range t.Samples {
			for i := 0; key == "cpu" && i < s.Len(); i++ {
				l.of(&Record{Track: ti, CPU: s.CPU(i)})
			}
		}
	}
	values := make([]string, 0, len(set))
	for v := range set {
		values = append(values, v)
	}
	slices.Sort(values)
	return values
}
