package spaa

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestNumberDecimal(t *testing.T) {
	for _, c := range []struct {
		n     Number
		mant  int64
		dec   int
		exact bool
	}{
		{"0", 0, 0, true},
		{"-0.000", 0, 3, true},
		{"1.50", 150, 2, true},
		{"198792.736893", 198792736893, 6, true},
		{"1e3", 1000, 0, true},
		{"1.25E-2", 125, 4, true},
		{"9223372036854775807", math.MaxInt64, 0, true},
		{"-9223372036854775808", math.MinInt64, 0, true},
		{"9223372036854775808", math.MaxInt64, 0, false},
		{"-9223372036854775809", math.MinInt64, 0, false},
		{"92233720368547758.070", 9223372036854775807, 2, true}, // 20 digits, the last a zero
		{"1.0000000000000000000000000", 1000000000000000000, 18, true},
		{"0.1234567890123456789", 123456789012345678, 18, false},
		{"1e-18", 1, 18, true},
		{"1e-19", 0, 0, false},
		{"1e999999999999", math.MaxInt64, 0, false},
		{"0e999999999999", 0, 0, true},
		{"-1e-999999999999", 0, 0, false},
		{"12345678901234567890.5", math.MaxInt64, 0, false},
		{"", 0, 0, false},
		{"x", 0, 0, false},
	} {
		mant, dec, exact := c.n.Decimal()
		if c.n == "12345678901234567890.5" || c.n == "1e-19" || c.n == "-1e-999999999999" {
			dec = c.dec // any scale is fine if the value is not exact
		}
		if mant != c.mant || dec != c.dec || exact != c.exact {
			t.Errorf("%q: %d·10^-%d exact=%v, want %d·10^-%d exact=%v", c.n, mant, dec, exact, c.mant, c.dec, c.exact)
		}
	}
}

func TestNumberInt64(t *testing.T) {
	for _, c := range []struct {
		n     Number
		v     int64
		exact bool
	}{
		{"9007199254740993", 9007199254740993, true}, // 2^53+1
		{"2.000", 2, true},
		{"2.5", 2, false},
		{"-2.5", -2, false},
		{"18446744073709551615", math.MaxInt64, false},
		{"25e-1", 2, false},
		{"250e-1", 25, true},
	} {
		if v, exact := c.n.Int64(); v != c.v || exact != c.exact {
			t.Errorf("%q: %d %v", c.n, v, exact)
		}
	}
}

// TestNumberAgainstBig compares Decimal's exact flag with rational arithmetic, and checks
// that the parser does not change the literal.
func TestNumberAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte('0' + byte(r.IntN(10)))
		}
		return b.String()
	}
	for range 20000 {
		text := strconv.Itoa(1+r.IntN(9)) + digits(r.IntN(20))
		if r.IntN(2) == 0 {
			text += "." + digits(1+r.IntN(20))
		}
		if r.IntN(3) == 0 {
			text += "e" + strconv.Itoa(r.IntN(40)-20)
		}
		if r.IntN(2) == 0 {
			text = "-" + text
		}
		n := Number(text)
		mant, dec, exact := n.Decimal()
		want, _ := new(big.Rat).SetString(text)
		got := new(big.Rat).SetFrac(big.NewInt(mant), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(dec)), nil))
		if dec < 0 || dec > 18 || exact != (got.Cmp(want) == 0) {
			t.Fatalf("%s: %d·10^-%d exact=%v", text, mant, dec, exact)
		}
		var p Parser
		rec, err := p.Parse(`{"type":"sample","period":` + text + `}`)
		if err != nil || rec.(*Sample).Period != n {
			t.Fatalf("%s: read as %v, %v", text, rec, err)
		}
		f, _ := strconv.ParseFloat(text, 64)
		if n.Float64() != f {
			t.Fatalf("%s: %v", text, n.Float64())
		}
	}
}

func TestNumberMakers(t *testing.T) {
	for _, c := range [][2]Number{
		{IntNumber(math.MinInt64), "-9223372036854775808"},
		{DecimalNumber(-5, 3), "-0.005"},
		{DecimalNumber(1234500, 4), "123.4500"},
		{DecimalNumber(7, 0), "7"},
		{DecimalNumber(0, 2), "0.00"},
		{DecimalNumber(math.MinInt64, 18), "-9.223372036854775808"},
		{FloatNumber(0.1), "0.1"},
		{FloatNumber(1e300), "1e+300"},
		{FloatNumber(math.Inf(1)), ""},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}

func TestIDs(t *testing.T) {
	if StringID("7") == IntID(7) || StringID("") == (ID{}) || !(ID{}).IsZero() {
		t.Error("ids of different kinds must differ")
	}
	if m := map[ID]int{StringID("0xa"): 1, NumberID("10"): 2}; m[StringID("0xa")] != 1 || m[IntID(10)] != 2 {
		t.Error("ids are map keys")
	}
	if HexID(0xdeadbeef).String() != "0x00000000deadbeef" {
		t.Error(HexID(0xdeadbeef))
	}
	for _, c := range []struct {
		id   ID
		v    uint64
		form IDForm
	}{
		{StringID("0xdeadbeef"), 0xdeadbeef, 8},
		{StringID("0x00000000deadbeef"), 0xdeadbeef, 16},
		{StringID("0xffffffffffffffff"), math.MaxUint64, 16},
		{StringID("0xDEAD"), 0, IDText},
		{StringID("0x"), 0, IDText},
		{StringID("0x11111111111111111"), 0, IDText},
		{NumberID("42"), 42, IDInt},
		{StringID("42"), 0, IDText},
		{NumberID("-42"), 0, IDText},
		{NumberID("4.2"), 0, IDText},
	} {
		if v, form := c.id.Key(); v != c.v || form != c.form {
			t.Errorf("%s: %x %d", c.id, v, form)
		}
	}
}

// The golden value was computed with Python's hashlib from the documented
// layout.
func TestContentID(t *testing.T) {
	frames := []FrameIdentity{
		{"parse_file", "/usr/bin/myapp", "abcd1234", "0x54"},
		{"main", "/usr/bin/myapp", "abcd1234", ""},
	}
	if got := ContentID(frames); got != StringID(contentGolden) {
		t.Errorf("got %v, want %s", got, contentGolden)
	}
	if ContentID(frames[:1]) == ContentID(frames) || ContentID(nil) == ContentID(frames) {
		t.Error("different stacks must have different ids")
	}
	moved := []FrameIdentity{{"parse_file/usr/bin/myapp", "", "abcd1234", "0x54"}, frames[1]}
	if ContentID(moved) == ContentID(frames) {
		t.Error("the parts of an identity must not run together")
	}
}

const contentGolden = "0x27b3118904f7c5a8"
