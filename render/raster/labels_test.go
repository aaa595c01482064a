package raster

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ashlar/ingest"
	"ashlar/ingest/model/funcname"
	"ashlar/testdata/samples"
)

// TestLabelsOfRecordings opens recordings of other programs, one for each of ten formats, and
// holds the labels of all functions and threads at many widths to the rule of labels.
func TestLabelsOfRecordings(t *testing.T) {
	for _, name := range []string{
		"chrome-trace/thread_time_visualisation.json.gz", "chrome-devtools/fx_test.chrome.gz", "firefox/63_simple-firefox.json",
		"generated/strconv_cpu.pprof", "generated/go_vet.perf.data", "generated/go.trace", "perf-script/rust-mangled.linux-perf.txt", "spall/asterboids_v1.spall", "jfr/dump1.jfr.gz", "folded/fx_flamegraph.txt",
		"chrome-trace/spall_cuik_c_compiler.json", "spaa/chrome_65_sucrase.spaa", "otlp/profile.otlp",
	} {
		path := samples.Path(t, name)
		t.Run(name, func(t *testing.T) {
			load := ingest.Open(context.Background(), path, ingest.Options{})
			if err := load.Wait(); err != nil {
				t.Fatal(err)
			}
			rec := load.Snapshot()
			var functions, threads []string
			for i := range rec.Functions.Len() {
				functions = append(functions, rec.Functions.At(i).Name)
			}
			for _, track := range rec.Tracks {
				threads = append(threads, track.Name)
			}
			slices.Sort(functions)
			slices.Sort(threads)
			functions, threads = slices.Compact(functions), slices.Compact(threads)
			var faces Faces
			faces.SetLabels(funcname.NewLabels(slices.Values(functions), slices.Values(threads)))
			for _, f := range []*Face{faces.Regular(11.5), faces.Medium(25)} {
				holdLabels(t, f, functions, f.Fit)
				holdLabels(t, f, threads, f.FitText)
			}
			t.Logf("%d functions, %d threads", len(functions), len(threads))
		})
	}
}

// runs are runs of letters, those that begin with a capital within one too, and of digits with the letters behind them.
var runs = regexp.MustCompile(`\p{N}+\p{Ll}[\p{Ll}\p{N}]*|\p{N}*\p{Lu}*[\p{Ll}\p{Lo}]+|\p{Lu}+|\p{N}+`)

// hash is one, or a part of one: it has no words.
var hash = regexp.MustCompile(`^h?[0-9a-f]{6,}$`)

// wordsOf finds where the words of a name begin and end. Of several capitals before a small
// letter the last one begins a word: IOThread has two.
func wordsOf(name string) (words [][]int) {
	for _, run := range runs.FindAllStringIndex(name, -1) {
		capitals := strings.IndexFunc(name[run[0]:run[1]], unicode.IsLower)
		if capitals > 1 && unicode.IsUpper(rune(name[run[0]])) {
			words = append(words, []int{run[0], run[0] + capitals - 1})
			run[0] += capitals - 1
		}
		words = append(words, run)
	}
	return words
}

// holdLabels checks labels of names in a face: each is what the rule says, and where a dozen
// letters fit, different names have different ones. Few letters cannot tell all names apart
// that share two of three words: below thirty letters, one of a hundred names may collide.
func holdLabels(t *testing.T, f *Face, names []string, fit func(string, float32) string) {
	t.Helper()
	em := f.Advance('n')
	seen := map[string]string{}
	for _, width := range []float32{5, 7.9, 12, 15, 20, 30, 50, 400} {
		clear(seen)
		var alike []string
		for _, name := range names {
			text := fit(name, width*em+.1)
			if text == "" {
				if width >= 12 && name != "" {
					t.Errorf("%q has no label in the room of %v letters", name, width)
				}
				continue
			}
			if strings.HasPrefix(name, "[") { // a state, whose reason goes first
				continue
			}
			if why := breaks(name, text, width < 6); why != "" {
				t.Errorf("%q is %q in the room of %v letters: %s", name, text, width, why)
			}
			if other, ok := seen[text]; ok && width >= 12 {
				alike = append(alike, fmt.Sprintf("%q and %q are both %q", other, name, text))
			}
			seen[text] = name
		}
		if len(alike) > 0 && (width >= 30 || 100*len(alike) > max(100, len(names))) {
			t.Errorf("in the room of %v letters, of %d names %s", width, len(names), strings.Join(alike, "\n"))
		}
	}
}

// breaks says how a label breaks the rule: it is a piece of the name of whole words, or two
// with an ellipsis between them. Only the last word of a piece may be cut, at its end, and
// only where what stands before it in the piece are fewer than four letters.
func breaks(name, text string, narrow bool) string {
	if text == name {
		return ""
	}
	bare, cut := strings.CutSuffix(text, Ellipsis)
	bare, _ = strings.CutPrefix(bare, Ellipsis)
	pieces := strings.Split(bare, Ellipsis)
	if len(pieces) > 2 || narrow && len(pieces) > 1 {
		return "it has too many pieces"
	}
	inside := map[int]bool{} // where a cut would part a word
	for _, word := range wordsOf(name) {
		for at := word[0] + 1; at < word[1]; at++ {
			inside[at] = true
		}
	}
	from := 0
	for i, piece := range pieces {
		found := false
		for at := from; !found; at++ {
			next := strings.Index(name[at:], piece)
			if next < 0 {
				return "no whole words of the name: " + piece
			}
			at += next
			last := wordsOf(piece)
			short := len(last) == 0 || utf8.RuneCountInString(strings.TrimRight(piece[:last[len(last)-1][0]], " .:/_-(<[,*&")) < 4
			found = hash.MatchString(piece) || !inside[at] && (!inside[at+len(piece)] || short && (cut || i < len(pieces)-1))
			from = at + len(piece)
		}
	}
	return ""
}
