package findings

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestNumbersOfClaims checks that the text of each claim, without names and quotes, has exactly
// the numbers that the finding lists.
func TestNumbersOfClaims(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/eval/planted/recordings/*")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	quotes, numbers := regexp.MustCompile(`“[^”]*”`), regexp.MustCompile(`[0-9][0-9\x{2009}.]*`)
	found := 0
	for i, path := range files {
		if testing.Short() && i%rounds.Size(6, 18) != 1 {
			continue
		}
		rec, _, err := ingest.ReadAll(t.Context(), path, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Of(t.Context(), rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			text := quotes.ReplaceAllString(f.Claim, "")
			for _, n := range f.names {
				text = strings.Replace(text, n, "", 1)
			}
			var listed []string
			for _, n := range f.Numbers {
				found++
				listed = append(listed, numbers.FindAllString(n.Text, -1)...)
				if n.Check == "" || n.Value == "" {
					t.Errorf("%s: %q has no check or value: %+v", path, f.Claim, n)
				}
			}
			got := numbers.FindAllString(text, -1)
			for k := range got {
				got[k] = strings.TrimRight(got[k], ".\u2009")
			}
			for k := range listed {
				listed[k] = strings.TrimRight(listed[k], ".\u2009")
			}
			if !slices.Equal(got, listed) {
				t.Errorf("%s: the sentence %q has the numbers %q, the list has %q", filepath.Base(path), f.Claim, got, listed)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d numbers", found)
	}
}

// TestNumbersOfWarnings checks the numbers taken from the text of a decoder's warning.
func TestNumbersOfWarnings(t *testing.T) {
	var f Finding
	f.repeat("12\u2009034 samples of 007 were lost for 0.50 s.")
	var got []string
	for _, n := range f.Numbers {
		got = append(got, n.Text+"="+n.Value.String())
	}
	if want := []string{"12\u2009034=12034", "007=7", "0.50=0.50"}; !slices.Equal(got, want) || f.Claim != "12\u2009034 samples of 007 were lost for 0.50 s." {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCallsOfFunctions compares the numbers of calls of functions, on all tracks and on each,
// with a count of the spans one by one.
func TestCallsOfFunctions(t *testing.T) {
	rec, _, err := ingest.ReadAll(t.Context(), "../../../testdata/eval/planted/recordings/server-nothing1.json.gz", ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, on := map[recording.FuncID]int64{}, map[functionOn]int{}
	for i, tr := range rec.Tracks {
		for k := range tr.Lanes {
			for s := range tr.Lanes[k].Len() {
				f := rec.Func(tr.Lanes[k].Call(s))
				all[f]++
				on[functionOn{f, i}]++
			}
		}
	}
	if len(on) < 10 || len(on) == len(all) {
		t.Fatalf("%d functions on %d tracks", len(all), len(rec.Tracks))
	}
	l := &look{Costs: &Costs{rec: rec}}
	for f := range rec.Functions.Len() {
		id := recording.FuncID(f)
		if l.callsIn(id) != all[id] {
			t.Errorf("%s has %d calls, want %d", rec.Functions.At(f).Name, l.callsIn(id), all[id])
		}
		for i := range rec.Tracks {
			for range 2 { // counted, then remembered
				if at := (functionOn{id, i}); l.callsOn(id, i) != on[at] {
					t.Errorf("%s has %d calls on track %d, want %d", rec.Functions.At(f).Name, l.callsOn(id, i), i, on[at])
				}
			}
		}
	}
}
