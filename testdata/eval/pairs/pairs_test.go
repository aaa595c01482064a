package pairs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// leastRight is the minimum number of pairs with the right cause: no change may lose one.
const leastRight = 14

// TestPairs compares each pair of single runs. ASHLAR_PAIRS=show prints the sentences of
// the pairs that were not held back, ASHLAR_PAIRS=all those of all pairs.
func TestPairs(t *testing.T) {
	right := map[bool]int{}
	of := map[bool]int{}
	for i := range All {
		p := &All[i]
		v, err := Compare(t.Context(), ".", []string{p.File(0)}, []string{p.File(1)})
		if err != nil {
			t.Errorf("%s: %v", p.File(0), err)
			continue
		}
		is := p.Right(v)
		if of[p.Held()]++; is {
			right[p.Held()]++
		}
		if show := os.Getenv("ASHLAR_PAIRS"); show == "all" || show == "show" && !p.Held() {
			t.Logf("%v %s %s: %s", is, p.Language, p.Name, v.First)
		}
	}
	t.Logf("right: %d of %d looked at, %d of %d held back", right[false], of[false], right[true], of[true])
	if n := right[false] + right[true]; n < leastRight {
		t.Errorf("%d pairs have the right cause, of %d before", n, leastRight)
	}
}

// leastRightOfSeveral is like leastRight for the pairs with several runs a side.
const leastRightOfSeveral = 32

// TestSeveral compares the pairs with several runs a side.
func TestSeveral(t *testing.T) {
	right, of := 0, 0
	for _, l := range Languages {
		for _, p := range Several(l) {
			files := p.Sides()
			v, err := Compare(t.Context(), ".", files[0], files[1])
			if err != nil {
				t.Errorf("%s %s: %v", l, p.Name, err)
				continue
			}
			is := p.Right(v)
			if of++; is {
				right++
			}
			if os.Getenv("ASHLAR_PAIRS") != "" {
				t.Logf("%v %s %s: %s", is, l, p.Name, v.First)
			}
		}
	}
	t.Logf("right: %d of %d with %d runs a side", right, of, Runs)
	if right < leastRightOfSeveral {
		t.Errorf("%d pairs have the right cause, of %d before", right, leastRightOfSeveral)
	}
}

// TestUncertain checks the sentences if one run per side is too few to name a cause: they
// name the function that changed most relative to all others, or say that there is none.
func TestUncertain(t *testing.T) {
	for _, c := range []struct{ recording, says, not string }{
		{"go-slower-%s.pb.gz", "not certain: main.hash +", "alike"},
		{"go-longer-slower-%s.pb.gz", "not certain: main.hash +", "alike"},
		{"cpp-slower-%s.perf.txt.gz", "not certain: hash +", "alike"},
		{"go-longer-%s.pb.gz", ", about the same in all functions.", "main."},
		{"cpp-longer-%s.perf.txt.gz", ", about the same in all functions.", "called by"},
		{"go-renamed-%s.pb.gz", "within noise", "called by"},                                              // draw is gone, paintAll is new
		{"go-threads-%s.pb.gz", "Total cpu", "renamed"},                                                   // a few samples in the runtime
		{"cpp-inlining-%s.perf.txt.gz", "arrange total +304 (newly calls std::sort<…>;", "__gnu_cxx::__"}, // template arguments
	} {
		a, b := "recordings/"+fmt.Sprintf(c.recording, "a"), "recordings/"+fmt.Sprintf(c.recording, "b")
		v, err := Compare(t.Context(), ".", []string{a}, []string{b})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(v.All, c.says) || strings.Contains(v.All, c.not) {
			t.Errorf("%s: %q, want %q and not %q", a, v.All, c.says, c.not)
		}
	}
}

// TestNoAlarms compares five runs of the unchanged program with five others, and single
// runs, a hundred times in each language. At most one comparison in twenty may name a
// function.
func TestNoAlarms(t *testing.T) {
	singles := 0
	const times = 100
	for _, l := range Languages {
		r := rand.New(rand.NewPCG(37, 5))
		alarms, single := 0, 0
		for range times {
			order := r.Perm(Unchanged)
			var files []string
			for _, i := range order[:10] {
				files = append(files, UnchangedFile(l, i))
			}
			v, err := Compare(t.Context(), ".", files[:5], files[5:])
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Named) > 0 {
				alarms++
			}
			if v, err = Compare(t.Context(), ".", files[:1], files[5:6]); err != nil {
				t.Fatal(err)
			}
			if len(v.Named) > 0 {
				single++
			}
		}
		t.Logf("%s: %d of %d comparisons of five runs with five name a function, %d of one run with one", l, alarms, times, single)
		if alarms > times/20 {
			t.Errorf("%s: %d false alarms in %d", l, alarms, times)
		}
		singles += single
	}
	if all := len(Languages) * times; singles > all/20 {
		t.Errorf("%d false alarms in %d with one run a side", singles, all)
	}
}
