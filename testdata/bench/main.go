//go:build linux

// Command bench measures Ashlar against its targets and prints a table.
//
//	go run ./testdata/bench                      every row, on full-size recordings
//	go run ./testdata/bench -quick -row spall    some rows, on small ones
//	go run ./testdata/bench -json bench.json     and what was measured, run by run
//	go run ./testdata/bench -peers               other programs on the same files
//	go run ./testdata/bench -page FILE           all of it, written into a Markdown file
//	go run ./testdata/bench -page FILE -from bench.json  from what was measured before
//	go run ./testdata/bench -make                the recordings alone
//
// The recordings are made by package synth and kept in $ASHLAR_BENCH_DIR, or ashlar/bench
// in the user's cache folder. Rows that say "whole program" build ashlar from this tree
// and run it from start to exit. The load of other programs on the machine is noted with
// each run: see [machine].
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "-child" {
		if err := child(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	b := &bench{}
	var only, out, page, from string
	var peers, list, makeOnly bool
	flag.StringVar(&only, "row", ".", "measure the rows whose names match a regular expression")
	flag.StringVar(&out, "json", "", "write what was measured as JSON to a file")
	flag.StringVar(&b.dir, "dir", "", "where the recordings are kept (default $ASHLAR_BENCH_DIR or the user's cache)")
	flag.IntVar(&b.runs, "runs", 5, "how often each is run; the best counts")
	flag.BoolVar(&b.quick, "quick", false, "recordings of a fiftieth of the size: to try the program, not to judge by")
	flag.DurationVar(&b.wait, "wait", 0, "wait up to this long before a run for others on the machine to be quiet")
	flag.BoolVar(&peers, "peers", false, "measure other programs instead")
	flag.StringVar(&b.peerDir, "peer-dir", "", "where programs from npm are installed (default beside the recordings)")
	flag.StringVar(&b.given, "files", "", "recordings of others to measure in the rows file and peers/file: NAME=PATH,…")
	flag.StringVar(&b.givenLarge, "large", "", "large recordings of others to measure beside tools of their formats in the row large/file: NAME=PATH,…")
	flag.StringVar(&page, "page", "", "measure the peers too, and write the tables between the marks of a Markdown file")
	flag.StringVar(&from, "from", "", "with -page: measure nothing, and take what -json wrote to these files: PATH,…; of a row in several, the last counts")
	flag.BoolVar(&makeOnly, "make", false, "make the recordings and measure nothing")
	flag.BoolVar(&list, "list", false, "print the names of the rows")
	flag.Parse()
	measured := rows
	switch {
	case peers:
		measured = slices.Concat(peerRows, largeRows)
	case page != "":
		measured = slices.Concat(rows, peerRows, largeRows)
	}
	if list {
		for _, r := range measured {
			fmt.Println(r.name)
		}
		return
	}
	err := func() error {
		if makeOnly {
			return b.makeAll()
		}
		if from == "" {
			return b.main(measured, only, out, page)
		}
		rep, err := readReports(strings.Split(from, ","), measured)
		if err != nil {
			return err
		}
		return rep.write(page)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one session of measuring.
type bench struct {
	dir               string
	peerDir           string
	runs              int
	quick             bool
	wait              time.Duration
	given, givenLarge string // recordings written by other programs
	program           string // the ashlar that was built
	temp              string
	within            time.Duration // time limit for other programs, replacing peerPatience

	loads   map[string][]run // runs of the whole program, by file; rows share them
	display *display         // see screen
}

// row is a line of the table, or a few that are measured together.
type row struct {
	name    string
	measure func(*bench) ([]result, error)
}

// result is a line of the table.
type result struct {
	Row      string  `json:"row"`
	What     string  `json:"what"`
	Target   string  `json:"target"`
	Measured string  `json:"measured"`
	Value    float64 `json:"value"` // in the unit of Target
	Pass     bool    `json:"pass"`
	Note     string  `json:"note,omitempty"`
	Runs     []run   `json:"runs,omitempty"`

	// At most one of these is set, for lines of tables with more columns.
	Reading *reading  `json:"reading,omitempty"`
	Peer    *compared `json:"peer,omitempty"`
	Large   *compared `json:"large,omitempty"`
}

// report is written by -json.
type report struct {
	Machine machine   `json:"machine"`
	When    time.Time `json:"when"`
	Quick   bool      `json:"quick,omitempty"`
	Results []result  `json:"results"`
	Errors  []string  `json:"errors,omitempty"`
}

func (b *bench) main(measured []row, only, out, page string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := b.chooseDir(); err != nil {
		return err
	}
	b.peerDir = cmp.Or(b.peerDir, filepath.Join(b.dir, "peers"))
	b.loads = map[string][]run{}
	if b.temp, err = os.MkdirTemp("", "ashlar-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	if err := b.build(); err != nil {
		return err
	}
	defer func() {
		if b.display != nil {
			b.display.stop()
		}
	}()
	rep := report{Machine: thisMachine(), When: time.Now().UTC().Truncate(time.Second), Quick: b.quick}
	fmt.Printf("%s, load %.1f\n\n| what | at least | measured | |\n|---|---|---|---|\n", rep.Machine, rep.Machine.Load)
	var failed []error
	for _, r := range measured {
		if !match.MatchString(r.name) {
			continue
		}
		results, err := r.measure(b)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.name, err))
			rep.Errors = append(rep.Errors, failed[len(failed)-1].Error())
		}
		for _, x := range results {
			x.Row = r.name
			fmt.Println(x.line())
			rep.Results = append(rep.Results, x)
		}
		if out != "" { // after each row, because all rows take an hour and may be interrupted
			if err := rep.save(out); err != nil {
				return errors.Join(append(failed, err)...)
			}
		}
	}
	if page != "" {
		failed = append(failed, rep.write(page))
	}
	return errors.Join(failed...)
}

// save writes the report as JSON.
func (rep *report) save(path string) error {
	text, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	return whole(path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}

// line returns the result as a line of a Markdown table.
func (r *result) line() string {
	verdict := "**miss**"
	switch {
	case r.Target == "":
		verdict = ""
	case r.Pass:
		verdict = "pass"
	}
	measured := r.Measured
	if r.Note != "" {
		measured += " (" + r.Note + ")"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", r.What, r.Target, cell(measured), verdict)
}
