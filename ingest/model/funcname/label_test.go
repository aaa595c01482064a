package funcname

import (
	"slices"
	"testing"
)

// TestLabels checks the labels of names without others, and of names whose short labels
// would be equal.
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
		{"App$$Lambda$75.0x0000000800c22a28.run", "App$$Lambda$75.0x0000000800c22a28.run"},
		{"App$$Lambda+0x000001c39a007200.2136288211.getAsInt", "App$$Lambda+0x000001c39a007200.2136288211.getAsInt"},
		{"int java.util.Random.next(int)", "Random.next"},
		{"InstantiateFunction (detail)", "InstantiateFunction (detail)"},
	} {
		if got := (*Labels)(nil).Of(c.name).Text; got != c.label {
			t.Errorf("%s alone is %q, want %q", c.name, got, c.label)
		}
	}
	for _, c := range [][]struct{ name, label, narrow string }{
		{{"internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).Lock", "internal…"}, {"sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "sync…"}},
		{{"a/x/json.Marshal", "a/x/json.Marshal", "a/x/json…"}, {"a/y/json.Marshal", "a/y/json.Marshal", "a/y/json…"}, {"b/json.Decode", "json.Decode", "json.Decode"}},
		{{"ns::sort<int>(int*)", "ns::sort<int>(int*)", "sort<int>…"}, {"ns::sort<char>(char*)", "ns::sort<char>(char*)", "sort<char>…"}},
		// Overloads keep their own name: what tells them apart has no meaning without it.
		{{"std::string::string(std::string const&, unsigned long)", "std::string::string(std::string const&, unsigned long)", "string(std…"}, {"std::string::string(char const*, unsigned long)", "std::string::string(char const*, unsigned long)", "string(char…"}, {"main", "main", "main"}},
		{{"ns::assign<char*>(char*, std::forward_iterator_tag)", "ns::assign<char*>(char*, std::forward_iterator_tag)", "assign<char…"}, {"ns::assign<char*>(char*, std::input_iterator_tag)", "ns::assign<char*>(char*, std::input_iterator_tag)", "assign<char…"}},
		{{"frame 12", "frame 12", "frame 12"}, {"frame 123", "frame 123", "frame 123"}, {"idle", "idle", "idle"}},
		{{"InstantiateFunction", "InstantiateFunction", "…Function"}, {"InstantiateClass", "InstantiateClass", "…Class"}},
	} {
		var names []string
		for _, n := range c {
			names = append(names, n.name, n.name)
		}
		l := NewLabels(slices.Values(names), slices.Values([]string(nil)))
		for _, n := range c {
			got := l.Of(n.name)
			if got.Text != n.label {
				t.Errorf("%s of %q is %q, want %q", n.name, names, got.Text, n.label)
			}
			if narrow := got.Cut(Narrow, roughly); narrow != n.narrow {
				t.Errorf("%s of %q is %q where it is narrow, want %q", n.name, names, narrow, n.narrow)
			}
		}
	}
}
