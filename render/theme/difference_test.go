package theme

import (
	"math"
	"testing"
)

// TestDifferencesAreTold checks the colours of differences: text on them is
// legible, more is told from less by lightness-independent hue, and larger ones
// stand out more.
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
				// Orange has more red than blue, blue the other way round; both
				// kinds of red-green blindness keep that apart.
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
