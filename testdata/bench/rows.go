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

// rows are the table.
var rows = []row{
	{"spall1", func(b *bench) ([]result, error) { return b.spans(spall1, "spall v1", 30, 2000) }},
	{"spall3", func(b *bench) ([]result, error) { return b.spans(spall3, "spall v3", 35, 0) }},
	{"chrome", func(b *bench) ([]result, error) { return b.bytes(chrome, "Chrome JSON of B, E and X", 800) }},
	{"shapes", (*bench).shapes},
	{"files", (*bench).files},
	{"spaa", func(b *bench) ([]result, error) { return b.bytes(spaa, "SPAA, plain", 1000) }},
	{"spaa-zstd", (*bench).unpack},
	{"pprof", (*bench).pprof},
	{"folded", (*bench).folded},
	{"memory", (*bench).memory},
	{"peak", (*bench).peak},
	{"first-picture", (*bench).firstPicture},
	{"frame", (*bench).frame},
	{"range", (*bench).ranges},
	{"search", (*bench).search},
	{"again", (*bench).again},
	{"larger", (*bench).larger},
	{"open-close", (*bench).openClose},
	{"idle", (*bench).idle},
}

const mega = 1e6

func quietly(r run) string { return fmt.Sprintf("%.2f s CPU, others %.0f %%", r.CPU, 100*r.Others) }

// spans measures how many spans of a trace are loaded a second.
func (b *bench) spans(r recording, what string, target, mb float64) ([]result, error) {
	f, err := b.get(r)
	if err != nil {
		return nil, err
	}
	all, err := b.load(f)
	if err != nil {
		return nil, err
	}
	best := all[0]
	rate, bytes := float64(f.summary.Spans)/best.Seconds/mega, float64(f.bytes)/best.Seconds/mega
	x := result{
		What:   fmt.Sprintf("%s, %.0f M records (%.2f GB)", what, float64(f.summary.Records)/mega, float64(f.bytes)/1e9),
		Target: fmt.Sprintf("%.0f M spans/s", target), Value: rate, Pass: rate >= target && bytes >= mb,
		Measured: fmt.Sprintf("%.1f M spans/s, %.2f GB/s, %.2f s", rate, bytes/1000, best.Seconds), Note: quietly(best), Runs: all,
	}
	if mb > 0 {
		x.Target += fmt.Sprintf(" and %.0f GB/s", mb/1000)
	}
	return []result{x}, nil
}

// bytes measures how many bytes are loaded a second.
func (b *bench) bytes(r recording, what string, target float64) ([]result, error) {
	f, err := b.get(r)
	if err != nil {
		return nil, err
	}
	all, err := b.load(f)
	if err != nil {
		return nil, err
	}
	best := all[0]
	rate := float64(f.bytes) / best.Seconds / mega
	return []result{{
		What:   fmt.Sprintf("%s, %.2f GB", what, float64(f.bytes)/1e9),
		Target: fmt.Sprintf("%.0f MB/s", target), Value: rate, Pass: rate >= target,
		Measured: fmt.Sprintf("%.0f MB/s, %.2f s", rate, best.Seconds), Note: quietly(best), Runs: all,
	}}, nil
}

// unpack compares loading a compressed file with decompressing it.
func (b *bench) unpack() ([]result, error) {
	f, err := b.get(spaaZ)
	if err != nil {
		return nil, err
	}
	all, err := b.load(f)
	if err != nil {
		return nil, err
	}
	alone, err := b.bestOf("unpack", f.path)
	if err != nil {
		return nil, err
	}
	ratio := all[0].Seconds / alone.Seconds
	return []result{{
		What: "SPAA, zstd", Target: "1.4x of decompression alone", Value: ratio, Pass: ratio <= 1.4,
		Measured: fmt.Sprintf("%.2fx, %.2f s", ratio, all[0].Seconds),
		Note:     fmt.Sprintf("%s; decompression alone %.2f s, %.2f s CPU, others %.0f %%", quietly(all[0]), alone.Seconds, alone.CPU, 100*alone.Others), Runs: append(all, alone),
	}}, nil
}

// bestOf is the quickest of several runs of this program's other half.
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

// pprof measures the way to a flamegraph's numbers, and what its library takes.
func (b *bench) pprof() ([]result, error) {
	f, err := b.get(pprof)
	if err != nil {
		return nil, err
	}
	if err := f.warm(); err != nil {
		return nil, err
	}
	all, err := b.repeat(b.program, "top", "--json", "-n", "1", f.path)
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
	f, err := b.get(folded)
	if err != nil {
		return nil, err
	}
	if err := f.warm(); err != nil {
		return nil, err
	}
	all, err := b.repeat(b.program, "top", "--json", "-n", "1", f.path)
	if err != nil {
		return nil, err
	}
	return []result{{
		What:   fmt.Sprintf("folded stacks, %.0f MB, %d stacks, to the flamegraph", float64(f.bytes)/mega, f.summary.Stacks),
		Target: "1 s", Value: all[0].Seconds, Pass: all[0].Seconds <= 1,
		Measured: fmt.Sprintf("%.2f s", all[0].Seconds), Note: quietly(all[0]), Runs: all,
	}}, nil
}

// memory measures what a loaded recording holds, and what loading it took.
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
