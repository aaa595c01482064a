package recording

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseRange(t *testing.T) {
	for text, want := range map[string]Range{
		"1.2s..1.5s":   Offsets(1_200_000_000_000, 1_500_000_000_000),
		"300ms..":      {From: 300e9, HasFrom: true},
		"..2min":       {To: 120e12, HasTo: true},
		"0..1":         Offsets(0, 1e12),
		" 1ms .. 2ms ": Offsets(1e9, 2e9),
		".5...7":       Offsets(500_000_000_000, 0), // from .5 to .7 s
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

// TestRangeText checks that ParseRange reads the result of String as the same range.
func TestRangeText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		// Each magnitude is equally likely.
		from := r.Int64N(1 << r.IntN(62))
		to := from + 1 + r.Int64N(1<<r.IntN(61))
		if to < 0 {
			to = math.MaxInt64
		}
		want := Offsets(from, to)
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
	if s := (Range{}).String(); s != "" {
		t.Errorf("no limit is written as %q", s)
	}
}

func TestRangeIn(t *testing.T) {
	rec := &Recording{Start: 100, End: 1100, HasTime: true}
	for _, c := range []struct {
		r        Range
		from, to int64
	}{
		{Range{}, 100, 1100},
		{Range{From: 10, HasFrom: true}, 110, 1100},
		{Range{To: 20, HasTo: true}, 100, 120},
		{Offsets(10, 5000), 110, 1100},
		{Offsets(0, math.MaxInt64), 100, 1100},
		{Offsets(1000, 1001), 1100, 1100},
	} {
		if in, err := c.r.In(rec); err != nil || !in.Equal(Between(c.from, c.to)) {
			t.Errorf("%+v is %d..%d (%v), want %d..%d", c.r, in.From, in.To, err, c.from, c.to)
		}
	}
	if _, err := (Range{From: math.MaxInt64, HasFrom: true}).In(rec); err == nil || !strings.Contains(err.Error(), "begins after the recording's end at 1ns") {
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
