package difference

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/verdict"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/render/units"
)

const (
	// MostMarkdown is the maximum size of a comment, in bytes. Sites accept comments of
	// up to 64 KB.
	MostMarkdown = 60_000
	// mostOpen is the number of rows outside the folded part.
	mostOpen = 8
	// Marker is the first line of a comment, by which its author finds it again.
	Marker = "<!-- ashlar diff -->"
)

// Markdown returns the comparison as a comment for a pull request: the verdict, the
// largest changes, and the rest folded. Names from recordings are escaped. The result has
// at most [MostMarkdown] bytes.
func (d *Answer) Markdown() string {
	n := len(d.rows)
	for {
		text := d.First(n).markdown()
		if len(text) <= MostMarkdown || n == 0 {
			return text
		}
		n = min(n-1, n*MostMarkdown/len(text))
	}
}

func (d *Answer) markdown() string {
	var b strings.Builder
	b.WriteString(Marker + "\n**")
	for _, p := range verdict.Parts(d.c, d.funcs) {
		if p.Name {
			b.WriteString(safetext.Code(p.Text))
		} else {
			b.WriteString(safetext.Markdown(p.Text))
		}
	}
	b.WriteString("**\n\n")
	for _, f := range d.Failed[:min(len(d.Failed), mostOpen)] {
		fmt.Fprintf(&b, "- Condition failed: %s\n", safetext.Code(f))
	}
	if len(d.Failed) > 0 {
		b.WriteString("\n")
	}
	open := min(len(d.rows), mostOpen)
	if open == 0 {
		b.WriteString("No differences" + map[bool]string{true: " above the confidence limit", false: ""}[d.unsure > 0] + ".\n\n")
	} else {
		d.rowsAsMarkdown(&b, d.rows[:open])
	}
	var how strings.Builder
	d.head(&how)
	d.how(&how)
	fence := safetext.Fence(how.String(), 3)
	fmt.Fprintf(&b, "<details>\n<summary>%s</summary>\n\n%s\n%s%s\n\n", d.folded(len(d.rows)-open), fence, how.String(), fence)
	if len(d.rows) > open {
		d.rowsAsMarkdown(&b, d.rows[open:])
	}
	if d.more > 0 {
		fmt.Fprintf(&b, "%s not listed.\n\n", units.Plural(int64(d.more), "more row"))
	}
	if d.unsure > 0 {
		fmt.Fprintf(&b, "%s left out: confidence below %v.\n\n", are(d.unsure), d.Sure)
	}
	fmt.Fprintf(&b, "View: %s\n\n</details>\n", safetext.Code(safetext.Command(slices.Concat([]string{"ashlar"}, d.shown(0), d.shown(1))...)))
	return b.String()
}

// folded returns the summary line of the folded part.
func (d *Answer) folded(rows int) string {
	if rows > 0 {
		return units.Plural(int64(rows), "smaller change") + ", and the method"
	}
	return "Method"
}

// shown returns the recording of a side to open in a window.
func (d *Answer) shown(side int) []string {
	return []string{d.c.Runs[side*d.c.Sides].Rec.Source.Path}
}

// rowsAsMarkdown writes rows as a table.
func (d *Answer) rowsAsMarkdown(b *strings.Builder, rows []compare.Row) {
	fmt.Fprintf(b, "| Δ %s | | before | after | confidence | %s |\n|---:|---:|---:|---:|---:|---|\n", d.sorted(), d.By)
	for i := range rows {
		r := &rows[i]
		name := safetext.CodeInTable(r.Name)
		if r.NameB != "" && r.NameB != r.Name {
			name += " → " + safetext.CodeInTable(r.NameB)
		}
		if m := analyze.ModuleBase(r.Module); d.By == compare.ByFunction && m != "" {
			name += " in " + safetext.CodeInTable(m)
		}
		delta, before, after := r.DeltaSelf(), r.ASelf, r.BSelf
		if d.Sort == SortTotal {
			delta, before, after = r.DeltaTotal(), r.ATotal, r.BTotal
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", safetext.Markdown(d.signed(delta)), safetext.Markdown(state(r, before, after)),
			safetext.Markdown(d.blank(before)), safetext.Markdown(d.blank(after)), safetext.Markdown(level(d.confidence(r))), name)
	}
	b.WriteString("\n")
}
