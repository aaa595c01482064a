package theme

import (
	"fmt"
	"image/color"
	"math"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
)

// TestTextOnBarsIsLegible checks the contrast of labels with every colour of bars,
// including highlighted and faded ones.
func TestTextOnBarsIsLegible(t *testing.T) {
	for _, th := range All {
		for _, m := range Modes {
			for i := range 4000 {
				f := recording.Function{Name: fmt.Sprintf("pkg%d.fn%d", i%97, i), Module: fmt.Sprintf("lib%d.so", i%31), Kind: recording.Kind(i % 4), Unresolved: i%11 == 0}
				c := th.Bar(&f, m)
				if r := Ratio(c, th.OnBar); r < 4.5 {
					t.Fatalf("%s, by %s: the colour of %s has contrast %.2f with its label", th.Name, m, f.Name, r)
				}
				if r := Ratio(th.Fade(c), th.OnFaded()); r < 4.5 {
					t.Fatalf("%s, by %s: the faded colour of %s has contrast %.2f with its label", th.Name, m, f.Name, r)
				}
				if bar, text := th.Above(c); Ratio(bar, text) < 4.5 {
					t.Fatalf("%s, by %s: the colour of %s above what is zoomed to has contrast %.2f with its label", th.Name, m, f.Name, Ratio(bar, text))
				}
				if r := min(Ratio(th.Waiting(c), th.OnBar), Ratio(th.Waiting(th.Lift(c)), th.OnBar)); r < 4.5 {
					t.Fatalf("%s, by %s: the colour of %s where it waits has contrast %.2f with its label", th.Name, m, f.Name, r)
				}
				if r := Ratio(th.Waiting(c), c); r < 1.15 {
					t.Fatalf("%s, by %s: the colour of %s where it waits differs by %.2f from where it runs", th.Name, m, f.Name, r)
				}
				if r := Ratio(th.Lift(c), th.OnBar); r < 4.5 {
					t.Fatalf("%s, by %s: the lifted colour of %s has contrast %.2f with its label", th.Name, m, f.Name, r)
				}
			}
		}
		for i := range 100 {
			for _, c := range []color.NRGBA{th.Thread(i), th.Found()} {
				if r := min(Ratio(c, th.OnBar), Ratio(th.Lift(c), th.OnBar)); r < 4.5 {
					t.Fatalf("%s: the colour of thread %d has contrast %.2f with its label", th.Name, i, r)
				}
			}
		}
	}
}

// TestTextIsLegible checks the contrast of text with every surface on which it is drawn.
// WCAG requires a ratio of 4.5 for text (AA), 7 for enhanced contrast (AAA), and 3 for
// large text and graphics.
func TestTextIsLegible(t *testing.T) {
	for _, th := range All {
		text, dim, faint, rule := 7.0, 4.5, 2.8, 1.0
		if th == Contrast {
			text, dim, faint, rule = 15, 10, 7, 4.5
		}
		for name, s := range map[string]color.NRGBA{"background": th.Background, "lane": th.Lane, "surface": th.Surface, "raised": th.Raised} {
			for _, c := range []struct {
				what  string
				of    color.NRGBA
				least float64
			}{{"text", th.Text, text}, {"dim text", th.Dim, dim}, {"faint text", th.Faint, faint}, {"rules", th.Rule, rule}, {"the accent", th.Accent, 4.5}, {"warnings", th.Warn, 4.5}} {
				if r := Ratio(c.of, s); r < c.least {
					t.Errorf("%s: %s on the %s has contrast %.2f, want %v", th.Name, c.what, name, r, c.least)
				}
			}
		}
		if r := Ratio(th.OnAccent, th.Accent); r < 4.5 {
			t.Errorf("%s: text on the accent has contrast %.2f", th.Name, r)
		}
		// Bars must be visible, and labels legible on faded ones.
		f := recording.Function{Name: "main.main"}
		if r := Ratio(Contrast.Fade(Contrast.Bar(&f, ByFunction)), Contrast.OnBar); r < 4.5 {
			t.Errorf("the label on a faded bar has contrast %.2f", r)
		}
		if r := Ratio(th.Bar(&f, ByFunction), th.Lane); r < 1.25 || th == Contrast && r < 7 {
			t.Errorf("%s: bars have contrast %.2f with the lane", th.Name, r)
		}
	}
}

// TestKindsAreToldApartByTheColourBlind simulates how people who lack one of the three
// cones see the colours of kinds, and measures the distance between any two. See Machado,
// Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
// Deficiency", 2009, at full strength.
func TestKindsAreToldApartByTheColourBlind(t *testing.T) {
	eyes := map[string][9]float64{
		"usual":               {1, 0, 0, 0, 1, 0, 0, 0, 1},
		"without red cones":   {.152286, 1.052583, -.204868, .114503, .786281, .099216, -.003882, -.048116, 1.051998},
		"without green cones": {.367322, .860646, -.227968, .280085, .672501, .047413, -.011820, .042940, .968881},
		"without blue cones":  {1.255528, -.076749, -.178779, -.078411, .930809, .147602, .004733, .691367, .303900},
	}
	for _, th := range All {
		for name, m := range eyes {
			var seen [][3]float64
			for _, k := range []recording.Kind{recording.KindUser, recording.KindKernel, recording.KindManaged, recording.KindUnknown} {
				seen = append(seen, oklab(m, th.Bar(&recording.Function{Kind: k}, ByKind)))
			}
			seen = append(seen, oklab(m, th.Found()))
			for i := range seen {
				for j := range i {
					if i == 4 && j != 3 {
						continue // the colour of matches appears next to grey only
					}
					d := 0.0
					for c := range 3 {
						d += (seen[i][c] - seen[j][c]) * (seen[i][c] - seen[j][c])
					}
					if d = math.Sqrt(d); d < .045 {
						t.Errorf("%s, %s: colours %d and %d are %.3f apart", th.Name, name, j, i, d)
					}
				}
			}
		}
	}
}

// oklab returns a colour in OKLab as seen by eyes that the matrix m describes.
func oklab(m [9]float64, c color.NRGBA) [3]float64 {
	lin := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= .04045 {
			return x / 12.92
		}
		return math.Pow((x+.055)/1.055, 2.4)
	}
	in := [3]float64{lin(c.R), lin(c.G), lin(c.B)}
	var v [3]float64
	for i := range v {
		v[i] = max(0, min(1, m[3*i]*in[0]+m[3*i+1]*in[1]+m[3*i+2]*in[2]))
	}
	l := math.Cbrt(.4122214708*v[0] + .5363325363*v[1] + .0514459929*v[2])
	n := math.Cbrt(.2119034982*v[0] + .6806995451*v[1] + .1073969566*v[2])
	s := math.Cbrt(.0883024619*v[0] + .2817188376*v[1] + .6299787005*v[2])
	return [3]float64{
		.2104542553*l + .7936177850*n - .0040720468*s,
		1.9779984951*l - 2.4285922050*n + .4505937099*s,
		.0259040371*l + .7827717662*n - .8086757660*s,
	}
}

func TestColoursHoldFamiliesTogether(t *testing.T) {
	if family(&recording.Function{Name: "net/http.(*conn).serve"}) != "net/http" ||
		family(&recording.Function{Name: "std::vector<int>::at"}) != "std" ||
		family(&recording.Function{Name: "memmove", Module: "/lib/libc.so.6"}) != "libc.so.6" {
		t.Error("functions are not sorted into the families people know them by")
	}
	a := Dark.Bar(&recording.Function{Name: "net/http.(*conn).serve", Module: "/a/app"}, ByFunction)
	b := Dark.Bar(&recording.Function{Name: "net/http.(*conn).serve", Module: "/b/app2"}, ByFunction)
	if a != b {
		t.Error("a Go function's colour depends on where its binary lies")
	}
}

func TestOKLCH(t *testing.T) {
	// White, black and sRGB red, with the values from Ottosson's article.
	for _, c := range []struct {
		l, ch, h float64
		r, g, b  uint8
	}{{1, 0, 0, 255, 255, 255}, {0, 0, 0, 0, 0, 0}, {0.6279554, 0.2576833, 29.2338853, 255, 0, 0}} {
		got := OKLCH(c.l, c.ch, c.h)
		if got.R != c.r || got.G != c.g || got.B != c.b {
			t.Errorf("OKLCH(%v %v %v) = %v", c.l, c.ch, c.h, got)
		}
	}
}

// TestGamma compares the table with the formula of sRGB.
func TestGamma(t *testing.T) {
	for i := -100; i <= 1_100_000; i++ {
		x := float64(i) / 1e6
		want := 12.92 * x
		if x > 0.0031308 {
			want = 1.055*math.Pow(x, 1/2.4) - 0.055
		}
		want = min(255, max(0, 255*want))
		if got := float64(gamma(x)); math.Abs(got-want) > .5+1e-9 {
			t.Fatalf("the light %v is %v, not %v", x, got, want)
		}
	}
}

// TestAhead checks that colours computed in advance equal those computed on demand, and
// that later functions have colours too.
func TestAhead(t *testing.T) {
	b := recording.NewBuilder()
	name := func(i int) recording.Function { return recording.Function{Name: fmt.Sprintf("p%d.f%d", i%7, i)} }
	for i := range 3000 {
		b.Function(name(i))
	}
	first := b.Snapshot()
	p := &Palette{Theme: Dark, Mode: ByFunction}
	p.Func(first, 5)
	p.Ahead(first)
	for i := 0; p.ahead.Load() == nil; i++ {
		if i > 1000 {
			t.Fatal("nothing comes")
		}
		time.Sleep(time.Millisecond)
	}
	for i := 3000; i < 3100; i++ {
		b.Function(name(i))
	}
	rec := b.Snapshot()
	for i := range rec.Functions.Len() {
		f := rec.Functions.At(i)
		if got, want := p.Func(rec, recording.FuncID(i)), Dark.Bar(&f, ByFunction); got != want {
			t.Fatalf("function %d has the colour %v, not %v", i, got, want)
		}
	}
	if p.ahead.Load() != nil {
		t.Error("what was worked out was not taken")
	}
}

// TestLiftedBarsKeepTheirHue checks that highlighting a bar changes its shade but not its
// hue, which could be another module's colour.
func TestLiftedBarsKeepTheirHue(t *testing.T) {
	hue := func(c color.NRGBA) float64 { // hue on the colour wheel, in degrees
		x := float64(c.R) - (float64(c.G)+float64(c.B))/2
		y := (float64(c.G) - float64(c.B)) * math.Sqrt(3) / 2
		return math.Atan2(y, x) * 180 / math.Pi
	}
	for _, th := range All {
		for i := range 2000 {
			f := recording.Function{Name: fmt.Sprintf("pkg%d.fn%d", i%97, i), Module: fmt.Sprintf("lib%d.so", i%31)}
			c := th.Bar(&f, Modes[0])
			if d := math.Abs(math.Remainder(hue(c)-hue(th.Lift(c)), 360)); d > 8 {
				t.Fatalf("%s: the colour of %s is turned by %.0f°", th.Name, f.Name, d)
			}
			if r := Ratio(c, th.Lift(c)); r < 1.1 {
				t.Fatalf("%s: the colour of %s differs by %.2f where it is lifted", th.Name, f.Name, r)
			}
		}
	}
}
