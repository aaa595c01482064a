package view

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/recording"
)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1e12, "1.5": 1_500_000_000_000, ".5": 500_000_000_000, "5.": 5e12, "007": 7e12,
		"1ps": 1, "999 ps": 999, "1ns": 1e3, "0.001ns": 1, "1us": 1e6, "1µs": 1e6, "1μs": 1e6, "1.000001us": 1_000_001,
		"300ms": 300e9, "1.2s": 1_200_000_000_000, "1.200000000000s": 1_200_000_000_000, "0.000000000001s": 1,
		"2min": 120e12, "0.5min": 30e12, "1min30s": 90e12, "1 min 30 s": 90e12, "2\u2009min": 120e12, "1h": 3600e12, "1d2h": 93600e12, "1.5h": 5400e12,
		"8241.500001": 8241_500_001_000_000, "106d": 106 * 86400e12,
		"0.1": 100_000_000_000, "0.3s": 300_000_000_000, // neither is exact in binary
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	for text, words := range map[string]string{
		"": "is empty", "  ": "is empty", "s": "is not a time", "ms5": "is not a time", ".": "is not a time", "1.2.3": "is not a time",
		"-1s": "is negative", "−1s": "is negative", "1x": `unknown unit "x"`, "1 m": `unknown unit "m"`, "1S": `unknown unit "S"`, "1e3s": `unknown unit "e"`,
		"1s5": "without a unit", "0.5ps": "finer than a picosecond", "1.0000001us": "finer than a picosecond", "0.0000000000001": "finer than a picosecond",
		"107d": "106 days", "99999999999999999999": "106 days", "106d106d": "106 days", "+1s": "is not a time", "1,5s": `unknown unit`,
		strings.Repeat("9", 1000): "cannot be read", "0x10": `unknown unit "x"`, "∞": "is not a time", "1_000": "unknown unit",
	} {
		if got, err := ParseTime(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is %d (%v), want an error that says %q", text, got, err, words)
		}
	}
}

func TestParseRange(t *testing.T) {
	for text, want := range map[string]recording.Range{
		"1.2s..1.5s":   recording.Offsets(1_200_000_000_000, 1_500_000_000_000),
		"300ms..":      {From: 300e9, HasFrom: true},
		"..2min":       {To: 120e12, HasTo: true},
		"0..1":         recording.Offsets(0, 1e12),
		" 1ms .. 2ms ": recording.Offsets(1e9, 2e9),
		".5...7":       recording.Offsets(500_000_000_000, 0), // .5 to .7
	} {
		if text == ".5...7" {
			want.To = 700_000_000_000
		}
		if got, err := ParseRange(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, words := range map[string]string{
		"": "is not a range", "1s": "is not a range", "1s-2s": "is not a range", "..": "neither a start nor an end", " .. ": "neither",
		"2s..1s": "ends at 1s, which is not after its start at 2s", "1s..1s": "not after its start", "..0s": "not after its start",
		"1s..x": `"x" in the range "1s..x" is not a time`, "1q..2s": `unknown unit "q"`, "1s..2s..3s": "in the range",
		"100..200ms": "ends at 200ms, which is not after its start at 100s",
	} {
		if got, err := ParseRange(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is %+v (%v), want an error that says %q", text, got, err, words)
		}
	}
}

// TestRangeText: what a range is written as reads back as the same.
func TestRangeText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		// All magnitudes alike.
		from := r.Int64N(1 << r.IntN(62))
		to := from + 1 + r.Int64N(1<<r.IntN(61))
		if to < 0 {
			to = math.MaxInt64
		}
		want := recording.Offsets(from, to)
		switch r.IntN(3) {
		case 0:
			want.From, want.HasFrom = 0, false
		case 1:
			want.To, want.HasTo = 0, false
		}
		if got, err := ParseRange(want.String()); err != nil || got != want {
			t.Fatalf("%+v is written as %q, which reads as %+v (%v)", want, want, got, err)
		}
	}
	if s := (recording.Range{}).String(); s != "" {
		t.Errorf("no limit is written as %q", s)
	}
}

func TestRangeIn(t *testing.T) {
	rec := &recording.Recording{Start: 100, End: 1100, HasTime: true}
	for _, c := range []struct {
		r        recording.Range
		from, to int64
	}{
		{recording.Range{}, 100, 1100},
		{recording.Range{From: 10, HasFrom: true}, 110, 1100},
		{recording.Range{To: 20, HasTo: true}, 100, 120},
		{recording.Offsets(10, 5000), 110, 1100},
		{recording.Offsets(0, math.MaxInt64), 100, 1100},
		{recording.Offsets(1000, 1001), 1100, 1100},
	} {
		if in, err := c.r.In(rec); err != nil || !in.Equal(recording.Between(c.from, c.to)) {
			t.Errorf("%+v is %d..%d (%v), want %d..%d", c.r, in.From, in.To, err, c.from, c.to)
		}
	}
	if _, err := (recording.Range{From: math.MaxInt64, HasFrom: true}).In(rec); err == nil || !strings.Contains(err.Error(), "begins after the recording's end at 1ns") {
		t.Errorf("behind the end: %v", err)
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"1.2s..1.5s", "300ms..", "..2min", ".5...7", "1d2h..", "..", "−1..2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRange(s)
		if err != nil {
			return
		}
		if r.From < 0 || r.To < 0 || r.HasTo && r.To <= r.From || !r.IsSet() {
			t.Errorf("%q is %+v", s, r)
		}
		if back, err := ParseRange(r.String()); err != nil || back != r {
			t.Errorf("%q is %+v, written as %q, which is %+v (%v)", s, r, r, back, err)
		}
	})
}
