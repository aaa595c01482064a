package series

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/trend"
)

// TestVerdict checks the sentences about the total and about functions.
func TestVerdict(t *testing.T) {
	names := []string{"run-1", "run-2", "run-3", "run-4", "run-5", "run-6", "run-7", "run-8", "run-9"}
	up := trend.Change{At: 3, To: 6, Before: 100, After: 150, P: .002}
	down := trend.Change{At: 6, From: 3, To: 9, Before: 150, After: 130, P: .01}
	of := func(changes ...trend.Change) trend.Series {
		return trend.Series{Function: recording.FuncName{Name: "hash"}, Changes: changes}
	}
	for _, c := range []struct {
		total     []trend.Change
		functions []trend.Series
		want      string
	}{
		{nil, nil, "No lasting change."},
		{nil, []trend.Series{of()}, "No lasting change."},
		{[]trend.Change{up}, []trend.Series{of()}, "Total +50.0 % from run-4 to run-6: 100 to 150 (p = 0.002)."},
		{[]trend.Change{down, up}, nil, "Total +50.0 % from run-4 to run-6: 100 to 150 (p = 0.002), and 1 more change."},
		{nil, []trend.Series{of(down)}, "No lasting change of the total. Largest change of a function: hash −13.3 % from run-7 on: 150 to 130 (p = 0.01)."},
		{[]trend.Change{down}, []trend.Series{of(up, down), of(down)}, "Total −13.3 % from run-7 on: 150 to 130 (p = 0.01). Largest change of a function: hash +50.0 % from run-4 to run-6: 100 to 150 (p = 0.002)."},
	} {
		r := &trend.Runs{Metric: recording.Metric{Name: "samples", Unit: "samples"}, Total: trend.Series{Changes: c.total}}
		if got := Verdict(r, c.functions, names); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestAround checks that at most ten runs on each side of a change are compared, and none
// beyond the changes next to it.
func TestAround(t *testing.T) {
	var runs []string
	for i := range 40 {
		runs = append(runs, fmt.Sprint(i))
	}
	if a, b := Around(runs, &trend.Change{At: 20, To: 40}); !slices.Equal(a, runs[10:20]) || !slices.Equal(b, runs[20:30]) {
		t.Errorf("%q and %q", a, b)
	}
	if a, b := Around(runs, &trend.Change{From: 17, At: 20, To: 24}); !slices.Equal(a, runs[17:20]) || !slices.Equal(b, runs[20:24]) {
		t.Errorf("%q and %q", a, b)
	}
}

// TestNames checks that files of the same name are told apart by their folders.
func TestNames(t *testing.T) {
	if got := Names([]string{"/a/x.pb", "/b/y.pb"}); !slices.Equal(got, []string{"x.pb", "y.pb"}) {
		t.Errorf("%q", got)
	}
	want := []string{filepath.Join("a", "x.pb"), filepath.Join("b", "x.pb")}
	if got := Names([]string{"/r/a/x.pb", "/r/b/x.pb"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
