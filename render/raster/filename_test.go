package raster

import (
	"strings"
	"testing"

	"ashlar/ingest/model/funcname"
)

// TestFileName shortens names of two files to every width. What is shown is whole words
// of the name with its ending, and tells the two apart as soon as a dozen letters fit.
func TestFileName(t *testing.T) {
	var faces Faces
	f := faces.Medium(12.5)
	for _, pair := range [][2]string{
		{"chrome_65_sucrase_before.trace.json", "chrome_65_sucrase_after.trace.json"},
		{"BenchmarkEncodeLargeDocument-2026-11-03.pb.gz", "BenchmarkEncodeLargeDocument-2026-11-04.pb.gz"},
		{"main/ServerRecordingOfMonday.json", "feature/ServerRecordingOfMonday.json"},
		{"a_rather_long_name_of_a_recording.spaa", "b.spall"},
	} {
		for i, name := range pair {
			beside := pair[1-i]
			for w := 3 * f.Advance('n'); w < f.Measure(name)+5; w++ {
				got := f.FileName(name, beside, w)
				if f.Measure(got) > w {
					t.Errorf("%q is wider than %v", got, w)
				}
				if got == "" && w >= 12*f.Advance('n') {
					t.Errorf("%q has no name in the room of %v", name, w)
				}
				if got == "" || w < 12*f.Advance('n') {
					continue
				}
				if got == f.FileName(beside, name, w) {
					t.Errorf("%q and %q are both %q", name, beside, got)
				}
				at := 0
				for _, piece := range strings.Split(got, Ellipsis) {
					k := strings.Index(name[at:], piece)
					if k < 0 {
						t.Errorf("%q is no part of %q", piece, name)
						break
					}
					if at += k; piece != "" && !wordStarts(name, at) {
						t.Errorf("%q begins inside a word of %q", piece, name)
					}
					at += len(piece)
					if piece != "" && !funcname.WordEnds(name, at) && !strings.HasSuffix(got, piece+Ellipsis) {
						t.Errorf("%q ends inside a word of %q", piece, name)
					}
				}
			}
			if got := f.FileName(name, beside, f.Measure(name)*.7); len(name) > 12 && !strings.HasSuffix(got, name[strings.LastIndexByte(name, '.')+1:]) {
				t.Errorf("%q is %q without its ending", name, got)
			}
		}
	}
	for name, want := range map[string]string{
		"chrome_65_sucrase_before.trace.json": "chrome_65_sucrase…json",
		"trace.json":                          "trace.json",
	} {
		if got := f.FileName(name, "", 24*f.Advance('n')); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func wordStarts(name string, at int) bool { return at == 0 || funcname.Word(name, at) == at }

// TestStatesAreWholeWords checks that what profilers name in the place of a function is
// not cut inside a word.
func TestStatesAreWholeWords(t *testing.T) {
	var faces Faces
	f := faces.Regular(11.5)
	for name, allowed := range map[string]string{
		"(idle)":              "(idle) idle",
		"(program)":           "(program) program",
		"(garbage collector)": "(garbage…",
		"[blocked: sync]":     "[sync]",
		"[running]":           "[running]",
	} {
		for w := float32(1); w < f.Measure(name); w++ {
			if got := f.Fit(name, w); got != "" && !strings.Contains(" "+allowed+" ", " "+got+" ") {
				t.Errorf("%q is %q in the room of %v", name, got, w)
			}
		}
	}
}
