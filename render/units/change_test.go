package units

import "testing"

func TestChange(t *testing.T) {
	for _, x := range []struct {
		a, b int64
		want string
	}{{100, 100, "0 %"}, {0, 5, "new"}, {5, 0, "−100 %"}, {100, 120, "+20.0 %"}, {100, 80, "−20.0 %"}, {100000, 100001, "+<0.1 %"},
		{100000, 99999, "−<0.1 %"}, {10, 320, "×32.0"}, {10, 9990, "×999.0"}, {10, 10_000, "over ×1000"}, {1, 1 << 60, "over ×1000"}, {-10, -5, "+50.0 %"}} {
		if got := Change(x.a, x.b); got != x.want {
			t.Errorf("Change(%d, %d) = %q, want %q", x.a, x.b, got, x.want)
		}
	}
	for l, want := range map[float64]string{.5: "50 %", .949: "94 %", .9951: "99.5 %", .99999: ">99.9 %", 1: ">99.9 %"} {
		if got := Level(l); got != want {
			t.Errorf("Level(%v) = %q, want %q", l, got, want)
		}
	}
	if got := Times(1, 1<<40); got != "over 1000 times" {
		t.Errorf("a large ratio is %q", got)
	}
	if Times(10, 9) != "0.900 times" || Times(0, 9) != "infinitely many times" || Times(9, 9) != "as large as" {
		t.Errorf("Times says %q, %q, %q", Times(10, 9), Times(0, 9), Times(9, 9))
	}
}
