package recording

import "testing"

// The expected names are from c++filt (binutils 2.40) and from rustc's documentation.
func TestMangledNamesAreOneFunction(t *testing.T) {
	for _, c := range []struct{ symbol, name string }{
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"__ZN3foo3barEi", "foo::bar(int)"}, // macOS
		{"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
		{"_Zone", "_Zone"},
		{"_Reset", "_Reset"},
		{"_Z", "_Z"},
		{"__Request", "__Request"},
		{"main", "main"},
	} {
		b := NewBuilder()
		id := b.Function(Function{Name: c.symbol, Module: "m"})
		if same := b.Function(Function{Name: c.symbol, Module: "m"}); same != id {
			t.Errorf("%s: twice it is %d and %d", c.symbol, id, same)
		}
		if same := b.Function(Function{Name: c.name, Module: "m"}); same != id {
			t.Errorf("%s: the readable name is another function", c.symbol)
		}
		if other := b.Function(Function{Name: c.symbol, Module: "n"}); other == id {
			t.Errorf("%s: the same in another module", c.symbol)
		}
		r := b.Finish()
		f := r.Functions.At(int(id))
		if f.Name != c.name || f.Demangled != (c.symbol != c.name) || r.NameInFile(id) != c.symbol || r.SharedSymbols() != 0 {
			t.Errorf("%s: %+v, in the file %s, %d shared", c.symbol, f, r.NameInFile(id), r.SharedSymbols())
		}
	}
}

// Symbols with the same readable name are one function, and its name in the file is the
// readable name.
func TestSharedSymbols(t *testing.T) {
	b := NewBuilder()
	id := b.Function(Function{Name: "_ZN3FooC1Ev"})
	before := b.Snapshot()
	for range 2 {
		for _, s := range []string{"_ZN3FooC2Ev", "_ZN3FooC1Ev", "_ZN4core3ptr17h0123456789abcdefE"} {
			b.Function(Function{Name: s})
		}
	}
	rust := b.Function(Function{Name: "_ZN4core3ptr17hfedcba9876543210E"})
	r := b.Finish()
	if r.NameInFile(id) != "Foo::Foo()" || before.NameInFile(id) != "_ZN3FooC1Ev" || r.NameInFile(rust) != "core::ptr" {
		t.Errorf("%s, before %s, %s", r.NameInFile(id), before.NameInFile(id), r.NameInFile(rust))
	}
	if r.SharedSymbols() != 2 || before.SharedSymbols() != 0 || r.Functions.Len() != 2 {
		t.Errorf("%d symbols are shared, %d before; %d functions", r.SharedSymbols(), before.SharedSymbols(), r.Functions.Len())
	}
}

func BenchmarkFunction(b *testing.B) {
	bld := NewBuilder()
	names := []string{"main.run", "_ZN3foo3barEi", "read", "_RNvC6_123foo3bar"}
	for i := range b.N {
		bld.Function(Function{Name: names[i&3], Module: "m"})
	}
}
