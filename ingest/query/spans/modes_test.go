package spans

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// lengths returns the Durations of a function whose calls have the given durations.
func lengths(t *testing.T, ds []int64) *Durations {
	t.Helper()
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	f := b.Function(recording.Function{Name: "f"})
	track, at := b.Track(recording.TrackKey{}), int64(0)
	for _, d := range ds {
		track.Begin(at, b.FunctionFrame(f), 0)
		at += d
		track.End(at)
	}
	d, err := DurationsOf(context.Background(), b.Finish(), recording.Scope{}, []recording.FuncID{f})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// heaps draws log-normal durations in multiples of step; of holds pairs of a number of
// calls and their median duration.
func heaps(r *rand.Rand, spread float64, step int64, of ...float64) (ds []int64) {
	for i := 0; i < len(of); i += 2 {
		for range int(of[i]) {
			ds = append(ds, max(1, int64(math.Exp(math.Log(of[i+1])+spread*r.NormFloat64())/float64(step)))*step)
		}
	}
	r.Shuffle(len(ds), func(i, j int) { ds[i], ds[j] = ds[j], ds[i] })
	return ds
}

// TestModes checks that separate modes are found with the right calls, and that a single
// mode is not divided, even with a coarse clock.
func TestModes(t *testing.T) {
	rounds.Unraced(t)
	for _, c := range []struct {
		name   string
		spread float64
		step   int64
		of     []float64
		want   int
	}{
		{"one", .3, 1000, []float64{1000, 16e9}, 1},
		{"one, wide", 1.2, 1000, []float64{3000, 1e9}, 1},
		{"one of few", .5, 1000, []float64{30, 1e9}, 1},
		{"by a coarse clock", .8, 1e6, []float64{20000, 6e6}, 1},
		{"25 slow frames of 300", .25, 1000, []float64{275, 16e9, 25, 150e9}, 2},
		{"one frame and two", .05, 1000, []float64{500, 16.7e9, 60, 33.3e9}, 2},
		{"three", .2, 1000, []float64{5000, 1e7, 400, 1e9, 90, 2e11}, 3},
		{"too few to tell", .3, 1000, []float64{300, 1e9, 4, 1e11}, 1},
	} {
		for seed := range uint64(20) {
			ds := heaps(rand.New(rand.NewPCG(seed, 9)), c.spread, c.step, c.of...)
			d := lengths(t, ds)
			hs := d.Modes()
			if len(hs) != c.want {
				t.Errorf("%s, seed %d: %d modes, want %d: %v", c.name, seed, len(hs), c.want, hs)
				continue
			}
			for i, h := range hs {
				n := int64(0)
				for _, v := range ds {
					if v >= h.From && v < h.To {
						n++
					}
				}
				if n != h.Count || i > 0 && hs[i-1].To != h.From {
					t.Errorf("%s, seed %d: mode %d of %v has %d calls", c.name, seed, i, hs, n)
				}
				if c.want > 1 && math.Abs(float64(n)-c.of[2*i]) > .05*c.of[2*i]+1 {
					t.Errorf("%s, seed %d: mode %d has %d calls, %v were put there", c.name, seed, i, n, c.of[2*i])
				}
			}
		}
	}
	if hs := (&Durations{}).Modes(); len(hs) != 0 {
		t.Errorf("no calls have modes %v", hs)
	}
}

// TestSlow checks that calls that stand out are slow, and that there are no slow calls if
// more than 30 % would be or if all take about the same time. SlowOf must agree.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		name       string
		ds         []int64
		from, many int64
	}{
		{"each seventh is eight times as long", []int64{10, 11, 9, 10, 12, 10, 80, 10, 11, 9, 10, 12, 10, 81, 10, 11, 9, 10, 12, 10, 80, 10, 11, 9, 10, 12, 10, 83}, 80, 4},
		{"alike", []int64{10, 11, 12, 13, 10, 11, 12, 13, 9, 10, 14}, 0, 0},
		{"half are long", []int64{10, 10, 11, 10, 80, 81, 82, 80}, 0, 0},
		{"four far above many that are only above", append(slices.Repeat([]int64{10, 11, 9, 10, 12, 10, 10, 20}, 6), 90, 91, 92, 93), 90, 4},
		{"a third above, with a gap for a tenth", append(slices.Repeat([]int64{10, 11, 9, 14, 15}, 8), 90, 91, 92, 93), 90, 4},
		{"one", []int64{10, 10, 11, 10, 10, 10, 9, 10, 10, 10, 10, 30}, 30, 1},
	} {
		for i := range c.ds {
			c.ds[i] *= 1e6
		}
		slow, ok := lengths(t, c.ds).Slow()
		if ok != (c.many > 0) || slow.Count != c.many || ok && slow.From != c.from*1e6 {
			t.Errorf("%s: %+v, want %d calls from %d on", c.name, slow, c.many, c.from)
		}
		if of, is := SlowOf(c.ds); of != slow || is != ok {
			t.Errorf("%s: SlowOf finds %+v, not %+v", c.name, of, slow)
		}
	}
}
