package view

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
)

// anyText returns a random text, possibly with special characters or invalid UTF-8.
func anyText(r *rand.Rand) string {
	pool := []string{"", "main", "a b", "std::vector<int, int>::at", "/tmp/x.spall", "ü長", "%41", "&=?,:;!..", "\x00\xff", "'\"", "f", "-", "demo:", "1..2", "+", "#"}
	s := pool[r.IntN(len(pool))]
	for range r.IntN(4) {
		s += string([]byte{byte(r.IntN(256))})
	}
	return s
}

func anyTime(r *rand.Rand) int64 {
	t := r.Int64N(math.MaxInt64) >> r.IntN(63)
	if r.IntN(4) == 0 {
		t = -t
	}
	if r.IntN(3) == 0 {
		t = t / 1e9 * 1e9
	}
	return t
}

func several[T any](r *rand.Rand, one func(*rand.Rand) T) []T {
	var out []T
	for range r.IntN(4) {
		out = append(out, one(r))
	}
	return out
}

func anyFunction(r *rand.Rand) recording.FuncName {
	return recording.FuncName{Name: anyText(r), Module: anyText(r)}
}

func anyRange(r *rand.Rand) recording.Range {
	if r.IntN(2) == 0 {
		return recording.Range{}
	}
	return recording.Offsets(anyTime(r), anyTime(r))
}

func anyThread(r *rand.Rand) Thread { return Thread{r.Int64() - r.Int64(), r.Int64N(99), anyText(r)} }

func anySide(r *rand.Rand) Side {
	s := Side{Show: anyRange(r), Select: anyRange(r), Calls: []string{"", "RunTask[60ms..320ms]", `!*[k="a, b"]`}[r.IntN(3)], Async: []string{"", "in", "only"}[r.IntN(3)], Idle: []string{"", "in", "only"}[r.IntN(3)], Threads: several(r, anyThread), Runs: several(r, func(r *rand.Rand) Run { return Run{"x" + anyText(r), r.IntN(2) == 0} }), Fold: several(r, anyThread), Unfold: several(r, anyThread),
		Hide: several(r, anyThread), Pin: several(r, anyThread), Order: several(r, anyThread), Sort: anyText(r), Filter: anyText(r),
		Scroll: float32(r.IntN(9000)) / 8, Close: several(r, func(r *rand.Rand) Process { return Process{r.Int64() - r.Int64(), anyText(r)} }),
		OpenGroups: several(r, anyText), CloseGroups: several(r, anyText)}
	if r.IntN(2) == 0 {
		at := anyTime(r)
		s.Goal, s.Anchor = &at, anyTime(r)
	}
	if r.IntN(2) == 0 {
		s.Bar = &Bar{anyThread(r), r.IntN(300), anyTime(r)}
	}
	return s
}

func anyView(r *rand.Rand) *State {
	v := &State{
		Parts: anyText(r), Layout: anyText(r), Sides: [2]Side{anySide(r), anySide(r)}, Event: anyText(r), Metric: anyText(r), Tab: anyText(r),
		Only: several(r, anyText), Exe: anyText(r), Node: several(r, anyFunction), Colour: anyText(r),
		Table: Table{Group: anyText(r), Sort: anyText(r), Columns: several(r, anyText), Rows: several(r, anyText),
			Widths: several(r, func(r *rand.Rand) Width { return Width{anyText(r), float32(r.IntN(1000)) / 4} })},
		Contents: several(r, func(r *rand.Rand) Content { return Content{r.Int64(), fmt.Sprintf("%012x", r.Int64N(1<<48))} }),
		Split:    r.Float32(), Down: float32(r.NormFloat64() * 1e9), Line: r.IntN(1<<20) >> r.IntN(20),
		Comparison: Comparison{Normalize: anyText(r), Width: anyText(r), Pairs: several(r, func(r *rand.Rand) match.Pair { return match.Pair{A: anyText(r), B: anyText(r)} }),
			Apart: several(r, func(r *rand.Rand) match.Pair { return match.Pair{A: anyText(r), B: anyText(r)} })},
		OnlyOn: []string{"", "a", "b"}[r.IntN(3)],
		Stacks: Stacks{several(r, func(r *rand.Rand) analyze.Transform {
			return analyze.Transform{Op: analyze.Op(anyText(r)), Ref: analyze.Ref{Text: anyText(r), Module: anyText(r), Exact: r.IntN(2) == 0}}
		}), anyText(r)},
		Display: Display{Syntax: []string{"", "go", "intel"}[r.IntN(3)], List: List{By: anyText(r), Only: anyText(r), Columns: several(r, anyText)}, SQL: anyText(r)},
		Zoom:    several(r, anyFunction), Callers: several(r, anyFunction), Callees: several(r, anyFunction),
		Marks: several(r, func(r *rand.Rand) Mark {
			m := Mark{Place: Place{From: anyTime(r), To: anyTime(r)}, Text: anyText(r)}
			switch r.IntN(3) {
			case 0:
				m.To = m.From
			case 1:
				m.Place = Place{Func: &recording.FuncName{Name: anyText(r), Module: anyText(r)}}
			}
			return m
		}),
	}
	for _, t := range switches {
		*t.of(v) = r.IntN(4) == 0
	}
	if v.Part = (recording.Range{HasFrom: r.IntN(2) == 0, HasTo: r.IntN(2) == 0}); v.Part.HasFrom {
		v.Part.From = anyTime(r)
	}
	if v.Part.HasTo {
		v.Part.To = anyTime(r)
	}
	if r.IntN(2) == 0 {
		f := anyFunction(r)
		v.Around = &f
	}
	for range r.IntN(3) {
		v.Files = append(v.Files, "x"+anyText(r))
	}
	if r.IntN(2) == 0 {
		f := anyFunction(r)
		v.Function = &f
	}
	return v
}

func TestEveryViewComesBack(t *testing.T) {
	for seed := range uint64(20_000) {
		v := anyView(rand.New(rand.NewPCG(seed, 1)))
		s := v.String()
		if strings.ContainsAny(s, " '\"\n\t\\#<>`") || !IsAddress(s) {
			t.Fatalf("%q needs care in a shell or a text", s)
		}
		for i := range len(s) {
			if s[i] <= ' ' || s[i] > '~' {
				t.Fatalf("%q has the byte %x", s, s[i])
			}
		}
		got, err := Parse(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if !reflect.DeepEqual(v, got) {
			t.Fatalf("%+v became %+v by way of %s", v, got, s)
		}
	}
}

// TestAddressesDoNotChange checks that old addresses keep their meaning. Never change an
// expected value here.
func TestAddressesDoNotChange(t *testing.T) {
	for s, want := range map[string]State{
		"ashlar:1?file=/tmp/run.spall&select=1.2s..1500ms&thread=42:43,42:44:gc&tab=functions": {
			Files: []string{"/tmp/run.spall"}, Sides: [2]Side{{Select: recording.Offsets(1.2e12, 1.5e12), Threads: []Thread{{42, 43, ""}, {42, 44, "gc"}}}}, Tab: "functions"},
		"ashlar:1?file=a.spaa&file=b.spaa&view=flame&event=cycles&metric=period": {
			Files: []string{"a.spaa", "b.spaa"}, Parts: "flame", Event: "cycles", Metric: "period"},
		"ashlar:1?file=a.spall&file=b.spall&layout=above": {Files: []string{"a.spall", "b.spall"}, Layout: Above},
		"ashlar:1?file=demo%3A&show=-5ms..0s&transform=focus!main.f:app,hide:/^runtime/,invert&zoom=main,f:lib.so&find=x%20y&function=g": {
			Files: []string{Demo}, Sides: [2]Side{{Show: recording.Offsets(-5e9, 0)}}, Function: &recording.FuncName{Name: "g"}, Zoom: []recording.FuncName{{Name: "main"}, {Name: "f", Module: "lib.so"}},
			Stacks: Stacks{[]analyze.Transform{{Op: "focus", Ref: analyze.Ref{Text: "main.f", Module: "app", Exact: true}}, {Op: "hide", Ref: analyze.Ref{Text: "/^runtime/"}}, {Op: "invert"}}, "x y"}},
		"ashlar:1?mark=12us:here,1s..2s:slow%20part,f:main:app:why%3F&color=blue": {
			Marks: []Mark{{Place: Place{From: 12e6, To: 12e6}, Text: "here"}, {Place: Place{From: 1e12, To: 2e12}, Text: "slow part"}, {Place: Place{Func: &recording.FuncName{Name: "main", Module: "app"}}, Text: "why?"}}, Unknown: []string{"color"}},
		"ashlar:1?file=a.spall&file=b.spall&part=1s..&only=main,7&exe=/bin/a&fold=1:2&unfold=1:3:x&hide=1:4&pin=1:2,1:3&order=1:3,1:2&close=7,8:b&open-groups=main.work&close-groups=main.f%2C1,g&threads=busiest&filter=io&scroll=12.5&goal=3ms&bar=1:2:a@3@4us&anchor=5ns&show.b=1s..2s&bar.b=1:2@0@1ps&node=f,g:m&around=h": {
			Files: []string{"a.spall", "b.spall"}, Part: recording.Range{From: 1e12, HasFrom: true}, Only: []string{"main", "7"}, Exe: "/bin/a",
			Sides: [2]Side{{Fold: []Thread{{1, 2, ""}}, Unfold: []Thread{{1, 3, "x"}}, Hide: []Thread{{1, 4, ""}}, Pin: []Thread{{1, 2, ""}, {1, 3, ""}}, Order: []Thread{{1, 3, ""}, {1, 2, ""}},
				Close: []Process{{7, ""}, {8, "b"}}, OpenGroups: []string{"main.work"}, CloseGroups: []string{"main.f,1", "g"}, Sort: "busiest", Filter: "io", Scroll: 12.5, Goal: new(int64(3e9)), Bar: &Bar{Thread{1, 2, "a"}, 3, 4e6}, Anchor: 5000},
				{Show: recording.Offsets(1e12, 2e12), Bar: &Bar{Thread{1, 2, ""}, 0, 1}}}, Node: []recording.FuncName{{Name: "f"}, {Name: "g", Module: "m"}}, Around: &recording.FuncName{Name: "h"}},
		"ashlar:1?colour=module&table=file&sort=-total&columns=function,self%20in%20%25&widths=self:92.5&rows=new,gone&split=0.4&down=100&line=17&with=up,unlinked&normalize=total&width=a&pair=old:new": {
			Colour: "module", Table: Table{Group: "file", Sort: "-total", Columns: []string{"function", "self in %"}, Widths: []Width{{"self", 92.5}}, Rows: []string{"new", "gone"}},
			Split: .4, Down: 100, Line: 17, Up: true, Comparison: Comparison{Unlinked: true, Normalize: "total", Width: "a", Pairs: []match.Pair{{A: "old", B: "new"}}}},
		"ashlar:1?": {},
	} {
		got, err := Parse(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		} else if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s reads as %+v, want %+v", s, *got, want)
		}
	}
}

func TestBadAddresses(t *testing.T) {
	for s, word := range map[string]string{
		"/tmp/x": "begin with ashlar:", "ashlar:2?file=x": "ashlar:2", "ashlar:1": "instead of ashlar:1?", "ashlar:1?file": "no =", "ashlar:1?file=": "names no file",
		"ashlar:1?file=%4": "escape", "ashlar:1?file=%zz": "escape", "ashlar:1?show=1s": "FROM..TO", "ashlar:1?show=1s..x": "has invalid time",
		"ashlar:1?show=1s..0.5ps": "finer", "ashlar:1?select=1s..99999999999s": "longer than", "ashlar:1?thread=4": "PID:TID", "ashlar:1?thread=a:b": "whole numbers",
		"ashlar:1?tab=a&tab=b": "twice", "ashlar:1?file=a&file=b&file=c": "at most two", "ashlar:1?mark=here": "has invalid mark", "ashlar:1?zoom=a:b:c": "colons",
		"ashlar:1?show=1e5s..2s": "has invalid time", "ashlar:1?part=1s": "has invalid range", "ashlar:1?part=..": "has invalid range", "ashlar:1?bar=1:2": "has invalid bar", "ashlar:1?bar=1:2@x@1s": "whole",
		"ashlar:1?close=a": "has invalid process", "ashlar:1?widths=a": "has invalid width", "ashlar:1?widths=a:nan": "has invalid number", "ashlar:1?split=1e3": "has invalid number", "ashlar:1?line=-1": "whole", "ashlar:1?pair=a": "has invalid pair", "ashlar:1?scroll=x": "decimal", "ashlar:1?show=" + strings.Repeat("0", 99) + "1s..2s": "has invalid time",
	} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want something with %q", s, err, word)
		}
	}
}

func FuzzParse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(anyView(rand.New(rand.NewPCG(seed, 2))).String())
	}
	f.Add("ashlar:1?mark=1s..2s:x,f:a:b:c&transform=a!b:c&")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Parse(s)
		if err != nil {
			return
		}
		v.Unknown = nil
		again, err := Parse(v.String())
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Errorf("%q became %s, which reads as %+v, %v", s, v, again, err)
		}
	})
}

func ExampleState_String() {
	v := State{Files: []string{"run.spall"}, Sides: [2]Side{{Select: recording.Offsets(1.2e12, 1.5e12)}}, Stacks: Stacks{Find: "read file"}}
	fmt.Println(v.String())
	// Output: ashlar:1?file=run.spall&select=1.2s..1.5s&find=read%20file
}

// TestCredentials checks that addresses contain no credentials, because users share them.
func TestCredentials(t *testing.T) {
	v := State{Files: []string{"http://user:secret@host/p?token=abc", "/a@b/run"}}
	const want = "ashlar:1?file=http://host/p%3Ftoken%3Dxxxxx&file=/a@b/run"
	if got := v.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNothingKeptChangesNothing checks that empty remembered texts, as from settings without
// the keys, leave the initial State unchanged.
func TestNothingKeptChangesNothing(t *testing.T) {
	k := Kept{}
	for i := range Fields {
		k[Fields[i].Key] = ""
	}
	if got := k.State(); !reflect.DeepEqual(got, new(State)) {
		t.Errorf("of empty texts comes %+v", got)
	}
}
