package roundtrip

import (
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// TestMangledNamesComeThrough checks that mangled names are shown demangled and keep their
// symbol through every format. Formats with a field for system names hold both.
func TestMangledNamesComeThrough(t *testing.T) {
	const symbol, name = "_ZN3foo3barEi", "foo::bar(int)"
	folded := load(t, "in.folded", []byte("main;"+symbol+" 5\nmain 2\n"))
	trace := load(t, "in.json", []byte(`[{"ph":"X","name":"`+symbol+`","cat":"c","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"b","id":1,"name":"`+symbol+`","cat":"c","pid":1,"tid":1,"ts":1},{"ph":"e","id":1,"name":"`+symbol+`","cat":"c","pid":1,"tid":1,"ts":5}]`))
	shown := func(what string, rec *recording.Recording) {
		t.Helper()
		n := 0
		for _, f := range rec.Functions.Slice() {
			if f.Name == name && f.Symbol == symbol {
				n++
			} else if strings.Contains(f.Name, "3bar") {
				t.Errorf("%s: %+v", what, f)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d functions are %s", what, n, name)
		}
	}
	shown("folded", folded)
	shown("trace", trace)
	for _, way := range []string{"a.folded", "a.spaa", "a.pb.gz", "a.otlp"} {
		content, _ := write(t, folded, way, encode.Options{})
		shown(way, load(t, way, content))
	}
	for _, way := range []string{"a.json", "a.spall", "a.spaa"} {
		content, rep := write(t, trace, way, encode.Options{})
		shown(way, load(t, way, content))
		if way != "a.spaa" && !strings.Contains(string(content), symbol) {
			t.Errorf("%s has lost the symbol: %v", way, rep.Lost)
		}
	}
	content, _ := write(t, folded, "a.pb.gz", encode.Options{})
	p, err := profile.ParseData(content)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range p.Function {
		found = found || f.Name == name && f.SystemName == symbol
	}
	if !found {
		t.Error("the profile has not both names")
	}
	// A profile's own name and system name are both kept.
	p.Function[0].Name, p.Function[0].SystemName = "short", "_ZN4long4nameEv"
	rec := load(t, "b.pb.gz", encoded(t, p))
	again, _ := write(t, rec, "c.pb.gz", encode.Options{})
	if p, err = profile.ParseData(again); err != nil {
		t.Fatal(err)
	}
	found = false
	for _, f := range p.Function {
		found = found || f.Name == "short" && f.SystemName == "_ZN4long4nameEv"
	}
	if !found {
		t.Error("a profile's own two names are not both there")
	}
	if text, _ := write(t, rec, "d.folded", encode.Options{}); !strings.Contains(string(text), "short") {
		t.Errorf("folded:\n%s", text)
	}
}

// TestSharedSymbolsAreReported checks that symbols with the same demangled name become one
// function, and that the report says so.
func TestSharedSymbolsAreReported(t *testing.T) {
	rec := load(t, "in.folded", []byte("_ZN3FooC1Ev 5\n_ZN3FooC2Ev 2\n"))
	content, rep := write(t, rec, "out.folded", encode.Options{})
	if string(content) != "Foo::Foo() 7\n" {
		t.Errorf("got %q", content)
	}
	if len(rep.Lost) != 1 || rep.Lost[0].What != "mangled names" || rep.Lost[0].Count != 1 {
		t.Errorf("lost %v", rep.Lost)
	}
}
