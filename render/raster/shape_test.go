package raster

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-text/typesetting/font"

	"ashlar/render/fonts"
)

// systemFonts enables the system's fonts and fails the test if some are missing.
func systemFonts(t *testing.T) {
	t.Helper()
	fonts.System.Start(nil)
	for _, r := range "中حש" {
		if fonts.System.Font(r) == nil {
			t.Fatalf("no font of this system has %q; the tests need those of Debian's fonts-wqy-zenhei, fonts-hosny-amiri and fonts-dejavu-core", r)
		}
	}
}

// seen returns the characters of a text as they are drawn, from left to right. It cannot recognise
// letters that join.
func seen(f *Face, s string) string {
	type key struct {
		face *font.Face
		gid  font.GID
	}
	of := map[key]rune{}
	for _, r := range s {
		face := f.ResolveFace(r)
		for _, r := range []rune{r, ' '} { // blanks use the font of the letters
			gid, _ := face.NominalGlyph(r)
			of[key{face, gid}] = r
		}
	}
	var b strings.Builder
	for _, g := range f.shape(s).glyphs {
		if r, ok := of[key{g.face, g.gid}]; ok {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestRightToLeft compares the visual order of texts with the Unicode Bidirectional
// Algorithm (UAX #9).
func TestRightToLeft(t *testing.T) {
	systemFonts(t)
	f := Regular(13)
	for text, want := range map[string]string{
		"main.אבג":         "main.גבא",
		"אבג":              "גבא",
		"calc אבג 123 end": "calc 123 גבא end",
		"calc אבג 1.5, x":  "calc 1.5 גבא, x",
		"אבג 12f":          "12f גבא",
		"אבג f דהו":        "והד f גבא",
		"a אבג דהו b":      "a והד גבא b",
		"中אב文":             "中בא文",
		// Text in an FSI, LRI or LRE between right-to-left words keeps its order and stays
		// between them.
		"thrא \u2068abc\u2069 ב x":  "thrב abc א x",
		"thrא \u2066abc\u2069 ב x":  "thrב abc א x",
		"x א \u20681 ab\u2069 ב y":  "x ב 1 ab א y",
		"x א \u202aab\u202c ב 12 c": "x א ab 12 ב c",
	} {
		// Control characters are blanks without width.
		if got := strings.Join(strings.Fields(seen(f, text)), " "); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
}

// TestLettersJoin checks that Arabic letters have other forms in a word than alone, and
// that the last letter is leftmost.
func TestLettersJoin(t *testing.T) {
	systemFonts(t)
	f := Regular(13)
	l := f.shape("حمح")
	if len(l.glyphs) != 3 {
		t.Fatalf("three letters became %d glyphs", len(l.glyphs))
	}
	alone := f.shape("ح").glyphs[0]
	last, first := l.glyphs[0], l.glyphs[2]
	if last.gid == alone.gid || first.gid == alone.gid || last.gid == first.gid {
		t.Errorf("the letter has the glyphs %d first, %d last and %d alone; they should differ", first.gid, last.gid, alone.gid)
	}
}

// TestCharactersNobodyHas checks that names with different characters that no font has
// look different.
func TestCharactersNobodyHas(t *testing.T) {
	systemFonts(t)
	f := Regular(13)
	for text, want := range map[string]string{
		"\U0010fffd\U0010fffd": "[U+10FFFD U+10FFFD]", "run \U0010fffdx": "run [U+10FFFD]x", "中\U0010fffd\u200d\ufe0f中": "中[U+10FFFD]中",
	} {
		if got, want := f.Measure(text), f.Measure(want); math.Abs(float64(got-want)) > .2 { // shaped widths are rounded
			t.Errorf("%+q is %v wide, want %v", text, got, want)
		}
		if got := f.Fit(text, 300); got != want {
			t.Errorf("%+q is shown as %+q, want %+q", text, got, want)
		}
	}
	if f.Measure("a\nb\tc中") <= 0 {
		t.Error("a text with control characters has no width")
	}
}

// TestEmojiAreSmaller checks a reduced picture pixel by pixel, and that drawing it stays
// within the clip.
func TestEmojiAreSmaller(t *testing.T) {
	img := image.NewNRGBA(image.Rect(3, 3, 13, 10)) // not at 0, 0, and no multiple of the result
	for i := range img.Pix {
		img.Pix[i] = uint8(i*37 | 3)
	}
	got := smaller(img, 4, 3)
	for y := range 3 {
		for x := range 4 {
			var r, n uint32
			for sy := y * 7 / 3; sy < (y+1)*7/3; sy++ {
				for sx := x * 10 / 4; sx < (x+1)*10/4; sx++ {
					red, _, _, _ := img.At(3+sx, 3+sy).RGBA()
					r, n = r+red>>8, n+1
				}
			}
			if d := int(got.RGBAAt(x, y).R) - int(r/n); d < -1 || d > 1 {
				t.Errorf("the pixel %d, %d has %d of red, want %d", x, y, got.RGBAAt(x, y).R, r/n)
			}
		}
	}
	opaque := image.NewRGBA(image.Rect(0, 0, 4, 4))
	for i := range opaque.Pix {
		opaque.Pix[i] = 0xff
	}
	c := NewCanvas(8, 8, 0xff000000)
	c.picture(opaque, 2, 6, 3, 5)
	for y := range 8 {
		for x := range 8 {
			if want := x >= 3 && x < 5 && y >= 6; (c.at(x, y) == 0xffffffff) != want {
				t.Errorf("the pixel %d, %d is painted: %v", x, y, !want)
			}
		}
	}
}

func TestShapedLabelsNeverSpill(t *testing.T) {
	systemFonts(t)
	f := Regular(11.5)
	for _, name := range []string{strings.Repeat("長い名前", 3000), "دالة_الحساب_الطويلة", "calc שלום עולם 123", "e\u0301e\u0301e\u0301e\u0301", "😀😀😀😀😀"} {
		for w := float32(0); w < 200; w += 7 {
			got := f.Fit(name, w)
			if m := f.Measure(got); m > w+.01 {
				t.Fatalf("Fit(%.20q, %v) = %.20q, %v wide", name, w, got, m)
			}
		}
		c := NewCanvas(200, 30, 0xff000000)
		if f.Draw(c, 2, 20, f.Fit(name, 190), 0xffffffff, 0, 200); !slices.ContainsFunc(c.Img.Pix, func(b uint8) bool { return b != 0 && b != 0xff }) {
			t.Errorf("nothing is seen of %.20q", name)
		}
	}
	if got := f.Fit("e\u0301e\u0301e\u0301e\u0301e\u0301", f.Measure("e\u0301e\u0301e\u0301…")+.5); got != "e\u0301e\u0301e\u0301…" {
		t.Errorf("a letter lost its mark: %q", got)
	}
}

// TestLatinIsNotShaped checks that names in the built-in font are not shaped, because
// that is slow.
func TestLatinIsNotShaped(t *testing.T) {
	f := Regular(12)
	c := NewCanvas(300, 20, Pack(color.NRGBA{0, 0, 0, 255}))
	for _, s := range []string{"main.main", "net/http.(*conn).serve", "…ServeHTTP", "12.40\u2009ms", "naïve", "Привет"} {
		f.Draw(c, 0, 12, f.Fit(s, 300), 0xffffffff, 0, 300)
	}
	if n := len(f.lines) + len(f.short); n != 0 {
		t.Errorf("%d texts of the built-in font were shaped", n)
	}
}
