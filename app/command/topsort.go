package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
)

// sortFlag is the value of --sort: a key, with - before it for the reverse order; ""
// keeps the default order, by self.
type sortFlag string

// sortKey is a property that rows can be sorted by.
type sortKey string

// sortKeys lists all sort keys, in the order of the window's columns.
var sortKeys = func() []string {
	keys := []string{"name", "module", "file", "self", "total", "count"}
	for _, l := range spans.Lengths {
		keys = append(keys, l.Name)
	}
	return keys
}()

func (f *sortFlag) String() string { return string(*f) }
func (f *sortFlag) Type() string   { return "" }

func (f *sortFlag) Set(s string) error {
	if last := len(sortKeys) - 1; !slices.Contains(sortKeys, string(sortFlag(s).key())) {
		return fmt.Errorf("use %s or %s; a leading - reverses the order", strings.Join(sortKeys[:last], ", "), sortKeys[last])
	}
	*f = sortFlag(s)
	return nil
}

func (f sortFlag) key() sortKey { return sortKey(strings.TrimPrefix(string(f), "-")) }

// length returns the duration column of a key such as average; nil for keys that are not
// durations.
func (k sortKey) length() *spans.Length {
	for i := range spans.Lengths {
		if l := &spans.Lengths[i]; l.Name == string(k) {
			return l
		}
	}
	return nil
}

// of reports whether rows of a kind have the property.
func (k sortKey) of(by analyze.By) bool {
	return by == analyze.ByFunction || k.length() == nil && k != "module" && k != "file"
}

// number returns a function for the value by which a row is sorted, largest first; nil if
// the key sorts by text.
func (k sortKey) number(rec *recording.Recording, stats []spans.Stat) func(*analyze.Row) int64 {
	switch k {
	case "self":
		return func(r *analyze.Row) int64 { return r.Self }
	case "total":
		return func(r *analyze.Row) int64 { return r.Total }
	case "count":
		return func(r *analyze.Row) int64 { return r.Count }
	}
	if l := k.length(); l != nil {
		return func(r *analyze.Row) int64 { return l.OfRow(rec, r, stats) }
	}
	return nil
}

// text returns a function for the text by which a row is sorted.
func (k sortKey) text(rec *recording.Recording) func(*analyze.Row) string {
	switch k {
	case "module":
		return func(r *analyze.Row) string { return r.Module }
	case "file":
		return func(r *analyze.Row) string { return r.Function(rec).File }
	}
	return func(r *analyze.Row) string { return r.Name }
}

// sort sorts the rows as requested. The sort is stable.
func (t *top) sort(c *call, rec *recording.Recording, q analyze.Query, o *topOptions, rows []analyze.Row) error {
	k := o.sort.key()
	if k == "" {
		return nil
	}
	if k.length() != nil {
		if q.Event < 0 || rec.Events[q.Event].Basis != recording.FromSpans {
			return misfit(rec, fmt.Errorf("%s has no spans, so it has no durations; leave out --sort %s", t.what(), o.sort))
		}
		var err error
		if t.spans, err = spans.Stats(c.ctx, rec, q.Scope); err != nil {
			return err
		}
	}
	sign := 1
	if strings.HasPrefix(string(o.sort), "-") {
		sign = -1
	}
	if number := k.number(rec, t.spans); number != nil {
		slices.SortStableFunc(rows, func(a, b analyze.Row) int { return sign * cmp.Compare(number(&b), number(&a)) })
		return nil
	}
	text := k.text(rec)
	slices.SortStableFunc(rows, func(a, b analyze.Row) int { return sign * cmp.Compare(text(&a), text(&b)) })
	return nil
}
