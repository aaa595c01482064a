package folded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"sort"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// weights returns the exact value of each distinct stack, keyed by its folded form.
func weights(r *recording.Recording) map[string]string {
	sums := map[string]*big.Int{}
	s := r.Stacks[0]
	for i := range s.Len() {
		var names []string
		for _, c := range r.Calls.Path(nil, s.Call(i)) {
			fn := r.Functions.At(int(r.Func(c)))
			n := fn.Name
			if fn.Module != "" {
				n = fn.Module + "`" + n
			}
			if r.Frames.At(int(r.Calls.Frame(c))).Kind == recording.KindKernel {
				n += "_[k]"
			}
			names = append(names, n)
		}
		k := strings.Join(names, ";")
		if sums[k] == nil {
			sums[k] = new(big.Int)
		}
		sums[k].Add(sums[k], big.NewInt(s.Value(i, 0)))
	}
	out := map[string]string{}
	for k, v := range sums {
		out[k] = recording.Decimal{Mantissa: v.Int64(), Scale: r.Events[0].Metrics[0].Decimals}.String()
	}
	return out
}

// naive sums the lines of plain folded text with big.Rat, without using this package.
func naive(text string) (stacks int, sums map[string]*big.Rat) {
	sums = map[string]*big.Rat{}
	for _, l := range strings.Split(strings.ReplaceAll(text, "\r", ""), "\n") {
		i := strings.LastIndex(l, " ")
		if i < 0 {
			continue
		}
		v, ok := new(big.Rat).SetString(l[i+1:])
		if !ok {
			continue
		}
		stacks++
		k := l[:i]
		if sums[k] == nil {
			sums[k] = new(big.Rat)
		}
		sums[k].Add(sums[k], v)
	}
	return stacks, sums
}

func TestSamples(t *testing.T) {
	samples.Need(t)
	for _, want := range []struct {
		file           string
		stacks, others int64
		total          int64
	}{
		{"fx_flamegraph.txt", 45, 0, 152364},
		{"recursion.txt", 10, 0, 10},
		{"simple-crlf.txt", 5, 0, 14},
		{"simple-utf16-be.txt", 5, 0, 14},
		{"simple-with-invalids.txt", 5, 3, 14},
	} {
		t.Run(want.file, func(t *testing.T) {
			content := samples.Read(t, "folded/"+want.file)
			if c, err := Sniff(content[:min(len(content), 1<<16)], true); c < decode.Maybe || err != nil {
				t.Errorf("Sniff = %v, %v", c, err)
			}
			for _, chunk := range []int{0, 1, 7} {
				r, err := decodeBytes(t, content, chunk)
				if err != nil {
					t.Fatal(err)
				}
				l := r.Ledger[0]
				if l.Kept != want.stacks || l.LeftOut != want.others || r.Events[0].Metrics[0].Total != want.total {
					t.Errorf("chunks of %d: kept %d, left out %d, total %d", chunk, l.Kept, l.LeftOut, r.Events[0].Metrics[0].Total)
				}
				if strings.HasSuffix(want.file, "utf16-be.txt") {
					if got := weights(r)["a;b;c"]; got != "5" {
						t.Errorf("a;b;c weighs %s", got)
					}
					continue
				}
				compare(t, r, string(content))
			}
		})
	}
}

// compare compares a recording with the naive sums of its text.
func compare(t *testing.T, r *recording.Recording, text string) {
	t.Helper()
	n, sums := naive(text)
	if int(r.Counts.Stacks) != n {
		t.Errorf("%d stacks, naively %d", r.Counts.Stacks, n)
	}
	got := weights(r)
	for k, v := range sums {
		g, ok := new(big.Rat).SetString(got[k])
		if !ok || g.Cmp(v) != 0 {
			t.Errorf("%q weighs %q, naively %s", k, got[k], v.FloatString(6))
		}
	}
	if len(got) != len(sums) {
		t.Errorf("%d distinct stacks, naively %d", len(got), len(sums))
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string // sorted "stack value" lines
		left     int64
		warning  string // first place and code, "" for none
	}{
		{"plain", "a;b 1\na;b;c 2\n", "a;b 1|a;b;c 2", 0, ""},
		{"no newline at the end", "a;b 1\na 2", "a 2|a;b 1", 0, ""},
		{"tab before the count", "a;b\t3\n", "a;b 3", 0, ""},
		{"spaces in names", "my thread;operator new(unsigned long) 3\n", "my thread;operator new(unsigned long) 3", 0, ""},
		{"fractions", "a;b 1.5\na;c 2\na;d 0.125\n", "a;b 1.5|a;c 2|a;d 0.125", 0, ""},
		{"zeros behind the point", "a;b 1.500\na;c 2.0\n", "a;b 1.5|a;c 2", 0, ""},
		{"past 2^53", "a 9007199254740993\n", "a 9007199254740993", 0, ""},
		{"exponent", "a;b 1.25e+03\na;c 5e-1\n", "a;b 1250|a;c 0.5", 0, ""},
		{"negative", "a;b -5\na;b 2\n", "a;b -3", 0, ""},
		{"no count", "a;b\na;b 2\n", "a;b 3", 0, "line 1 count-missing"},
		{"blank lines", "\n\r\na 1\n   \n", "a 1", 0, ""},
		{"comments", "# x\n// y\n#\na 1\n", "a 1", 3, ""},
		{"hash in a name", "#private 4\n", "#private 4", 0, ""},
		{"prose", "a;b 1\nnot a stack\n", "a;b 1", 1, "line 2 not-a-stack"},
		{"too large", "a 99999999999999999999\nb 1\n", "a 9223372036854775807|b 1", 0, "line 1 count-too-large"},
		{"one of two too large", "a;b 18446744073709551615\na;c 1\n", "a;b 9223372036854775807|a;c 1", 0, "line 1 count-too-large"},
		{"total too large", "a 9223372036854775807\nb 1\n", "a 9223372036854775807|b 1", 0, " total-overflow"},
		{"total too large, largest last", "b 5\nc 7\na 9223372036854775807\n", "a 9223372036854775807|b 5|c 7", 0, " total-overflow"},
		{"the smallest 64-bit number", "a;b -9223372036854775808\n", "a;b -9223372036854775807", 0, "line 1 count-too-large"},
		{"negative, too large in total", "m;b -10\nm;a -9223372036854775808\nm;c 3\n", "m;a -9223372036854775807|m;b -10|m;c 3", 0, "line 2 count-too-large"},
		{"20 digits", "a;b 14.2343983248722834234\n", "a;b 14.23439832487228342", 0, "line 1 count-rounded"},
		{"20 digits, halves", "a;b 0.92233720368547758075\na;c -0.92233720368547758075\n", "a;b 0.922337203685477581|a;c -0.922337203685477581", 0, "line 1 count-rounded"},
		{"20 digits beside large ones", "a;b 14.2343983248722834234\na;c 1000000000000\na;b 1\n", "a;b 15.234398|a;c 1000000000000", 0, "line 1 count-rounded"},
		{"20 digits before the point", "a;b 92233720368547758070e-1\n", "a;b 9223372036854775807", 0, ""},
		{"far smaller than any", "a;b 1e-30\na;c 2\n", "a;b 0|a;c 2", 0, "line 1 count-rounded"},
		{"the sum no longer fits", "a;b 9.000000000000000001\na;c 1\n", "a;b 9|a;c 1", 0, "line 2 count-rounded"},
		{"type parameters", "App`main;List`1..ctor();Dictionary`2[System.String,X].Add(0) 2\n", "App`main;List`1..ctor();Dictionary`2[System.String,X].Add(0) 2", 0, ""},
		{"decimals too fine", "a 9000000000000000000\nb 1.26\n", "a 9000000000000000000|b 1", 0, "line 2 count-rounded"},
		{"bom", "\xEF\xBB\xBFa;b 1\n", "a;b 1", 0, ""},
		{"module", "unix`read;libc.so.1`malloc 2\n", "unix`read;libc.so.1`malloc 2", 0, ""},
		{"empty frame", ";a;;b 2\n", "[unnamed];a;[unnamed];b 2", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunk := range []int{0, 1, 2, 3, 5} {
				r, err := decodeBytes(t, []byte(c.in), chunk)
				if err != nil {
					t.Fatal(err)
				}
				var lines []string
				for k, v := range weights(r) {
					lines = append(lines, k+" "+v)
				}
				sort.Strings(lines)
				if got := strings.Join(lines, "|"); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if r.Ledger[0].LeftOut != c.left {
					t.Errorf("left out %d, want %d", r.Ledger[0].LeftOut, c.left)
				}
				got := ""
				if len(r.Warnings) > 0 {
					got = r.Warnings[0].First + " " + r.Warnings[0].Code
				}
				if got != c.warning {
					t.Errorf("warning %q, want %q", got, c.warning)
				}
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	r, err := decodeBytes(t, []byte("main;vfs_read_[k];copy_[i];lambda_[j];waker_[w];x_[k 1\n0xdeadbeef;[unknown];unix`read_[k] 1\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		name       string
		kind       recording.Kind
		inlined    bool
		unresolved bool
	}
	var got []row
	for i := range 2 {
		for _, c := range r.Calls.Path(nil, r.Stacks[0].Call(i)) {
			f := r.Frames.At(int(r.Calls.Frame(c)))
			fn := r.Functions.At(int(f.Func))
			got = append(got, row{fn.Module + "/" + fn.Name, f.Kind, f.Inlined, fn.Unresolved})
		}
	}
	want := []row{
		{"/main", recording.KindUnknown, false, false},
		{"/vfs_read", recording.KindKernel, false, false},
		{"/copy", recording.KindUnknown, true, false},
		{"/lambda", recording.KindManaged, false, false},
		{"/waker_[w]", recording.KindUnknown, false, false},
		{"/x_[k", recording.KindUnknown, false, false},
		{"/0xdeadbeef", recording.KindUnknown, false, true},
		{"/[unknown]", recording.KindUnknown, false, true},
		{"unix/read", recording.KindKernel, false, false},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestTypeParameters checks that a backtick in the name of a .NET class is not taken for
// DTrace's separator of module and function.
func TestTypeParameters(t *testing.T) {
	r, err := decodeBytes(t, []byte("a`f;List`1..ctor();Dictionary`12.Add;libc.so.1`0x7f12 1\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Calls.Path(nil, r.Stacks[0].Call(0)) {
		fn := r.Functions.At(int(r.Func(c)))
		got = append(got, fn.Module+"|"+fn.Name)
	}
	if want := "a|f |List`1..ctor() |Dictionary`12.Add libc.so.1|0x7f12"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

// TestFirstFrames reads files whose outermost frames look like the start of other formats.
func TestFirstFrames(t *testing.T) {
	for _, first := range []string{
		"<module>", "<main>", "<lambda at x.py:3>", "{main}", "{closure}", "[0]", "[[vdso]]", "[\"a\"]", "{\"a\": 1}", "[1, 2]",
		"#main", "<?php", "<!x>", "/usr/bin/x",
	} {
		text := first + ";f 3\n" + first + ";f;g 4\n" + first + " 5\n"
		for _, whole := range []bool{true, false} {
			if c, err := Sniff([]byte(text), whole); c != decode.Likely || err != nil {
				t.Errorf("Sniff(%q, %v) = %v, %v", text, whole, c, err)
			}
		}
		r, err := decodeBytes(t, []byte(text), 0)
		if err != nil {
			t.Errorf("%q: %v", first, err)
			continue
		}
		compare(t, r, text)
	}
	for _, c := range []string{
		`{"names":["a;b","c;d"],"weights":[1, 2, 3`, `<svg style="fill:red;stroke:none" points="1 2 3`, `[{"a;b": 1},{"a;c": 2`,
		"{\n\"a;b\": 5\n}\n", "[\n\"a;b\",\n5\n]\n", "<a>\n<b c=\"d;e\">5</b>\n</a>\n",
	} {
		for _, whole := range []bool{true, false} {
			if got, _ := Sniff([]byte(c), whole && strings.HasSuffix(c, "\n")); got != decode.No {
				t.Errorf("Sniff(%q) = %v", c, got)
			}
		}
	}
}

// TestTwoCounts reads output of difffolded.pl and compares it with sums computed from split
// lines.
func TestTwoCounts(t *testing.T) {
	const text = "main;read 274 415\nmain;write 10 0\nmain 3 4.5\nmain;read;copy 1 2\nmain;read;fill 6 5\nmain;write 1 1\nmain;thread 7 0 1\n"
	want := map[string][2]string{}
	sums := map[string][2]*big.Rat{}
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Split(l, " ")
		stack := strings.Join(words[:len(words)-2], " ")
		s, ok := sums[stack]
		if !ok {
			s = [2]*big.Rat{new(big.Rat), new(big.Rat)}
		}
		for i := range s {
			v, _ := new(big.Rat).SetString(words[len(words)-2+i])
			s[i].Add(s[i], v)
		}
		sums[stack] = s
		want[stack] = [2]string{s[0].RatString(), s[1].RatString()}
	}
	for _, chunk := range []int{0, 1, 7} {
		r, err := decodeBytes(t, []byte(text), chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(err, r.Warnings)
		}
		ms := r.Events[0].Metrics
		if len(ms) != 2 || ms[0].Name != Before || ms[1].Name != After {
			t.Fatalf("metrics %+v", ms)
		}
		got := map[string][2]*big.Rat{}
		s := r.Stacks[0]
		for i := range s.Len() {
			var names []string
			for _, c := range r.Calls.Path(nil, s.Call(i)) {
				names = append(names, r.FuncName(c))
			}
			k := strings.Join(names, ";")
			v, ok := got[k]
			if !ok {
				v = [2]*big.Rat{new(big.Rat), new(big.Rat)}
			}
			for m := range v {
				x, _ := new(big.Rat).SetString(recording.Decimal{Mantissa: s.Value(i, m), Scale: ms[m].Decimals}.String())
				v[m].Add(v[m], x)
			}
			got[k] = v
		}
		if len(got) != len(want) {
			t.Errorf("%d stacks, naively %d", len(got), len(want))
		}
		for k, w := range want {
			if g := got[k]; g[0] == nil || g[0].RatString() != w[0] || g[1].RatString() != w[1] {
				t.Errorf("%q weighs %v, naively %v", k, g, w)
			}
		}
	}
	// A number at the end of a name is not a count.
	for _, text := range []string{
		"main;worker 3 15\nmain;read 4\nmain;write 5\n", "worker 3 15\n", "frame 0 1.5\nframe 1 2.5\nframe 2 3\n", "main;frame 0 1.5\nmain;frame 1 2\n",
	} {
		r, err := decodeBytes(t, []byte(text), 0)
		if err != nil || len(r.Events[0].Metrics) != 1 {
			t.Errorf("%q: %v %v", text, err, weights(r))
			continue
		}
		compare(t, r, text)
	}
}

func TestUTF16(t *testing.T) {
	const plain = "fn;größe;𝒳 2\r\nfn 1\r\n"
	for _, big := range []bool{false, true} {
		raw := []byte{0xFF, 0xFE}
		if big {
			raw = []byte{0xFE, 0xFF}
		}
		for _, u := range utf16.Encode([]rune(plain)) {
			if big {
				raw = append(raw, byte(u>>8), byte(u))
			} else {
				raw = append(raw, byte(u), byte(u>>8))
			}
		}
		if c, _ := Sniff(raw, true); c < decode.Maybe {
			t.Errorf("Sniff = %v", c)
		}
		for _, chunk := range []int{0, 1, 2, 3} {
			r, err := decodeBytes(t, raw, chunk)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, r, plain)
			if len(r.Warnings) != 0 {
				t.Errorf("warnings: %v", r.Warnings)
			}
			r, err = decodeBytes(t, append(raw[:len(raw):len(raw)], 'x'), chunk)
			if err != nil || len(r.Warnings) == 0 || r.Warnings[0].Code != "not-a-stack" {
				t.Errorf("a cut code unit: %v, %v", err, r.Warnings)
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "none of 0 lines is a stack (frames with ';' between them, a space and a count)"},
		{"prose", "hello\nworld\n", "none of 2 lines is a stack (frames with ';' between them, a space and a count)"},
	} {
		_, err := decodeBytes(t, []byte(c.in), 0)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	long := append(bytes.Repeat([]byte("a;"), decode.MaxLine), []byte("a 1\nb;c 2\n")...)
	in := source.FromReader("pipe", iotest.HalfReader(bytes.NewReader(long)))
	b := recording.NewBuilder()
	if err := Decode(context.Background(), in, b, decode.Options{}); err != nil {
		t.Fatal(err)
	}
	r := b.Finish()
	decodetest.Balanced(t, r)
	if w := r.Warnings[0]; w.Code != "line-too-long" || w.First != "line 1" || r.Events[0].Metrics[0].Total != 2 {
		t.Errorf("%+v, total %d", w, r.Events[0].Metrics[0].Total)
	}
	in.Close()
}

func TestSniffRefuses(t *testing.T) {
	for _, c := range []string{
		"", "{\"a\": 1}\n", "[1, 2]\n", "[{\"ph\":\"X\"}]\n", "\x0a\x04\x08\x01\x10\x02", "\x1f\x8b\x08",
		"<html>\n", "just some prose\nwithout any number\n",
		"int main() {\n  return 0;\n}\n",
		"a;b;c\n1;2;3\n4;5;6\n",
		"forks     9 [002] 203265.377019:    1001001 cpu-clock: \n\t             6f1 _Z5gammav (/workdir/forks)\n\t 789 main (/workdir/forks)\n",
		"heap profile: 13: 1595680 [47130736: 2584596557304] @ heap/1048576\n1: 524288 [3: 1572864] @ 0x420cef 0x422151\n",
	} {
		if got, err := Sniff([]byte(c), true); got != decode.No || err != nil {
			t.Errorf("Sniff(%.30q) = %v, %v", c, got, err)
		}
	}
	if got, _ := Sniff([]byte("main;a 1\nmain;b"), false); got != decode.Likely {
		t.Errorf("a cut line spoils it: %v", got)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := recording.NewBuilder()
	err := Decode(ctx, source.FromBytes("x", []byte("a;b 1\n")), b, decode.Options{})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
	r, w := io.Pipe()
	w.CloseWithError(io.ErrUnexpectedEOF)
	in := source.FromReader("pipe", r)
	defer in.Close()
	if err := Decode(context.Background(), in, recording.NewBuilder(), decode.Options{}); err == nil {
		t.Error("a pipe that breaks is no error")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a;b 1\na;b;c 2.5\n", "\xFF\xFEa\x00 \x001\x00", "# c\n\na;;b\nx -1e3\n", "m`f_[k];g_[i] 9\r\n", "<m>;f 1 2\n{x};g 3 4\n", "a;b 14.2343983248722834234\nc 99999999999\n"} {
		f.Add([]byte(s), 3)
	}
	decodetest.FuzzParts(f, Decode, Sniff, func(r *recording.Recording) map[string]string {
		if r.Stacks[0] == nil {
			return nil
		}
		return weights(r)
	})
}

// TestTwoCountsOfSingleFrames reads stacks of one frame each, whose names may end in
// numbers.
func TestTwoCountsOfSingleFrames(t *testing.T) {
	for _, c := range []struct {
		text    string
		metrics int
		names   []string
	}{
		{"main 274 415\nidle 3 0\n", 2, []string{"main", "idle"}},
		{"thread 1 200\nthread 2 300\nthread 3 1\n", 1, []string{"thread 1", "thread 2", "thread 3"}},
		{"main 1 200\nidle 3\n", 1, []string{"main 1", "idle"}},
		{"main 274 415\n", 1, []string{"main 274"}},
	} {
		r, err := decodeBytes(t, []byte(c.text), 0)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range r.Stacks[0].Len() {
			names = append(names, r.FuncName(r.Stacks[0].Call(i)))
		}
		if len(r.Events[0].Metrics) != c.metrics || strings.Join(names, ",") != strings.Join(c.names, ",") {
			t.Errorf("%q: %d metrics of %q", c.text, len(r.Events[0].Metrics), names)
		}
	}
}
