package units

import (
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

func TestDuration(t *testing.T) {
	for ps, want := range map[int64]string{
		0:                     "0 s",
		1:                     "1 ps",
		999:                   "999 ps",
		1500:                  "1.500 ns",
		999_960:               "1.000 µs",
		999_800:               "999.8 ns",
		99_970_000:            "99.97 µs",
		9_997_000_000:         "9.997 ms",
		12_400_000_000:        "12.40 ms",
		1_500_000_000_000:     "1.500 s",
		59_990_000_000_000:    "59.99 s",
		65_000_000_000_000:    "1 min 5 s",
		3_600_000_000_000_000: "1 h",
		90_061e12:             "1 d 1 h",
		-2_000_000_000:        "−2.000 ms",
	} {
		if got := Duration(ps); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ps, got, want)
		}
	}
}

func TestValueAndExact(t *testing.T) {
	ns := &recording.Metric{Name: "time", Unit: "ns", Decimals: 3}
	bytes := &recording.Metric{Name: "alloc", Unit: "bytes"}
	plain := &recording.Metric{Name: "samples"}
	for _, c := range []struct {
		v           int64
		m           *recording.Metric
		short, full string
	}{
		{1_500_000, ns, "1.500 µs", "1500 ns"},
		{1_234_567, ns, "1.235 µs", "1234.567 ns"},
		{3_100_000_000, bytes, "3.100 GB", "3" + thin + "100" + thin + "000" + thin + "000 bytes"},
		{48102, plain, "48" + thin + "102", "48" + thin + "102"},
		{9_007_199_254_740_993, plain, "9007 T", "9" + thin + "007" + thin + "199" + thin + "254" + thin + "740" + thin + "993"},
		{recording.Missing, plain, "–", "not recorded"},
	} {
		if got := Value(c.v, c.m); got != c.short {
			t.Errorf("Value(%d %s) = %q, want %q", c.v, c.m.Unit, got, c.short)
		}
		if got := Exact(c.v, c.m); got != c.full {
			t.Errorf("Exact(%d %s) = %q, want %q", c.v, c.m.Unit, got, c.full)
		}
	}
}

// TestAxis checks rulers of lengths from picoseconds to years: at most the requested
// number of labels, no label twice, and small ticks that divide the large ones.
func TestAxis(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		span := int64(1) << r.IntN(60)
		span += r.Int64N(span)
		from := r.Int64N(1<<60) - 1<<59
		n := 1 + r.IntN(15)
		ax := NewAxis(from, from+span, n)
		if ax.Step < 1 || ax.Minor < 1 || ax.Step%ax.Minor != 0 {
			t.Fatalf("an axis of %d ps has steps of %d and %d", span, ax.Step, ax.Minor)
		}
		seen := map[string]bool{}
		labels := 0
		for at := range ax.Ticks(from, from+span) {
			if at < from {
				continue
			}
			l := ax.Label(at)
			if seen[l] {
				t.Fatalf("from %d, %d ps in steps of %d: the label %q stands twice", from, span, ax.Step, l)
			}
			if len(l) > 16 {
				t.Fatalf("the label %q is too long to read", l)
			}
			seen[l] = true
			labels++
		}
		if labels > n+1 {
			t.Fatalf("%d ps: %d labels, %d were asked for", span, labels, n)
		}
	}
}

// TestAxisAtTheEndsOfTime checks that rulers near the smallest and largest times end, and
// have a usual number of ticks.
func TestAxisAtTheEndsOfTime(t *testing.T) {
	ends := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -1, 0, 1, 9223372e12, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}
	for _, from := range ends {
		for _, to := range ends {
			const n = 12
			ax := NewAxis(from, to, n)
			for what, ticks := range map[string]iter.Seq[int64]{"labelled": ax.Ticks(from, to), "small": ax.Small(from, to)} {
				count, last := 0, int64(math.MinInt64)
				for at := range ticks {
					if count++; at < last || at > to || count > 6*(n+2) {
						t.Fatalf("%d..%d: after %d comes the %s tick %d, number %d", from, to, last, what, at, count)
					}
					last = at
					ax.Label(at)
				}
				if from <= to && count == 0 {
					t.Errorf("%d..%d has no %s ticks", from, to, what)
				}
			}
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{{0, 10, "0 %"}, {10, 10, "100 %"}, {1, 100000, "<0.1 %"}, {293, 1000, "29.3 %"}, {1, 0, "–"}, {-5, 100, "−5.0 %"}} {
		if got := Percent(c.part, c.whole); got != c.want {
			t.Errorf("Percent(%d, %d) = %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}

// TestUnit checks that a unit of time is displayed by one name, whatever files call it.
func TestUnit(t *testing.T) {
	for unit, want := range map[string]string{"nanoseconds": "12 ns", "ns": "12 ns", "us": "12 µs", "seconds": "12 s", "allocs": "12 allocs", "x\x1b[2J\ny": "12 x·[2J y", "": "12"} {
		if got := Exact(12, &recording.Metric{Unit: unit}); got != want {
			t.Errorf("12 of %q is %q, want %q", unit, got, want)
		}
	}
}

// TestValueThatStopped checks that a sum at the limit of its type is marked as a bound.
func TestValueThatStopped(t *testing.T) {
	for v, want := range map[int64]string{math.MaxInt64: "≥\u2009", math.MinInt64 + 1: "≤\u2009"} {
		for _, got := range []string{Value(v, &recording.Metric{}), Value(v, &recording.Metric{Unit: "ns", Decimals: 3}), Exact(v, &recording.Metric{})} {
			if !strings.HasPrefix(got, want) {
				t.Errorf("%d is written %q", v, got)
			}
		}
	}
	if got := Value(math.MaxInt64-1, &recording.Metric{}); strings.ContainsAny(got, "≥≤") {
		t.Errorf("the last number but one is written %q", got)
	}
}

func TestRound(t *testing.T) {
	for text, want := range map[string]string{
		"12.50 ms": "12.5 ms", "8.000 µs": "8 µs", "125.0 µs": "125 µs", "6.300 s": "6.3 s", "100 ns": "100 ns",
		"0 s": "0 s", "2 min 5 s": "2 min 5 s", "−2.000 ms": "−2 ms", "1.050 GB": "1.05 GB", "10.00": "10",
	} {
		if got := Round(text); got != want {
			t.Errorf("%s is written as %q, want %q", text, got, want)
		}
	}
}

// TestPprofBytes checks that bytes in heap profiles are written in multiples of 1024, as
// go tool pprof does, but with the correct units, such as KiB.
func TestPprofBytes(t *testing.T) {
	for v, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.000 KiB", 524801: "512.5 KiB", 1<<20 - 1: "1.000 MiB", 5 << 29: "2.500 GiB", -3 << 20: "−3.000 MiB"} {
		if got := Value(v, &recording.Metric{Name: "inuse_space", Unit: "bytes"}); got != want {
			t.Errorf("%d bytes in use are %q, want %q", v, got, want)
		}
	}
	if got := Value(1024, &recording.Metric{Name: "malloc", Unit: "bytes"}); got != "1.024 kB" {
		t.Errorf("other bytes are %q", got)
	}
}

func TestQuantityRange(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		unit   string
		want   string
	}{
		{1_000_000, 2_040_000, "ns", "1.000 – 2.040 ms"},
		{500, 2e6, "us", "500.0 µs – 2.000 s"},
		{1024, 4096, "bytes", "1.024 – 4.096 kB"},
		{19_790_000, 300e6, "bytes", "19.79 – 300.0 MB"},
		{900, 300e6, "bytes", "900 B – 300.0 MB"},
		{65, 125, "s", "1 min 5 s – 2 min 5 s"},
		{0, 12, "", "0 – 12"},
		{3, 12, "goroutines", "3 – 12 goroutines"},
		{2e6, 3e7, "goroutines", "2.000 – 30.00 M goroutines"},
		{7, 7, "ms", "7.000 ms"},
		{math.Inf(-1), math.Inf(1), "ns", "−Inf – +Inf ns"},
	} {
		if got := QuantityRange(c.lo, c.hi, c.unit); got != c.want {
			t.Errorf("%v to %v %s is %q, want %q", c.lo, c.hi, c.unit, got, c.want)
		}
	}
}
