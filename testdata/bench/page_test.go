//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/manual"
)

// TestPage checks that the page has a line for each recording with missed targets in bold,
// and keeps its other text.
func TestPage(t *testing.T) {
	good := reading{Kind: "chrome", What: "B and E", JSON: true, Bytes: 200e6, Unpacked: 200e6, Count: 2e6, Unit: "events", Spans: 1e6,
		Seconds: .25, CPU: .4, System: .04, Own: 250e6, Beside: besideValid, BesideSeconds: .8, Picture: pictures{Window: 90, First: 120, Gap: 60, All: 400}}
	slow := good
	slow.System = .1
	slow.What, slow.Seconds, slow.Own, slow.Picture = "X|Y", 1, 300e6, pictures{Window: 90, First: 230, Gap: 250, All: 900}
	rich := slow
	rich.What, rich.Rich, rich.Paths = "X of many paths", true, 2e6
	rep := &report{When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Machine: machine{CPU: "A processor", Cores: 2}, Errors: []string{"idle: no window"}, Results: []result{
		{Reading: &good, Pass: true, Runs: make([]run, 3)},
		{Reading: &slow, Runs: make([]run, 3)},
		{Reading: &rich, Runs: make([]run, 3)},
		{Row: "frame", What: "frame (layout)", Target: "1.5 ms", Measured: "2 ms"},
		{Row: "open", What: "opening", Target: "1 ms", Measured: "2 ms"},
		{What: "a search", Target: "1.5 ms", Measured: "1 ms", Pass: true},
		{Peer: &compared{Program: "ashlar top", File: "f", Seconds: .11, Own: 27e6}},
		{Peer: &compared{Program: "another", File: "f", Failed: true}},
	}}
	const large = "\n" + largeBegins + "\n| kept |\n" + largeEnds
	wrote(t, rep, "# Speed\n\n"+pageBegins+"old\n"+pageEnds+large+"\n\nThe end.\n", []string{
		"# Speed\n\n" + pageBegins, "2026-01-02", pageEnds + large + "\n\nThe end.\n", "the best of 3 runs", "| Chrome JSON | 200 MB in 0.25 s | A generated trace", "| Frame | 2 ms | CPU time",
		"| B and E | 200 MB, 2.00 M events | 0.25 s | 8.0 M, 800 MB | 2.00 | 1.6, 10 % | 250 MB | 0.80 s | 120, 60 ms |\n",
		// Misses: half of 4 M events/s and 400 MB/s; over 256 MB + 24 B a span; json.Valid
		// is faster.
		`| X\|Y | 200 MB, 2.00 M events | 1.00 s | 2.0 M, 200 MB | **0.50** | 0.4, **25 %** | **300 MB** | **0.80 s** | **230**, **250 ms** |` + "\n",
		// With many paths, half the speed is enough, and 40 bytes a path more.
		`| X of many paths | 200 MB, 2.00 M events | 1.00 s | 2.0 M, 200 MB | 1.00 | 0.4, **25 %** | 300 MB |`,
		"B and E, at 1.00 of its target of 800 MB/s", "Speed: missed in 1 of 3.", "\nFirst picture: missed in 2 of 3.", "\nKernel time: missed in 2 of 3. ", "\nMemory: missed in 1 of 3. A name", "\nMissed in *open*: " + unexplained, "\nMissed in *frame*: " + bounds["frame"],
		"| frame (layout) | 1.5 ms | **2 ms** | **no** |", "| a search | 1.5 ms | 1 ms | yes |",
		"| f | ashlar top | 0.11 s | 27 MB |\n|  | another | none | |\n", "because of errors: idle: no window.",
	})
	if err := rep.write(filepath.Join("..", "..", "README.md")); err == nil {
		t.Error("a page without marks was written")
	}
}

// TestLargePage checks the table of formats at 1 GB; the rest of the page stays.
func TestLargePage(t *testing.T) {
	rep := &report{Errors: []string{"large/file: no such file"}, Results: []result{
		{Row: "large/perfetto", Large: &compared{Program: "ashlar top", File: "Perfetto, 1.00 GB", Seconds: 4, Own: 27e6, Bytes: 1e9}, Runs: make([]run, 3)},
		{Row: "large/file", Large: &compared{Program: "ashlar top", File: "JFR, 500 MB", Seconds: 2, Own: 27e6, Bytes: 5e8}, Runs: make([]run, 3)},
		{Row: "large/file", Large: &compared{Program: "jfr summary", File: "JFR, 500 MB", Failed: true}},
	}}
	const main = pageBegins + "\n| kept |\n" + pageEnds
	wrote(t, rep, main+largeBegins+"old\n"+largeEnds, []string{
		main + largeBegins, "| Perfetto, 1.00 GB | ashlar top | 4.00 s | 250 | 27 MB |\n",
		"| JFR, 500 MB | ashlar top | 2.00 s | 250 | 27 MB |\n|  | jfr summary | none | | |\n", "because of errors: large/file: no such file.",
	})
}

// wrote writes a report into a page and checks that the page is valid for the manual,
// contains texts, and no longer has the old measurements.
func wrote(t *testing.T, rep *report, page string, texts []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.md")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rep.write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manual.Parse(text); err != nil {
		t.Error(err)
	}
	for _, want := range texts {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if strings.Contains(string(text), "old\n") {
		t.Error("what was measured before is still there")
	}
}

// TestReadReports checks that reports are joined in the order of rows, and that rows measured
// again replace those measured before.
func TestReadReports(t *testing.T) {
	var paths []string
	for i, rep := range []report{
		{Errors: []string{"b: failed", "d: failed"}, Results: []result{{Row: "c", What: "old"}, {Row: "a", What: "1"}, {Row: "a", What: "2"}}},
		{Errors: []string{"e: failed"}, Results: []result{{Row: "c", What: "new"}, {Row: "b", What: "3"}}},
	} {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := rep.save(path); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	rep, err := readReports(paths, []row{{name: "a"}, {name: "b"}, {name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, x := range rep.Results {
		got += x.Row + x.What + " "
	}
	if want := "a1 a2 b3 cnew "; got != want {
		t.Errorf("the results are %q, not %q", got, want)
	}
	if want := []string{"d: failed", "e: failed"}; !slices.Equal(rep.Errors, want) {
		t.Errorf("the errors are %q, not %q", rep.Errors, want)
	}
}

// TestManualHasMarks checks that the manual's page has the marks between which tables are
// written.
func TestManualHasMarks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "assets", "manual", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if begin, end := strings.Index(string(text), s.begins), strings.Index(string(text), s.ends); begin < 0 || end < begin {
			t.Errorf("performance.md lacks the marks %q and %q", s.begins, s.ends)
		}
	}
}
