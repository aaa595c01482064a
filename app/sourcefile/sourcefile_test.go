package sourcefile

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	for _, p := range []string{"src/app/main.go", "src/lib/util.c", "go/regexp/regexp.go", "other/main.go", "secret"} {
		if err := os.MkdirAll(filepath.Dir(at(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(p), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	src, goroot := Root{"", at("src")}, Root{"/usr/lib/go/src", at("go")}
	for _, c := range []struct {
		name   string
		roots  []Root
		beside string
		want   string
	}{
		{"/usr/lib/go/src/regexp/regexp.go", []Root{src, goroot}, "", "go/regexp/regexp.go"},
		{"/usr/lib/go/srcx/regexp/regexp.go", []Root{goroot}, "", ""},
		{"/build/1234/app/main.go", []Root{src}, "", "src/app/main.go"},
		{"app/main.go", []Root{src}, "", "src/app/main.go"},
		{`C:\work\lib\util.c`, []Root{src}, "", "src/lib/util.c"},
		{`C:\work\util.c`, []Root{{`C:\work`, at("src/lib")}}, "", "src/lib/util.c"},
		{"main.go", nil, at("other"), "other/main.go"},
		{"main.go", nil, "", ""},
		{at("other/main.go"), []Root{src}, "", "other/main.go"},
		{"../../secret", []Root{src}, "", ""},
		{"/a/../secret", []Root{{"/a", at("src")}}, "", ""},
		{"", []Root{src}, at("src"), ""},
		{"app", []Root{src}, "", ""},
	} {
		want := c.want
		if want != "" {
			want = at(want)
		}
		got := Find(c.name, c.roots, c.beside)
		if got != want {
			t.Errorf("%q with %v is %q, want %q", c.name, c.roots, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x.c")
	if err := os.WriteFile(p, []byte("a\tb\r\n\t\x01\xff\n\nend\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Lines(p)
	if want := []string{"a   b", "     \uFFFD", "", "end"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestParseRoot(t *testing.T) {
	for s, want := range map[string]Root{"/src": {"", "/src"}, "/a=/b": {"/a", "/b"}, "=/b": {"", "/b"}} {
		if got, err := ParseRoot(s); err != nil || got != want {
			t.Errorf("%q is %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "a="} {
		if _, err := ParseRoot(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}
