package decimal

import (
	"math"
	"strings"
	"testing"
)

func TestLength(t *testing.T) {
	for ps, want := range map[int64]string{0: "0 ps", 7: "7 ps", 999: "999 ps", 1000: "1 ns", 235e6: "235 µs", 1_500_000_000: "1.5 ms", 999_999_999_999: "999.999999999 ms",
		61e12: "61 s", -2500: "-2.5 ns", math.MinInt64: "-9223372.036854775808 s"} {
		if got := Length(ps); got != want {
			t.Errorf("%d ps is %q, want %q", ps, got, want)
		}
	}
}

func TestParseLength(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1e12, "1.5": 1_500_000_000_000, ".5": 500_000_000_000, "5.": 5e12, "007": 7e12,
		"1ps": 1, "999 ps": 999, "1ns": 1e3, "0.001ns": 1, "1us": 1e6, "1µs": 1e6, "1μs": 1e6, "1.000001us": 1_000_001,
		"300ms": 300e9, "1.2s": 1_200_000_000_000, "1.200000000000s": 1_200_000_000_000, "0.000000000001s": 1,
		"2min": 120e12, "0.5min": 30e12, "1min30s": 90e12, "1 min 30 s": 90e12, "2\u2009min": 120e12, "1h": 3600e12, "1d2h": 93600e12, "1.5h": 5400e12,
		"8241.500001": 8241_500_001_000_000, "106d": 106 * 86400e12,
		"0.1": 100_000_000_000, "0.3s": 300_000_000_000, // neither is exact in binary
	} {
		if got, err := ParseLength(text); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	for text, words := range map[string]string{
		"": "is empty", "  ": "is empty", "s": "is not a time", "ms5": "is not a time", ".": "is not a time", "1.2.3": "is not a time",
		"-1s": "is negative", "−1s": "is negative", "1x": `unknown unit "x"`, "1 m": `unknown unit "m"`, "1S": `unknown unit "S"`, "1e3s": `unknown unit "e"`,
		"1s5": "lacks a unit", "0.5ps": "finer than a picosecond", "1.0000001us": "finer than a picosecond", "0.0000000000001": "finer than a picosecond",
		"107d": "106 days", "99999999999999999999": "106 days", "106d106d": "106 days", "+1s": "is not a time", "1,5s": `unknown unit`,
		strings.Repeat("9", 1000): "has an invalid number", "0x10": `unknown unit "x"`, "∞": "is not a time", "1_000": "unknown unit",
	} {
		if got, err := ParseLength(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is %d (%v), want an error that says %q", text, got, err, words)
		}
	}
}

func TestString(t *testing.T) {
	for d, want := range map[Decimal]string{{0, 3}: "0", {5, 0}: "5", {-5, 3}: "-0.005", {1500, 3}: "1.5", {120, 0}: "120"} {
		if got := d.String(); got != want {
			t.Errorf("%+v: %s, want %s", d, got, want)
		}
	}
}
