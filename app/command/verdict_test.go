package command

import (
	"bytes"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/render/units"
)

func textOf(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(args, strings.NewReader(""), &out, &errs, Runner{}); code != Done {
		t.Fatalf("%v: %d, %s", args, code, errs.String())
	}
	return out.String()
}

// TestVerdictOfCalls checks the verdict's means per call, on and off CPU, against the events,
// and its function against the row of the table.
func TestVerdictOfCalls(t *testing.T) {
	for seed := range uint64(6) {
		path, all := madeTrace(t, seed)
		for _, c := range all {
			if c.cpu < 0 {
				c.cpu = 0
			}
		}
		// Give all spans a CPU time, so that the verdict mentions CPU and waiting.
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, l := range lines {
			if !strings.Contains(l, "tdur") {
				lines[i] = strings.Replace(l, `,"pid":1`, `,"pid":1,"tdur":0`, 1)
			}
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		slow := func(c *madeCall) bool { return c.name == "task" && c.dur >= 90 }
		quick := func(c *madeCall) bool { return c.name == "task" && c.dur < 90 }
		var n, took, cpu [2]int64
		var self [2]map[string]int64
		for side, is := range []func(*madeCall) bool{quick, slow} {
			self[side] = map[string]int64{}
			for _, c := range all {
				k := slices.IndexFunc(c.under, is)
				if k < 0 {
					continue
				}
				self[side][c.name] += c.self
				if k == len(c.under)-1 { // an outermost call
					n[side]++
					took[side] += c.dur
					cpu[side] += c.cpu
				}
			}
		}
		each := func(sum [2]int64) (v [2]*big.Rat) {
			for i := range v {
				v[i] = new(big.Rat).SetFrac64(sum[i]*1e6, n[i])
			}
			return v
		}
		words := func(v [2]*big.Rat) string {
			d, _ := new(big.Rat).Sub(v[1], v[0]).Float64()
			if d < 0 {
				return "−" + units.Duration(int64(-d+.5))
			}
			return "+" + units.Duration(int64(d+.5))
		}
		out := textOf(t, "diff", path, "--calls-b", "task[90us..]", "-n", "0")
		verdict, rest, _ := strings.Cut(out, "\n")
		wait := [2]int64{took[0] - cpu[0], took[1] - cpu[1]}
		for _, says := range []string{
			"Per call: time " + words(each(took)) + " (", units.Count(n[0]) + " calls in A, " + units.Count(n[1]) + " in B)",
			"on CPU " + words(each(cpu)), "off CPU " + words(each(wait)),
		} {
			if !strings.Contains(verdict, says) {
				t.Errorf("seed %d: %s\ndoes not say: %s", seed, verdict, says)
			}
		}
		verdict = strings.Replace(verdict, "'s own code +", " +", 1) // task is what all calls are of
		verb := strings.Fields(verdict)
		if _, after, _ := strings.Cut(verdict, " "); !strings.HasPrefix(after, "+") {
			if !strings.Contains(verdict, "no single function changed for certain") {
				t.Errorf("seed %d: %s names no function", seed, verdict)
			}
		} else {
			delta, _, _ := strings.Cut(after, " per call")
			row := ""
			for _, l := range strings.Split(rest, "\n") {
				if f := strings.Fields(l); len(f) > 2 && strings.HasPrefix(l, "+") || strings.Contains(l, " "+verb[0]+" ") && strings.Contains(l, "%") {
					if slices.Contains(strings.Fields(l), verb[0]) {
						row = l
					}
				}
			}
			if !strings.Contains(row, delta) {
				t.Errorf("seed %d: %s\nnames %s, whose row is %q", seed, verdict, delta, row)
			}
			want := each([2]int64{self[0][verb[0]], self[1][verb[0]]})
			if d, _ := new(big.Rat).Sub(want[1], want[0]).Float64(); d <= 0 || "+"+units.Duration(int64(d+.5)) != delta {
				t.Errorf("seed %d: %s changed by %v, the verdict says %s", seed, verb[0], d, delta)
			}
		}
	}
}

// TestVerdictOfFiles checks that runs of different durations are also compared per second.
func TestVerdictOfFiles(t *testing.T) {
	write := func(name, events string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("["+events+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// A works 4 s of 10 s, B 3 s of 5 s.
	a := write("a.json", `{"ph":"X","name":"work","ts":0,"dur":4000000,"pid":1,"tid":1},{"ph":"X","name":"end","ts":10000000,"dur":0,"pid":1,"tid":1}`)
	b := write("b.json", `{"ph":"X","name":"work","ts":0,"dur":3000000,"pid":1,"tid":1},{"ph":"X","name":"end","ts":5000000,"dur":0,"pid":1,"tid":1}`)
	got, _, _ := strings.Cut(textOf(t, "diff", a, b), "\n")
	const want = "B is 50.0 % shorter (A 10.00 s, B 5.000 s). Total time −25.0 % (A 4.000 s, B 3.000 s), per second +50.0 %"
	if !strings.Contains(got, want) || !strings.HasPrefix(got, "work −1.000 s (100 % of the change). ") {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
	same, _, _ := strings.Cut(textOf(t, "diff", a, a), "\n")
	if same != "Total time unchanged (4.000 s)." {
		t.Errorf("of one file twice it says %q", same)
	}
}
