package raster

import (
	"image/color"
	"strings"
	"testing"
)

func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"net/http.(*conn).serve":                  "serve",
		"net/http.HandlerFunc.ServeHTTP":          "ServeHTTP",
		"std::vector<int, std::allocator>::at":    "at",
		"ns::fn(int, std::string)":                "fn",
		"memmove":                                 "memmove",
		"main.main":                               "main",
		"a.b[go.shape.int]":                       "b",
		"operator->":                              "operator->",
		"main.x.func1":                            "x.func1",
		"a/b.(*T).do.func1.2":                     "do.func1.2",
		"runtime.goexit.abi0":                     "goexit.abi0",
		"core::ops::call_once::h0123456789abcdef": "call_once::h0123456789abcdef",
		"mycrate::parse::parse_file":              "parse_file",
		"preprocess: w:/cuik/lib/front/parser.h":  "parser.h",
		"lib/lexer.c":                             "lexer.c",
		"main.cpp":                                "main.cpp",
		"":                                        "",
		")":                                       ")",
	} {
		if got := Short(in); got != want {
			t.Errorf("Short(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFitNeverSpills(t *testing.T) {
	f := Regular(11.5)
	for _, name := range []string{"net/http.(*conn).serve", "memmove", strings.Repeat("长い名前", 50), "שלום עולם", "x"} {
		for w := float32(0); w < 300; w += 3 {
			got := f.Fit(name, w)
			if m := f.Measure(got); m > w {
				t.Fatalf("Fit(%q, %v) = %q, %v wide", name, w, got, m)
			}
		}
	}
	if got := f.Fit("net/http.(*conn).serve", f.Measure("…serve")+1); got != "…serve" {
		t.Errorf("a name loses its package first; got %q", got)
	}
}

func TestBlend(t *testing.T) {
	d, s := Pack(color.NRGBA{10, 200, 30, 255}), Pack(color.NRGBA{250, 20, 130, 255})
	if got := blend(uint32(d), uint32(s), 0); got != uint32(d) {
		t.Errorf("blend with no opacity changed %08x to %08x", d, got)
	}
	if got := blend(uint32(d), uint32(s), 255); got != uint32(s) {
		t.Errorf("blend with full opacity gives %08x, want %08x", got, s)
	}
	for a := uint32(0); a < 256; a += 5 {
		got := blend(uint32(d), uint32(s), a)
		for sh := 0; sh < 24; sh += 8 {
			x, y := int(d>>sh&255), int(s>>sh&255)
			want := x + (y-x)*int(a)/255
			if g := int(got >> sh & 255); g < want-2 || g > want+2 {
				t.Fatalf("channel %d at %d: %d, want about %d", sh/8, a, g, want)
			}
		}
	}
}

func TestDrawingIsClipped(t *testing.T) {
	c := NewCanvas(20, 10, Pack(color.NRGBA{0, 0, 0, 255}))
	c.Bar(-5, -5, 100, 100, 0xffffffff, 2)
	c.Rect(5, 5, 3, 3, 0xff0000ff)
	c.Shade(-1, -1, 30, 30, 0xff00ff00, 128)
	Regular(12).Draw(c, -3, 9, "clipped text", 0xff000000, 0, 20)
	Regular(12).Draw(c, 3, 900, "below", 0xff000000, -10, 90)
	for _, x := range []int{-3, 0, 7, 12} {
		line := c.Line(x, x+9, 4)
		if (line == nil) != (x < 0 || x+9 > 20) {
			t.Fatalf("the line from %d is %v", x, line)
		}
		if line == nil {
			continue
		}
		for i := range line {
			line[i] = Color(0xff000000 + x + i)
		}
		was := c.at(x+9, 0)
		c.Repeat(x, x+9, 4, -4, 40)
		for i := range line {
			if want := 0xff000000 + uint32(x+i); c.at(x+i, 0) != want || c.at(x+i, 9) != want {
				t.Errorf("column %d of %d has %08x", i, x, c.at(x+i, 0))
			}
		}
		if c.at(x+9, 0) != was {
			t.Errorf("what stands right of %d was drawn over", x+9)
		}
	}
	if c.Line(0, 5, -1) != nil || c.Line(0, 5, 10) != nil {
		t.Error("there are lines outside")
	}
}
