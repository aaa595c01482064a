package raster

import (
	"context"
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

// TestLabelsOfRecordings checks the labels of all functions and threads of recordings in
// many formats, at many widths.
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

// runs matches runs of letters and of digits: a capital may begin a run within a word,
// and digits include the letters after them.
var runs = regexp.MustCompile(`\p{N}+\p{Ll}[\p{Ll}\p{N}]*|\p{N}*\p{Lu}*[\p{Ll}\p{Lo}]+|\p{Lu}+|\p{N}+`)

// hash matches a hash, or a part of one, which has no words.
var hash = regexp.MustCompile(`^h?[0-9a-f]{6,}$`)

// wordsOf returns the bounds of the words in a name. Of several capitals before a small
// letter, the last one begins a word: IOThread has the words IO and Thread.
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

// holdLabels checks that the labels of names in a face follow the rule in breaks. With
// room for a dozen letters, different names must have different labels if they have
// pieces of that size that differ.
func holdLabels(t *testing.T, f *Face, names []string, fit func(string, float32) string) {
	t.Helper()
	em := f.Advance('n')
	seen, tellable := map[string]string{}, tellable(names, fit)
	starts, whole := map[string][]int{}, map[string][]string{}
	for _, width := range []float32{5, 7.9, 12, 15, 20, 30, 50, 400} {
		clear(seen)
		for _, name := range names {
			text := fit(name, width*em+.1)
			if text == "" {
				if width >= 12 && name != "" {
					t.Errorf("%q has no label in the room of %v letters", name, width)
				}
				continue
			}
			if strings.HasPrefix(name, "[") { // a thread state: the label keeps its reason
				continue
			}
			if why := breaks(name, text); why != "" {
				t.Errorf("%q is %q in the room of %v letters: %s", name, text, width, why)
			}
			if !strings.Contains(text, Ellipsis) {
				whole[name] = append(whole[name], text)
			} else if start := startOf(name, text); start >= 0 {
				starts[name] = append(starts[name], start)
			}
			if other, ok := seen[text]; ok && (width >= 50 || width >= 12 && tellable[name] && tellable[other]) {
				t.Errorf("in the room of %v letters, %q and %q are both %q", width, other, name, text)
			}
			seen[text] = name
		}
	}
	for name, at := range starts {
		slices.Sort(at)
		if at = slices.Compact(at); len(at) > 1 {
			t.Errorf("%q begins at %v in different rooms", name, at)
		}
	}
	for name, texts := range whole {
		if texts = slices.Compact(texts); len(texts) > 2 {
			t.Errorf("%q reads %q in different rooms", name, texts)
		}
	}
	t.Logf("%d of %d names have a piece of their own", len(tellable), len(names))
}

// tellable returns the names whose labels contain a piece of whole words, at most nine
// letters long, that no other label contains.
func tellable(names []string, fit func(string, float32) string) map[string]bool {
	const most = 9 // less than the dozen letters of room, because letters may be wider than n
	of := map[string]int{}
	pieces := make([]map[string]bool, len(names))
	for i, name := range names {
		name = fit(name, 1e6)
		words := wordsOf(name)
		pieces[i] = map[string]bool{}
		for _, first := range words {
			for _, last := range words {
				if n := last[1] - first[0]; n > 0 && n <= most {
					pieces[i][name[first[0]:last[1]]] = true
				}
			}
		}
		for p := range pieces[i] {
			of[p]++
		}
	}
	out := map[string]bool{}
	for i := range names {
		for p := range pieces[i] {
			out[names[i]] = out[names[i]] || of[p] == 1
		}
		if !out[names[i]] {
			delete(out, names[i])
		}
	}
	return out
}

// startOf returns where a cut label begins in its name. It returns -1 if only the label's
// start was cut, because that depends on the room, and if the label occurs twice in the
// name.
func startOf(name, text string) int {
	piece, cut := strings.CutSuffix(text, Ellipsis)
	piece, headless := strings.CutPrefix(piece, Ellipsis)
	at := strings.LastIndex(name, piece)
	if piece == "" || headless && !cut || at != strings.Index(name, piece) {
		return -1
	}
	return at
}

// breaks returns how a label breaks the rule for labels, "" if it does not. A label must
// be one piece of its name and consist of whole words. Only its last word may be cut, at
// the end, and only if fewer than four letters precede it.
func breaks(name, text string) string {
	if text == name {
		return ""
	}
	piece, cut := strings.CutSuffix(text, Ellipsis)
	piece, _ = strings.CutPrefix(piece, Ellipsis)
	if strings.Contains(piece, Ellipsis) {
		return "it has more than one piece"
	}
	inside := map[int]bool{} // positions inside words, where cuts are not allowed
	for _, word := range wordsOf(name) {
		for at := word[0] + 1; at < word[1]; at++ {
			inside[at] = true
		}
	}
	last := wordsOf(piece)
	short := len(last) == 0 || utf8.RuneCountInString(strings.TrimRight(piece[:last[len(last)-1][0]], " .:/_-(<[,*&")) < 4
	for from := 0; ; from++ {
		next := strings.Index(name[from:], piece)
		if next < 0 {
			return "no whole words of the name: " + piece
		}
		from += next
		if hash.MatchString(piece) || !inside[from] && (!inside[from+len(piece)] || short && cut) {
			return ""
		}
	}
}
