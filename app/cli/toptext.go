package cli

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/cli/exact"
	"ashlar/app/cli/tabular"
	"ashlar/app/evidence"
	"ashlar/ingest/analyze"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/ingest/spans"
	"ashlar/render/units"
)

// carried names the records that would need times.
func (t *top) carried() string {
	if slices.ContainsFunc(t.Transforms, analyze.Transform.IsWhere) {
		return "it with these labels"
	}
	return "it"
}

// what names the metric and its event.
func (t *top) what() string {
	if t.Event == "" {
		return t.Metric
	}
	return t.Metric + " of " + t.Event
}

// text writes the rows as aligned columns.
func (t *top) text(rec *recording.Recording) string {
	var b strings.Builder
	if t.metric.Name == "" {
		return plain.Short(rec.Source.Name) + " holds nothing to add up.\n"
	}
	fmt.Fprintf(&b, "%s: %s, from %s", plain.Short(rec.Source.Name), plain.Short(t.what()), t.counted(t.Records))
	if t.Range != nil {
		fmt.Fprintf(&b, ", %s to %s", units.Duration(t.Range.from), units.Duration(t.Range.to))
		if *t.Range != *t.Asked {
			b.WriteString(" (windows cannot be cut)")
		}
	}
	if t.Calls != nil {
		fmt.Fprintf(&b, ", in %s", tabular.Calls(*t.Calls, t.Of))
	}
	fmt.Fprintf(&b, "\ntotal %s%s", units.Bound(t.metric), units.Value(t.sum, t.metric))
	if x := exact.InFull(t.sum, t.metric); x != "" {
		fmt.Fprintf(&b, " (%s)", x)
	}
	if t.Whole != "" && t.Whole != t.Total {
		fmt.Fprintf(&b, " of %s", units.Value(t.whole, t.metric))
	}
	b.WriteString(below(t.negative, t.metric))
	if kind := units.KindText(t.metric); kind != "" {
		b.WriteString("; " + kind)
	}
	if t.Untold > 0 {
		fmt.Fprintf(&b, "\nno time on a processor is known of %s: not told, or here only in part", units.Plural(t.Untold, "span"))
	}
	b.WriteString(evidence.LeftOut(&t.left, t.metric))
	t.viewText(&b)
	b.WriteString("\n\n")
	t.rows(&b, rec)
	if t.More > 0 {
		fmt.Fprintf(&b, "… and %s more; -n 0 prints all\n", units.Count(int64(t.More)))
	}
	return b.String()
}

// below says behind a total what of it is below zero, if anything is.
func below(negative int64, m *recording.Metric) string {
	if negative == 0 {
		return ""
	}
	return ", with " + units.Value(negative, m) + " below zero"
}

// counted counts what was added up.
func (t *top) counted(n int64) string { return units.Plural(n, analyze.Basis(t.Basis).One()) }

func (t *top) rows(b *strings.Builder, rec *recording.Recording) {
	if t.Tree {
		t.treeRows(b)
		return
	}
	functions := t.By == string(analyze.ByFunction) || t.Function != nil
	lines := t.By == string(analyze.ByLine)
	threads := t.By == string(analyze.ByThread)
	key, alone := analyze.By(t.By).ContextKey() // none calls another
	if t.By == string(analyze.ByState) {
		key, alone = "state", true
	}
	head := []string{"self", "", "total", "", "count", t.By}
	switch {
	case functions:
		head = append(head, "module")
	case lines:
		head = append(head, "function")
	case threads:
		head = []string{"self", "", "count", "tid", "thread"}
	case alone:
		head = []string{"self", "", "count", plain.Short(key)}
	}
	if t.spans != nil {
		head = slices.Insert(head, 5, "average", "least", "most")
	}
	table := [][]string{head}
	for i := range t.Rows {
		r := &t.Rows[i]
		self, share := units.Value(r.row.Self, t.metric), units.Percent(r.row.Self, t.sum)
		if threads {
			tid := ""
			if r.TID != nil {
				tid = fmt.Sprint(*r.TID)
			}
			table = append(table, []string{self, share, units.Count(r.Count), tid, plain.Short(r.Name)})
			continue
		}
		if alone {
			table = append(table, []string{self, share, units.Count(r.Count), plain.Short(r.Name)})
			continue
		}
		line := []string{self, share, units.Value(r.row.Total, t.metric), units.Percent(r.row.Total, t.sum), tabular.Dash(r.Count)}
		if t.spans != nil {
			line = append(line, t.lengths(rec, r.row)...)
		}
		switch {
		case functions:
			line = append(line, plain.Short(r.Name), plain.Short(analyze.ModuleBase(r.Module)))
		case lines:
			line = append(line, plain.Short(r.Place), plain.Short(r.Name))
		default:
			line = append(line, plain.Short(r.Name))
		}
		table = append(table, line)
	}
	switch {
	case threads:
		tabular.Columns(b, "", "rrrrl", table)
	case alone:
		tabular.Columns(b, "", "rrrl", table)
	default:
		tabular.Columns(b, "", (strings.Repeat("r", slices.Index(head, t.By)) + "ll")[:len(head)], table)
	}
}

// lengths are the cells of how long a row's spans are.
func (t *top) lengths(rec *recording.Recording, r *analyze.Row) []string {
	s := spans.OfRow(rec, r, t.spans)
	if s == nil {
		return []string{"–", "–", "–"}
	}
	return []string{units.Duration(s.Average()), units.Duration(s.Min), units.Duration(s.Max)}
}
