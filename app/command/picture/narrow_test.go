package picture_test

import (
	"encoding/xml"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/testdata/twins"
)

// TestAboutInANarrowWindow checks that the about tab of a comparison fits in 700 pixels, that
// no texts overlap, and that the selected tab has its title.
func TestAboutInANarrowWindow(t *testing.T) {
	dir := t.TempDir()
	address := "ashlar:1?tab=about"
	for i, name := range []string{"before.json", "after.json"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, twins.Trace(i > 0), 0o600); err != nil {
			t.Fatal(err)
		}
		address += "&file=" + path
	}
	out := filepath.Join(dir, "about.svg")
	var errs strings.Builder
	runner := command.Runner{Render: picture.Render}
	if code := command.Main([]string{"render", address, "--size", "700x960", "-o", out}, nil, io.Discard, &errs, runner); code != command.Done {
		t.Fatal(errs.String())
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := textsOf(t, f)
	title := false
	for i, a := range all {
		title = title || a.said == "About the files"
		for _, b := range all[:i] {
			if a.box.Overlaps(b.box) {
				t.Errorf("%q lies on %q, at %v and %v", a.said, b.said, a.box, b.box)
			}
		}
	}
	if len(all) < 20 || !title {
		t.Errorf("of %d texts none is the title of the tab", len(all))
	}
}

// text is a text of a picture with its bounding box, without descenders.
type text struct {
	box  image.Rectangle
	said string
}

// textsOf returns the texts of an SVG, except those in nested SVGs, which clip their content.
func textsOf(t *testing.T, r io.Reader) (all []text) {
	t.Helper()
	within := 0
	for d := xml.NewDecoder(r); ; {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			if token.Name.Local == "svg" {
				within--
			}
		case xml.StartElement:
			if token.Name.Local == "svg" {
				within++
			}
			if token.Name.Local != "text" || within > 1 {
				continue
			}
			at := map[string]float64{}
			anchor := ""
			for _, a := range token.Attr {
				if at[a.Name.Local], err = strconv.ParseFloat(a.Value, 64); err != nil && a.Name.Local == "text-anchor" {
					anchor = a.Value
				}
			}
			var said string
			if err := d.DecodeElement(&said, &token); err != nil {
				t.Fatal(err)
			}
			x, y, length := at["x"], int(at["y"]), at["textLength"]
			switch anchor {
			case "middle":
				x -= length / 2
			case "end":
				x -= length
			}
			all = append(all, text{image.Rect(int(math.Ceil(x)), y-8, int(x+length), y), said})
		}
	}
}

// allTexts returns all texts of an SVG in drawing order, including those in nested SVGs.
func allTexts(t *testing.T, r io.Reader) (all []string) {
	t.Helper()
	for d := xml.NewDecoder(r); ; {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var said string
			if err := d.DecodeElement(&said, &start); err != nil {
				t.Fatal(err)
			}
			all = append(all, said)
		}
	}
}
