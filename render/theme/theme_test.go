package theme

import (
	"fmt"
	"testing"

	"ashlar/ingest/recording"
)

// TestTextOnBarsIsLegible checks the contrast of labels with every colour that
// bars come in, also lifted under the pointer.
func TestTextOnBarsIsLegible(t *testing.T) {
	for _, th := range []*Theme{Dark, Light} {
		for _, m := range Modes {
			for i := range 4000 {
				f := recording.Function{Name: fmt.Sprintf("pkg%d.fn%d", i%97, i), Module: fmt.Sprintf("lib%d.so", i%31), Kind: recording.Kind(i % 4), Unresolved: i%11 == 0}
				c := th.Bar(&f, m)
				if r := Contrast(c, th.OnBar); r < 4.5 {
					t.Fatalf("%s, by %s: the colour of %s has contrast %.2f with its label", th.Name, m, f.Name, r)
				}
				if r := Contrast(th.Lift(c), th.OnBar); r < 4.5 {
					t.Fatalf("%s, by %s: the lifted colour of %s has contrast %.2f with its label", th.Name, m, f.Name, r)
				}
			}
		}
		for _, c := range []struct {
			what string
			r    float64
		}{{"text", Contrast(th.Text, th.Background)}, {"dim text", Contrast(th.Dim, th.Surface)}, {"text on the accent", Contrast(th.OnAccent, th.Accent)}} {
			if c.r < 4.5 {
				t.Errorf("%s: %s has contrast %.2f", th.Name, c.what, c.r)
			}
		}
	}
}

func TestColoursHoldFamiliesTogether(t *testing.T) {
	if Family(&recording.Function{Name: "net/http.(*conn).serve"}) != "net/http" ||
		Family(&recording.Function{Name: "std::vector<int>::at"}) != "std" ||
		Family(&recording.Function{Name: "memmove", Module: "/lib/libc.so.6"}) != "libc.so.6" {
		t.Error("functions are not sorted into the families people know them by")
	}
	a := Dark.Bar(&recording.Function{Name: "net/http.(*conn).serve", Module: "/a/app"}, ByFunction)
	b := Dark.Bar(&recording.Function{Name: "net/http.(*conn).serve", Module: "/b/app2"}, ByFunction)
	if a != b {
		t.Error("a Go function's colour depends on where its binary lies")
	}
}

func TestOKLCH(t *testing.T) {
	// White, black and sRGB's red, as Ottosson gives them.
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
