package findings

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStart checks that one long call before the repeating ones is named, unless it is short
// against the recording.
func TestStart(t *testing.T) {
	draw := func(ms float64) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		d.span(1, "main", 0, 1000*(ms+200))
		d.span(1, "load", 0, 1000*ms)
		d.span(1, "serve", 1000*ms, 200_000)
		for i := range 100 {
			d.span(1, "request", 1000*(ms+2*float64(i)), 1500+float64(i%5))
		}
		return d
	}
	const want = "start: One call of “load” takes 100.0 ms, 33.3 % of the recording, before the first of 100 calls of “request” on “Main”.\n"
	if got := draw(100).found(t); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := draw(40).found(t); strings.Contains(got, "start: ") {
		t.Errorf("a short start: %q", got)
	}
}

// TestJoin checks that the thread is named for which another always waits, not where three
// threads share the work evenly, and not the thread that waits. The wait is not reported as
// a finding of its own.
func TestJoin(t *testing.T) {
	draw := func(long float64) *drawn {
		d, r := &drawn{}, rand.New(rand.NewPCG(2, 3))
		d.thread(1, "Main")
		for k, name := range []string{"cloth", "sound", "water"} {
			d.thread(k+2, "Job "+name)
		}
		for i := range 100 {
			at, last := float64(i)*4000+1, 0.
			for k, name := range []string{"cloth", "sound", "water"} {
				length := 500 + 100*r.Float64()
				if k == 0 {
					length *= long
				}
				last = max(last, length)
				d.span(k+2, name, at, length)
			}
			d.span(1, "tick", at-1, last+400)
			d.span(1, "wait", at, last+1)
			d.span(1, "input", at+last+1, 100)
			d.span(1, "draw", at+last+102, 290)
		}
		return d
	}
	const want = "join: 100 of 100 calls of “wait” on “Main” end within "
	if got := draw(4).found(t); !strings.Contains(got, want) || !strings.Contains(got, "the end of a call of “cloth” on “Job cloth” (correlation, not proof).") || strings.Count(got, "join: ") != 1 || strings.Contains(got, "part: ") {
		t.Errorf("got %q", got)
	}
	for _, long := range []float64{1, 1.3} {
		if got := draw(long).found(t); strings.Contains(got, "join: ") {
			t.Errorf("threads share the work, one %.1f times as much: %q", long, got)
		}
	}
}

// TestPart checks that the function is named that takes most of the time of repeating calls.
// Waits do not count.
func TestPart(t *testing.T) {
	outer := "copy"
	draw := func(name string, length float64) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		for i := range 100 {
			at := float64(i) * 5000
			d.span(1, "request", at, 600+length)
			d.span(1, "parse", at, 200)
			d.span(1, "render", at+200, 200)
			d.span(1, outer, at+400, length)
			d.span(1, name, at+400, length)
		}
		return d
	}
	const want = "part: “copy” takes 76.9 % of the time of 100 calls of “request”, without waits; these call 2 other functions.\n"
	if got := draw("clone", 2000).found(t); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	outer = "Jobs::waitForAll"
	byName := draw("Jobs::waitForOne", 2000)
	outer = "copy"
	for what, d := range map[string]*drawn{"a wait": draw("nanosleep", 2000), "a wait by its name": byName, "half of the time": draw("clone", 1000)} {
		if got := d.found(t); strings.Contains(got, "part: ") {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestHotSpan checks that a function is named that has most of the self time of spans, but not
// if it has less than half of the total, or if nothing else was timed.
func TestHotSpan(t *testing.T) {
	draw := func(load, sleep float64, others int) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		for i := range 30 {
			at := float64(i) * 10_000
			d.span(1, "load", at, load)
			d.span(1, "sleep", at+load, sleep)
			for k := range others {
				d.span(1, fmt.Sprint("work ", string(rune('a'+k))), at+load+sleep+100*float64(k), 100)
			}
		}
		return d
	}
	const want = "hot: “load” has the highest self cost"
	if got := draw(4000, 0, 4).found(t); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for what, d := range map[string]*drawn{"mostly asleep": draw(2000, 5000, 4), "alone": draw(4000, 0, 0)} {
		if got := d.found(t); strings.Contains(got, "hot: ") {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestDisturbed checks that slow calls of a function are not reported if the calls of
// others are slow as often, since then something outside of the program disturbed it.
func TestDisturbed(t *testing.T) {
	draw := func(all bool) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		r := rand.New(rand.NewPCG(5, 7))
		at := 0.
		for range 400 {
			for k, name := range []string{"parse", "authorize", "render", "send"} {
				length := 100 + 10*r.Float64()
				if (all || k == 0) && r.IntN(25) == 0 {
					length += 2500
				}
				d.span(1, name, at, length)
				at += length + 5 + 40*r.Float64()
			}
		}
		return d
	}
	if got := draw(false).found(t); !strings.Contains(got, "mode: ") && !strings.Contains(got, "outlier: ") {
		t.Errorf("slow calls of one function: %q", got)
	}
	if got := draw(true).found(t); strings.Contains(got, "mode: ") {
		t.Errorf("slow calls of all: %q", got)
	}
}

// TestSlowerWithin checks that a function that slows down is named with the callee that does, if
// one of them does so most.
func TestSlowerWithin(t *testing.T) {
	draw := func(grow func(k int, i float64) float64) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		for i := range 400 {
			at, begin := float64(i)*5000, float64(i)*5000
			for k, name := range []string{"input", "cull", "draw", "present"} {
				length := (100 + float64(i%7)) * grow(k, float64(i)/400)
				d.span(1, name, at, length)
				at += length
			}
			d.span(1, "tick", begin, at-begin+1)
		}
		return d
	}
	const want = " Of the functions without callees, “present” slows down most: "
	if got := draw(func(k int, at float64) float64 {
		if k == 3 {
			return 1 + 8*at
		}
		return 1
	}).found(t); !strings.Contains(got, "slower: Calls of “tick”") || !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := draw(func(k int, at float64) float64 { return 1 + 2*at }).found(t); !strings.Contains(got, "slower: Calls of “tick”") {
		t.Errorf("all slow down: %q", got)
	}
}

// TestRecursion checks that a function is named that is at least 16 times in one stack, also
// through others, but not if it has too little of the total.
func TestRecursion(t *testing.T) {
	draw := func(depth int, beside float64) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		d.span(1, "main", 0, 100_000+beside)
		for i := range depth {
			d.span(1, "visit", float64(2*i), 100_000-float64(4*i))
			d.span(1, fmt.Sprint("node ", string(rune('a'+i))), float64(2*i)+1, 100_000-float64(4*i)-2)
		}
		d.span(1, "other", 100_000, beside)
		return d
	}
	if got := draw(20, 0).found(t); !strings.Contains(got, "recursion: “visit” recurses up to 20 deep") {
		t.Errorf("got %q", got)
	}
	for what, d := range map[string]*drawn{"15 deep": draw(15, 0), "a fifth of the time": draw(20, 400_000)} {
		if got := d.found(t); strings.Contains(got, "recursion: ") {
			t.Errorf("%s: %q", what, got)
		}
	}
}
