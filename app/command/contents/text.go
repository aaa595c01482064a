package contents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/exactnum"
	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

// mostThreads is the maximum number of threads in the text.
const mostThreads = 40

// mostMappings is the maximum number of mappings in the text.
const mostMappings = 5

// Text returns the contents as text for people, in aligned sections.
func (in *Contents) Text() string {
	rec := in.rec
	var b strings.Builder
	b.WriteString(safetext.Short(rec.Source.Name) + "\n")
	in.head(&b, rec)
	for _, v := range in.Views {
		fmt.Fprintf(&b, "  view  %s\n", safetext.Text(v))
	}
	in.events(&b, rec)
	in.threads(&b)
	in.contexts(&b)
	in.counts(&b)
	in.ledger(&b)
	in.warnings(&b)
	return b.String()
}

func (in *Contents) head(b *strings.Builder, rec *recording.Recording) {
	format := in.Format
	if in.Version != "" {
		format += " " + in.Version
	}
	size := units.Bytes(in.Bytes)
	if in.Compression != "none" && in.Compression != "" {
		size += ", " + in.Compression
	}
	rows := [][]string{{"format", format}, {"size", size}}
	if in.Tool != "" {
		rows = append(rows, []string{"recorded by", safetext.Short(in.Tool)})
	}
	if rec.Source.Command != "" {
		rows = append(rows, []string{"command", safetext.Short(rec.Source.Command)})
	}
	for _, n := range rec.Source.Notes {
		rows = append(rows, []string{safetext.Short(n.Key), safetext.Short(n.Value)})
	}
	if n := rec.Source.MoreNotes; n > 0 {
		rows = append(rows, []string{"…", units.Plural(n, "more note")})
	}
	for i := range rec.Source.Mappings[:min(mostMappings, len(rec.Source.Mappings))] {
		m := &rec.Source.Mappings[i]
		rows = append(rows, []string{"mapping", strings.Join(nonEmpty(safetext.Short(m.File), m.Range(), m.Known()), ", ")})
	}
	if n := len(rec.Source.Mappings) - mostMappings; n > 0 {
		rows = append(rows, []string{"…", units.Plural(int64(n), "more mapping")})
	}
	if types := rec.Source.FrameTypes; len(types) > 0 {
		rows = append(rows, []string{"frame types", safetext.Short(strings.Join(types, ", "))})
	}
	if t := in.Time; t != nil {
		rows = append(rows, []string{"time", strings.TrimSpace(fmt.Sprintf("%s, from %s to %s %s",
			units.Duration(rec.Duration()), t.Start, t.End, safetext.Text(t.Unit)))})
	} else {
		rows = append(rows, []string{"time", "none: the file has no timestamps"})
	}
	load := fmt.Sprintf("in %s s, %s/s, %s/s", in.Load.Seconds, units.Bytes(whole(in.Load.BytesPerSecond)), units.Plural(whole(in.Load.EventsPerSecond), "event"))
	if in.Load.BytesPerSecond == "0" && in.Bytes > 0 {
		load = fmt.Sprintf("in %s s, from the cache", in.Load.Seconds)
	}
	if in.Load.PeakRSS > 0 {
		load += ", at most " + units.Bytes(in.Load.PeakRSS) + " of memory"
	}
	tabular.Columns(b, "  ", "ll", append(rows, []string{"read", load}))
}

// whole converts a number without decimals.
func whole(n json.Number) int64 {
	v, _ := n.Int64()
	return v
}

func (in *Contents) events(b *strings.Builder, rec *recording.Recording) {
	if len(rec.Events) == 0 {
		return
	}
	b.WriteString("\nEvents\n")
	var rows [][]string
	for i := range rec.Events {
		e := &rec.Events[i]
		how := strings.Join(nonEmpty(e.Kind, e.Mode, sampled(e), e.Note), ", ")
		if e.Name == "" {
			how = strings.Join(nonEmpty(e.Mode, sampled(e), e.Note), ", ")
		}
		rows = append(rows, []string{safetext.Short(e.NameOrKind()), how, "", ""})
		for k := range e.Metrics {
			m, im := &e.Metrics[k], &in.Events[i].Metrics[k]
			value, mark := im.sum, []string{units.KindText(m)}
			if k == e.Primary {
				mark = []string{"primary", mark[0]}
			}
			if m.Kind == recording.Peak {
				value = im.largest
				mark = append(mark[:len(mark)-1], "of the largest stack; "+units.Bound(m)+units.Value(m.Total, m)+" in total")
			}
			if im.negative != 0 {
				mark = append(mark, "including "+units.Value(im.negative, m)+" from negative values")
			}
			rows = append(rows, []string{"  " + safetext.Short(m.Name), units.Value(value, m), exactnum.InFull(value, m), strings.Join(nonEmpty(mark...), ", ")})
		}
	}
	tabular.Columns(b, "  ", "llrl", rows)
}

// sampled says how often an event was sampled.
func sampled(e *recording.Event) string {
	switch {
	case e.Frequency > 0:
		return fmt.Sprintf("%g Hz", e.Frequency)
	case e.Period > 0:
		return "every " + units.Count(e.Period)
	}
	return ""
}

func nonEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, safetext.Short(w))
		}
	}
	return out
}

func (in *Contents) threads(b *strings.Builder) {
	if len(in.Threads) == 0 {
		return
	}
	var kinds []string
	for _, k := range in.rec.TrackKinds() {
		kinds = append(kinds, units.Plural(k.Count, k.Kind))
	}
	if len(kinds) == 1 && in.rec.ThreadWord(0) == "thread" {
		b.WriteString("\nThreads\n")
	} else {
		fmt.Fprintf(b, "\nTracks: %s\n", strings.Join(kinds, ", "))
	}
	rows := [][]string{{"pid", "process", "tid", "name", "spans", "samples", "stacks", "depth"}}
	named := slices.ContainsFunc(in.Threads, func(t Thread) bool { return t.Process != "" })
	groups := alike(in.Threads)
	listed := len(in.Threads)
	for _, g := range groups[:min(len(groups), mostThreads)] {
		t := &g.Thread
		name, tid := safetext.Short(t.Name), fmt.Sprint(t.TID)
		if t.Async {
			name = strings.TrimSpace(name + " (async)")
		}
		if g.count > 1 {
			name, tid = strings.TrimSpace(fmt.Sprintf("%s × %s", name, units.Count(int64(g.count)))), "…"
		}
		rows = append(rows, []string{
			fmt.Sprint(t.PID), safetext.Short(t.Process), tid, name, tabular.Dash(t.Spans), tabular.Dash(t.Samples), tabular.Dash(t.Stacks), tabular.Dash(int64(t.MaxDepth)),
		})
		listed -= g.count
	}
	align := "rlrlrrrr"
	if !named {
		align = "rrlrrrr"
		for i, row := range rows {
			rows[i] = slices.Delete(row, 1, 2)
		}
	}
	tabular.Columns(b, "  ", align, rows)
	if listed > 0 {
		fmt.Fprintf(b, "  … and %s more; --json lists all\n", units.Count(int64(listed)))
	}
}

// alikeThreads is the sum of threads with the same process and name.
type alikeThreads struct {
	Thread
	count int
}

// fewAlike is the largest number of threads of one name that are listed one by one.
const fewAlike = 3

// alike merges threads of one process and name if there are many. The threads of a pool
// would fill the page and differ only in their ids.
func alike(threads []Thread) (groups []alikeThreads) {
	type same struct {
		pid   exactnum.ID
		name  string
		async bool
	}
	count := map[same]int{}
	for _, t := range threads {
		count[same{t.PID, t.Name, t.Async}]++
	}
	at := map[same]int{}
	for _, t := range threads {
		k := same{t.PID, t.Name, t.Async}
		i, seen := at[k]
		if !seen || count[k] <= fewAlike {
			at[k] = len(groups)
			groups = append(groups, alikeThreads{t, 1})
			continue
		}
		g := &groups[i]
		g.count++
		g.Spans, g.Samples, g.Stacks, g.MaxDepth = g.Spans+t.Spans, g.Samples+t.Samples, g.Stacks+t.Stacks, max(g.MaxDepth, t.MaxDepth)
	}
	return groups
}

// contexts lists the context keys that top --by context:KEY accepts, except those shown
// in the list of threads.
func (in *Contents) contexts(b *strings.Builder) {
	var rows [][]string
	for _, c := range in.Contexts {
		switch c.Key {
		case "event", "pid", "tid", "comm":
			continue
		}
		if slices.Contains(analyze.ProbeParts[:], c.Key) {
			continue // part of the probe, which is listed under its own key
		}
		var values []string
		length := 0
		for _, v := range c.Top {
			s := safetext.Short(v.Value)
			if length += len(s) + 2; len(values) > 0 && length > 60 {
				break
			}
			values = append(values, s)
		}
		text := strings.Join(values, ", ")
		if more := c.Values - len(values); more > 0 {
			text += fmt.Sprintf(" and %s more", units.Count(int64(more)))
		}
		rows = append(rows, []string{safetext.Short(c.Key), text})
	}
	if len(rows) > 0 {
		b.WriteString("\nContexts of stacks\n")
		tabular.Columns(b, "  ", "ll", rows)
	}
}

func (in *Contents) counts(b *strings.Builder) {
	c := &in.Counts
	all := []struct {
		n    int64
		name string
	}{
		{c.Spans, "spans"}, {c.Unfinished, "unfinished spans"}, {c.Samples, "samples"}, {c.Stacks, "stacks"},
		{c.Frames, "frames"}, {c.Functions, "functions"}, {c.Windows, "windows"}, {c.Instants, "instants"},
		{c.Counters, "counters"}, {c.Flows, "flows"}, {in.Pairs, "pairs of user and kernel stacks, each counted once (top --split-related counts both halves)"},
	}
	var rows [][]string
	for _, x := range all {
		if x.n != 0 {
			rows = append(rows, []string{units.Count(x.n), x.name})
		}
	}
	b.WriteString("\nCounts\n")
	if len(rows) == 0 {
		b.WriteString("  nothing\n")
	}
	tabular.Columns(b, "  ", "rl", rows)
}

func (in *Contents) ledger(b *strings.Builder) {
	if len(in.Ledger) == 0 {
		return
	}
	b.WriteString("\nLedger\n")
	rows := [][]string{{"records", "read", "kept", "repaired", "left out", ""}}
	for _, t := range in.Ledger {
		var first []string
		if t.FirstRepaired != "" {
			first = append(first, "first repaired at "+safetext.Short(t.FirstRepaired))
		}
		if t.FirstLeftOut != "" {
			first = append(first, "first left out at "+safetext.Short(t.FirstLeftOut))
		}
		rows = append(rows, []string{safetext.Short(t.Kind), units.Count(t.Read), units.Count(t.Kept),
			tabular.Dash(t.Repaired), tabular.Dash(t.LeftOut), strings.Join(first, ", ")})
	}
	tabular.Columns(b, "  ", "lrrrrl", rows)
}

func (in *Contents) warnings(b *strings.Builder) {
	if len(in.Warnings) == 0 {
		return
	}
	for _, minor := range []bool{false, true} {
		in.warningsOf(b, minor)
	}
}

// warningsOf lists the warnings or, if minor is true, the notes.
func (in *Contents) warningsOf(b *strings.Builder, minor bool) {
	head := map[bool]string{false: "\nWarnings\n", true: "\nNotes\n"}[minor]
	for _, w := range in.Warnings {
		if w.Minor != minor {
			continue
		}
		b.WriteString(head)
		head = ""
		line := fmt.Sprintf("%s, %s", safetext.Short(w.Code), tabular.Often(w.Count))
		if w.First != "" {
			line += ", first at " + safetext.Short(w.First)
		}
		fmt.Fprintf(b, "  %s\n      %s\n", line, safetext.Text(w.Text))
	}
}
