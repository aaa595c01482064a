package jemalloc

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

func decodeText(t testing.TB, text string) (*recording.Recording, error) {
	t.Helper()
	b := recording.NewBuilder()
	err := Decode(context.Background(), source.FromBytes("jeprof.1.heap", []byte(text)), b, decode.Options{})
	return b.Finish(), err
}

const maps = `
MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 42 /usr/bin/app
7f0000000000-7f0000100000 r-xp 00002000 08:01 43 /lib/libc.so.6
ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0 [vsyscall]
`

const example = `heap_v2/524288
  t*: 16: 4207104 [0: 0]
  t0: 13: 4199424 [0: 0]
  t3: 3: 7680 [0: 0] pool worker
@ 0x7f0000000011 0x400201 0x400101
  t*: 5: 10240 [0: 0]
  t0: 2: 2560 [0: 0]
  t3: 3: 7680 [0: 0]
@ 0x400301 0x400101
  t*: 1: 4194304 [0: 0]
  t0: 1: 4194304 [0: 0]
@ 0x400401 0x400101
  t*: 10: 2560 [0: 0]
  t0: 10: 2560 [0: 0]
` + maps

// rows lists the records as "stack | thread | values".
func rows(r *recording.Recording) (out []string) {
	s := r.Stacks[0]
	for i := range s.Len() {
		var names []string
		for _, c := range r.Calls.Path(nil, s.Call(i)) {
			names = append(names, r.FuncName(c))
		}
		thread := "-"
		if k := s.Track(i); k >= 0 {
			thread = fmt.Sprintf("%d %s", r.Tracks[k].TID, r.Tracks[k].Name)
		}
		line := strings.Join(names, ";") + " | " + thread + " |"
		for m := range r.Events[0].Metrics {
			line += fmt.Sprintf(" %d", s.Value(i, m))
		}
		out = append(out, line)
	}
	return out
}

func TestExample(t *testing.T) {
	if c, err := Sniff([]byte(example[:100]), false); c != decode.Certain || err != nil {
		t.Errorf("Sniff = %v, %v", c, err)
	}
	r, err := decodeText(t, example)
	if err != nil {
		t.Fatal(err)
	}
	decodetest.Balanced(t, r)
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
	// scaled computes jeprof's estimate: each number divided by 1-exp(-size/period), where
	// size is the mean size of the objects.
	scaled := func(objects, size float64) (o, s int64) {
		f := 1 / (1 - math.Exp(-size/objects/524288))
		return int64(math.Round(objects * f)), int64(math.Round(size * f))
	}
	var objects, size int64
	for _, v := range [][2]float64{{5, 10240}, {1, 4194304}, {10, 2560}} {
		o, s := scaled(v[0], v[1])
		objects, size = objects+o, size+s
	}
	ms := r.Events[0].Metrics
	if len(ms) != 2 || ms[0].Name != "inuse_objects" || ms[1].Name != "inuse_space" || ms[0].Total != objects || ms[1].Total != size || r.Events[0].Primary != 1 {
		t.Errorf("%+v, want %d objects and %d bytes", ms, objects, size)
	}
	// The second thread gets three quarters of the first stack's estimate, even though its
	// own objects have another scale.
	o, s := scaled(5, 10240)
	f := 1 / (1 - math.Exp(-2048.0/524288))
	first := []int64{int64(math.Round(2 * f)), int64(math.Round(2560 * f))}
	o3, s3 := scaled(10, 2560)
	o2, s2 := scaled(1, 4194304)
	want := []string{
		fmt.Sprintf("app+0x100;app+0x200;libc.so.6+0x2010 | 0 t0 | %d %d", first[0], first[1]),
		fmt.Sprintf("app+0x100;app+0x200;libc.so.6+0x2010 | 3 pool worker | %d %d", o-first[0], s-first[1]),
		fmt.Sprintf("app+0x100;app+0x300 | 0 t0 | %d %d", o2, s2),
		fmt.Sprintf("app+0x100;app+0x400 | 0 t0 | %d %d", o3, s3),
	}
	if got := rows(r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOddDumps(t *testing.T) {
	for _, c := range []struct{ name, text, rows, place, warning string }{
		{"everything sampled", "heap_v2/1\n@ 0x400101\n t*: 3: 300 [5: 500]\n t1: 3: 300 [5: 500]\n" + maps, "app+0x100 | 1 t1 | 5 500 3 300", "", ""},
		{"windows line ends", "heap_v2/1\r\n@ 0x400101\r\n t*: 3: 300 [0: 0]\r\n" + strings.ReplaceAll(maps, "\n", "\r\n"), "app+0x100 | - | 3 300", "", ""},
		{"sums only", "heap_v2/1\n t*: 3: 300 [0: 0]\n@ 0x400101\n t*: 3: 300 [0: 0]\n" + maps, "app+0x100 | - | 3 300", "", ""},
		{"threads only", "heap_v2/1\n@ 0x400101\n t1: 1: 100 [0: 0]\n t2: 2: 200 [0: 0]\n" + maps, "app+0x100 | 1 t1 | 1 100, app+0x100 | 2 t2 | 2 200", "", ""},
		{"a thread is missing", "heap_v2/1\n@ 0x400101\n t*: 30: 3000 [0: 0]\n t2: 2: 200 [0: 0]\n" + maps, "app+0x100 | 2 t2 | 2 200, app+0x100 | - | 28 2800", "", ""},
		{"no stack frames", "heap_v2/1\n@\n t*: 3: 300 [0: 0]\n" + maps, " | - | 3 300", "", ""},
		{"no map", "heap_v2/1\n@ 0x400101\n t*: 3: 300 [0: 0]\n", "0x400100 | - | 3 300", "line 3", "The heap profile is truncated at line 3: without the memory map, addresses have no binary"},
		{"other sums", "heap_v2/1\n t*: 4: 300 [0: 0]\n@ 0x400101\n t*: 3: 300 [0: 0]\n" + maps, "app+0x100 | - | 3 300", "line 2", "The stacks add up to 3 objects and 300 bytes in use, but the totals at the start are 4 and 300"},
		{"rubbish", "heap_v2/1\n@ 0x400101\nhello\n t*: 3: 300 [0: 0]\n" + maps, "app+0x100 | - | 3 300", "line 3", "Line 3 was left out: it is neither a stack nor the counts of a stack"},
		{"too large", "heap_v2/1\n@ 0x400101\n t*: 99999999999999999999: 300 [0: 0]\n t1: 3: 300 [0: 0]\n" + maps, "app+0x100 | 1 t1 | 3 300", "line 3", "Line 3 was left out: it is neither a stack nor the counts of a stack"},
		{"no numbers", "heap_v2/1\n@ 0x400201\n@ 0x400101\n t*: 3: 300 [0: 0]\n" + maps, "app+0x100 | - | 3 300", "line 2", "The stack on line 2 has no numbers and was left out"},
		{"a long address", "heap_v2/1\n@ 0x400101 0x11112222333344445\n t*: 3: 300 [0: 0]\n" + maps, "app+0x100 | - | 3 300", "line 2", "0x11112222333344445 on line 2 is not a 64-bit address and was left out"},
	} {
		r, err := decodeText(t, c.text)
		decodetest.Sentence(t, c.name, r, err, c.place, c.warning)
		if got := strings.Join(rows(r), ", "); got != c.rows {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.rows)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "the text does not start with heap_v2/NUMBER, as jemalloc heap profiles do"},
		{"heap_v2/99999999999999999999\n", "the sampling interval 99999999999999999999 is too large"},
		{"heap_v2/1\n t*: 3: 300 [0: 0]\n", "the heap profile has no stacks"},
	} {
		if _, err := decodeText(t, c.text); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	for _, other := range []string{"", "heap profile: 1: 2 [3: 4] @ heap_v2/524288\n", "heap_v2\n", "heap_v2/x\n", "heap_v2/5 a;b 1\n"} {
		if c, err := Sniff([]byte(other), true); c != decode.No || err != nil {
			t.Errorf("Sniff(%q) = %v, %v", other, c, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("heap_v2/1\n@ 0x1 0xffffffffffffffff\n t1: 9223372036854775807: 9223372036854775807 [1: 1]\n t2: 9223372036854775807: 1 [0: 0]\n"))
	decodetest.Fuzz(f, Decode, Sniff)
}
