package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiffRestOf compares a time range with the rest of a recording and checks both sides
// against sums over the spans of the file: nested spans, and spans that cross an edge of the
// range or cover it.
func TestDiffRestOf(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		const from, to = 3000, 5000 // µs
		var events []string
		var self [2]map[string]int
		self[0], self[1] = map[string]int{}, map[string]int{}
		part := func(a, b int) [2]int {
			in := max(0, min(b, to)-max(a, from))
			return [2]int{b - a - in, in}
		}
		add := func(tid int, name string, ts, end int, of string) {
			events = append(events, fmt.Sprintf(`{"ph":"X","name":%q,"ts":%d,"dur":%d,"pid":1,"tid":%d}`, name, ts, end-ts, tid))
			for side, v := range part(ts, end) {
				self[side][name] += v
				self[side][of] -= v
			}
		}
		for tid := range 3 {
			at := r.IntN(300)
			add(tid, "main", at, 9000, "")
			for at < 8500 {
				end := min(at+10+r.IntN(900), 8990)
				add(tid, "task", at, end, "main")
				if mid := at + r.IntN(end-at); mid > at {
					add(tid, "step", at, mid, "task")
				}
				at = end + r.IntN(40)
			}
		}
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte("["+strings.Join(events, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
		// Times count from the first span.
		start := 1 << 60
		for _, e := range events {
			var v struct{ TS int }
			if err := json.Unmarshal([]byte(e), &v); err != nil {
				t.Fatal(err)
			}
			start = min(start, v.TS)
		}
		ran := run("diff", path, "--rest-of", fmt.Sprintf("%dus..%dus", from-start, to-start), "--normalize", "raw", "--json", "--all")
		var v struct {
			Rows []struct {
				Name string
				A    float64 `json:"a_self"`
				B    float64 `json:"b_self"`
			}
		}
		if err := json.Unmarshal([]byte(ran.stdout), &v); err != nil || len(v.Rows) != 3 {
			t.Fatal(err, ran.stdout, ran.stderr)
		}
		for _, row := range v.Rows {
			if want := [2]float64{float64(self[0][row.Name]) * 1000, float64(self[1][row.Name]) * 1000}; row.A != want[0] || row.B != want[1] {
				t.Errorf("seed %d: %s has %v outside and %v inside, want %v", seed, row.Name, row.A, row.B, want)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(path, []byte(`[{"ph":"X","name":"f","ts":0,"dur":100,"pid":1,"tid":1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"diff", path, "--rest-of", "0us..100us"},
		{"diff", path, path, "--rest-of", "10us..20us", "--range-a", "..5us"},
		{"diff", path, "--rest-of", "10us..20us", "--calls", "f"},
	} {
		if r := run(args...); r.code != 2 {
			t.Errorf("%q: exit %d: %s", args, r.code, r.stderr)
		}
	}
}
