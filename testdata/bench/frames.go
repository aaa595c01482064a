//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// frame runs the shell's own benchmark of frames over 50 M spans.
func (b *bench) frame() ([]result, error) {
	f, err := b.get(spall3)
	if err != nil {
		return nil, err
	}
	if err := f.warm(); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "test", "-tags", "novulkan", "-run", "^$", "-bench", "^BenchmarkFrame$", "-benchtime", "300x", "./app/window/shell")
	cmd.Env = append(os.Environ(), "ASHLAR_BENCH_FILE="+f.path, "EGL_PLATFORM=surfaceless", "LIBGL_ALWAYS_SOFTWARE=1")
	b.quiet()
	r, err := execute(cmd)
	if err != nil {
		return nil, err
	}
	var worst, clock, whole, average float64
	var at, wholeAt string
	var bars float64
	for _, line := range benchLine.FindAllStringSubmatch(r.Text, -1) {
		m := metrics(line[2])
		if p := m["p99-cpu-ms"]; p > worst {
			worst, clock, at, average, bars = p, m["p99-ms"], line[1], m["cpu-ms/frame"], m["bars/frame"]
		}
		if w := m["whole-ms/frame"]; w > whole {
			whole, wholeAt = w, line[1]
		}
	}
	if at == "" || wholeAt == "" {
		return nil, fmt.Errorf("the benchmark printed no frames:\n%s", bytes.TrimSpace([]byte(r.Text)))
	}
	return []result{{
		What: "frame (layout, raster, ops), p99, 50 M spans, zooming, or view or pointer moving at any zoom, 1280x720", Target: "1.5 ms CPU", Value: worst, Pass: worst <= 1.5,
		Measured: fmt.Sprintf("%.2f ms", worst),
		Note:     fmt.Sprintf("of the thread that draws, %.2f ms by the clock; the worst, %q, %.0f bars, %.2f ms on average; others %.0f %%", clock, at, bars, average, 100*r.Others),
	}, {
		What: "whole frame on software GL, 1280x720", Target: "100 ms", Value: whole, Pass: whole <= 100,
		Measured: fmt.Sprintf("%.0f ms", whole), Note: fmt.Sprintf("the worst zoom, %q, the best of its frames by wall clock", strings.TrimPrefix(wholeAt, "whole/")),
	}}, nil
}

var benchLine = regexp.MustCompile(`(?m)^BenchmarkFrame/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// metrics returns the values on a benchmark's output line by unit.
func metrics(s string) map[string]float64 {
	m := map[string]float64{}
	f := strings.Fields(s)
	for i := 0; i+1 < len(f); i += 2 {
		m[f[i+1]], _ = strconv.ParseFloat(f[i], 64)
	}
	return m
}
