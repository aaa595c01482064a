package headless

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/op"

	"ashlar/app/core/view"
	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
	"ashlar/testdata/names"
)

// FuzzPanels lays out random recordings with random panels, colours, transforms and sets
// of calls, of one recording and of two: no frame may hang or panic.
func FuzzPanels(f *testing.F) {
	for seed := range uint64(80) {
		f.Add(seed, seed%4 == 3)
	}
	f.Fuzz(func(t *testing.T, seed uint64, two bool) {
		r := rand.New(rand.NewPCG(seed, 4))
		at := "ashlar:1?view=both"
		for i := range 2 {
			if i == 0 || two {
				path := filepath.Join(t.TempDir(), fmt.Sprint("f", i))
				if err := os.WriteFile(path, []byte(madeRecording(r)), 0o600); err != nil {
					t.Fatal(err)
				}
				at += "&file=" + path
			}
		}
		// Use one window for all views: shaping text for the first time is slow, and
		// switching from one view to the next is part of the test.
		s := shell.New(theme.Light)
		defer s.Close()
		var ops op.Ops
		scale := 1 + r.Float32() // one scale for all frames, or all text would be shaped again in each
		for range 4 {
			look := chosenKeys(r, at)
			for range 20 { // most results of randomKeys are not valid
				if more := look + "&" + randomKeys(r); parses(more) {
					look = more
					break
				}
			}
			if !parses(look) {
				t.Fatalf("%s is no address", look)
			}
			late := time.AfterFunc(2*time.Minute, func() {
				debug.SetTraceback("all")
				panic("the frame does not end: " + look)
			})
			s.Open(look)
			for range 2 {
				_ = s.Finish()
				drawing.Frame(s, &ops, 200+r.IntN(900), 150+r.IntN(700), scale)
			}
			if !parses(s.Address().String()) {
				t.Errorf("%s shows what has no address", look)
			}
			late.Stop()
		}
	})
}

func parses(address string) bool {
	_, err := view.Parse(address)
	return err == nil
}

// chosenKeys adds some keys with valid values to an address.
func chosenKeys(r *rand.Rand, at string) string {
	add := func(part string) {
		if parses(at + "&" + part) {
			at += "&" + part
		}
	}
	for i := range view.Fields {
		f := &view.Fields[i]
		if f.Choices != nil && r.IntN(3) == 0 {
			if c := f.Choices(); len(c) > 0 {
				add(f.Key + "=" + c[r.IntN(len(c))])
			}
		}
	}
	function := func() string { return fmt.Sprint("f", r.IntN(5)) }
	for _, p := range []string{
		"function=" + function(), "find=" + function(), "around=" + function(), "transform=focus:" + function(), "transform=invert",
		"calls=" + function() + "%5B" + fmt.Sprint(r.IntN(9)) + "us..%5D", "calls=" + function() + "%5Bslowest%202%5D", "calls.b=" + function(),
	} {
		if r.IntN(4) == 0 {
			add(p)
		}
	}
	return at
}

// madeRecording returns a small random recording: a trace whose spans nest, overlap,
// never end, are async or last for years, with counters, instants and flows; stacks with
// negative weights; unordered samples; or nothing at all.
func madeRecording(r *rand.Rand) string {
	var lines []string
	number := func() int64 {
		return []int64{int64(r.IntN(50)), -int64(r.IntN(50)), r.Int64() >> r.IntN(63), 0}[r.IntN(4)]
	}
	name := func() string {
		any, _ := json.Marshal(names.Random(r))
		return []string{fmt.Sprint("f", r.IntN(5)), "", string(any[1 : len(any)-1]), strings.Repeat("long", r.IntN(100)), "a::b<c>::d(int)"}[max(0, r.IntN(9)-4)]
	}
	switch r.IntN(4) {
	case 0: // folded stacks with one or two counts per line
		two := r.IntN(3) == 0
		for range 1 + r.IntN(30) {
			stack := make([]string, 1+r.IntN(6))
			for i := range stack {
				stack[i] = fmt.Sprint("f", r.IntN(5))
			}
			l := strings.Join(stack, ";") + fmt.Sprint(" ", number()>>1)
			if two {
				l += fmt.Sprint(" ", number()>>1)
			}
			lines = append(lines, l)
		}
		return strings.Join(slices.Compact(lines), "\n")
	case 1: // perf script
		for range 1 + r.IntN(30) {
			lines = append(lines, fmt.Sprintf("app %d/%d [%03d] %d.%06d: %d cpu-clock: \n\t%x f%d (/bin/a)\n\t%x f%d (/bin/a)\n",
				1+r.IntN(2), r.IntN(4), r.IntN(3), r.IntN(9), r.IntN(1e6), r.IntN(1e6), r.IntN(99), r.IntN(5), r.IntN(99), r.IntN(5)))
		}
		return strings.Join(lines, "\n")
	}
	for range r.IntN(60) {
		ph := "XXXXBBEEbenCiIsftMPOSTF"[r.IntN(23)]
		lines = append(lines, fmt.Sprintf(`{"ph":"%c","name":"%s","cat":"c","pid":%d,"tid":%d,"ts":%d,"dur":%d,"tdur":%d,"id":%d,"args":{"a":%d,"name":"%s","x":"{\"y\":[%d]}"}}`,
			ph, name(), r.IntN(3)-1, r.IntN(4), number()%1e15, number()%1e15, number()%1e9, r.IntN(3), number(), name(), number()))
	}
	return `{"traceEvents":[` + strings.Join(lines, ",\n") + "]}"
}
