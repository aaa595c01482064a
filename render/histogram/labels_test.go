package histogram

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/spans"
	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/theme"
)

// label is a text of a picture with its position.
type label struct {
	text        string
	from, to, y float64
}

// labels returns the texts of a picture that contain one of some words.
func labels(t *testing.T, w, h int, name *raster.Face, paint func(raster.Surface), words ...string) (all []label) {
	t.Helper()
	c := svg.New(w, h, raster.Pack(theme.Dark.Background))
	paint(c)
	var b strings.Builder
	if err := c.Write(&b, ""); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:<svg x="([0-9.-]+)" y="([0-9.-]+)"[^>]*>)?<text x="([0-9.-]+)" y="([0-9.-]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(b.String(), -1) {
		for _, word := range words {
			if text := html.UnescapeString(m[5]); strings.Contains(text, word) {
				var at [4]float64
				for i := range at {
					at[i], _ = strconv.ParseFloat(m[i+1], 64)
				}
				x, y := at[0]+at[2], at[1]+at[3]
				all = append(all, label{text, x, x + float64(name.Measure(text)), y})
			}
		}
	}
	return all
}

// TestPercentilesDoNotCollide checks that the names of percentiles in one bin are all
// drawn without overlap, wherever the bin is.
func TestPercentilesDoNotCollide(t *testing.T) {
	const w, h = 900, 200
	bins := make([]spans.Bin, 20)
	for i := range bins {
		bins[i] = spans.Bin{From: int64(i+1) * 1e9, To: int64(i+2) * 1e9, Count: 1}
	}
	apart := func(what string, want int, got []label) {
		if len(got) != want {
			t.Errorf("%s: %d names of percentiles, want %d: %v", what, len(got), want, got)
		}
		for i, a := range got {
			if a.from < 0 || a.to > w {
				t.Errorf("%s: %v is cut by the border", what, a)
			}
			for _, b := range got[i+1:] {
				if a.y == b.y && a.from < b.to && b.from < a.to {
					t.Errorf("%s: %v is over %v", what, a, b)
				}
			}
		}
	}
	for _, at := range []int64{2, 10, 19} {
		p := picture(&spans.Durations{Count: 20, Linear: bins, Median: at * 1e9, P90: at*1e9 + 3e8, P99: at*1e9 + 5e8}, theme.Dark, 1)
		p.Linear = true
		apart("of one", 3, labels(t, w, h, p.Name, p.Paint, "median", "p90", "p99"))
		edges := make([]float64, 21)
		for i := range edges {
			edges[i] = float64(i+1) * 1e9
		}
		d := compare.Durations{N: 9, Median: float64(at) * 1e9, P99: float64(at)*1e9 + 5e8, Bins: make([]float64, 20)}
		d.Bins[at-1] = 1
		two := &Two{Of: &compare.Distribution{Edges: edges, A: d, B: d}, Theme: theme.Dark, Font: p.Font, Name: p.Name, Scale: 1}
		apart("of two", 4, labels(t, w, h, two.Name, two.Paint, "median", "p99"))
	}
}
