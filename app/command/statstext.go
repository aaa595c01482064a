package command

import (
	"fmt"
	"math"
	"strings"

	"ashlar/app/agent/findings"
	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

// text writes the statistics for people.
func (s *stats) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", safetext.Short(s.rec.Source.Name), safetext.Short(s.Functions[0].Name))
	if m := s.Functions[0].Module; m != "" {
		fmt.Fprintf(&b, " (%s)", safetext.Short(analyze.ModuleBase(m)))
	}
	if n := len(s.Functions) - 1; n > 0 {
		fmt.Fprintf(&b, " and %s more", units.Count(int64(n)))
	}
	b.WriteString("\n")
	switch {
	case s.durations != nil && s.durations.Count > 0:
		s.spansText(&b)
	case s.presence != nil:
		s.seenText(&b)
	}
	if s.Cannot != "" {
		b.WriteString(s.Cannot + "\n")
	}
	return b.String()
}

func (s *stats) spansText(b *strings.Builder) {
	d := s.durations
	fmt.Fprintf(b, "%s%s", units.Plural(d.Count, "call"), unfinishedText(d))
	if s.metric != nil {
		fmt.Fprintf(b, ", by %s", s.metric.Name)
	}
	if d.WithoutCPU > 0 {
		fmt.Fprintf(b, "; calls without CPU time: %s", units.Count(d.WithoutCPU))
	}
	b.WriteString("\n\n")
	tabular.Columns(b, "  ", "lr", durationRows(d))
	b.WriteString("\n")
	tabular.Histogram(b, s.bins)
	s.modesText(b)
	fmt.Fprintf(b, "\nover time: %s\n", trendText(&d.Trend))
	s.rhythmText(b)
	b.WriteString("\nslowest\n")
	rows := [][]string{{"took", "at", "pid", "tid", "thread"}}
	for i, x := range d.Slowest {
		t := s.rec.Tracks[x.Track]
		took := units.Duration(x.Duration)
		if x.Unfinished {
			took = "≥ " + took
		}
		rows = append(rows, []string{took, recording.Offset(x.Start - s.rec.Start), fmt.Sprint(s.Slowest[i].PID), fmt.Sprint(s.Slowest[i].TID), safetext.Short(t.Title())})
	}
	tabular.Columns(b, "  ", "rrrrl", rows)
}

// rhythmText describes when slow calls occur on the thread and lane of the slowest call, if
// they start late or are regular. It adds to the trend, which compares medians and so does not
// show a few slow calls.
func (s *stats) rhythmText(b *strings.Builder) {
	if s.metric != nil || len(s.durations.Slowest) == 0 || s.durations.Slowest[0].Lane < 0 {
		return
	}
	x := s.durations.Slowest[0]
	l := repeat.On(s.rec, x.Track, x.Lane, s.rec.Func(x.Call))
	if l == nil {
		return
	}
	slow := l.Slow()
	if slow == nil {
		return
	}
	if text := findings.RhythmText(l.Rhythm(slow), s.rec.Start); text != "" {
		fmt.Fprintf(b, "slow calls: %s of %s on %s take at least %s.%s\n", units.Count(int64(len(slow.Calls))), units.Count(int64(len(l.Spans))), safetext.Short(s.rec.Tracks[x.Track].Title()), units.Duration(slow.From), text)
	}
}

func trendText(t *spans.Trend) string {
	line := fmt.Sprintf("from %s to %s", units.Duration(int64(math.Round(t.First))), units.Duration(int64(math.Round(t.Last))))
	switch t.Direction {
	case spans.Slower:
		return "calls get slower; medians: " + line
	case spans.Faster:
		return "calls get faster; medians: " + line
	case spans.Steady:
		return "durations stay the same"
	}
	return "too few calls over time for a trend"
}

func (s *stats) seenText(b *strings.Builder) {
	p := s.presence
	fmt.Fprintf(b, "in %s of %s, innermost in %s\n", units.Count(p.Records), units.Plural(p.Of, p.Basis.One()), units.Count(p.Leaf))
	fmt.Fprintf(b, "%s: total %s%s (%s), self %s (%s)\n", safetext.Short(s.metric.Name),
		units.Value(p.Total, s.metric), below(p.Negative, s.metric), units.Percent(p.Total, p.OfWeight), units.Value(p.Self, s.metric), units.Percent(p.Self, p.OfWeight))
	r := s.Seen.Runs
	if r != nil {
		fmt.Fprintf(b, "seen %s: median %s, p90 %s, maximum %s; the longest lasts %s, from %s on thread %d\n",
			tabular.Often(r.Count), units.Count(r.MedianSamples), units.Count(r.P90Samples), units.Plural(r.MostSamples, "sample"),
			units.Duration(p.Runs.Longest), recording.Offset(p.Runs.Start-s.rec.Start), r.TID)
	}
	if len(p.OverTime) > 0 {
		fmt.Fprintf(b, "over time %s\n", tabular.Sparks(p.OverTime))
	}
	b.WriteString("\n")
}
