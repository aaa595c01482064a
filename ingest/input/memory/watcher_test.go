package memory

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestRelieve checks that Relieve is called before Short, and that afterwards the work may
// use more of the remaining memory.
func TestRelieve(t *testing.T) {
	const limit = 512 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	u := now()
	free, _ := u.system()
	margin := u.margin(free)
	for _, tt := range []struct {
		name             string
		relieves         bool
		owed             int64 // in addition to limit
		asked, shortened int
	}{
		{"enough", true, -limit, 0, 0},
		{"saves", true, margin / 4, 1, 0},
		{"saves too little", true, 2 * margin, 1, 1},
		{"cannot save", false, margin / 4, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked, short := 0, 0
			room, known := Room()
			if !known || room > limit {
				t.Fatalf("room %d, %v", room, known)
			}
			w := Watcher{
				Owed:    func() int64 { return room + tt.owed },
				Relieve: func() bool { asked++; return tt.relieves },
				Short:   func() { short++ },
				sparing: Spare(math.MaxInt),
			}
			defer w.sparing.End()
			w.Look()
			if asked != tt.asked || short != tt.shortened {
				t.Errorf("asked %d times, short %d times; want %d, %d", asked, short, tt.asked, tt.shortened)
			}
		})
	}
}
