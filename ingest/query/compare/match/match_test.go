package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

func TestNormalName(t *testing.T) {
	for name, want := range map[string]string{
		"std::vector<int, std::allocator<int> >::push_back": "std::vector::push_back",
		"std::map<int, a<b>>::operator[](int const&)":       "std::map::operator[](int const&)",
		"bool operator< <int>(foo<int> const&)":             "bool operator< <int>(foo const&)",
		"ns::operator<<(std::basic_ostream<char>&, x)":      "ns::operator<<(std::basic_ostream&, x)",
		"core::ptr::drop_in_place::h0123456789abcdef":       "core::ptr::drop_in_place",
		"core::ptr::drop_in_place<alloc::vec::Vec<u8>>":     "core::ptr::drop_in_place",
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop":     "<alloc::vec::Vec as core::ops::Drop>::drop",
		"core::iter::Iterator::collect::<Vec<u8>>":          "core::iter::Iterator::collect",
		"main.Map[go.shape.int,go.shape.string]":            "main.Map",
		"main.(*Tree[...]).Insert":                          "main.(*Tree).Insert",
		"main.run.func1":                                    "main.run.func0",
		"main.run.func12.3":                                 "main.run.func0.0",
		"main.main.gowrap2":                                 "main.main.gowrap0",
		"main.init.0":                                       "main.init.0",
		"main.init.1.func2":                                 "main.init.0.func0",
		"work.isra.0":                                       "work",
		"work.constprop.0.isra.1.cold":                      "work",
		"work.part.3.cold.12":                               "work",
		"static_fn.llvm.1234567890123":                      "static_fn",
		"work(int) [clone .constprop.0] [clone .cold]":      "work(int)",
		"memcpy@@GLIBC_2.14":                                "memcpy",
		"malloc@GLIBC_2.2.5":                                "malloc",
		"github.com/x/y/v2.Do":                              "github.com/x/y.Do",
		"github.com/x/y/v3/sub.Do":                          "github.com/x/y/sub.Do",
		"handler (app.js:12:7)":                             "handler (app.js)",
		"render.tsx:120":                                    "render.tsx",
		"(anonymous) app.js:20:1":                           "(anonymous) app.js",
		"do_syscall_64+0x3b":                                "do_syscall_64",
		"main::{lambda(int)#2}::operator()(int) const":      "main::{lambda(int)#0}::operator()(int) const",
		"app::run::{{closure}}::hfedcba9876543210":          "app::run::{{closure}}",
		"java.lang.Object.<init>":                           "java.lang.Object.<init>",
		"<module>":                                          "<module>",
		"[kernel.kallsyms]":                                 "[kernel.kallsyms]",
		"ns::<lambda>":                                      "ns::<lambda>",
		"a < b":                                             "a < b",
		"broken<int":                                        "broken<int",
		"x::h0123":                                          "x::h0123",
		"":                                                  "",
		"operator->":                                        "operator->",
		"f<&(operator<)>":                                   "f",
	} {
		if got := normalName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	// Normalizing a name twice changes nothing.
	for _, n := range []string{"main", "v<int>::push", "h.constprop.0", "r::h0123456789abcdef", "m.run.func1", "m.run.func2"} {
		once := normalName(n)
		if twice := normalName(once); twice != once {
			t.Errorf("%q becomes %q and then %q", n, once, twice)
		}
	}
}

func FuzzNormalName(f *testing.F) {
	f.Add("std::vector<int>::push_back.isra.0")
	f.Add("a<b[c(d>e]f)")
	f.Add("operator<<=>>::<>@1.2/v3.x:1:2)")
	f.Fuzz(func(t *testing.T, s string) {
		if got := normalName(s); len(got) > len(s)+2*strings.Count(s, ".") || s != "" && got == "" {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

// functions makes a recording of functions written name@module.
func functions(names ...string) *recording.Recording {
	b := recording.NewBuilder()
	for _, n := range names {
		name, module, _ := strings.Cut(n, "@")
		b.FunctionFrame(b.Function(recording.Function{Name: name, Module: module, File: module + ".c"}))
	}
	return b.Finish()
}

// pairsOf returns the rules of a matching of two recordings by pair, as "A = B".
func pairsOf(m *Matching, a, b *recording.Recording) map[string]Rule {
	out := map[string]Rule{}
	name := func(rec *recording.Recording, i int32) string {
		if i < 0 {
			return "-"
		}
		f := rec.Functions.At(int(i))
		return f.Name + "@" + f.Module
	}
	for i := range m.Funcs {
		f := &m.Funcs[i]
		out[name(a, f.In[0])+" = "+name(b, f.In[1])] = f.Rule()
	}
	return out
}

func TestMatch(t *testing.T) {
	a := functions("same@app", "moved@/a/lib.so", "v<int>@app", "v<char>@app", "v<T*>@app", "old@app", "gone@app", "dup@one", "dup@two", "dup@three")
	b := functions("dup@four", "dup@/x/two", "same@app", "moved@/b/lib.so", "v<unsigned int>@app", "v<char>@app", "fresh@app", "new@app", "dup@one")
	m, err := Functions([]*recording.Recording{a}, []*recording.Recording{b}, Options{Hand: []Pair{{"old", "fresh@app"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Rule{
		"same@app = same@app": RuleModule, "v<char>@app = v<char>@app": RuleModule, "dup@one = dup@one": RuleModule,
		"moved@/a/lib.so = moved@/b/lib.so": RuleName, "dup@two = dup@/x/two": RuleName, "dup@three = dup@four": RuleName,
		"v<int>@app = v<unsigned int>@app": RuleSimilar, "old@app = fresh@app": RuleHand,
		"v<T*>@app = -": Unmatched, "gone@app = -": Unmatched, "- = new@app": Unmatched,
	}
	got := pairsOf(m, a, b)
	for k, r := range want {
		if g, ok := got[k]; !ok || g != r {
			t.Errorf("%s is %q (%v), want %q", k, g, ok, r)
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d pairs: %v", len(got), got)
	}
	for _, c := range []struct {
		o     Options
		left  int // number of pairs
		rules string
	}{
		{Options{NoModule: true, NoName: true, NoSimilar: true}, 0, ""},
		{Options{NoSimilar: true}, 6, "module name"},
		{Options{NoName: true, NoSimilar: true}, 3, "module"},
		{Options{NoModule: true, NoSimilar: true}, 6, "name"},
	} {
		m, _ := Functions([]*recording.Recording{a}, []*recording.Recording{b}, c.o)
		n := 0
		for _, r := range pairsOf(m, a, b) {
			if r != Unmatched {
				n++
				if !strings.Contains(c.rules, string(r)) {
					t.Errorf("%+v: matched by %s", c.o, r)
				}
			}
		}
		if n != c.left {
			t.Errorf("%+v matches %d, want %d", c.o, n, c.left)
		}
	}
}

// TestMatchMirrors matches random names in both directions: the pairs must be the same, and
// no function may be matched twice.
func TestMatchMirrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		pick := func() *recording.Recording {
			var names []string
			for range r.IntN(25) {
				names = append(names, fmt.Sprintf("f%d<%c>@m%d", r.IntN(3), 'a'+rune(r.IntN(4)), r.IntN(3)))
			}
			return functions(names...)
		}
		a, b := pick(), pick()
		there, _ := Functions([]*recording.Recording{a}, []*recording.Recording{b}, Options{})
		back, _ := Functions([]*recording.Recording{b}, []*recording.Recording{a}, Options{})
		mirror := pairsOf(back, b, a)
		for k, rule := range pairsOf(there, a, b) {
			x, y, _ := strings.Cut(k, " = ")
			if g, ok := mirror[y+" = "+x]; !ok || g != rule {
				t.Fatalf("%s by %q has no mirror: %v", k, rule, mirror)
			}
		}
		for side, rec := range []*recording.Recording{a, b} {
			seen := map[int32]bool{}
			for i := range there.Funcs {
				if id := there.Funcs[i].In[side]; id >= 0 {
					if seen[id] {
						t.Fatal("a function is matched twice")
					}
					seen[id] = true
				}
			}
			if len(seen) != rec.Functions.Len() {
				t.Fatal("a function is lost")
			}
		}
	}
}

func TestMatchAddresses(t *testing.T) {
	bare := func(name, module string) *recording.Recording {
		b := recording.NewBuilder()
		b.Function(recording.Function{Name: name, Module: module, Unresolved: true})
		return b.Finish()
	}
	for _, c := range []struct {
		a, b *recording.Recording
		n    int
	}{
		{bare("0x10", "app"), bare("0x10", "app"), 1},
		{bare("0x10", "app"), bare("0x10", "lib"), 2},
		{bare("0x10", "app"), bare("0x20", "app"), 2},
	} {
		m, _ := Functions([]*recording.Recording{c.a}, []*recording.Recording{c.b}, Options{})
		if len(m.Funcs) != c.n {
			t.Errorf("there are %d functions, want %d", len(m.Funcs), c.n)
		}
	}
}

func threads(names ...string) *recording.Recording {
	b := recording.NewBuilder()
	for i, n := range names {
		tid := int64(100 + i)
		if strings.HasPrefix(n, "*") {
			tid = 1
		}
		b.Track(recording.TrackKey{PID: 1, TID: tid}).SetName(strings.TrimPrefix(n, "*"))
	}
	return b.Finish()
}

func TestMatchThreads(t *testing.T) {
	a := threads("*app", "io", "worker 1", "worker 2", "", "", "render")
	b := threads("worker 2", "", "io", "worker 9", "audio", "*app", "")
	m := Threads([]*recording.Recording{a, b}, Options{})
	got := map[string]Rule{}
	for i := range m.Funcs {
		got[fmt.Sprint(m.Funcs[i].In)] = m.Funcs[i].Rule()
	}
	want := map[string]Rule{
		"[0 5]": RuleModule, "[1 2]": RuleModule, "[3 0]": RuleModule, "[2 3]": RuleSimilar,
		"[4 1]": RuleOrder, "[5 4]": RuleOrder, "[6 6]": RuleOrder,
	}
	for k, r := range want {
		if got[k] != r {
			t.Errorf("%s is %q, want %q (all: %v)", k, got[k], r, got)
		}
	}
	m = Threads([]*recording.Recording{a, b}, Options{NoOrder: true, NoSimilar: true})
	if len(m.Funcs) != 11 {
		t.Errorf("by name alone there are %d threads, want 11", len(m.Funcs))
	}
	if tracks, err := FindTracks(a, "worker"); err != nil || len(tracks) != 2 {
		t.Errorf("worker names %v (%v)", tracks, err)
	}
	if tracks, err := FindTracks(a, "worker 1"); err != nil || len(tracks) != 1 || tracks[0] != 2 {
		t.Errorf("worker 1 names %v (%v)", tracks, err)
	}
	if _, err := FindTracks(a, "no"); err == nil || !strings.Contains(err.Error(), "render") {
		t.Errorf("the error is %v", err)
	}
}

// TestKindAgrees checks that no rule matches a kernel function with a program's function of
// the same name, except if the kind of one of them is unknown.
func TestKindAgrees(t *testing.T) {
	make := func(fns ...recording.Function) []*recording.Recording {
		b := recording.NewBuilder()
		for _, f := range fns {
			b.FunctionFrame(b.Function(f))
		}
		return []*recording.Recording{b.Finish()}
	}
	kernel := func(name string) recording.Function {
		return recording.Function{Name: name, Module: "[kernel.kallsyms]", Kind: recording.KindKernel}
	}
	user := func(name string) recording.Function {
		return recording.Function{Name: name, Module: "/lib/libc.so.6", Kind: recording.KindUser}
	}
	unknown := func(name string) recording.Function { return recording.Function{Name: name} }
	managed := func(name string) recording.Function {
		return recording.Function{Name: name, Module: "jvm", Kind: recording.KindManaged}
	}
	for _, c := range []struct {
		name string
		a, b []*recording.Recording
		want string // for each function of B the index in A, - for none
	}{
		{"by name", make(kernel("memcpy")), make(user("memcpy")), "-"},
		{"by a similar name", make(kernel("ns::f7<int>")), make(user("ns::f7<long>")), "-"},
		{"the right one of two", make(user("memcpy"), kernel("memcpy")), make(recording.Function{Name: "memcpy", Module: "[vmlinux]", Kind: recording.KindKernel}, managed("memcpy")), "1 0"},
		{"not the wrong one that is left", make(kernel("f"), kernel("g")), make(recording.Function{Name: "f", Module: "[a]", Kind: recording.KindKernel}, user("f")), "0 -"},
		{"one side does not say", make(kernel("memcpy")), make(unknown("memcpy")), "0"},
		{"neither says", make(unknown("memcpy")), make(unknown("memcpy")), "0"},
	} {
		m, err := Functions(c.a, c.b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range m.IDs[1] {
			if in := m.Funcs[f].In[0]; in >= 0 {
				got = append(got, fmt.Sprint(in))
			} else {
				got = append(got, "-")
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}
