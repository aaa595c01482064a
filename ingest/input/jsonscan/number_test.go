package jsonscan

import (
	"math/big"
	"strings"
	"testing"
)

func TestParseMicros(t *testing.T) {
	for _, s := range []string{"0", "-0", "1", "-1", "0.5", "-0.5", "1.000001", "-1.000001", "123456789.123456", "9007199254740993.25", "1e3", "1.5e-3", "12E+2", "-2.5e1", "9223372036854775807", "1e18", "0.0000009", "0e999", "00012", ".5", "5.", "+3", "100000000000000000000e-6"} {
		got, ok := ParseMicros([]byte(s))
		want, good := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimPrefix(s, "+"), "."))
		if !good || s == "0e999" {
			want = new(big.Rat)
		}
		have := new(big.Rat).SetInt64(got.US)
		have.Add(have, big.NewRat(int64(got.PS), million))
		// Digits finer than a picosecond are dropped.
		diff := new(big.Rat).Sub(want, have)
		if !ok && s != "0e999" || got.PS < 0 || got.PS >= million || ok && diff.Abs(diff).Cmp(big.NewRat(1, million)) >= 0 {
			t.Errorf("%s: %+v %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "-", ".", "x", "1x", "1e", "1e+", "e5", "--1", "1.2.3", "NaN", "9223372036854775808", "1e19", "0x10"} {
		if got, ok := ParseMicros([]byte(s)); ok {
			t.Errorf("%q is taken for %+v", s, got)
		}
	}
}
