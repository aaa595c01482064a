package difference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ashlar/app/core/demo"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/tabular"
	"ashlar/app/core/verdict"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/units"
)

// value formats an amount with its unit, in readable digits.
func (d *Answer) value(v int64) string { return units.Value(d.c.Metric.Readable(v)) }

// signed writes a difference, with a sign.
func (d *Answer) signed(v int64) string { return verdict.Signed(d.c.Metric, v) }

// level formats a confidence, or returns ? if there is none.
func level(c *compare.Confidence) string {
	if c == nil {
		return "?"
	}
	return units.Level(c.Level())
}

// rowLevel is level for values of a row; what is 0 on both sides has no confidence.
func rowLevel(c *compare.Confidence, a, b int64) string {
	if c == nil && a == 0 && b == 0 {
		return ""
	}
	return level(c)
}

// Text returns the comparison as text for people.
func (d *Answer) Text() string {
	var b strings.Builder
	b.WriteString(verdict.Of(d.c, d.funcs) + "\n\n")
	d.head(&b)
	d.how(&b)
	b.WriteString("\n")
	if len(d.rows) == 0 {
		if d.unsure > 0 {
			fmt.Fprintf(&b, "No difference has a confidence of at least %v; %s less certain.\n", d.Sure, are(d.unsure))
		} else {
			b.WriteString("No differences.\n")
		}
		return b.String()
	}
	d.table(&b)
	if d.more > 0 {
		fmt.Fprintf(&b, "… and %s more; -n 0 prints all\n", units.Count(int64(d.more)))
	}
	if d.unsure > 0 {
		fmt.Fprintf(&b, "%s left out: confidence below %v\n", are(d.unsure), d.Sure)
	}
	return b.String()
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return units.Count(int64(n)) + " are"
}

// head writes the names of both sides and their totals.
func (d *Answer) head(b *strings.Builder) {
	m := &d.c.Metric.Common
	fmt.Fprintf(b, "%s\n", safetext.Short(d.what()))
	sa, sb := d.c.A(), d.c.B()
	rows := [][]string{}
	for i, s := range []compare.Side{sa, sb} {
		full := ""
		if d.c.Metric.Guard == 0 {
			full = exactnum.InFull(s.RawTotal, m)
		}
		rows = append(rows, []string{"AB"[i : i+1], d.value(s.RawTotal), full, d.behind(s, i), d.names(i)})
	}
	tabular.Columns(b, "  ", "lrrrl", rows)
	fmt.Fprintf(b, "  B is %s A: %s", units.Times(sa.RawTotal, sb.RawTotal), units.Change(sa.RawTotal, sb.RawTotal))
	if sa.RawTotal != sb.RawTotal {
		fmt.Fprintf(b, ", %s", d.signed(sb.RawTotal-sa.RawTotal))
	}
	if w := d.t.Whole; w != nil && d.c.Normalize == compare.Raw && sa.RawTotal != sb.RawTotal {
		fmt.Fprintf(b, ", %s sure", level(w))
	}
	b.WriteString("\n")
	for i, s := range []compare.Side{sa, sb} {
		if l := &s.LeftOut; l.AsyncSpans > 0 {
			fmt.Fprintf(b, "  %s: async spans excluded: %s in %s (--async in includes them)\n", "AB"[i:i+1], units.Duration(l.AsyncTime), units.Plural(l.AsyncSpans, "span"))
		}
		if s.WithoutCPU > 0 {
			fmt.Fprintf(b, "  %s: CPU time unknown for %s (not recorded, or cut by the range)\n", "AB"[i:i+1], units.Plural(s.WithoutCPU, "span"))
		}
		if l := &s.LeftOut; l.IdleRecords > 0 {
			name := units.Plural(l.IdleRecords, "idle sample")
			if l.Waits {
				name = l.IdleName()
			}
			fmt.Fprintf(b, "  %s: %s excluded (--idle in includes them)\n", "AB"[i:i+1], name)
		}
	}
}

// behind returns the number of records of a side, as text.
func (d *Answer) behind(s compare.Side, side int) string {
	word := "record"
	switch {
	case d.c.Runs[side*d.c.Sides].Weights.Basis == analyze.Spans:
		word = "span"
	case s.Counted:
		word = "sample"
	}
	out := units.Plural(s.Samples, word)
	if s.Recordings > 1 {
		out += fmt.Sprintf(" in %d recordings (mean)", s.Recordings)
	}
	return out
}

// names returns the files of a side with their range, thread and calls.
func (d *Answer) names(side int) string {
	files, rng, thread := d.Files[side], d.Ranges[side], d.Threads[side]
	first := side * d.c.Sides
	name := safetext.Short(d.c.Runs[first].Rec.Source.Path)
	if name == "" {
		name = demo.Name
	}
	if len(files) > 1 {
		name += fmt.Sprintf(" and %d more", len(files)-1)
	}
	scope := &d.c.Runs[first].Scope
	switch start := d.c.Runs[first].Rec.Start; {
	case rng.IsSet():
		name += ", " + rng.String()
	case scope.Outside:
		name += ", all but " + recording.Offsets(scope.From-start, scope.To-start).String()
	case scope.Ranged:
		name += ", " + recording.Offsets(scope.From-start, scope.To-start).String()
	}
	if thread != "" {
		name += ", thread " + safetext.Short(thread)
	}
	if set := scope.Calls; set != nil {
		name += ", " + tabular.Calls(set.Calls, set.Text)
	}
	return name
}

// how describes how the sides were made comparable.
func (d *Answer) how(w *strings.Builder) {
	switch d.c.Normalize {
	case compare.Raw:
		w.WriteString("  not normalised\n")
	case compare.Calls:
		if d.c.PerCall() {
			w.WriteString("  per call: each function of B is scaled to its calls in A (--normalize raw shows sums)\n")
			break
		}
		sa, sb := d.c.A(), d.c.B()
		fmt.Fprintf(w, "  per call: %s of A, %s of B\n", d.value(sa.Total), d.value(sb.Total))
	default:
		sb := d.c.B()
		fmt.Fprintf(w, "  normalised by %s: B is scaled to %s\n", d.c.Normalize, d.value(sb.Total))
	}
	if a, b := d.left(); a != d.c.A().Total || b != d.c.B().Total {
		fmt.Fprintf(w, "  after transforms: %s of A and %s of B remain\n", d.value(a), d.value(b))
	}
	if n := d.negative(); n != [2]int64{} {
		fmt.Fprintf(w, "  negative values: %s in A and %s in B\n", d.signed(n[0]), d.signed(n[1]))
	}
	if e := d.c.Metric; e.Rule != "event and metric" && d.MetricB == "" {
		fmt.Fprintf(w, "  the metrics were matched by %s\n", e.Rule)
	}
	var parts []string
	for _, x := range d.t.Matched() {
		switch {
		case x.Status == compare.Gone:
			parts = append(parts, fmt.Sprintf("only in A %s (%s of A)", units.Count(int64(x.Count)), units.Percent(x.A, d.c.A().Total)))
		case x.Status == compare.New:
			parts = append(parts, fmt.Sprintf("only in B %s (%s of B)", units.Count(int64(x.Count)), units.Percent(x.B, d.c.B().Total)))
		default:
			if x.Rule != match.Unmatched { // unmatched are the functions that transforms make
				parts = append(parts, units.Count(int64(x.Count))+" "+x.Rule.Words())
			}
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "  %s matched: %s\n", d.rowWords(), strings.Join(parts, ", "))
	}
	for i, r := range d.c.Renames {
		if i == mostRenames {
			fmt.Fprintf(w, "  … and %s more renamed\n", units.Count(int64(len(d.c.Renames)-i)))
			break
		}
		how := ""
		if pair := r.A.String() + "=" + r.B.String(); len(pair) <= mostTyped {
			how = fmt.Sprintf(" (--pair %s confirms it, --no-pair undoes it)", safetext.Command(pair))
		}
		fmt.Fprintf(w, "  renamed: %s → %s, %d %% alike%s\n", safetext.Short(r.A.Name), safetext.Short(r.B.Name), min(99, int(100*r.Likeness+.5)), how)
	}
	d.certainty(w)
}

// mostTyped is the length up to which a pair of names is printed as an argument.
const mostTyped = 2000

// mostRenames is the maximum number of renamed functions in the head.
const mostRenames = 10

// negative returns, for each side, the sum of the remaining stacks with values below
// zero.
func (d *Answer) negative() (sides [2]int64) {
	for i := range d.c.Tree.Nodes {
		n := &d.c.Tree.Nodes[i]
		recording.Add(&sides[0], min(n.A.Self, 0))
		recording.Add(&sides[1], min(n.B.Self, 0))
	}
	return sides
}

// left returns the totals that remain after transforms.
func (d *Answer) left() (a, b int64) {
	n := &d.c.Tree.Nodes[0]
	return n.A.Total, n.B.Total
}

// certainty writes the basis of the confidences and the smallest change they could
// detect.
func (d *Answer) certainty(b *strings.Builder) {
	switch d.c.Method() {
	case compare.FromRuns:
		b.WriteString("  confidence from the variation between runs")
	case compare.FromCounts:
		b.WriteString("  confidence from the numbers of samples")
	case compare.FromDurations:
		b.WriteString("  confidence from the durations of spans")
	default:
		b.WriteString("  confidence unknown: there are no sample counts\n")
		return
	}
	if w := d.t.Whole; w != nil && !math.IsNaN(w.Detectable) {
		v := int64(math.Round(w.Detectable))
		fmt.Fprintf(b, "; smallest detectable change of the total: %s", d.value(v))
		if total := d.c.A().Total; v <= 10*total { // a larger percentage means little
			fmt.Fprintf(b, " (%s)", units.Percent(v, total))
		}
	}
	b.WriteString("\n")
	if w := d.t.Whole; w != nil && w.Method == compare.FromRuns {
		fmt.Fprintf(b, "  total per run: A%s, B%s (standard deviation between runs)\n", verdict.Spread(d.c.Metric, w, 0), verdict.Spread(d.c.Metric, w, 1))
	}
	d.outliers(b)
	if d.PerRun {
		for r := range d.c.Runs {
			side, i := "A", r
			if r >= d.c.Sides {
				side, i = "B", r-d.c.Sides
			}
			fmt.Fprintf(b, "  %s%d: %s, total %s\n", side, i+1, safetext.Short(d.c.Runs[r].Rec.Source.Path), d.value(d.c.Runs[r].Sum))
		}
	}
}

// outliers names the runs whose totals are far from those of their side.
func (d *Answer) outliers(b *strings.Builder) {
	for r, out := range d.c.Outliers() {
		if !out {
			continue
		}
		run, side := &d.c.Runs[r], "A"
		if r >= d.c.Sides {
			side = "B"
		}
		fmt.Fprintf(b, "  outlier in %s: %s, total %s\n", side, safetext.Short(run.Rec.Source.Path), d.value(run.Sum))
	}
}

// rowWord returns the noun for a row.
func (d *Answer) rowWord() string {
	if key, ok := d.By.ContextKey(); ok {
		return safetext.Short(key)
	}
	if key, ok := d.By.ArgumentKey(); ok {
		return safetext.Short(key)
	}
	return string(d.By)
}

// rowWords returns the plural noun for rows.
func (d *Answer) rowWords() string {
	switch word := d.rowWord(); {
	case word != string(d.By):
		return "values of " + word
	case d.By == analyze.ByCategory:
		return "categories"
	default:
		return safetext.Noun(2, word)
	}
}

// column is a column of the table.
type column struct {
	head string
	cell func(r *compare.Row) string
}

// columns returns the columns of numbers.
func (d *Answer) columns() (all []column) {
	_, context := d.By.ContextKey()
	flat := context || d.By == compare.ByThread || d.By == analyze.ByState // such rows do not call each other
	self := []column{
		{"Δ self", func(r *compare.Row) string { return d.signed(r.DeltaSelf()) }},
		{"", func(r *compare.Row) string { return state(r, r.ASelf, r.BSelf) }},
		{"of change", func(r *compare.Row) string { return units.Percent(r.DeltaSelf(), d.t.Change) }},
		{"A self", func(r *compare.Row) string { return d.blank(r.ASelf) + verdict.Spread(d.c.Metric, r.Self, 0) }},
		{"B self", func(r *compare.Row) string { return d.blank(r.BSelf) + verdict.Spread(d.c.Metric, r.Self, 1) }},
		{"confidence", func(r *compare.Row) string { return rowLevel(r.Self, r.ASelf, r.BSelf) }},
	}
	total := []column{
		{"Δ total", func(r *compare.Row) string { return d.signed(r.DeltaTotal()) }},
		{"", func(r *compare.Row) string { return state(r, r.ATotal, r.BTotal) }},
		{"A total", func(r *compare.Row) string { return d.blank(r.ATotal) + verdict.Spread(d.c.Metric, r.Total, 0) }},
		{"B total", func(r *compare.Row) string { return d.blank(r.BTotal) + verdict.Spread(d.c.Metric, r.Total, 1) }},
		{"confidence", func(r *compare.Row) string { return rowLevel(r.Total, r.ATotal, r.BTotal) }},
	}
	switch {
	case flat:
		self[0].head, self[3].head, self[4].head = "Δ", "A", "B"
		all = self
	case d.Sort == SortTotal:
		all = slices.Concat(total, []column{self[0], self[1], self[5]})
	default:
		all = slices.Concat(self, []column{total[0], total[1], total[4]})
	}
	if !d.PerRun {
		return all
	}
	for r := range d.c.Runs {
		side, i := 0, r
		if r >= d.c.Sides {
			side, i = 1, r-d.c.Sides
		}
		all = append(all, column{fmt.Sprintf("%s%d %s", "AB"[side:side+1], i+1, d.sorted()), func(r *compare.Row) string {
			v := d.c.RunsOf(d.t, r)[side][i]
			if d.Sort == SortTotal {
				return d.blank(v.Total)
			}
			return d.blank(v.Self)
		}})
	}
	return all
}

// sorted returns what rows are sorted by: self or total.
func (d *Answer) sorted() string {
	if d.Sort == SortTotal {
		return SortTotal
	}
	return SortSelf
}

// table writes the rows.
func (d *Answer) table(b *strings.Builder) {
	columns := d.columns()
	head, align := []string{}, strings.Repeat("r", len(columns))+"l"
	for _, c := range columns {
		head = append(head, c.head)
	}
	if head = append(head, d.rowWord()); d.By == compare.ByFunction {
		head, align = append(head, "module"), align+"l"
	}
	rows := [][]string{head}
	for i := range d.rows {
		r, row := &d.rows[i], []string{}
		for _, c := range columns {
			row = append(row, c.cell(r))
		}
		row = append(row, both(safetext.Short(r.Name), safetext.Short(r.NameB)))
		if d.By == compare.ByFunction {
			row = append(row, both(safetext.Short(analyze.ModuleBase(r.Module)), safetext.Short(analyze.ModuleBase(r.ModuleB))))
		}
		rows = append(rows, row)
	}
	tabular.Columns(b, "", align, rows)
}

// state returns new, gone or the relative change.
func state(r *compare.Row, a, b int64) string {
	switch {
	case r.OneSided():
		return string(r.Status)
	case a == 0 && b == 0:
		return ""
	}
	return units.Change(a, b)
}

// blank formats an amount, or returns a dash for zero.
func (d *Answer) blank(v int64) string {
	if v == 0 {
		return "–"
	}
	return d.value(v)
}

// both returns a name and, if it changed, the new one.
func both(a, b string) string {
	if b == "" || b == a {
		return a
	}
	return a + " → " + b
}
