package findings

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// scopes draws 600 calls of “block” on a thread, which call read, match and encode; length returns
// how long the kth of them takes in call i, in microseconds.
func scopes(length func(k, i int, usual float64) float64) *drawn {
	d := &drawn{}
	d.thread(1, "Main")
	at := 0.
	for i := range 600 {
		begin := at
		for k, name := range []string{"read", "match", "encode"} {
			took := length(k, i, float64(300+100*k+i%7))
			d.span(1, name, at, took)
			at += took
		}
		d.span(1, "block", begin, at-begin)
		at++
	}
	return d
}

// TestPreemption checks that slow calls are no slow mode if other programs cause them: each
// microsecond of the thread may be interrupted, whatever runs in it. Slow calls of one callee are
// reported.
func TestPreemption(t *testing.T) {
	for seed := range rounds.Size[uint64](20, 4) {
		r := rand.New(rand.NewPCG(seed, 1))
		interrupted := func(usual float64) float64 {
			if r.Float64() < usual/10_000 {
				usual += 4000 + 8000*r.Float64()
			}
			return usual
		}
		if got := scopes(func(_, _ int, usual float64) float64 { return interrupted(usual) }).found(t); strings.Contains(got, "mode: ") || strings.Contains(got, "slower: ") || strings.Contains(got, "rare: ") {
			t.Errorf("interrupted at random, seed %d: %s", seed, got)
		}
		if got := scopes(func(k, _ int, usual float64) float64 {
			if k == 1 {
				return interrupted(3 * usual)
			}
			return usual
		}).found(t); !strings.Contains(got, "mode: ") && !strings.Contains(got, "outlier: ") {
			t.Errorf("one slow callee, seed %d: %s", seed, got)
		}
	}
}

// TestSlowMachine checks that calls do not count as slowing down if all of the program becomes
// slow at once, but do if one function does, or all bit by bit.
func TestSlowMachine(t *testing.T) {
	for what, c := range map[string]struct {
		length func(k, i int, usual float64) float64
		want   bool
	}{
		"another program starts": {func(_, i int, usual float64) float64 {
			return usual * (1 + 3*min(1, max(0, float64(i-350)/60)))
		}, false},
		"one function becomes slow within a third of the time": {func(k, i int, usual float64) float64 {
			if k == 2 {
				return usual * (1 + 9*min(1, max(0, float64(i-350)/150)))
			}
			return usual
		}, true},
		"more work for all": {func(_, i int, usual float64) float64 { return usual * (1 + float64(i)/150) }, true},
	} {
		if got := scopes(c.length).found(t); strings.Contains(got, "slower: ") != c.want {
			t.Errorf("%s: %s", what, got)
		}
	}
}
