package perfdata

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStrays checks that random numbers in a stack share one frame and do not make distinct
// stacks, and that no sample is lost.
func TestStrays(t *testing.T) {
	const samples = 500
	rng := rand.New(rand.NewPCG(3, 4))
	garbage := func() (all []uint64) {
		for range 1 + rng.IntN(5) {
			all = append(all, 1<<40+rng.Uint64N(1<<60))
		}
		return all
	}
	m := &made{}
	m.mmap(1, 7, 0x1000, 0x1000, 0, "/no/such/a")
	addresses, strays := 0, 0
	for i := range uint64(samples) {
		ips := []uint64{contextUser, 0x1100}
		for _, code := range []uint64{0x1200, 0} {
			g := garbage()
			ips, strays = append(ips, g...), strays+len(g)
			if code != 0 {
				ips = append(ips, code)
			}
		}
		addresses += len(ips) - 1
		m.sample(2+i, 11, miscUser, 7, 7, 0, 1, ips, "")
	}
	r, err := decodeBytes(t, file(m.inOrder()), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := ";[unknown]@[unknown];a+0x200@/no/such/a;[unknown]@[unknown];a+0x100@/no/such/a"
	lines := told(r)
	for _, l := range lines {
		if !strings.HasSuffix(l, " "+want) {
			t.Fatalf("got %s, want %s", l, want)
		}
	}
	if total := r.Events[0].Metrics[0].Total; len(lines) != samples || total != samples {
		t.Errorf("%d samples and a total of %d, want %d", len(lines), total, samples)
	}
	if n := r.Frames.Len(); n != 3 {
		t.Errorf("%d frames, want 3", n)
	}
	if said := fmt.Sprintf("%d of %d addresses", strays, addresses); !strings.Contains(fmt.Sprint(r.Warnings), said) {
		t.Errorf("%q is not said: %v", said, r.Warnings)
	}
}
