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

// shapes measures Chrome JSON in all the ways in which programs write it.
func (b *bench) shapes() ([]result, error) {
	var out []result
	for _, shape := range append(synth.Shapes(), "gzip") {
		r := recording{ext: ".json", options: synth.Options{Kind: "chrome", Shape: shape, Bytes: 200_000_000}}
		what := synth.ShapeIs(shape)
		if shape == "gzip" {
			r.options.Shape, r.gzip, what = "", true, "the first, with gzip"
		}
		f, err := b.get(r)
		if err != nil {
			return out, err
		}
		x, err := b.shape("Chrome JSON, "+what, f)
		if err != nil {
			return out, err
		}
		out = append(out, x)
	}
	return out, nil
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
