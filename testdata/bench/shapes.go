//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ashlar/testdata/gen/synth"
)

// What is asked of Chrome JSON in any shape: one of the speeds, and the memory.
const (
	shapeEvents  = 4e6 // a second
	shapeBytes   = 400 * mega
	shapeMemory  = 256 * mega // beside the recording
	shapePerSpan = 24
)

// sizes are how large the recordings of each kind are that shapes are measured on.
var sizes = []struct {
	kind, what, ext string
	options         synth.Options
}{
	{"chrome", "Chrome JSON", ".json", synth.Options{Bytes: 200_000_000}},
	{"spall1", "spall v1", ".spall", synth.Options{Records: 10_000_000}},
	{"spall3", "spall v3", ".spall", synth.Options{Records: 20_000_000}},
	{"spaa", "SPAA", ".spaa", synth.Options{Bytes: 200_000_000}},
	{"pprof", "pprof", ".pb.gz", synth.Options{Records: 400_000, Bytes: 10_000_000}},
	{"folded", "folded stacks", ".folded", synth.Options{Bytes: 130_000_000}},
}

// shapes measures recordings in all the ways in which programs write them.
func (b *bench) shapes() ([]result, error) {
	var out []result
	for _, s := range sizes {
		for _, shape := range synth.Shapes(s.kind) {
			r := recording{ext: s.ext, options: s.options}
			r.options.Kind, r.options.Shape = s.kind, shape
			what := s.what + ", " + synth.ShapeIs(s.kind, shape)
			x, err := b.shapeOf(what, r)
			if err != nil {
				return out, err
			}
			out = append(out, x)
			if s.kind == "chrome" && shape == "" {
				r.gzip = true
				if x, err = b.shapeOf(what+", with gzip", r); err != nil {
					return out, err
				}
				out = append(out, x)
			}
		}
	}
	return out, nil
}

func (b *bench) shapeOf(what string, r recording) (result, error) {
	f, err := b.get(r)
	if err != nil {
		return result{}, err
	}
	x, err := b.shape(what, f)
	if err == nil && r.options.Kind != "chrome" {
		x.Target, x.Pass = "", true
	}
	if err == nil && r.options.Kind == "pprof" {
		library, err := b.bestOf("pprof-library", f.path)
		if err != nil {
			return x, err
		}
		x.Target, x.Pass = "half of its library's time", 2*x.Runs[0].CPU <= library.CPU
		x.Note += fmt.Sprintf("; the library %.2f s, %.2f s CPU", library.Seconds, library.CPU)
	}
	return x, err
}

// files measures recordings that others wrote.
func (b *bench) files() ([]result, error) {
	var out []result
	for path := range strings.SplitSeq(b.given, ",") {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return out, err
		}
		x, err := b.shape(filepath.Base(path), &file{path: path, bytes: info.Size()})
		if err != nil {
			return out, err
		}
		out = append(out, x)
	}
	return out, nil
}

// shape measures a file, and what checking it as JSON takes.
func (b *bench) shape(what string, f *file) (result, error) {
	all, err := b.load(f)
	if err != nil {
		return result{}, err
	}
	best, own := all[0], all[0].Own
	for _, r := range all {
		own = min(own, r.Own)
	}
	var info struct {
		Counts struct{ Spans int64 }
		Ledger []struct{ Read int64 }
	}
	if err := json.Unmarshal([]byte(best.Text), &info); err != nil {
		return result{}, err
	}
	events := 0.
	for _, t := range info.Ledger {
		events += float64(t.Read)
	}
	alone := ""
	if strings.HasSuffix(f.path, ".json") {
		r, err := b.self("json-valid", f.path)
		if err != nil {
			return result{}, err
		}
		if s, err := strconv.ParseFloat(strings.TrimSpace(r.Text), 64); err == nil && s > 0 {
			alone = fmt.Sprintf("; json.Valid %.2f s", s)
		}
	}
	rate, bytes := events/best.Seconds, float64(f.bytes)/best.Seconds
	most := shapeMemory + shapePerSpan*float64(info.Counts.Spans)
	return result{
		What:   fmt.Sprintf("%s, %.0f MB, %.2f M events", what, float64(f.bytes)/mega, events/mega),
		Target: "4 M events/s or 400 MB/s, 256 MB and 24 bytes a span", Value: rate / mega,
		Pass:     (rate >= shapeEvents || bytes >= shapeBytes) && float64(own) <= most,
		Measured: fmt.Sprintf("%.1f M events/s, %.0f MB/s, %.2f s, %.0f MB", rate/mega, bytes/mega, best.Seconds, float64(own)/mega),
		Note:     quietly(best) + alone, Runs: all,
	}, nil
}
