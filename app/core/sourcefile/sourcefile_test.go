package sourcefile

import (
	"errors"
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
		{at("other/main.go"), []Root{{"", dir}}, "", "other/main.go"},
		{at("other/main.go"), nil, at("other"), "other/main.go"},
		{"../../secret", []Root{src}, "", ""},
		{"/a/../secret", []Root{{"/a", at("src")}}, "", ""},
		{"", []Root{src}, at("src"), ""},
		{"app", []Root{src}, "", ""},
	} {
		want := c.want
		if want != "" {
			want = at(want)
		}
		got, err := Find(c.name, c.roots, c.beside)
		if got != want || err != nil {
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

// TestOutside checks that a file that is neither below a root nor beside the recording is not
// shown without the user's permission, whether named by its path or through a link.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	mine, recs := filepath.Join(dir, "home", "id_key"), filepath.Join(dir, "recs")
	for _, d := range []string{filepath.Dir(mine), recs} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(mine, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, filepath.Join(recs, "main.c")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{mine, "main.c", "/build/main.c"} {
		got, err := Find(name, nil, recs)
		var outside *Outside
		if got != "" || !errors.As(err, &outside) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := Find(name, []Root{{To: filepath.Dir(mine)}}, recs); got == "" || err != nil {
			t.Errorf("%s, permitted: %q, %v", name, got, err)
		}
	}
	if got, err := Find("/proc/self/environ", []Root{{To: "/"}}, ""); got != "" || err != nil {
		t.Errorf("what is no file: %q, %v", got, err)
	}
	if _, err := Lines("/proc/self/environ"); err == nil {
		t.Error("what is no file was read")
	}
}

// TestKnownRoots checks that files of the standard library and of modules are found on this
// machine for recordings from another one, and that one permission covers the whole root.
func TestKnownRoots(t *testing.T) {
	goroot, cache := t.TempDir(), t.TempDir()
	for _, p := range []string{goroot + "/src/internal/sync/mutex.go", goroot + "/secret", cache + "/example.com/a@v1/b.go"} {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("package x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOROOT", goroot)
	t.Setenv("GOMODCACHE", cache)
	for name, want := range map[string]string{
		goroot + "/src/internal/sync/mutex.go":        goroot + "/src/internal/sync/mutex.go",
		"/opt/go1.9/src/internal/sync/mutex.go":       goroot + "/src/internal/sync/mutex.go",
		"internal/sync/mutex.go":                      goroot + "/src/internal/sync/mutex.go",
		"/home/x/go/pkg/mod/example.com/a@v1/b.go":    cache + "/example.com/a@v1/b.go",
		"example.com/a@v1/b.go":                       cache + "/example.com/a@v1/b.go",
		"../secret":                                   "",
		"/opt/go/src/../secret":                       "",
		"/x/src/../../secret":                         "",
		"internal/sync/missing_from_every_machine.go": "",
	} {
		got, err := Find(name, nil, "")
		o, _ := err.(*Outside)
		if got != "" || (o == nil) != (want == "") || o != nil && o.Path != want {
			t.Errorf("%s is found at %q (%v), want %q", name, got, err, want)
			continue
		}
		if o == nil {
			continue
		}
		if got, err = Find(name, []Root{o.Root}, ""); got != want || err != nil {
			t.Errorf("with the root %v, %s is found at %q (%v)", o.Root, name, got, err)
		}
	}
	if _, err := Find("internal/sync/mutex.go", []Root{{To: goroot + "/src"}}, ""); err != nil {
		t.Errorf("a permitted root is asked for: %v", err)
	}
}
