package heaptrack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

func decodeText(t testing.TB, text string) (*recording.Recording, error) {
	t.Helper()
	return decodetest.Bytes(t, read, []byte(text), 0)
}

// rows lists the records as "stack values", with the leaf last in the stack.
func rows(r *recording.Recording) (out []string) {
	if len(r.Stacks) == 0 {
		return nil
	}
	s := r.Stacks[0]
	for i := range s.Len() {
		var names []string
		for _, c := range r.Calls.Path(nil, s.Call(i)) {
			names = append(names, r.FuncName(c))
		}
		line := strings.Join(names, ";")
		for m := range r.Events[0].Metrics {
			line += fmt.Sprintf(" %d", s.Value(i, m))
		}
		out = append(out, line)
	}
	return out
}

func totals(r *recording.Recording) (out [metrics]int64) {
	if len(r.Events) > 0 {
		for i, m := range r.Events[0].Metrics {
			out[i] = m.Total
		}
	}
	return out
}

// TestRecorded compares the recording of testdata/heap.c with the output of heaptrack_print
// (1.4.0, --disable-builtin-suppressions): 107 allocations, 5 temporary ones, 134.87K at
// the peak, 62.17K never freed, and the values of each stack that -F writes with
// --flamegraph-cost-type allocations, temporary, peak and leaked.
func TestRecorded(t *testing.T) {
	packed, err := os.ReadFile("testdata/heap.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeText(t, string(text))
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("%v, %v", err, r.Warnings)
	}
	if got := totals(r); got[allocObjects] != 107 || got[temporary] != 5 || got[peakSpace] != 134874 || got[inuseSpace] != 62170 || got[inuseObjects] != 61 {
		t.Errorf("totals %v", got)
	}
	// The sums according to the source of the program.
	var grown, again, freed int64
	for i := range int64(50) {
		grown += 1000 + i
		if i < 40 {
			freed += 1000 + i
		}
	}
	for i := range int64(5) {
		again += 100 * (i + 1)
	}
	above := "_start;__libc_start_main_impl;__libc_start_call_main;main;"
	want := []string{
		above + fmt.Sprintf("again %d 1 1 0 0 0 0", 10),
		above + fmt.Sprintf("again %d 5 4 500 1 500 1", again),
		above + fmt.Sprintf("grow;make %d 50 0 %d 10 %d 10", grown, grown-freed, grown-freed),
		above + fmt.Sprintf("grow;make %d 50 0 %d 50 %d 50", grown, grown, grown),
	}
	got := slices.DeleteFunc(rows(r), func(s string) bool { return !strings.HasPrefix(s, above) })
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The inlined call_init follows the function that it is inlined into.
	if all := strings.Join(rows(r), "\n"); !strings.Contains(all, "_dl_init;call_init;call_init;") {
		t.Errorf("no inlined function in\n%s", all)
	}
	if r.Source.Command != "./heap" || r.Source.Tool != "heaptrack 1.4.0" || r.Source.Version != "3" || len(r.Counters) != 2 {
		t.Errorf("%+v, %d counters", r.Source, len(r.Counters))
	}
}

// made writes a recording of random allocations.
func made(rng *rand.Rand, n int) string {
	var s strings.Builder
	s.WriteString("v 10400 3\nX ./a b\nI 1000 100\ns 4 main\ns 1 f\ns 1 g\ns 5 a.out\n")
	for i := range 3 {
		fmt.Fprintf(&s, "i %x 4 %x 0 %x\n", 0x1000+i, i+1, i)
	}
	s.WriteString("t 1 0\nt 2 1\nt 3 1\nt 3 2\n")
	kinds := 0
	var live []int
	for i := range n {
		switch k := rng.IntN(10); {
		case kinds == 0 || k == 0:
			fmt.Fprintf(&s, "a %x %x\n", rng.IntN(1000), 1+rng.IntN(4))
			kinds++
		case k < 6 || len(live) == 0:
			live = append(live, rng.IntN(kinds))
			fmt.Fprintf(&s, "+ %x\n", live[len(live)-1])
		case k == 9:
			fmt.Fprintf(&s, "c %x\nR %x\n", i, rng.IntN(100))
		default:
			at := rng.IntN(len(live))
			if k == 6 {
				at = len(live) - 1
			}
			fmt.Fprintf(&s, "- %x\n", live[at])
			live = slices.Delete(live, at, at+1)
		}
	}
	return s.String()
}

// naive adds up a recording of made in two passes, as heaptrack does: the first finds the
// peak, the second takes each stack's values when it reaches the peak.
func naive(text string) map[int][metrics]int64 {
	var sizes, in []int
	out := map[int][metrics]int64{}
	total, most, peak := 0, 0, -1
	for pass := range 2 {
		sizes, in, total = nil, nil, 0
		last := -1
		for n, line := range strings.Split(text, "\n") {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			v, _ := strconv.ParseInt(f[1], 16, 64)
			switch f[0] {
			case "a":
				at, _ := strconv.ParseInt(f[2], 16, 64)
				sizes, in = append(sizes, int(v)), append(in, int(at))
			case "+", "-":
				sign := 1
				if f[0] == "-" {
					sign = -1
				}
				total += sign * sizes[v]
				if pass == 0 {
					if total > most {
						most, peak = total, n
					}
					continue
				}
				x := out[in[v]]
				x[inuseSpace] += int64(sign * sizes[v])
				x[inuseObjects] += int64(sign)
				if sign > 0 {
					x[allocSpace] += int64(sizes[v])
					x[allocObjects]++
					last = int(v)
				} else {
					if last == int(v) {
						x[temporary]++
					}
					last = -1
				}
				out[in[v]] = x
				if n == peak {
					for k, x := range out {
						x[peakSpace], x[peakObjects] = x[inuseSpace], x[inuseObjects]
						out[k] = x
					}
				}
			}
		}
	}
	return out
}

func TestAgainstNaive(t *testing.T) {
	names := []string{"", "main", "main;f", "main;g", "main;f;g"}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		text := made(rng, 1+rng.IntN(400))
		var want []string
		for k, v := range naive(text) {
			if v != [metrics]int64{} {
				want = append(want, names[k]+" "+strings.Trim(fmt.Sprint(v), "[]"))
			}
		}
		r, _ := decodeText(t, text)
		got := rows(r)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

const head = "v 10400 3\ns 1 f\ni 10 0 1 0 0\nt 1 0\na 64 1\n"

func TestOddRecordings(t *testing.T) {
	bad := "Line %d is invalid or refers to a missing line and was left out"
	for _, c := range []struct{ name, text, rows, place, want string }{
		{"whole", head + "+ 0\n", "f 100 1 0 100 1 100 1", "", ""},
		{"windows line ends", strings.ReplaceAll(head, "\n", "\r\n") + "+ 0\r\n", "f 100 1 0 100 1 100 1", "", ""},
		{"version 1", strings.Replace(strings.Replace(head, "v 10400 3", "v 10200", 1), "s 1 f", "s operator new", 1) + "+ 0\n- 0\n", "operator new 100 1 1 100 1 0 0", "", ""},
		{"version 2", strings.Replace(strings.Replace(head, "v 10400 3", "v 10300 2", 1), "s 1 f", "s a b", 1) + "+ 0\n", "a b 100 1 0 100 1 100 1", "", ""},
		{"no function", "v 10400 3\ns 5 /b/a.so\ni 10 1\nt 1 0\na 64 1\n+ 0\n", "0x10 100 1 0 100 1 100 1", "", ""},
		{"no stack", "v 10400 3\na 64 0\n+ 0\n", " 100 1 0 100 1 100 1", "", ""},
		{"an unknown kind", head + "+ 1\n+ 0\n", "f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"an unknown stack", head + "a 1 7\n+ 1\n+ 0\n", " 0 1 0 0 1 0 1, f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"a stack that calls itself", head + "t 1 2\na 2 2\n+ 1\n", " 2 1 0 2 1 2 1", "line 6", fmt.Sprintf(bad, 6)},
		{"an unknown place", head + "t 9 1\n+ 0\n", "f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"no number", head + "+ x\n+ 0\n", "f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"a number of 68 bits", head + "+ 10000000000000000\n+ 0\n", "f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"too large", head + "a 4000000000000000 1\n+ 0\n", "f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"a line of something else", head + "hello\n+ 0\n", "f 100 1 0 100 1 100 1", "line 6", fmt.Sprintf(bad, 6)},
		{"time runs back", head + "c 5\nc 4\n+ 0\n", "f 100 1 0 100 1 100 1", "line 7", fmt.Sprintf(bad, 7)},
		{"cut in a line", head + "+ 0\n+", "f 100 1 0 100 1 100 1", "line 7", fmt.Sprintf(bad, 7)},
		{"attached", strings.Replace(head, "s 1", "A\ns 1", 1) + "+ 0\n", "f 100 1 0 100 1 100 1", "", "heaptrack was attached to the running program; earlier allocations are unknown"},
		{"nothing happens", head, "", "", "the recording has no allocations"},
		{"raw", "v 10400 3\nx /bin/a\n", "", "", errRaw.Error()},
		{"of tomorrow", "v 20000 4\n+ 0\n", "", "", "version 4 of heaptrack's format is not supported (1 to 3 are); convert the recording with `heaptrack_print -f FILE -F run.folded`"},
		{"no version", "+ 0\n", "", "", "the recording does not start with its version"},
	} {
		r, err := decodeText(t, c.text)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		if got := strings.Join(rows(r), ", "); got != c.rows {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.rows)
		}
	}
	decodetest.Sniffs(t, sniff, true, map[string]decode.Confidence{head: decode.Certain, "v 10200\n": decode.Certain, "v 1 2 3\n": decode.No, "": decode.No, "v 10400 3": decode.No})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(head + "+ 0\nc 1\nR 2\n- 0\n"))
	f.Add([]byte(made(rand.New(rand.NewPCG(1, 1)), 50)))
	decodetest.Fuzz(f, read, sniff)
}
