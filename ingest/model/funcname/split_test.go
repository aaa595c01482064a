package funcname

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, pkg, typ, leaf, rest string }{
		{"net/http.(*conn).serve", "net/http", "(*conn)", "serve", ""},
		{"net/http.HandlerFunc.ServeHTTP", "net/http", "HandlerFunc", "ServeHTTP", ""},
		{"encoding/json.Unmarshal", "encoding/json", "", "Unmarshal", ""},
		{"encoding/json.BenchmarkUnmarshalInt64.func1", "encoding/json", "", "BenchmarkUnmarshalInt64.func1", ""},
		{"encoding/json.mapEncoder.encode", "encoding/json", "mapEncoder", "encode", ""},
		{"reflect.rtype.Name", "reflect", "rtype", "Name", ""},
		{"java.util.zip.inflate", "java.util.zip", "", "inflate", ""},
		{"a/b.(*T).do.func1.2", "a/b", "(*T)", "do.func1.2", ""},
		{"gopkg.in/yaml%2ev2.(*parser).parse", "gopkg.in/yaml%2ev2", "(*parser)", "parse", ""},
		{"slices.SortFunc[go.shape.[]int,go.shape.int]", "slices", "", "SortFunc", "[go.shape.[]int,go.shape.int]"},
		{"runtime.goexit.abi0", "runtime", "", "goexit", ".abi0"},
		{"main.main", "main", "", "main", ""},
		{"memmove", "", "", "memmove", ""},
		{"std::vector<int, std::allocator<int> >::at(unsigned long)", "std", "vector<int, std::allocator<int> >", "at", "(unsigned long)"},
		{"void ns::sort<int*>(int*, int*)", "ns", "", "sort", "<int*>(int*, int*)"},
		{"blink::LocalFrameView::performLayout() const", "blink", "LocalFrameView", "performLayout", "() const"},
		{"base::(anonymous namespace)::Run(int)", "base::(anonymous namespace)", "", "Run", "(int)"},
		{"a::B::operator<<(int)", "a", "B", "operator<<", "(int)"},
		{"operator new(unsigned long)", "", "", "operator new", "(unsigned long)"},
		{"operators::Plan::make", "operators", "Plan", "make", ""},
		{"ns::f(int)::{lambda()#1}::operator()() const", "ns", "", "f(int)::{lambda()#1}::operator()", "() const"},
		{"finish_task_switch.isra.0", "", "", "finish_task_switch", ".isra.0"},
		{"f.part.0.constprop.3", "", "", "f", ".part.0.constprop.3"},
		{"core::ops::call_once::h0123456789abcdef", "core::ops", "", "call_once", "::h0123456789abcdef"},
		{"mycrate::parse::Parser::next::{{closure}}", "mycrate::parse", "Parser", "next::{{closure}}", ""},
		{"java.util.HashMap.putVal", "java.util", "HashMap", "putVal", ""},
		{"int java.util.Random.next(int)", "java.util", "Random", "next", "(int)"},
		{"java.lang.Object[] java.util.List.toArray(int, long)", "java.util", "List", "toArray", "(int, long)"},
		{"void Test$$Lambda$3+<hidden>.run()", "", "Test$$Lambda$3+<hidden>", "run", "()"},
		{"lib/lexer.c", "lib", "", "lexer.c", ""},
		{"main.cpp", "", "", "main.cpp", ""},
		{"<module>", "", "", "<module>", ""},
	} {
		p := Split(c.name)
		typ := strings.TrimRight(c.name[p.Type:p.Leaf], ".:/")
		if got := Package(c.name); p.Text || got != c.pkg || typ != c.typ || c.name[p.Leaf:p.End] != c.leaf || c.name[p.End:] != c.rest {
			t.Errorf("%s is of package %q, type %q, leaf %q and the rest %q (%+v)", c.name, got, typ, c.name[p.Leaf:p.End], c.name[p.End:], p)
		}
	}
	for name, short := range map[string]string{
		"preprocess: w:/cuik/lib/parser.h": "preprocess: w:/cuik/lib/parser.h", "frame 12": "frame 12", "": "", ")": ")", "a > b": "a > b",
		"libclang-cpp.so.19.1+0xd714a0": "libclang-cpp.so.19.1+0xd714a0", "[kernel]+0x12": "[kernel]+0x12",
		"InstantiateFunction (detail)": "InstantiateFunction (detail)", "runner.py(126): <module>": "runner.py(126): <module>",
		"Load index.html (cached)": "Load index.html (cached)", "Run a.b(c)": "Run a.b(c)", "int main(a.b)": "int main(a.b)",
	} {
		if p := Split(name); !p.Text || Package(name) != "" || Short(name) != short {
			t.Errorf("%q is taken apart: %+v, short %q", name, p, Short(name))
		}
	}
}

// FuzzSplit checks the order of offsets that Parts documents.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"net/http.(*conn).serve", "void a::b<c>(d) const", "x.isra.0", "operator->", "::::", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := Split(name)
		if p.Start < 0 || p.Short < p.Start || p.Type < p.Short || p.Leaf < p.Type || p.End < p.Leaf || p.End > len(name) {
			t.Fatalf("%q: %+v of %d bytes", name, p, len(name))
		}
		if name != "" && p.End == p.Leaf {
			t.Fatalf("%q has nothing left: %+v", name, p)
		}
	})
}

func TestBrief(t *testing.T) {
	for name, want := range map[string]string{
		"void std::sort<int*>(int*, int*)":                                        "std::sort<…>",
		"std::map<int, std::vector<long> >::operator[](int const&)":               "std::map<…>::operator[]",
		"std::invoke<void (*)(int, long)>::operator()() const":                    "std::invoke<…>::operator()",
		"std::vector<std::pair<int, char> >::push_back(std::pair<int, char>&&)":   "std::vector<…>::push_back",
		"<alloc::vec::Vec<f64> as core::ops::index::Index<usize>>::index":         "<alloc::vec::Vec<…> as core::ops::index::Index<…>>::index",
		"encoding/json.(*decodeState).object":                                     "encoding/json.(*decodeState).object",
		"Parse query of the user (slow)":                                          "Parse query of the user (slow)",
		"blink::LocalFrameView::performLayout(blink::LayoutOptions const&) const": "blink::LocalFrameView::performLayout",
	} {
		if got := Brief(name, 10); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := Brief(name, len(name)); got != name {
			t.Errorf("%s: %s, but it fits", name, got)
		}
	}
}
