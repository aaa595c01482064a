package verdict_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/verdict"
	"ashlar/ingest"
	"ashlar/ingest/query/compare"
)

// frames describes a program whose threads run frames, each of which calls hash, draw and
// parse in this order.
type frames struct {
	threads, count int
	hash           float64 // multiple of its usual cost
	draw           string
	noParse, split bool
}

// spall returns a run of the program as spall version 1. Times are in µs; each call takes its
// usual time to within 2 %.
func (f frames) spall(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 37))
	out := binary.LittleEndian.AppendUint64(nil, 0x0BADF00D)
	out = binary.LittleEndian.AppendUint64(out, 1)
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(1))
	out = binary.LittleEndian.AppendUint64(out, 0)
	event := func(head []byte, tid int, at float64) {
		out = append(out, head...)
		out = binary.LittleEndian.AppendUint32(out, 7)
		out = binary.LittleEndian.AppendUint32(out, uint32(tid))
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(at))
	}
	begin := func(tid int, at float64, name string) {
		event([]byte{3, 0}, tid, at)
		out = append(append(out, byte(len(name)), 0), name...)
	}
	end := func(tid int, at float64) { event([]byte{4}, tid, at) }
	for tid := 1; tid <= f.threads; tid++ {
		t := 0.0
		for range f.count {
			begin(tid, t, "frame")
			t += 20
			for _, call := range []struct {
				name string
				cost float64
			}{{"hash", 400 * f.hash}, {f.draw, 600}, {"parse", 150}} {
				took := math.Round(call.cost * (.98 + .04*r.Float64()))
				if f.noParse && call.name == "parse" {
					continue
				}
				begin(tid, t, call.name)
				if f.split && call.name == f.draw {
					begin(tid, t+1, "drawList")
					end(tid, t+math.Floor(took/3))
					begin(tid, t+math.Floor(took/3)+1, "drawText")
					end(tid, t+took-1)
				}
				t += took
				end(tid, t)
			}
			t += 20
			end(tid, t)
			t += 50
		}
	}
	return out
}

// input writes a recording to a file and opens it.
func input(t *testing.T, name string, data []byte) compare.Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l := ingest.Open(context.Background(), path, ingest.Options{})
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	return compare.Input{Rec: l.Snapshot()}
}

// said returns the verdict on two recordings, with all confidences computed.
func said(t *testing.T, a, b compare.Input) string {
	t.Helper()
	c, err := compare.Compare(context.Background(), []compare.Input{a}, []compare.Input{b}, compare.Options{Normalize: compare.Auto})
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.Table(context.Background(), compare.ByFunction, true)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Of(c, table)
}

// TestCauseFirst compares runs with one known change. The first sentence must name the cause,
// not a function that was only renamed, split or called more often.
func TestCauseFirst(t *testing.T) {
	usual := frames{threads: 2, count: 200, hash: 1, draw: "draw"}
	slower := usual
	slower.hash = 1.5
	with := func(f frames, change func(*frames)) frames {
		change(&f)
		return f
	}
	for _, test := range []struct {
		name   string
		b      frames
		begins string
		never  []string // in the first sentence
		says   string   // anywhere
	}{
		{"same", usual, "", []string{"hash", "draw", "parse", "frame"}, ""},
		{"slower", slower, "hash +", []string{"draw", "parse", "frame"}, ""},
		{"renamed", with(slower, func(f *frames) { f.draw = "draw2" }), "hash +", []string{"draw", "parse", "frame"}, "Matched as renamed: draw → draw2"},
		{"split", with(slower, func(f *frames) { f.split = true }), "hash +", []string{"draw", "parse", "frame"}, ""},
		{"threads", with(usual, func(f *frames) { f.threads = 4 }), "B runs on 4 threads instead of 2 and makes 2.0 times as many calls; per call, no function changed", nil, ""},
		{"longer", with(slower, func(f *frames) { f.count = 400 }), "B makes 2.0 times as many calls; per call only hash changed: +", []string{"draw", "parse", "frame"}, ""},
		{"gone", with(slower, func(f *frames) { f.noParse = true }), "", []string{"draw", "frame"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				text := said(t, input(t, "a.spall", usual.spall(seed)), input(t, "b.spall", test.b.spall(seed+100)))
				t.Log(text)
				first := firstSentence(text)
				if !strings.HasPrefix(first, test.begins) || !strings.Contains(text, test.says) {
					t.Errorf("seed %d: %q does not begin with %q and say %q", seed, text, test.begins, test.says)
				}
				for _, name := range test.never {
					if strings.Contains(first, name) {
						t.Errorf("seed %d: %q names %s", seed, first, name)
					}
				}
				if test.name == "gone" && (!strings.Contains(first, "hash +") || !strings.Contains(first, "parse −") || !strings.Contains(first, "gone")) {
					t.Errorf("seed %d: %q does not name both causes", seed, first)
				}
			}
		})
	}
}

// firstSentence returns a text up to the end of its first sentence.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return first
}

// TestNothingInCommon checks that the verdict on a profile and a trace of different programs
// only says that they have nothing in common.
func TestNothingInCommon(t *testing.T) {
	usual := frames{threads: 2, count: 50, hash: 1, draw: "draw"}
	for seed := uint64(1); seed <= 3; seed++ {
		var profile strings.Builder
		r := rand.New(rand.NewPCG(seed, 38))
		for _, stack := range []string{"main;strconv.Itoa", "main;strconv.Atoi;grow", "main;sort;less"} {
			fmt.Fprintf(&profile, "%s %d\n", stack, 50+r.IntN(100))
		}
		// Another program. It has one outermost function, as the first has, and similar costs.
		var other strings.Builder
		for _, stack := range []string{"srv;a", "srv;b", "srv;c"} {
			fmt.Fprintf(&other, "%s %d\n", stack, 50+r.IntN(100))
		}
		a, b, o := input(t, "a.folded", []byte(profile.String())), input(t, "b.spall", usual.spall(seed)), input(t, "o.folded", []byte(other.String()))
		for _, sides := range [][2]compare.Input{{a, b}, {b, a}, {a, o}, {o, a}} {
			c, err := compare.Compare(context.Background(), []compare.Input{sides[0]}, []compare.Input{sides[1]}, compare.Options{Normalize: compare.Auto})
			if err != nil {
				if !strings.Contains(err.Error(), "no metric") {
					t.Error(err)
				}
				continue
			}
			_, _, table := sums(t, c)
			if text := verdict.Of(c, table); !strings.HasPrefix(text, "A and B have nothing in common: no function is in both") || strings.Contains(text, "costs") {
				t.Errorf("seed %d: %q", seed, text)
			}
		}
	}
}

// TestNoiseNamesNothing compares 200 pairs of runs that differ only by noise. At most 5 % of
// the verdicts may name a function.
func TestNoiseNamesNothing(t *testing.T) {
	const pairs = 200
	alarms := 0
	for seed := range uint64(pairs) {
		a, b := profile(t, seed, 2), profile(t, seed, 3)
		if seed%2 == 1 {
			usual := frames{threads: 2, count: 60, hash: 1, draw: "draw"}
			a, b = input(t, "a.spall", usual.spall(2*seed)), input(t, "b.spall", usual.spall(2*seed+1))
		}
		if text := said(t, a, b); strings.Contains(text, " sure)") {
			alarms++
			t.Logf("seed %d: %s", seed, text)
		}
	}
	if alarms > pairs/20 {
		t.Errorf("%d of %d verdicts name a function that only varies", alarms, pairs)
	}
	t.Logf("%d of %d", alarms, pairs)
}

// profile samples a program. seed determines the functions' shares of the time, run which
// samples are drawn.
func profile(t *testing.T, seed, run uint64) compare.Input {
	t.Helper()
	of, hit := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, run))
	var stacks []string
	var parts []float64
	sum := 0.0
	for i := range 12 {
		stack := "main;serve"
		for range of.IntN(3) {
			stack += fmt.Sprintf(";step%c", 'a'+rune(of.IntN(5)))
		}
		sum += 1 / float64(1+of.IntN(20))
		stacks, parts = append(stacks, stack+fmt.Sprintf(";work%c", 'a'+rune(i))), append(parts, sum)
	}
	counts := make([]int, len(stacks))
	for range 1000 + hit.IntN(60) {
		at := hit.Float64() * sum
		for i, p := range parts {
			if at < p {
				counts[i]++
				break
			}
		}
	}
	var b strings.Builder
	for i, n := range counts {
		if n > 0 {
			fmt.Fprintf(&b, "%s %d\n", stacks[i], n)
		}
	}
	return input(t, "x.folded", []byte(b.String()))
}

// game returns a Chrome trace of 200 frames. Each draws and loads; a frame itself takes own µs.
// With evictions, seven loads wait for a job of another thread.
func game(seed uint64, own float64, evictions bool) []byte {
	r := rand.New(rand.NewPCG(seed, 5))
	var events []string
	span := func(tid int, name string, at, took float64) {
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"name":%q,"ts":%.1f,"dur":%.1f}`, tid, name, at, took))
	}
	at := 0.0
	for i := range 200 {
		draw, load := math.Round(4000*(.98+.04*r.Float64())), math.Round(40*(.9+.2*r.Float64()))
		if evictions && i%29 == 20 {
			span(2, "evict", at+own+draw, 9000)
			load += 8000
		}
		span(1, "frame", at, own+draw+load)
		span(1, "draw", at+own, draw)
		span(1, "load", at+own+draw, load)
		at += own + draw + load
	}
	return []byte("[" + strings.Join(events, ",") + "]")
}

// TestFewSlowCallsLead checks that rare slow calls that make up the difference are named, not
// a function that is certain but explains none of it.
func TestFewSlowCallsLead(t *testing.T) {
	a, b := input(t, "a.json", game(1, 16, false)), input(t, "b.json", game(2, 11, true))
	got := said(t, a, b)
	for _, want := range []string{"evict +63.00 ms (new", "load +5"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the verdict: %s", want, got)
		}
	}
	if strings.Contains(got, "frame") {
		t.Errorf("the frames' own time is named: %s", got)
	}
}

// TestSlowerMachineNamesNothing checks that a run in which all functions take 15 % longer names
// none.
func TestSlowerMachineNamesNothing(t *testing.T) {
	trace := func(seed uint64, factor float64) []byte {
		r := rand.New(rand.NewPCG(seed, 6))
		var events []string
		at := 0.0
		for range 300 {
			for f := range 8 {
				took := math.Round(float64(200*(f+1)) * factor * (.97 + .06*r.Float64()))
				events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"name":"f%d","ts":%.2f,"dur":%.2f}`, f, at, took))
				at += took
			}
		}
		return []byte("[" + strings.Join(events, ",") + "]")
	}
	got := said(t, input(t, "a.json", trace(1, 1)), input(t, "b.json", trace(2, 1.15)))
	if !strings.Contains(got, "about the same in all functions") || strings.Contains(got, "f7") {
		t.Errorf("all functions are slower by the same factor, but the verdict is: %s", got)
	}
}

// callsOf returns a Chrome trace of one thread. Each name has a call for each of its durations, in
// µs, which vary randomly by up to 2 %.
func callsOf(seed uint64, names []string, took map[string][]float64) []byte {
	r := rand.New(rand.NewPCG(seed, 8))
	var events []string
	at := 0.0
	for _, name := range names {
		for _, t := range took[name] {
			t = math.Round(t * (.98 + .04*r.Float64()))
			events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"name":%q,"ts":%.0f,"dur":%.0f}`, name, at, t))
			at += t
		}
	}
	return []byte("[" + strings.Join(events, ",") + "]")
}

// TestTwoFunctionsAreNotAll checks that the verdict does not speak of all functions if there are
// only two.
func TestTwoFunctionsAreNotAll(t *testing.T) {
	trace := func(seed uint64, factor float64) compare.Input {
		return input(t, "x.json", callsOf(seed, []string{"read", "write"}, map[string][]float64{
			"read": slices.Repeat([]float64{200 * factor}, 60), "write": slices.Repeat([]float64{300 * factor}, 60),
		}))
	}
	if got := said(t, trace(1, 1), trace(2, .7)); strings.Contains(got, "ll functions") {
		t.Errorf("two functions are faster, but the verdict is: %s", got)
	}
}

// TestSmallBesideOpen checks that the verdict does not name a small change, even a certain one,
// beside a larger change that may be noise.
func TestSmallBesideOpen(t *testing.T) {
	trace := func(seed uint64, read float64, pauses ...float64) compare.Input {
		names, took := []string{"read", "pause"}, map[string][]float64{"read": slices.Repeat([]float64{read}, 60), "pause": pauses}
		for i := range 10 {
			name := fmt.Sprint("f", i)
			names, took[name] = append(names, name), slices.Repeat([]float64{200}, 60)
		}
		return input(t, "x.json", callsOf(seed, names, took))
	}
	got := said(t, trace(1, 200, 4000, 9000, 1000), trace(2, 260, 190_000, 2000, 8000))
	if !strings.Contains(got, "within noise") || strings.Contains(got, "read") {
		t.Errorf("a pause makes up most of the difference, but the verdict is: %s", got)
	}
}

// TestTinyIsNotFirst checks that a change that is certain but less than a thousandth of the total
// is not the first sentence, while one of a hundredth is.
func TestTinyIsNotFirst(t *testing.T) {
	side := func(v int) compare.Input {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, "main;f%d 250000\n", i)
		}
		fmt.Fprintf(&b, "main;tiny %d\n", v)
		return input(t, "x.folded", []byte(b.String()))
	}
	if got := said(t, side(500), side(2000)); strings.HasPrefix(got, "tiny") {
		t.Errorf("a change of 1,500 of 10 million samples comes first: %s", got)
	}
	if got := said(t, side(500), side(100_500)); !strings.HasPrefix(got, "tiny +100.0 k") {
		t.Errorf("a change of a hundredth does not come first: %s", got)
	}
}

// TestOneCall checks that a function with one call per side is named with a remark that
// its certainty is unknown.
func TestOneCall(t *testing.T) {
	trace := func(seed uint64, once float64) compare.Input {
		names, took := []string{"once"}, map[string][]float64{"once": {once}}
		for i := range 5 {
			name := fmt.Sprint("f", i)
			names, took[name] = append(names, name), slices.Repeat([]float64{200}, 60)
		}
		return input(t, "x.json", callsOf(seed, names, took))
	}
	got := said(t, trace(1, 30_000), trace(2, 5000))
	if !strings.HasPrefix(got, "once −") || !strings.Contains(got, " For once, one call per side gives no certainty.") {
		t.Errorf("one call per side changed, and the verdict is: %s", got)
	}
}
