package command

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/tables"
	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

// carried returns the words for data that no record with times has, for use in a message.
func (t *top) carried() string {
	if slices.ContainsFunc(t.Transforms, analyze.Transform.IsWhere) {
		return "it for these labels"
	}
	return "it"
}

// what returns the name of the metric and its event.
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
		return safetext.Short(rec.Source.Name) + " has no values.\n"
	}
	fmt.Fprintf(&b, "%s: %s, from %s", safetext.Short(rec.Source.Name), safetext.Short(t.what()), t.counted(t.Records))
	if t.Range != nil {
		fmt.Fprintf(&b, ", %s to %s", units.Duration(t.Range.from), units.Duration(t.Range.to))
		if *t.Range != *t.Asked {
			b.WriteString(" (windows cannot be cut)")
		}
	}
	if len(t.windowsLeft) > 0 {
		b.WriteString("\nleft out because they overlap others: " + windowsText(t.windowsLeft))
	}
	if t.Calls != nil {
		fmt.Fprintf(&b, ", in %s", tabular.Calls(*t.Calls, t.Of))
	}
	fmt.Fprintf(&b, "\ntotal %s%s", units.Bound(t.metric), units.Value(t.sum, t.metric))
	if x := exactnum.InFull(t.sum, t.metric); x != "" {
		fmt.Fprintf(&b, " (%s)", x)
	}
	if t.Whole != "" && t.Whole != t.Total {
		fmt.Fprintf(&b, " of %s", units.Value(t.whole, t.metric))
	}
	b.WriteString(below(t.negative, t.metric))
	if kind := units.KindText(t.metric); kind != "" {
		b.WriteString("; " + kind)
	}
	if t.WithoutCPU > 0 {
		fmt.Fprintf(&b, "\nCPU time unknown for %s (not recorded, or cut by the range)", units.Plural(t.WithoutCPU, "span"))
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

// below describes the negative part of a total, "" if there is none.
func below(negative int64, m *recording.Metric) string {
	if negative == 0 {
		return ""
	}
	return ", including " + units.Value(negative, m) + " from negative values"
}

// counted returns a number of records with their noun.
func (t *top) counted(n int64) string { return units.Plural(n, analyze.Basis(t.Basis).One()) }

// rows writes the rows with the columns of their kind.
func (t *top) rows(b *strings.Builder, rec *recording.Recording) {
	if t.Tree {
		t.treeRows(b)
		return
	}
	cs := t.amount("self", func(r *topRow) int64 { return r.row.Self })
	key, alone := analyze.By(t.By).ContextKey() // such rows do not call each other
	if by := analyze.By(t.By); by == analyze.ByState || by.OfWaits() {
		key, alone = t.By, true
	}
	name := tables.Named(t.By, func(r *topRow) string { return r.Name })
	count := tables.Count("count", func(r *topRow) int64 { return r.Count })
	switch {
	case t.By == string(analyze.ByThread):
		cs = append(cs, count, tables.Numbered("tid", func(r *topRow) string {
			if r.TID == nil {
				return ""
			}
			return r.TID.String()
		}), name)
	case alone:
		name.Name = key
		cs = append(cs, count, name)
	default:
		count.Text = func(r *topRow) string { return tabular.Dash(r.Count) }
		cs = append(append(cs, t.amount("total", func(r *topRow) int64 { return r.row.Total })...), count)
		if t.spans != nil {
			for _, l := range spans.Lengths {
				of := func(r *topRow) int64 { return l.OfRow(rec, r.row, t.spans) }
				cs = append(cs, tables.Time(l.Name, of).Where(func(r *topRow) bool { return of(r) >= 0 }))
			}
		}
		switch {
		case t.By == string(analyze.ByFunction) || t.Function != nil:
			cs = append(cs, name, tables.Named("module", func(r *topRow) string { return analyze.ModuleBase(r.Module) }))
		case t.By == string(analyze.ByLine):
			name.Name = "function"
			cs = append(cs, tables.Named(t.By, func(r *topRow) string { return r.Place }), name)
		default:
			cs = append(cs, name)
		}
	}
	tables.Write(b, "", cs, t.Rows)
}

// amount returns a column of costs and a column of their shares.
func (t *top) amount(name string, of func(*topRow) int64) []tables.Column[topRow] {
	return []tables.Column[topRow]{tables.Value(name, t.metric, of), tables.Share(t.sum, of)}
}

// windowsText lists the names of windows, at most ten.
func windowsText(ids []string) string {
	n := len(ids)
	const most = 10
	text := safetext.Noun(int64(n), "window") + " " + safetext.Text(strings.Join(ids[:min(n, most)], ", "))
	if n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return text
}
