//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"ashlar/testdata/gen/synth"
)

// rows are the rows of the table: recordings in every shape, and the other targets.
var rows = append(readings(), []row{
	{"pprof-top", (*bench).pprof},
	{"folded-top", (*bench).folded},
	{"memory", (*bench).memory},
	{"peak", (*bench).peak},
	{"frame", (*bench).frame},
	{"range", (*bench).ranges},
	{"calls", (*bench).calls},
	{"search", (*bench).search},
	{"again", (*bench).again},
	{"again-paths", (*bench).againPaths},
	{"larger", (*bench).larger},
	{"open-close", (*bench).openClose},
	{"idle", (*bench).idle},
}...)

const mega = 1e6

// bounds explains the missed targets of rows, according to profiles; kinds have their own
// explanations.
var bounds = map[string]string{
	"pprof-top":   "see pprof above; most of the time is reading.",
	"frame":       "while zooming, no bar of the previous picture can be used again, so all are looked up: two thirds of the time. Other frames take a third of the target.",
	"calls":       "the complement has five times as many calls as the set of 100,000, and the first answer visits each call once.",
	"again-paths": "overview and findings go over all call paths several times, for one group of rules after the other. info only opens the cache, and hardly depends on the size. diff builds one tree of both recordings, 80 bytes a node: most of its time is the first touch of that memory, and the passes over it.",
	"again":       "diff spends two thirds of its time sorting and ranking the sampled durations of each function, the rest on the trees of both recordings. The window shows everything in its first frame, which waits for Mesa.",
}

func quietly(r run) string { return fmt.Sprintf("%.2f s CPU, others %.0f %%", r.CPU, 100*r.Others) }

// bestOf returns the quickest of several runs of this program as a child process.
func (b *bench) bestOf(what string, args ...string) (run, error) {
	best := run{Seconds: math.Inf(1)}
	for range b.runs {
		r, err := b.self(what, args...)
		if err != nil {
			return r, err
		}
		if r.Seconds < best.Seconds {
			best = r
		}
	}
	return best, nil
}

// summedUp measures the time from a file to the numbers of a flamegraph.
func (b *bench) summedUp(of recording) (*file, []run, error) {
	f, err := b.get(of)
	if err != nil {
		return nil, nil, err
	}
	if err := f.warm(); err != nil {
		return nil, nil, err
	}
	all, err := b.repeat(b.program, "top", "--json", "--no-cache", "-n", "1", f.path)
	return f, all, err
}

// pprof measures the time to the numbers of a flamegraph, and the time that the format's
// library takes.
func (b *bench) pprof() ([]result, error) {
	f, all, err := b.summedUp(pprof)
	if err != nil {
		return nil, err
	}
	library, err := b.bestOf("pprof-library", f.path)
	if err != nil {
		return nil, err
	}
	best := all[0]
	ratio := best.Seconds / library.Seconds
	most := int64(0)
	for _, r := range all {
		most = max(most, r.Peak)
	}
	return []result{{
		What:   fmt.Sprintf("pprof, %.0f MB gzip, %.1f M samples, to the flamegraph", float64(f.bytes)/mega, float64(f.summary.Stacks)/mega),
		Target: "half of its library's parse, and 2 GB", Value: ratio,
		Pass:     ratio <= .5 && most < 2<<30,
		Measured: fmt.Sprintf("%.2f s, %.2fx of the library's %.2f s, %.2f GB", best.Seconds, ratio, library.Seconds, float64(most)/1e9),
		Note:     quietly(best), Runs: append(all, library),
	}}, nil
}

func (b *bench) folded() ([]result, error) {
	f, all, err := b.summedUp(folded)
	if err != nil {
		return nil, err
	}
	return []result{{
		What:   fmt.Sprintf("folded stacks, %.0f MB, %d stacks, to the flamegraph", float64(f.bytes)/mega, f.summary.Stacks),
		Target: "1 s", Value: all[0].Seconds, Pass: all[0].Seconds <= 1,
		Measured: fmt.Sprintf("%.2f s", all[0].Seconds), Note: quietly(all[0]), Runs: all,
	}}, nil
}

// memory measures the memory that a loaded recording keeps and that loading took.
func (b *bench) memory() ([]result, error) {
	var out []result
	for _, m := range []struct {
		r      recording
		unit   string
		target float64
		of     func(s *file) int64
	}{
		{spall1, "span", 24, func(f *file) int64 { return f.summary.Spans }},
		{spall3, "span", 24, func(f *file) int64 { return f.summary.Spans }},
		{chrome, "span", 24, func(f *file) int64 { return f.summary.Spans }},
		{spaa, "sample", 32, func(f *file) int64 { return f.summary.Samples }},
	} {
		f, kept, all, err := b.kept(m.r)
		if err != nil {
			return out, err
		}
		n := float64(m.of(f))
		per := float64(kept) / n
		peak := int64(math.MaxInt64)
		for _, r := range all {
			peak = min(peak, r.Own)
		}
		out = append(out, result{
			What:   fmt.Sprintf("memory a %s, %s", m.unit, filepath.Base(f.path)),
			Target: fmt.Sprintf("%.0f bytes beyond the mapped file", m.target), Value: per, Pass: per <= m.target,
			Measured: fmt.Sprintf("%.1f bytes held", per),
			Note:     fmt.Sprintf("%.1f at the peak of loading, with the program itself", float64(peak)/n),
		})
	}
	return out, nil
}

// openClose opens and closes recordings of all kinds in one process.
func (b *bench) openClose() ([]result, error) {
	var files []string
	for _, kind := range synth.Kinds() {
		path := filepath.Join(b.temp, "small."+kind)
		if err := make1(path, synth.Options{Kind: kind, Records: 100_000}); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	defer func() {
		for _, f := range files {
			os.Remove(f)
		}
	}()
	r, err := b.self("open-close", files...)
	if err != nil {
		return nil, err
	}
	var g growth
	if err := json.Unmarshal([]byte(r.Text), &g); err != nil {
		return nil, err
	}
	more := float64(g.After-g.Before) / mega
	return []result{{
		What: "100 files opened and closed", Target: "memory back to where it began", Value: more,
		Pass:     more < 2 && g.Goroutines <= 0 && g.Mappings <= 0,
		Measured: fmt.Sprintf("%+.1f MB of %.1f MB, %+d goroutines, %+d mapped files", more, float64(g.Before)/mega, g.Goroutines, g.Mappings),
		Note:     fmt.Sprintf("at most %.0f MB meanwhile", float64(r.Own)/mega),
	}}, nil
}
