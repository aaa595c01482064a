package memory

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// percent returns the runtime's GOGC setting.
func percent() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return int(int32(s[0].Value.Uint64()))
}

// TestSpare checks that the lowest of several limits applies, that the original setting is
// restored at the end, and that a collector that is off stays off.
func TestSpare(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	want := func(n int) {
		t.Helper()
		if got := percent(); got != n {
			t.Errorf("garbage may be %d %% of what is held, want %d", got, n)
		}
	}
	a := Spare(500)
	want(200)
	b := Spare(30)
	want(30)
	a.Change(20)
	want(20)
	a.End()
	want(30)
	b.End()
	want(200)
	debug.SetGCPercent(-1)
	a = Spare(30)
	want(-1)
	a.End()
	want(-1)
}

// TestFair checks the garbage limit for a small heap (no limit), for columns without
// pointers (a low limit) and for memory with pointers (half of that memory).
func TestFair(t *testing.T) {
	for _, x := range []struct {
		live, scanned uint64
		want          int
	}{{10 << 20, 5 << 20, math.MaxInt}, {128 << 20, 0, 50}, {1 << 30, 0, sparsest}, {1 << 30, 256 << 20, 15}, {1 << 30, 1 << 30, 55}} {
		if got := fair(x.live, x.scanned); got != x.want {
			t.Errorf("beside %d bytes, %d of them with pointers, there may be %d %% of garbage, want %d", x.live, x.scanned, got, x.want)
		}
	}
	if n := fairGarbage(); n < sparsest {
		t.Errorf("now there may be %d %%", n)
	}
}
