//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A reading holds the measurements of reading one recording with the whole program, from
// its start until everything is loaded.
type reading struct {
	Kind  string `json:"kind"` // see kinds
	What  string `json:"what"`
	JSON  bool   `json:"chrome_json,omitempty"`
	Bytes int64  `json:"bytes"` // size of the file
	// Unpacked is the decompressed size, if known.
	Unpacked int64  `json:"unpacked_bytes"`
	Packed   bool   `json:"packed,omitempty"`
	Count    int64  `json:"count"`
	Unit     string `json:"unit"` // unit of the count
	Spans    int64  `json:"spans"`

	// Rich recordings have nearly as many call paths as spans or samples. Their target is half the
	// speed, and they may take more memory.
	Rich  bool  `json:"path_rich,omitempty"`
	Paths int64 `json:"paths,omitempty"` // with Rich; 0 if unknown

	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"`
	System  float64 `json:"system_seconds"` // CPU time in the kernel
	Own     int64   `json:"own_bytes"`      // peak memory without mapped files

	Beside        string  `json:"beside,omitempty"` // reference that the time is compared with
	BesideSeconds float64 `json:"beside_seconds,omitempty"`

	Picture pictures `json:"picture"`
}

func (r *reading) rate() float64      { return float64(r.Count) / r.Seconds }
func (r *reading) bytesRate() float64 { return float64(r.Unpacked) / r.Seconds }

// leastJudged is the minimum size, in bytes, with a target for speed: smaller files
// mainly measure the program's start.
const leastJudged = 20 * mega

// met returns the ratio of the speed to the target speed, 0 without a target.
func (r *reading) met() float64 {
	k := kindOf(r.Kind)
	switch {
	case k.met != nil && r.Rich:
		return 2 * k.met(r)
	case k.met != nil:
		return k.met(r)
	case r.JSON && r.Bytes >= leastJudged:
		return chromeMet(r)
	}
	return 0
}

// mostKernel is the largest share of the CPU time that the kernel may take.
const mostKernel = .1

// kernel returns the share of the CPU time that was spent in the kernel.
func (r *reading) kernel() float64 { return r.System / max(r.CPU, 1e-3) }

// judged reports whether the targets for Chrome JSON apply.
func (r *reading) judged() bool { return r.JSON && (r.Kind != "file" || r.Bytes >= leastJudged) }

// memory returns the target in bytes, 0 without one.
func (r *reading) memory() float64 {
	if r.judged() {
		return memoryBeside + perSpan*float64(r.Spans) + perPath*float64(r.Paths)
	}
	return 0
}

// missed names the targets that a reading misses.
func (r *reading) missed() (what []string) {
	if s := r.met(); s > 0 && s < 1 {
		what = append(what, "speed")
	}
	if r.judged() && r.Beside == besideValid && r.BesideSeconds < validTimes*r.Seconds {
		what = append(what, besideValid)
	}
	if r.kernel() > mostKernel && r.Bytes >= leastJudged {
		what = append(what, "kernel")
	}
	if m := r.memory(); m > 0 && float64(r.Own) > m {
		what = append(what, "memory")
	}
	if p := r.Picture; p.First > kindOf(r.Kind).picture {
		what = append(what, "picture")
	}
	if r.Picture.Gap > longest {
		what = append(what, "pictures")
	}
	return what
}

const besideValid = "json.Valid"

// reading measures reading a recording, and everything else that is measured on its file.
func (b *bench) reading(k *kind, what string, rich bool, f *file) ([]result, error) {
	all, err := b.load(f)
	if err != nil {
		return nil, err
	}
	r := &reading{Kind: k.name, What: what, Bytes: f.bytes, Unpacked: f.bytes, Seconds: all[0].Seconds, CPU: all[0].CPU, System: all[0].System, Own: math.MaxInt64}
	if f.summary.Bytes > 0 {
		r.Unpacked = f.summary.Bytes
	}
	if r.Rich = rich; rich {
		r.Paths = int64(f.summary.Paths)
	}
	r.Packed = strings.HasSuffix(f.path, ".zst") || strings.HasSuffix(f.path, ".json.gz")
	for _, x := range all {
		r.Own = min(r.Own, x.Own)
	}
	var info struct {
		counted
		Format string
	}
	if err := json.Unmarshal([]byte(all[0].Text), &info); err != nil {
		return nil, err
	}
	r.Spans = info.Counts.Spans
	r.Count, r.Unit = k.count(&info.counted)
	if r.JSON = info.Format == "chrome"; r.JSON {
		r.Count, r.Unit = info.events()
	}
	if err := b.beside(r, f); err != nil {
		return nil, err
	}
	// Without a screen there are no pictures, but the other results are still useful.
	d, err := b.screen()
	if err == nil {
		r.Picture, err = b.pictures(d, f, "")
	}
	x := result{What: k.title + ", " + what, Measured: r.String(), Note: quietly(all[0]), Reading: r, Runs: all, Pass: true}
	if missed := r.missed(); len(missed) > 0 {
		x.Target, x.Pass = "missed: "+strings.Join(missed, ", "), false
	}
	return []result{x}, err
}

func (r *reading) String() string {
	return fmt.Sprintf("%.0f MB, %.2f M %s, %.2f s, %.0f MB of memory, first picture %.0f ms", float64(r.Bytes)/mega, float64(r.Count)/mega, r.Unit, r.Seconds, float64(r.Own)/mega, r.Picture.First)
}

// beside measures, on the same file, the reference that a reading is compared with.
func (b *bench) beside(r *reading, f *file) error {
	switch {
	case strings.HasSuffix(f.path, ".json"):
		r.Beside = besideValid
		for range min(b.runs, 3) {
			valid, err := b.self("json-valid", f.path)
			if err != nil {
				return err
			}
			s, err := strconv.ParseFloat(strings.TrimSpace(valid.Text), 64)
			if err != nil || s == 0 {
				r.Beside, r.BesideSeconds = "", 0 // a trace that was cut off
				return err
			}
			if r.BesideSeconds == 0 || s < r.BesideSeconds {
				r.BesideSeconds = s
			}
		}
		return nil
	case r.Packed:
		r.Beside = "unpacking alone"
		alone, err := b.bestOf("unpack", f.path)
		r.BesideSeconds = alone.Seconds
		return err
	case strings.HasSuffix(f.path, ".pb.gz"):
		r.Beside = "its library"
		library, err := b.bestOf("pprof-library", f.path)
		r.BesideSeconds = library.Seconds
		return err
	}
	return nil
}
