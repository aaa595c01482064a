package stats

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"sort"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9+1e-6*math.Abs(want) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func choose(n, k int64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Binomial(n, k)) }

// twoTails returns twice the smaller tail of a distribution given by its terms.
func twoTails(terms []float64, at int) float64 {
	var up, down float64
	for i, p := range terms {
		if i >= at {
			up += p
		}
		if i <= at {
			down += p
		}
	}
	return math.Min(1, 2*math.Min(up, down))
}

func TestCountsAgainstEveryTerm(t *testing.T) {
	for _, c := range []struct{ a, b, p0num, p0den int64 }{
		{0, 1, 1, 2}, {1, 0, 1, 2}, {3, 9, 1, 2}, {9, 3, 1, 3}, {0, 40, 1, 2}, {100, 140, 1, 2},
		{100, 140, 2, 3}, {7, 7, 1, 2}, {1, 60, 1, 20}, {90, 3, 9, 10},
	} {
		n := c.a + c.b
		p0 := big.NewRat(c.p0num, c.p0den)
		var terms []float64
		for k := range n + 1 {
			v := choose(n, k)
			for range k {
				v.Mul(v, p0)
			}
			for range n - k {
				v.Mul(v, new(big.Rat).Sub(big.NewRat(1, 1), p0))
			}
			f, _ := v.Float64()
			terms = append(terms, f)
		}
		p, _ := p0.Float64()
		near(t, "p", Counts(float64(c.a), float64(c.b), p), twoTails(terms, int(c.a)))
	}
	if p := Counts(1e6, 1.01e6, .5); math.Abs(p-NormalTails(1e4/math.Sqrt(2.01e6)))/p > .02 {
		t.Errorf("large counts have p %g, far from the normal distribution's", p)
	}
	if p := Counts(10, 1e6, .5); p > 1e-100 {
		t.Errorf("10 against a million has p %g", p)
	}
	if p := Counts(4e8, 4e8, .5); p != 1 {
		t.Errorf("the same huge count twice has p %g", p)
	}
}

// enumerate computes the p-value from all ways to distribute the values over the sides.
func enumerate(a, b []float64) float64 {
	all := append(append([]float64(nil), a...), b...)
	sort.Float64s(all)
	rank := func(v float64) float64 {
		first := sort.SearchFloat64s(all, v)
		last := first
		for last < len(all) && all[last] == v {
			last++
		}
		return float64(first+last+1) / 2
	}
	var obs float64
	for _, v := range a {
		obs += rank(v)
	}
	mean := float64(len(a)) * float64(len(all)+1) / 2
	var far, ways float64
	for set := range uint(1) << len(all) {
		if bits.OnesCount(set) != len(a) {
			continue
		}
		var s float64
		for i, v := range all {
			if set>>i&1 == 1 {
				s += rank(v)
			}
		}
		ways++
		if math.Abs(s-mean) >= math.Abs(obs-mean)-1e-9 {
			far++
		}
	}
	return far / ways
}

func TestRanksAgainstEveryWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		a, b := make([]float64, 1+r.IntN(7)), make([]float64, 1+r.IntN(7))
		for i := range a {
			a[i] = float64(r.IntN(8))
		}
		for i := range b {
			b[i] = float64(r.IntN(8) + r.IntN(3))
		}
		sort.Float64s(a)
		sort.Float64s(b)
		want := enumerate(a, b)
		near(t, "p", Ranks(a, b), want)
		near(t, "the mirror's p", Ranks(b, a), want)
	}
}

func TestRanksNormal(t *testing.T) {
	// Near the limit of the exact test, exact and normal results must nearly agree.
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		a, b := make([]float64, 11), make([]float64, 14)
		for i := range a {
			a[i] = r.Float64()
		}
		for i := range b {
			b[i] = r.Float64() + .2
		}
		sort.Float64s(a)
		sort.Float64s(b)
		var sum int
		var ranks []int
		for i := range 25 {
			ranks = append(ranks, 2*(i+1))
		}
		for i, v := range a {
			sum += 2 * (i + 1 + sort.SearchFloat64s(b, v))
		}
		exact, normal := exactRanks(ranks, 11, sum), Ranks(a, b)
		if math.Abs(exact-normal) > .01 {
			t.Errorf("the normal p is %g, the exact one %g", normal, exact)
		}
	}
	if p := Ranks([]float64{5, 5, 5}, make([]float64, 100)); p > 1e-3 {
		t.Errorf("103 values apart have p %g", p)
	}
	same := make([]float64, 100)
	if p := Ranks(same, same); p != 1 {
		t.Errorf("the same value everywhere has p %g", p)
	}
}

func TestShiftAgainstAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		a, b := make([]float64, 1+r.IntN(40)), make([]float64, 1+r.IntN(40))
		for i := range a {
			a[i] = float64(r.IntN(50)) * 1e6
		}
		for i := range b {
			b[i] = float64(r.IntN(50)+10) * 1e6
		}
		sort.Float64s(a)
		sort.Float64s(b)
		var d []float64
		for _, x := range a {
			for _, y := range b {
				d = append(d, y-x)
			}
		}
		sort.Float64s(d)
		want := (d[(len(d)-1)/2] + d[len(d)/2]) / 2
		got, low, high := Shift(a, b)
		if got != want || low > got || high < got {
			t.Fatalf("the shift is %g in %g…%g, want %g", got, low, high, want)
		}
		back, _, _ := Shift(b, a)
		if back != -want {
			t.Fatalf("the mirror's shift is %g, want %g", back, -want)
		}
	}
}

func TestStudent(t *testing.T) {
	for _, x := range []float64{.1, .7, 1, 2.5, 12} {
		near(t, "t with 1 degree", StudentTails(x, 1), 1-2/math.Pi*math.Atan(x)) // Cauchy's
		near(t, "t with 2 degrees", StudentTails(x, 2), 1-x/math.Sqrt(2+x*x))
	}
	near(t, "the quantile for 4", StudentQuantile(4), 2.7764451051977987)
	near(t, "the quantile for 30", StudentQuantile(30), 2.0422724563012373)
	if d := StudentQuantile(1e7) - Z95; math.Abs(d) > 1e-4 {
		t.Errorf("with many degrees the quantile is %g off the normal one", d)
	}
}

// TestWelch uses a textbook example with unequal numbers and spreads: t is 1.57
// with 9.9 degrees of freedom, p 0.149.
func TestWelch(t *testing.T) {
	a := NewSample([]float64{17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8})
	b := NewSample([]float64{21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8, 20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8})
	w := Means(a, b, 0)
	if math.Abs(w.Freedom-9.9) > .1 || math.Abs((b.Mean-a.Mean)/w.Error-1.57) > .1 || math.Abs(w.P-.15) > .02 {
		t.Errorf("Welch's test says %+v (t = %g)", w, (b.Mean-a.Mean)/w.Error)
	}
	same := Sample{N: 3, Mean: 4}
	if p := Means(same, Sample{N: 3, Mean: 5}, 0).P; math.Abs(p-.1) > 1e-12 {
		t.Errorf("six values without any spread have p %g, want 2 of 20", p)
	}
	if p := Means(same, same, 0).P; p != 1 {
		t.Errorf("no difference has p %g", p)
	}
}

func TestIntervals(t *testing.T) {
	// Exact limits (Garwood): 0: 0, 3.689; 10: 4.795, 18.39; 100: 81.36, 121.6.
	for _, c := range [][3]float64{{0, 0, 3.689}, {10, 4.795, 18.39}, {100, 81.36, 121.6}} {
		lo, hi := CountInterval(c[0])
		if math.Abs(lo-c[1]) > .05*c[1]+1e-9 || math.Abs(hi-c[2]) > .05*c[2] {
			t.Errorf("the interval of %g is %g…%g, want %g…%g", c[0], lo, hi, c[1], c[2])
		}
	}
	lo, hi := ShareInterval(0, 10)
	if lo != 0 || math.Abs(hi-.2775) > .001 {
		t.Errorf("none of ten has the interval %g…%g", lo, hi)
	}
	lo, hi = ShareInterval(81, 263) // Newcombe 1998, table I
	if math.Abs(lo-.2553) > 1e-4 || math.Abs(hi-.3662) > 1e-4 {
		t.Errorf("81 of 263 has the interval %g…%g", lo, hi)
	}
}

func TestDiscoveries(t *testing.T) {
	p := []float64{.01, .04, .03, .5, math.NaN(), .005}
	got := Discoveries(p)
	// By definition, q is the minimum of p*n/rank over all p-values at least as large.
	for i, v := range p {
		if math.IsNaN(v) {
			if !math.IsNaN(got[i]) {
				t.Errorf("a row without a test has q %g", got[i])
			}
			continue
		}
		want := 1.0
		for _, w := range p {
			if w >= v {
				rank := 0
				for _, x := range p {
					if x <= w {
						rank++
					}
				}
				want = math.Min(want, w*5/float64(rank))
			}
		}
		near(t, "q", got[i], want)
	}
}
