package encode

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

func TestAppendValue(t *testing.T) {
	for _, c := range []struct {
		v    int64
		dec  int
		want string
	}{
		{0, 3, "0"}, {5, 0, "5"}, {1500, 3, "1.5"}, {-1, 3, "-0.001"}, {math.MaxInt64, 18, "9.223372036854775807"},
		{math.MinInt64 + 1, 1, "-922337203685477580.7"}, {123000, 3, "123"},
	} {
		if got := string(AppendValue(nil, c.v, c.dec)); got != c.want {
			t.Errorf("%d with %d decimals is %s, want %s", c.v, c.dec, got, c.want)
		}
	}
}

// TestClockText compares ClockText with exact arithmetic for clocks of all kinds.
func TestClockText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		c := recording.Clock{PerUnit: []int64{1, 1000, 1e6, 1e9, 1e12}[r.IntN(5)], Origin: recording.Decimal{Mantissa: r.Int64N(4e18) - 2e18, Scale: r.IntN(10)}}
		if r.IntN(3) == 0 {
			c.Origin.Mantissa = r.Int64N(100) - 50
		}
		per := []int64{1000, 1e6, 1e12}[r.IntN(3)]
		at := r.Int64N(1e18) - 5e17
		if r.IntN(2) == 0 {
			at = r.Int64N(2e6) - 1e6
		}
		x, ok := NewClockText(&c, per)
		if !ok || x.Cut {
			continue
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Origin.Scale)), nil)
		want := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(c.Origin.Mantissa), big.NewInt(c.PerUnit)), scale)
		want.Add(want, new(big.Rat).SetInt64(at))
		want.Quo(want, new(big.Rat).SetInt64(per))
		got, ok := new(big.Rat).SetString(string(x.Append(nil, at)))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%+v at %d in %d ps is %s, want %s", c, at, per, x.Append(nil, at), want.FloatString(12))
		}
	}
}

// TestRounder checks that each value is off by less than two units, and the sum by at most
// half a unit.
func TestRounder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, decimals := range []int{0, 1, 3, 9} {
		x := NewRounder(decimals)
		var sum, out int64
		for range 10000 {
			v := r.Int64N(4000) - 1500
			got := x.Value(v)
			if d := got*x.scale - v; d >= 2*x.scale || d <= -2*x.scale {
				t.Fatalf("%d of %d decimals became %d", v, decimals, got)
			}
			sum, out = sum+v, out+got
			if d := 2 * (out*x.scale - sum); d > x.scale || d < -x.scale {
				t.Fatalf("with %d decimals the sum %d became %d", decimals, sum, out)
			}
		}
	}
	x := NewRounder(2)
	if got := x.Value(recording.Missing); got != 0 {
		t.Errorf("what is missing became %d", got)
	}
}

// TestWalk checks that Walk visits every span of a random trace once, in order of time,
// parents before their children, and ends each span after its children.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		b := recording.NewBuilder()
		tb := b.Track(recording.TrackKey{PID: 1, TID: 1})
		at := int64(0)
		frame := func() recording.FrameID {
			return b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint(r.IntN(3))}))
		}
		var want []string
		var path []string
		for range 60 {
			at += r.Int64N(2)
			if tb.Depth() > 0 && r.IntN(2) == 0 {
				tb.End(at)
				want = append(want, fmt.Sprintf("end %s %d", path[len(path)-1], at))
				path = path[:len(path)-1]
				continue
			}
			f := frame()
			tb.Begin(at, f, 0)
			path = append(path, fmt.Sprint(f))
			want = append(want, fmt.Sprintf("begin %v %d", path, at))
		}
		for ; tb.Depth() > 0; path = path[:len(path)-1] {
			tb.End(at)
			want = append(want, fmt.Sprintf("end %s %d", path[len(path)-1], at))
		}
		rec := b.Finish()
		// Spans of zero length at the same time may be visited in another order, so compare
		// the number of visits by path and time.
		sum := map[string]int64{}
		for _, s := range want {
			sum[s]++
		}
		path = nil
		var last int64
		n := 0
		for _, c := range Columns(rec, rec.Tracks[0]) {
			check := func(kind string, s *Span, at int64) {
				if at < last {
					t.Fatalf("%s at %d comes after %d", kind, at, last)
				}
				last = at
			}
			err := c.Walk(func(s *Span) error {
				check("begin", s, s.Start)
				path = append(path[:s.Depth], fmt.Sprint(rec.Calls.Frame(s.Call)))
				sum[fmt.Sprintf("begin %v %d", path, s.Start)]--
				n++
				return nil
			}, func(s *Span) error {
				check("end", s, s.End)
				sum[fmt.Sprintf("end %v %d", rec.Calls.Frame(s.Call), s.End)]--
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if int64(n) != rec.Counts.Spans {
			t.Fatalf("%d spans were visited of %d", n, rec.Counts.Spans)
		}
		for k, v := range sum {
			if v != 0 {
				t.Fatalf("%q is off by %d in %v", k, v, want)
			}
		}
	}
}
