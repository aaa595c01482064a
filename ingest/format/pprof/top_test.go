package pprof

import (
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	recordings "ashlar/testdata/samples"
)

type row struct{ flat, cum int64 }

// naiveTop sums self and total by function from the recording's stacks. A stack counts once
// in a function's total.
//
// pprof merges functions by name across binaries. It shows all locations of a binary
// without names as one function, the binary's file name in brackets. The recording has one
// function per address there, so naiveTop merges them.
func naiveTop(r *recording.Recording, metric int) map[string]row {
	top := map[string]row{}
	s := r.Stacks[0]
	for i := range s.Len() {
		v := s.Value(i, metric)
		path := r.Calls.Path(nil, s.Call(i))
		seen := map[string]bool{}
		for k, c := range path {
			fn := r.Functions.At(int(r.Func(c)))
			name := fn.Name
			if fn.Unresolved {
				name = "<unknown>"
				if fn.Module != "" {
					name = "[" + filepath.Base(fn.Module) + "]"
				}
			}
			t := top[name]
			if !seen[name] {
				seen[name] = true
				t.cum += v
			}
			if k == len(path)-1 {
				t.flat += v
			}
			top[name] = t
		}
	}
	return top
}

// pprofTop returns the output of go tool pprof. Values are in the metric's own unit, so
// nothing is rounded.
func pprofTop(t *testing.T, file string, metric int, unit string) map[string]row {
	t.Helper()
	top := map[string]row{}
	for _, r := range decodetest.PprofTop(t, strconv.Itoa(metric), unit, file) {
		old := top[r.Name] // several binaries without names can share one
		top[r.Name] = row{old.flat + integer(t, r.Flat), old.cum + integer(t, r.Cum)}
	}
	return top
}

func integer(t *testing.T, s string) int64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) {
		t.Fatalf("%q is no whole number", s)
	}
	return int64(f)
}

// compareTop compares a file with go tool pprof, function by function.
func compareTop(t *testing.T, file string, r *recording.Recording) {
	t.Helper()
	for m, metric := range r.Events[0].Metrics {
		want := pprofTop(t, file, m, metric.Unit)
		got := naiveTop(r, m)
		for name, g := range got {
			if w := want[name]; w != g {
				t.Errorf("%s %s: %q is %v, pprof says %v", filepath.Base(file), metric.Name, name, g, w)
			}
		}
		for name, w := range want {
			if _, ok := got[name]; !ok && w != (row{}) {
				t.Errorf("%s %s: %q is missing, pprof says %v", filepath.Base(file), metric.Name, name, w)
			}
		}
	}
}

func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to compare with")
	}
}

func TestAgreesWithPprofTop(t *testing.T) {
	needGo(t)
	recordings.Need(t)
	for name, content := range recordings.Each(t, "pprof/*", "generated/*.pprof") {
		t.Run(path.Base(name), func(t *testing.T) {
			content = recordings.Unpack(t, content)
			if c, err := Sniff(content[:min(len(content), 1<<16)], len(content) <= 1<<16); c < decode.Likely || err != nil {
				t.Errorf("Sniff = %v, %v", c, err)
			}
			r, err := decodeBytes(t, content)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range r.Warnings {
				if !w.Minor { // those are about copies
					t.Errorf("warning: %+v", w)
				}
			}
			compareTop(t, recordings.Path(t, name), r)
		})
	}
}

func TestExampleAgreesWithPprofTop(t *testing.T) {
	needGo(t)
	for _, drop := range []string{"", "memcpy", "inlined|work", "main"} {
		p := example()
		p.DropFrames = drop
		file := filepath.Join(t.TempDir(), "example.pprof")
		content := raw(t, p)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := decodeBytes(t, content)
		if err != nil {
			t.Fatal(err)
		}
		if drop == "" {
			// sys_read has only a system name, which pprof does not print.
			renamed := naiveTop(r, 1)
			if renamed["sys_read"] != (row{17, 17}) {
				t.Errorf("sys_read is %v", renamed["sys_read"])
			}
		}
		for i := range p.Function {
			if p.Function[i].SystemName != "" {
				p.Function[i].Name = p.Function[i].SystemName
			}
		}
		content = raw(t, p)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err = decodeBytes(t, content); err != nil {
			t.Fatal(err)
		}
		compareTop(t, file, r)
	}
}
