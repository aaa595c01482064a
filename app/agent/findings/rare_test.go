package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestRare checks that up to three very long calls among those that repeat are found, with
// what takes their time; not short ones, and not if they take little of the time.
func TestRare(t *testing.T) {
	draw := func(length float64, slow ...int) *drawn {
		d := &drawn{}
		d.thread(1, "Main")
		at := 0.
		for i := range 100 {
			more := 0.
			if slices.Contains(slow, i) {
				more = length
			}
			d.span(1, "step", at, 1000+more)
			d.span(1, "forward", at+10, 500+more)
			d.span(1, "update", at+600+more, 300)
			at += 1000 + more + 10
		}
		return d
	}
	for want, d := range map[string]*drawn{
		"rare: 1 of 100 calls of “step” on “Main” took at least 401.0 ms (median of the others: 1.000 ms), 79.8 % of the time from the first to the last. It is the first call. “forward” accounts for 100.0 % of the difference.\n": draw(400_000, 0),
		"rare: 2 of 100 calls of “step” on “Main” took at least 401.0 ms (median of the others: 1.000 ms), 88.8 % of the time from the first to the last. They are the first calls. ":                                                draw(400_000, 0, 1),
		"rare: 1 of 100 calls of “step” on “Main” took at least 1.401 s (median of the others: 1.000 ms), 93.3 % of the time from the first to the last. The longest starts at 50.50 ms. ":                                           draw(1_400_000, 50),
	} {
		if got := d.found(t); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	near := draw(104_000, 0)
	near.span(1, "step", 1e6, 95_000)
	for what, d := range map[string]*drawn{"another nearly as long": near, "a short one": draw(90_000, 3), "one that another program can cause": draw(400_000, 50), "none": draw(0), "many": draw(200_000, 1, 17, 40, 66)} {
		if got := d.found(t); strings.Contains(got, "rare: ") {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestSpanLocks checks that spans that wait for a lock are found by the last word of their names, and
// that samples in functions of such names are not.
func TestSpanLocks(t *testing.T) {
	d := &drawn{}
	for n := range 3 {
		d.thread(n+1, fmt.Sprint("worker ", n))
		for i := range 60 {
			d.span(n+1, "request", float64(i)*5000, 4000)
			d.span(n+1, "Session::lock", float64(i)*5000+10, 1000)
		}
	}
	const want = "lock: Lock waits in “Session::lock”: 180.0 ms (25.0 %) of the time in spans, 100 % of it below “request”, on 3 threads.\n"
	if got := d.found(t); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, found := foundIn(t, "a.folded", []byte("main;draw;Texture::lock 500\nmain;draw 600\nmain;load 700\n"))
	if got := claimsOf(found, "lock"); got != nil {
		t.Errorf("samples: %q", got)
	}
}

// TestKeeper checks that the function is found that allocated most of the memory in use, with
// the library code that it calls.
func TestKeeper(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		kept [3]int64
		want []string
	}{
		{[3]int64{6 * mib, 2 * mib, mib}, []string{"“main.remember” and the library code below it allocated 6.000 MiB (66.7 %) of the memory in use."}},
		{[3]int64{4 * mib, 3 * mib, 3 * mib}, nil},
		{[3]int64{6000, 2000, 1000}, nil},
	} {
		b := recording.NewBuilder()
		e := b.AddEvent(recording.Event{Kind: "allocation", Basis: recording.FromStacks, Metrics: []recording.Metric{{Name: "inuse_space", Unit: "bytes", Kind: recording.Level}}})
		for i, names := range [][]string{{"main.remember", "bytes.Clone"}, {"main.load"}, {"main.index"}} {
			var at recording.CallID
			for _, n := range names {
				at = b.Call(at, b.FunctionFrame(b.Function(recording.Function{Name: n})))
			}
			b.AddStack(e, at, recording.NoTrack, 0, []int64{c.kept[i]})
		}
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		if got := claimsOf(found, "keeper"); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.kept, got, c.want)
		}
	}
}

// TestOnlySlow checks that the outermost function is named that only slow calls call.
func TestOnlySlow(t *testing.T) {
	d := &drawn{}
	d.thread(1, "Main")
	at := 0.
	for i := range 200 {
		length := 1000 + float64(i%7)
		if i%20 == 19 {
			length += 9000
			d.span(1, "save", at+600, 9000)
			d.span(1, "serialize", at+700, 5000)
			d.span(1, "write", at+5800, 3000)
		}
		d.span(1, "step", at, length)
		d.span(1, "forward", at+10, 500)
		at += length + 10
	}
	const want = " “serialize” accounts for 55.6 % of the difference. Only slow calls call “save”: with its callees it accounts for 100.0 % of the difference.\n"
	if got := d.found(t); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOwn checks that a function is found that has at least 40 % of the samples and twice as many
// as any other, or 25 % and three times as many.
func TestOwn(t *testing.T) {
	for content, want := range map[string]bool{
		"main.a;strings.Repeat 460\nmain.b 230\nmain.c 310\n":                                                            false,
		"main.a;strings.Repeat 460\nmain.b 230\nmain.c 210\nmain.d 100\n":                                                true,
		"main.a;strings.Repeat 390\nmain.b 190\nmain.c 190\nmain.d 230\n":                                                false,
		"main.a;strings.Repeat 310\nmain.b 100\nmain.c 100\nmain.d 100\nmain.e 100\nmain.f 100\nmain.g 100\nmain.h 90\n": true,
	} {
		_, found := foundIn(t, "a.folded", []byte(content))
		if got := claimsOf(found, "own"); (got != nil) != want {
			t.Errorf("got %q of\n%s", got, content)
		}
	}
}
