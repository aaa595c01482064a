package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGroupsByArgument adds up the calls of random traces by an argument. A call without it
// counts for the nearest caller that has it.
func TestGroupsByArgument(t *testing.T) {
	for seed := range uint64(10) {
		path, all := madeTrace(t, seed)
		type sums struct{ self, total, count int64 }
		want := map[string]sums{}
		value := func(under []*madeCall) string {
			for _, c := range slices.Backward(under) {
				if c.tenant != "" {
					return c.tenant
				}
			}
			return "[no tenant]"
		}
		for _, c := range all {
			v := value(c.under)
			s := want[v]
			s.self, s.count = s.self+c.self*1000, s.count+1
			outer := true
			for k := range len(c.under) - 1 {
				outer = outer && value(c.under[:k+1]) != v
			}
			if outer {
				s.total += c.dur * 1000
			}
			want[v] = s
		}
		var got struct {
			Rows []struct {
				Name        string
				Self, Total json.Number
				Count       int64
			}
		}
		answerOf(t, &got, "top", path, "--json", "--by", "arg:tenant")
		for _, r := range got.Rows {
			s := want[r.Name]
			if r.Name == "[no tenant]" {
				s.count++ // the call of duration 0 that madeTrace adds
			}
			if fmt.Sprint(s.self) != string(r.Self) || fmt.Sprint(s.total) != string(r.Total) || s.count != r.Count {
				t.Errorf("seed %d: %q has %s, %s, %d, want %v", seed, r.Name, r.Self, r.Total, r.Count, s)
			}
		}
		if len(got.Rows) != len(want) {
			t.Errorf("seed %d: %d values, want %d", seed, len(got.Rows), len(want))
		}
	}
}

// TestGroupsByNames checks grouping by package, by name without numbers and by category, as
// rows and as merged frames.
func TestGroupsByNames(t *testing.T) {
	dir := t.TempDir()
	folded, trace := filepath.Join(dir, "a.folded"), filepath.Join(dir, "a.json")
	for p, text := range map[string]string{
		folded: "main.main;encoding/json.Marshal;encoding/json.(*encodeState).marshal 3\nmain.main;frame 1 2\nmain.main;frame 22 5\n",
		trace:  `[{"ph":"X","name":"a","cat":"x","ts":0,"dur":10,"pid":1,"tid":1},{"ph":"X","name":"b","cat":"x","ts":2,"dur":4,"pid":1,"tid":1},{"ph":"X","name":"c","cat":"y","ts":3,"dur":1,"pid":1,"tid":1}]`,
	} {
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{folded, "--by", "package"}, "[no package] 7 7, encoding/json 3 3, main 0 10"},
		{[]string{folded, "--by", "name"}, "frame # 7 7, encoding/json.(*encodeState).marshal 3 3, main.main 0 10, encoding/json.Marshal 0 3"},
		{[]string{folded, "--merge-by-package"}, "[no package] 7 7, encoding/json 3 3, main 0 10"},
		{[]string{folded, "--fold-digits", "--tree"}, "main.main 0 10, frame # 7 7, encoding/json.Marshal 0 3, encoding/json.(*encodeState).marshal 3 3"},
		{[]string{trace, "--by", "category"}, "x 9000 10000, y 1000 1000"},
		{[]string{trace, "--merge-by-category", "--tree"}, "x 9000 10000, y 1000 1000"},
	} {
		var got struct {
			Rows []struct {
				Name        string
				Self, Total json.Number
			}
		}
		answerOf(t, &got, append([]string{"top", "--json"}, c.args...)...)
		var rows []string
		for _, r := range got.Rows {
			rows = append(rows, fmt.Sprintf("%s %s %s", r.Name, r.Self, r.Total))
		}
		if strings.Join(rows, ", ") != c.want {
			t.Errorf("%v: %s, want %s", c.args, strings.Join(rows, ", "), c.want)
		}
	}
	if r := run("top", folded, "--by", "category"); r.code == Done || !strings.Contains(r.stderr, "only Chrome traces have categories; group by module") {
		t.Errorf("categories of stacks: %s", r.stderr)
	}
}

// TestSlowAgainstTheRest checks which calls diff selects. --slow selects the calls of the last
// mode or, if there is only one mode, the slowest tenth; --typical compares calls with the
// median of the others. Both must agree with calls and --calls.
func TestSlowAgainstTheRest(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, durs []int) string {
		var events []string
		at := 0
		for _, d := range durs {
			events = append(events, fmt.Sprintf(`{"ph":"X","name":"task","pid":1,"tid":1,"ts":%d,"dur":%d},{"ph":"X","name":"work","pid":1,"tid":1,"ts":%d,"dur":%d}`, at, d, at, d/2))
			at += d + 5
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("["+strings.Join(events, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var two, one []int
	for i := range 120 {
		one = append(one, 100+i%7)
		if two = append(two, 100+i%7); i%6 == 0 {
			two = append(two, 4_000_000+1000*i) // so long that sums need all digits
		}
	}
	type sides struct {
		Verdict string
		A, B    struct{ Total json.Number }
		Rows    []struct {
			Name      string
			DeltaSelf json.Number `json:"delta_self"`
		}
	}
	diff := func(args ...string) (s sides) {
		answerOf(t, &s, append([]string{"diff", "--json"}, args...)...)
		return s
	}
	path := write("two.json", two)
	var list struct {
		Modes []struct{ Calls string }
	}
	answerOf(t, &list, "calls", path, "task", "--json")
	if len(list.Modes) != 2 {
		t.Fatalf("there are %d modes", len(list.Modes))
	}
	got, want := diff(path, "--slow", "task"), diff(path, "--calls", list.Modes[0].Calls, "--calls-b", list.Modes[1].Calls)
	if fmt.Sprint(got) != fmt.Sprint(want) || !strings.HasPrefix(got.Verdict, "work +2.028 s per call (50.0 % of the change, >99.9 % sure), task's own code +2.028 s per call (50.0 % of the change, >99.9 % sure). Per call: time +4.057 s (A 103.0 µs, B 4.057 s; 120 calls in A, 20 in B).") {
		t.Errorf("--slow: %v, want %v", got, want)
	}
	path = write("one.json", one)
	if got, want := diff(path, "--slow", "task"), diff(path, "--calls-b", "task[slowest 12]"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("--slow of one mode: %v, want %v", got, want)
	}
	// The median of the other 119 is 103 µs: 18 took 100, and 17 each took 101 and 102.
	if got := diff(path, "--typical", "task[slowest 1]"); got.A.Total != "103000" || got.B.Total != "106000" || !strings.HasPrefix(got.Verdict, "work +2.000 µs per call (66.7 % of the change), task's own code +1.000 µs per call (33.3 % of the change). Per call: time +3.000 µs (A 103.0 µs, B 106.0 µs; 1 call in A, 1 in B).") {
		t.Errorf("--typical: %+v", got)
	}
	// Two ranges of one trace, by CPU time, which some spans lack.
	clock := filepath.Join(dir, "clock.json")
	if err := os.WriteFile(clock, []byte(`[{"ph":"X","name":"a","ts":0,"dur":10,"tdur":4,"pid":1,"tid":1},{"ph":"X","name":"a","ts":20,"dur":10,"tdur":7,"pid":1,"tid":1},{"ph":"X","name":"b","ts":40,"dur":10,"pid":1,"tid":1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	var cpu struct {
		A, B struct {
			Total  json.Number
			Untold int64 `json:"untold_spans"`
		}
	}
	answerOf(t, &cpu, "diff", clock, "--metric", "cpu", "--range-a", "0s..15us", "--range-b", "15us..", "--json")
	if cpu.A.Total != "4000" || cpu.B.Total != "7000" || cpu.A.Untold != 0 || cpu.B.Untold != 1 {
		t.Errorf("cpu of two parts: %+v", cpu)
	}
	if r := run("diff", path, "--typical", "task"); r.code == Done || !strings.Contains(r.stderr, "; --typical needs exactly one") {
		t.Errorf("--typical of many calls: %s", r.stderr)
	}
	if r := run("diff", path, "--slow", "task", "--calls", "task"); r.code == Done || !strings.Contains(r.stderr, "without --calls") {
		t.Errorf("--slow beside --calls: %s", r.stderr)
	}
}
