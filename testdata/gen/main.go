// Command gen writes a large synthetic recording for trials and measurements. The same
// command always writes the same bytes.
//
//	go run ./testdata/gen -kind spall1 -records 40000000 -o big.spall
//	go run ./testdata/gen -kind chrome -bytes 1000000000 -o big.json -summary
//
// With -summary it prints what it wrote as JSON: how many spans, samples, stacks and
// threads, the time they take, and the sums that a reader must arrive at. Package synth
// describes the recordings.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ashlar/testdata/gen/synth"
)

func main() {
	var o synth.Options
	flag.StringVar(&o.Kind, "kind", "", "what to write: "+strings.Join(synth.Kinds(), ", ")+", or the odd traces odd-"+strings.Join(synth.Odds(), ", odd-"))
	flag.StringVar(&o.Shape, "shape", "", "how it is written, of"+shapes())
	flag.Int64Var(&o.Records, "records", 0, "how many events (spall, chrome), samples (spaa) or stacks (folded, pprof)")
	flag.Int64Var(&o.Bytes, "bytes", 0, "about how many bytes")
	flag.IntVar(&o.Threads, "threads", 0, "how many threads (default 12)")
	flag.Uint64Var(&o.Seed, "seed", 1, "another seed makes another recording")
	flag.Uint64Var(&o.Run, "run", 0, "another run makes another recording of the same program, to compare with")
	path := flag.String("o", "", "the file to write; - is standard output")
	summary := flag.Bool("summary", false, "print what was written, as JSON")
	flag.Parse()
	if flag.NArg() > 0 || o.Kind == "" || *path == "" {
		fmt.Fprintln(os.Stderr, "gen: -kind and -o are needed, and nothing but flags; gen -help lists them")
		os.Exit(2)
	}
	if err := run(o, *path, *summary); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// shapes lists the shapes of all kinds.
func shapes() (list string) {
	for _, kind := range synth.Kinds() {
		if names := synth.Shapes(kind); len(names) > 1 {
			list += "\n" + kind + ":" + strings.Join(names, " ")
		}
	}
	return list
}

func run(o synth.Options, path string, summary bool) error {
	sum, err := write(o, path)
	if err != nil || !summary || sum == nil {
		return err
	}
	to := os.Stdout
	if path == "-" {
		to = os.Stderr
	}
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(sum)
}

// write writes the recording under another name first, so that a file at path is always
// complete.
func write(o synth.Options, path string) (*synth.Summary, error) {
	if path == "-" {
		w := bufio.NewWriter(os.Stdout)
		sum, err := synthesize(w, o)
		return sum, errors.Join(err, w.Flush())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".gen-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	sum, err := synthesize(f, o)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return nil, err
	}
	return sum, os.Rename(f.Name(), path)
}

// synthesize makes the recording; odd traces have no summary.
func synthesize(w io.Writer, o synth.Options) (*synth.Summary, error) {
	if name, ok := strings.CutPrefix(o.Kind, "odd-"); ok {
		return nil, synth.WriteOdd(w, name)
	}
	return synth.Write(w, o)
}
