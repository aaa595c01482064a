package theme

import (
	"math"
	"testing"
)

// TestDifferencesAreTold checks that text on the colours of differences is legible, that
// more and less differ in hue, and that larger differences have stronger colours.
func TestDifferencesAreTold(t *testing.T) {
	for _, th := range All {
		same, _ := th.Difference(0)
		if same.R != same.G || same.G != same.B {
			t.Errorf("%s: what is the same is not grey but %v", th.Name, same)
		}
		far := map[float64]float64{-1: 0, 1: 0}
		for i := 0; i <= 400; i++ {
			for sign := range far {
				d := sign * float64(i) / 400
				bar, text := th.Difference(d)
				for what, c := range map[string]float64{"": Ratio(bar, text), "lifted ": Ratio(th.Lift(bar), th.OnDifference(th.Lift(bar)))} {
					if c < 4.4 {
						t.Errorf("%s: text on a %sdifference of %.3f has contrast %.2f", th.Name, what, d, c)
					}
				}
				if i == 0 {
					continue
				}
				// Orange has more red than blue, and blue the reverse, so people with either
				// kind of red-green blindness can tell them apart.
				if gap := int(bar.R) - int(bar.B); float64(gap)*sign <= 0 {
					t.Errorf("%s: %v does not say that there is %g in B", th.Name, bar, sign)
				}
				gap := math.Abs(float64(bar.R) - float64(bar.B))
				if gap < far[sign]-6 {
					t.Errorf("%s: a difference of %.3f is paler than a smaller one", th.Name, d)
				}
				far[sign] = math.Max(far[sign], gap)
			}
		}
		for what, c := range map[string]float64{"more": Ratio(th.More(), th.Background), "less": Ratio(th.Less(), th.Background),
			"more at the side": Ratio(th.More(), th.Surface), "less at the side": Ratio(th.Less(), th.Surface)} {
			if c < 4.5 {
				t.Errorf("%s: numbers that say there is %s have contrast %.2f", th.Name, what, c)
			}
		}
	}
}
