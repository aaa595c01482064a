package calls_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/testdata/rounds"
)

var names = []string{"parse", "read", "read", "Tick", "operator|", "a[0]", "*", "/x/"}

func anyQuery(r *rand.Rand) *calls.Query {
	q := new(calls.Query)
	for range r.IntN(3) {
		q.Functions = append(q.Functions, []string{"parse", "/^re/", "Tick@app", "operator|", "std::f<int>(a, b)", "a[0]", "*", `"q"`, " x", "!y", "/lib/a.so+0x1"}[r.IntN(11)])
	}
	q.Others = r.IntN(3) == 0
	bounds := func() (b recording.Range) {
		if b.HasFrom = r.IntN(3) > 0; b.HasFrom {
			b.From = r.Int64N(20)
		}
		if b.HasTo = r.IntN(3) > 0; b.HasTo {
			b.To = b.From + 1 + r.Int64N(40)
		}
		return b
	}
	if r.IntN(2) == 0 {
		q.Duration = bounds()
	}
	if r.IntN(3) == 0 {
		q.Self = bounds()
	}
	if r.IntN(3) == 0 {
		q.Started = bounds()
	}
	for range r.IntN(3) {
		a := calls.Arg{Key: []string{"n", "kind", "data.of", "self", "a, b", "at"}[r.IntN(6)]}
		switch a.Is = []string{"=", "!=", "~", "!~", "in"}[r.IntN(5)]; a.Is {
		case "in":
			a.Low, a.High = []string{"", "-1.5", "2"}[r.IntN(3)], []string{"3", "1e6"}[r.IntN(2)]
		case "~", "!~":
			a.Value = []string{"^re", "[1-3]", `x\.`}[r.IntN(3)]
		default:
			a.Value = []string{"", "1", "red", "a, b", `"`, "x=y", "Ünï", " "}[r.IntN(8)]
		}
		q.Args = append(q.Args, a)
	}
	if r.IntN(4) == 0 {
		q.Found = []string{"arg:red", "re", "name:/^T/", "thread:worker, 1"}[r.IntN(4)]
	}
	if r.IntN(4) == 0 {
		q.Slowest = 1 + r.IntN(6)
	}
	for range r.IntN(6) / 4 * 2 {
		q.At = append(q.At, calls.Place{PID: 1, TID: r.Int64N(3), Name: []string{"", "a b@2", "worker"}[r.IntN(3)], Time: r.Int64N(90)})
	}
	return q
}

// TestParseIsTheInverseOfString checks that Parse reads the result of String as the same
// query, which String writes the same again.
func TestParseIsTheInverseOfString(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 16))
	for range 5000 {
		q := anyQuery(r)
		text := q.String()
		got, err := calls.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, q) || got.String() != text {
			t.Fatalf("%s was read as %s:\n got %+v\nwant %+v", text, got, got, q)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want, fails string }{
		{text: "RunTask[60ms..320ms]"},
		{text: "RunTask[ 60ms .. 320ms ,slowest 5]", want: "RunTask[60ms..320ms, slowest 5]"},
		{text: "a | b", want: "a|b"},
		{text: "std::map<int, char>::at(int const&)[1ms..]"},
		{text: "/^re[a-d]/[..2us]"},
		{text: "f[5ms.., started 1s..2s]"},
		{text: `"operator[]"[..1s]`},
		{text: "!*[tenant=7, size in 1..]"},
		{text: `f[url~"a,b]"]`},
		{text: "f[at 1:2@3s 1:2@400ms]"},
		{text: "f[]", want: "f"},
		{text: "", fails: "name is empty"},
		{text: "f[1ms..", fails: "is not a set of calls;"},
		{text: "f[2ms..1ms]", fails: "not after its start"},
		{text: "f[1ms..2ms, 3ms..]", fails: "twice"},
		{text: "f[1xs..]", fails: "unknown unit"},
		{text: "f[slowest 0]", fails: "whole number"},
		{text: "f[k~(]", fails: "regular expression"},
		{text: "f[k in a..b]", fails: "has the invalid number"},
		{text: "f[at 1:2]", fails: "PID:TID@TIME"},
		{text: `f[k="x]`, fails: "unterminated text in double quotes, or an unknown"},
		{text: "f[,]", fails: "is unknown;"},
		{text: "*|f", fails: "combines * (all functions) with other names"},
		{text: "f[=3]", fails: "names no argument"},
	} {
		q, err := calls.Parse(c.text)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v, want an error with %q", c.text, err, c.fails)
			}
		case err != nil:
			t.Errorf("%q: %v", c.text, err)
		case c.want != "" && q.String() != c.want || c.want == "" && q.String() != c.text:
			t.Errorf("%q is written as %q", c.text, q.String())
		}
	}
}

func TestMembers(t *testing.T) {
	for text, want := range map[string][]calls.Member{
		"":                               nil,
		"{}":                             nil,
		"plain text":                     {{Key: "args", Value: "plain text"}},
		`{"a":1,"b":{"c":"x","d":[1]}}`:  {{Key: "a", Value: "1"}, {Key: "b.c", Value: "x"}, {Key: "b.d", Value: "[1]"}},
		`{"a":"\u00e4\n","b":null,"c":{`: {{Key: "args", Value: `{"a":"\u00e4\n","b":null,"c":{`}},
	} {
		if got := calls.Members(text); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", text, got, want)
		}
	}
}

// span is a span of a random recording.
type span struct {
	track, lane, index int
	start, end, self   int64
	name, arg          string
}

func world(r *rand.Rand) (*recording.Recording, []span) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	texts := []string{"", `{"n":1,"kind":"red"}`, `{"n":2.5,"data":{"of":"red, x"}}`, "red", `{"n":"2"}`}
	b.SetArgs(func(ref uint64) string { return texts[ref] })
	for tid := range int64(3) {
		t := b.Track(recording.TrackKey{PID: 1, TID: tid})
		t.SetName([]string{"main", "worker", "a b@2"}[tid])
		at := int64(0)
		for range 60 {
			if at += r.Int64N(9); t.Depth() > 0 && r.IntN(2) == 0 {
				t.End(at)
				continue
			}
			f := b.Function(recording.Function{Name: names[r.IntN(len(names))], Module: []string{"app", "lib"}[r.IntN(2)]})
			t.Begin(at, b.FunctionFrame(f), uint64(r.IntN(len(texts))))
		}
	}
	rec := b.Finish()
	var all []span
	for ti, t := range rec.Tracks {
		for li := range t.Lanes {
			l := &t.Lanes[li]
			for i := range l.Len() {
				s := span{ti, li, i, l.Start(i), l.End(i), l.End(i) - l.Start(i), rec.FuncName(l.Call(i)), rec.Args(l.Args(i))}
				for k := 0; li+1 < len(t.Lanes) && k < t.Lanes[li+1].Len(); k++ {
					below := &t.Lanes[li+1]
					if below.Start(k) >= s.start && below.End(k) <= s.end && rec.Calls.Parent(below.Call(k)) == l.Call(i) {
						s.self -= below.End(k) - below.Start(k)
					}
				}
				all = append(all, s)
			}
		}
	}
	return rec, all
}

// naive reports whether a span is a call of the query's functions, and whether it meets all
// conditions except slowest.
func naive(rec *recording.Recording, q *calls.Query, s *span) (mine, is bool) {
	l := &rec.Tracks[s.track].Lanes[s.lane]
	module := rec.Functions.At(int(rec.Func(l.Call(s.index)))).Module
	mine = len(q.Functions) == 0
	for _, f := range q.Functions {
		if len(f) > 1 && f[0] == '/' && strings.HasSuffix(f, "/") {
			mine = mine || regexp.MustCompile(f[1:len(f)-1]).MatchString(s.name)
		} else {
			mine = mine || f == s.name || f == s.name+"@"+module
		}
	}
	within := func(b recording.Range, v int64) bool {
		return (!b.HasFrom || v >= b.From) && (!b.HasTo || v < b.To)
	}
	is = within(q.Duration, s.end-s.start) && within(q.Self, s.self) && within(q.Started, s.start-rec.Start)
	for _, a := range q.Args {
		// The arguments of spans made by world, parsed by hand.
		v := map[string]map[string]string{
			`{"n":1,"kind":"red"}`:             {"n": "1", "kind": "red"},
			`{"n":2.5,"data":{"of":"red, x"}}`: {"n": "2.5", "data.of": "red, x"},
			`{"n":"2"}`:                        {"n": "2"},
		}[s.arg][a.Key]
		switch a.Is {
		case "=", "!=":
			is = is && (v == a.Value) == (a.Is == "=")
		case "~", "!~":
			is = is && regexp.MustCompile(a.Value).MatchString(v) == (a.Is == "~")
		case "in":
			n, err := strconv.ParseFloat(v, 64)
			low, lerr := strconv.ParseFloat(a.Low, 64)
			high, _ := strconv.ParseFloat(a.High, 64)
			is = is && err == nil && (lerr != nil || n >= low) && n <= high
		}
	}
	switch q.Found {
	case "arg:red":
		is = is && strings.Contains(s.arg, "red")
	case "re":
		is = is && strings.Contains(s.name, "re")
	case "name:/^T/":
		is = is && strings.HasPrefix(s.name, "T")
	case "thread:worker, 1":
		is = false
	}
	if q.At != nil {
		t := rec.Tracks[s.track]
		is = is && slices.ContainsFunc(q.At, func(p calls.Place) bool {
			return p.TID == t.TID && (p.Name == "" || p.Name == t.Name) && rec.Start+p.Time == s.start
		})
	}
	return mine, mine && is
}

// TestAgainstNaive compares the selected calls with a check of each span.
func TestAgainstNaive(t *testing.T) {
	some := 0
	seeds := rounds.Of(3000)
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 17))
		rec, all := world(r)
		q := anyQuery(r)
		in := recording.Scope{}
		if r.IntN(3) == 0 {
			in = recording.Between(rec.Start+r.Int64N(40), rec.Start+50+r.Int64N(40))
		}
		if r.IntN(3) == 0 {
			in = in.On([]int{1, 2})
		}
		var mine, chosen []span
		from, to := in.Bounds(rec)
		for _, s := range all {
			touches := !in.Ranged || s.start < to && s.end > from || s.start == s.end && s.start >= from && s.start <= to
			if !in.HasTrack(s.track) || !touches {
				continue
			}
			m, is := naive(rec, q, &s)
			if m {
				mine = append(mine, s)
			}
			if is {
				chosen = append(chosen, s)
			}
		}
		if q.Slowest > 0 {
			slices.SortStableFunc(chosen, func(a, b span) int {
				if d := (b.end - b.start) - (a.end - a.start); d != 0 {
					return int(d)
				}
				return int(a.start - b.start)
			})
			chosen = chosen[:min(len(chosen), q.Slowest)]
		}
		want := map[span]bool{}
		for _, s := range mine {
			if slices.Contains(chosen, s) != q.Others {
				want[s] = true
			}
		}
		bound, err := calls.Bind(context.Background(), rec, in.Of(&recording.CallSet{Text: q.String()}))
		if err != nil {
			t.Fatal(err)
		}
		set := bound.Calls
		if set.Calls != len(want) || set.Text != q.String() {
			t.Fatalf("seed %d: %s has %d calls, want %d", seed, q, set.Calls, len(want))
		}
		if set.Calls > 0 {
			some++
		}
		outer := 0
		set.EachOuter(rec, func(track int, l *lanes.Lane, i int) {
			outer++
			if !slices.ContainsFunc(all, func(s span) bool {
				return want[s] && s.track == track && l == &rec.Tracks[track].Lanes[s.lane] && s.index == i
			}) {
				t.Fatalf("seed %d: %s has a call it should not have: %s", seed, q, fmt.Sprint(track, l.Start(i), l.End(i)))
			}
		})
		for s := range want {
			runs := set.SpanRuns(s.track, s.lane, s.index, s.index+1)
			if len(runs) != 1 || outer == 0 {
				t.Fatalf("seed %d: %s has not %+v", seed, q, s)
			}
		}
	}
	if some < seeds/10 {
		t.Errorf("only %d sets have any calls", some)
	}
}

// FuzzParse checks that no text panics, and that a parsed query can be written and parsed
// again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"f[1ms..]", `"a"|b[x="\n", at 1:2:"n"@3s]`, "!*[found x]", "/a/["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := calls.Parse(s)
		if err != nil {
			return
		}
		again, err := calls.Parse(q.String())
		if err != nil || again.String() != q.String() {
			t.Fatalf("%q became %q and that %v, %v", s, q, again, err)
		}
	})
}
