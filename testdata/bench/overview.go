//go:build linux

package main

import (
	"fmt"
	"strings"
)

// headlines are the rows of the page's first table: a reading of a kind or a row of the
// tables below, found by the beginning of its name, with a sentence that explains it.
var headlines = []struct{ kind, what, title, means string }{
	{"file", "Chromium", "Chromium trace", "A real browser trace, fully loaded."},
	{"chrome", "", "Chrome JSON", "A generated trace, fully loaded: parsed, nested and indexed."},
	{"spall1", "", "spall v1", "20 million spans, limited by the one core that parses records in order."},
	{"spall3", "", "spall v3", "50 million spans from compiler instrumentation."},
	{"spaa", "", "SPAA", "Records are parsed on all cores and merged by one."},
	{"pprof", "", "pprof", "A label on every sample; the library google/pprof takes longer to parse the file."},
	{"", "frame (", "Frame", "CPU time of 99 of 100 frames while zooming and moving over 50 million spans, at most."},
	{"", "a range to flamegraph and table, 50 M spans: half", "Select a time range", "First and exact flamegraph of half of 50 million spans."},
	{"", "a set of calls to flamegraph and table", "Select 100,000 calls", "First and exact flamegraph of a set of single calls."},
	{"", "search by name, 50 M spans: \"e\"", "Search", "First hit and complete count of a letter in almost every name."},
	{"", "info again", "Reopen", "`ashlar info` of 1 GB of Chrome JSON from the cache."},
	{"", "spall v1 of", "Larger than memory", "A file five times as large as the memory limit, read completely."},
}

// overview writes a table of the headline benchmarks that have results.
func (rep *report) overview(b *strings.Builder) {
	head := "\n## At a glance\n\n| test | measured | what it means |\n|---|---|---|\n"
	for _, h := range headlines {
		for _, x := range rep.Results {
			measured := ""
			switch r := x.Reading; {
			case r != nil && r.Kind == h.kind && strings.HasPrefix(r.What, h.what):
				measured = fmt.Sprintf("%s in %s", size(r.Bytes), seconds(r.Seconds))
			case r == nil && x.Peer == nil && h.kind == "" && strings.HasPrefix(x.What, h.what):
				measured = cell(x.Measured)
			default:
				continue
			}
			fmt.Fprintf(b, "%s| %s | %s | %s |\n", head, h.title, measured, h.means)
			head = ""
			break
		}
	}
}
