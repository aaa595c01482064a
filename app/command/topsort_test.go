package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTopSortBySpans compares durations and row orders with sums over the events of the file.
func TestTopSortBySpans(t *testing.T) {
	type event struct {
		Ph, Name  string
		PID, TID  int
		TS, Dur   int64
		from, end int64
	}
	var events []event
	var lines []string
	// Nested spans on two threads. i varies the durations; some functions have equal averages.
	for i := range int64(40) {
		tid, at := int(1+i%2), 100*i
		for depth, name := range []string{"outer", fmt.Sprint("mid", i%3), fmt.Sprint("leaf", i%7)}[:1+i%3] {
			from, dur := at+int64(depth), 90-10*int64(depth)-i%5
			events = append(events, event{Name: name, TID: tid, from: from, end: from + dur})
			lines = append(lines, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"name":"%s","ts":%d,"dur":%d}`, tid, name, from, dur))
		}
	}
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, []byte("["+strings.Join(lines, ",\n")+"]"), 0o666); err != nil {
		t.Fatal(err)
	}
	type stat struct{ sum, n, least, most int64 }
	number := map[string]func(s *stat) int64{
		"average": func(s *stat) int64 { return s.sum * 1000 * 1000 / s.n }, // ps, rounded down
		"least":   func(s *stat) int64 { return s.least * 1000 * 1000 },
		"most":    func(s *stat) int64 { return s.most * 1000 * 1000 },
	}
	for _, where := range []struct {
		args     []string
		tid      int
		from, to int64
	}{{nil, 0, 0, 1 << 40}, {[]string{"--thread", "2"}, 2, 0, 1 << 40}, {[]string{"--range", "1.05ms..2.31ms"}, 0, 1050, 2310}} {
		stats := map[string]*stat{}
		for _, e := range events {
			if where.tid != 0 && e.TID != where.tid || e.end <= where.from || e.from >= where.to {
				continue
			}
			s := stats[e.Name]
			if s == nil {
				s = &stat{least: 1 << 40}
				stats[e.Name] = s
			}
			s.sum, s.n = s.sum+e.end-e.from, s.n+1
			s.least, s.most = min(s.least, e.end-e.from), max(s.most, e.end-e.from)
		}
		plain := topRows(t, append([]string{path}, where.args...)...)
		if plain[0].Most != "" {
			t.Errorf("%v: lengths though nothing is sorted by them", where.args)
		}
		for by, of := range number {
			for _, back := range []bool{false, true} {
				want, flag := slices.Clone(plain), by
				sign := 1
				if back {
					flag, sign = "-"+by, -1
				}
				slices.SortStableFunc(want, func(a, b topRow) int { return sign * cmp.Compare(of(stats[b.Name]), of(stats[a.Name])) })
				got := topRows(t, append([]string{path, "--sort", flag}, where.args...)...)
				for i := range want {
					s := stats[want[i].Name]
					ps := func(f func(*stat) int64) string { return fmt.Sprintf("%.3f", float64(f(s))/1000) }
					have := fmt.Sprint(got[i].Name, " ", thousandths(t, got[i].Average), " ", thousandths(t, got[i].Least), " ", thousandths(t, got[i].Most))
					if w := fmt.Sprint(want[i].Name, " ", ps(number["average"]), " ", ps(number["least"]), " ", ps(number["most"])); have != w {
						t.Errorf("%v by %s, row %d: %s, not %s", where.args, flag, i, have, w)
					}
				}
			}
		}
	}
	// Rows that merge several functions have no durations.
	for _, r := range topRows(t, path, "--merge-by-module", "--sort", "average") {
		if r.Average != "" {
			t.Errorf("%s, which stands for a module, has the average %s", r.Name, r.Average)
		}
	}
	out := run("top", path, "--sort", "most").stdout
	if !strings.Contains(strings.Join(strings.Fields(out), " "), "average least most function") {
		t.Errorf("the text has no columns for lengths:\n%s", out)
	}
}

func thousandths(t *testing.T, n json.Number) string {
	t.Helper()
	v, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%.3f", v)
}

func topRows(t *testing.T, args ...string) []topRow {
	t.Helper()
	r := run(append([]string{"top", "--json"}, args...)...)
	var v struct{ Rows []topRow }
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || r.code != Done || len(v.Rows) == 0 {
		t.Fatalf("top %v: exit code %d: %s (%v)", args, r.code, r.stderr, err)
	}
	return v.Rows
}
