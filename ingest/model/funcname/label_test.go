package funcname

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestLabels: what stands for names that have no other beside them, and for those that
// would read alike.
func TestLabels(t *testing.T) {
	for _, c := range []struct{ name, label string }{
		{"main.main", "main.main"},
		{"sync.(*Mutex).Lock", "sync.(*Mutex).Lock"},
		{"net/http.(*conn).serve", "http.(*conn).serve"},
		{"java.util.HashMap.putVal", "HashMap.putVal"},
		{"blink::LocalFrameView::performLayout() const", "blink::LocalFrameView::performLayout"},
		{"blink::scheduler::MainThread::Run(int)", "MainThread::Run"},
		{"void ns::sort<int*>(int*, int*)", "ns::sort"},
		{"memmove", "memmove"},
		{"InstantiateFunction (detail)", "InstantiateFunction (detail)"},
	} {
		if got := (*Labels)(nil).Of(c.name).Text; got != c.label {
			t.Errorf("%s alone is %q, want %q", c.name, got, c.label)
		}
	}
	for _, c := range [][]struct{ name, label, shown string }{
		{{"internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).Lock", ""}, {"sync.(*Mutex).Lock", "sync.(*Mutex).Lock", ""}},
		{{"a/x/json.Marshal", "a/x/json.Marshal", ""}, {"a/y/json.Marshal", "a/y/json.Marshal", ""}, {"b/json.Decode", "json.Decode", ""}},
		{{"ns::sort<int>(int*)", "ns::sort<int>(int*)", ""}, {"ns::sort<char>(char*)", "ns::sort<char>(char*)", ""}},
		{{"frame 12", "frame 12", "12"}, {"frame 123", "frame 123", "123"}, {"idle", "idle", "idle"}},
		{{"InstantiateFunction", "InstantiateFunction", "Function"}, {"InstantiateClass", "InstantiateClass", "Class"}},
	} {
		var names []string
		for _, n := range c {
			names = append(names, n.name, n.name)
		}
		l := NewLabels(slices.Values(names))
		for _, n := range c {
			got := l.Of(n.name)
			if got.Text != n.label {
				t.Errorf("%s of %q is %q, want %q", n.name, names, got.Text, n.label)
			}
			if shown := got.Text[Word(got.Text, got.Mark):]; n.shown != "" && shown != n.shown {
				t.Errorf("%s of %q is told by %q, want %q", n.name, names, shown, n.shown)
			}
		}
	}
}

// TestLabelsDiffer makes up names of few words and compares labels with each other: they
// differ, and at no other label's mark or before it do two of them part.
func TestLabelsDiffer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "b", "sync", "Map", "(*T)", "get", "get2", "<int>", "12", " x", "é"}
	for range 300 {
		names := map[string]bool{}
		for range 1 + r.IntN(30) {
			var b strings.Builder
			for k := range 1 + r.IntN(4) {
				if k > 0 {
					b.WriteString([]string{".", "::", "/", ""}[r.IntN(4)])
				}
				b.WriteString(words[r.IntN(len(words))])
			}
			names[b.String()] = true
		}
		var all []string
		for name := range names {
			all = append(all, name)
		}
		l := NewLabels(slices.Values(all))
		for i, a := range all {
			for _, b := range all[:i] {
				x, y := l.Of(a), l.Of(b)
				if x.Text == y.Text {
					t.Fatalf("%q and %q are both %q, among %q", a, b, x.Text, all)
				}
				n := 0
				for n < min(len(x.Text), len(y.Text)) && x.Text[n] == y.Text[n] {
					n++
				}
				if x.Mark < n-3 || y.Mark < n-3 { // a character has up to four bytes
					t.Fatalf("%q and %q part at %d, their marks are %d and %d", x.Text, y.Text, n, x.Mark, y.Mark)
				}
			}
		}
	}
}
