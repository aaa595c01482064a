package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// percent is the runtime's setting.
func percent() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return int(int32(s[0].Value.Uint64()))
}

// TestSpare: of several who spare the most thrifty has its way, and what was set before
// comes back; a collector that is off stays off.
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

// TestFairGarbage: columns leave room for little garbage, what has pointers for as much
// again.
func TestFairGarbage(t *testing.T) {
	columns := make([][]byte, 20)
	for i := range columns {
		columns[i] = make([]byte, 10<<20)
	}
	runtime.GC()
	plain := fairGarbage()
	if plain > 45 || plain < sparsest {
		t.Errorf("beside columns of 200 MB there may be %d %% of garbage", plain)
	}
	pointers := make([]*byte, 64<<20/8)
	pointers[0] = &columns[0][0]
	runtime.GC()
	if more := fairGarbage(); more < plain+8 {
		t.Errorf("beside pointers of 64 MB as well there may be %d %% of garbage, %d %% before", more, plain)
	}
	runtime.KeepAlive(columns)
	runtime.KeepAlive(pointers)
}
