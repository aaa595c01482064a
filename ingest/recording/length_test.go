package recording

import (
	"math"
	"testing"
)

func TestLength(t *testing.T) {
	for ps, want := range map[int64]string{0: "0 ps", 7: "7 ps", 999: "999 ps", 1000: "1 ns", 235e6: "235 us", 1_500_000_000: "1.5 ms", 999_999_999_999: "999.999999999 ms",
		61e12: "61 s", -2500: "-2.5 ns", math.MinInt64: "-9223372.036854775808 s"} {
		if got := Length(ps); got != want {
			t.Errorf("%d ps is %q, want %q", ps, got, want)
		}
	}
}
