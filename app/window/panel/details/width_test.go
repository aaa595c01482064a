package details

import (
	"testing"
)

// TestNumbersAreNotCut checks that a line too narrow for its key and its number cuts the
// key, and that another value leaves the key room.
func TestNumbersAreNotCut(t *testing.T) {
	for _, x := range []struct {
		all, key, value int
		text            string
		want            int
	}{
		{300, 40, 90, "1.675 s  32.7 %", 84},
		{300, 120, 90, "520.1 ms  10.2 %", 120},
		{170, 75, 100, "520.1 ms  10.2 %", 70},
		{100, 75, 120, "<0.1 %", 0},
		{170, 75, 100, "−3.2 MiB", 70},
		{170, 75, 300, "/usr/lib/libc.so", 84},
		{170, 120, 60, "worker", 110},
	} {
		if got := keyWidth(x.all, 84, x.key, x.value, isNumber(x.text)); got != x.want {
			t.Errorf("of %d pixels, a key of %d beside %q of %d has %d, want %d", x.all, x.key, x.text, x.value, got, x.want)
		}
	}
}
