package drop

import (
	"fmt"
	"net/url"
	"path"
	"reflect"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

func TestParse(t *testing.T) {
	const web = "is on the web. Download it and drop the file"
	for _, c := range []struct {
		name, list string
		want       []string
		refused    int
		reason     string // part of the expected reason
	}{
		{"nothing", "", nil, 0, ""},
		{"one", "file:///runs/run.spaa\r\n", []string{"/runs/run.spaa"}, 0, ""},
		{"without an end of line", "file:///runs/run.spaa", []string{"/runs/run.spaa"}, 0, ""},
		{"LF", "file:///a\nfile:///b\n", []string{"/a", "/b"}, 0, ""},
		{"CR", "file:///a\rfile:///b\r", []string{"/a", "/b"}, 0, ""},
		{"a NUL at the end", "file:///a\r\n\x00", []string{"/a"}, 0, ""},
		{"NULs between", "file:///a\x00file:///b\x00", []string{"/a", "/b"}, 0, ""},
		{"comments and empty lines", "# two files\r\n\r\nfile:///a\r\n#file:///c\r\nfile:///b", []string{"/a", "/b"}, 0, ""},
		{"blanks", "file:///runs/a%20b.spaa", []string{"/runs/a b.spaa"}, 0, ""},
		{"escapes in either case", "file:///runs/%c3%BC%3F%23%25.spaa", []string{"/runs/ü?#%.spaa"}, 0, ""},
		{"non-ASCII as it is", "file:///runs/übung 日本.spaa", []string{"/runs/übung 日本.spaa"}, 0, ""},
		{"not UTF-8", "file:///runs/%ff\xfe", []string{"/runs/\xff\xfe"}, 0, ""},
		{"a newline in the name", "file:///runs/two%0Alines%0d.spaa\r\n", []string{"/runs/two\nlines\r.spaa"}, 0, ""},
		{"an unescaped percent sign", "file:///runs/100%/50%zz%4", []string{"/runs/100%/50%zz%4"}, 0, ""},
		{"an unescaped # and ?", "file:///runs/a#b?c", []string{"/runs/a#b?c"}, 0, ""},
		{"one slash", "file:/runs/a", []string{"/runs/a"}, 0, ""},
		{"four slashes", "file:////runs//a/", []string{"/runs/a"}, 0, ""},
		{"dots", "file:///runs/../runs/./a", []string{"/runs/a"}, 0, ""},
		{"capitals", "FILE:///runs/a", []string{"/runs/a"}, 0, ""},
		{"localhost", "file://localhost/runs/a\nfile://LocalHost/runs/b", []string{"/runs/a", "/runs/b"}, 0, ""},
		{"this computer", "file://desk.example.org/runs/a\nfile://DESK/runs/b", []string{"/runs/a", "/runs/b"}, 0, ""},
		{"another computer", "file://server/share/a%20b", nil, 1, "a b is on the computer server. Copy it here and drop the copy"},
		{"a computer whose name begins like this one's", "file://des/a", nil, 1, "on the computer des"},
		{"a computer and no path", "file://server", nil, 1, "on the computer server"},
		{"no path", "file:///", []string{"/"}, 0, ""},
		{"no folder", "file:a.spaa", nil, 1, "file:a.spaa does not name the file's folder"},
		{"nothing behind the host", "file://localhost", nil, 1, "does not name the file's folder"},
		{"an escaped NUL", "file:///runs/a%00b", nil, 1, "NUL"},
		{"an escaped slash", "file:///runs/a%2fb", nil, 1, "slash"},
		{"plain paths", "/runs/a b%20c\n /runs/d ", []string{"/runs/a b%20c", "/runs/d "}, 0, ""},
		{"the web", "https://example.org/run.spaa", nil, 1, "https://example.org/run.spaa " + web},
		{"elsewhere", "sftp://host/run.spaa", nil, 1, "sftp://host/run.spaa is not on this computer"},
		{"text", "hello world", nil, 1, "hello world is text, not a file"},
		{"text with a colon", "note to self: hello", nil, 1, "note to self: hello is text"},
		{"control characters in text", "a\x1b[31mb", nil, 1, "a�[31mb is text"},
		{"long text", strings.Repeat("ab", 500), nil, 1, "ab…"},
		{"a file among others", "http://a/b\nfile:///runs/a\nhello", []string{"/runs/a"}, 2, web},
		{"twice the same", "file:///a\nfile:///b\n/a", []string{"/a", "/b"}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse([]byte(c.list), "desk.example.org")
			if !reflect.DeepEqual(f.Paths, c.want) || f.Refused != c.refused {
				t.Errorf("%q has the files %q and %d others, want %q and %d", c.list, f.Paths, f.Refused, c.want, c.refused)
			}
			if !strings.Contains(f.Reason, c.reason) || (f.Reason == "") != (c.refused == 0) || len([]rune(f.Reason)) > 200 {
				t.Errorf("the reason is %q, want one with %q", f.Reason, c.reason)
			}
		})
	}
}

func TestParseMany(t *testing.T) {
	rounds.Unraced(t)
	var b strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&b, "file:///data/run%%20%d.spaa\r\n", i)
	}
	f := Parse([]byte(b.String()))
	if len(f.Paths) != 100000 || f.Refused != 0 || f.Paths[99999] != "/data/run 99999.spaa" {
		t.Errorf("a hundred thousand files are read as %d", len(f.Paths))
	}
}

// FuzzParse checks that parsed paths are absolute, clean and without NUL, and that every file
// name that net/url escapes is parsed back.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"file:///a%20b\r\n", "two\nlines", "http://x", "%", "a?b#c", "\x00", "file://h/%2f", "ü"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := parse(b, "desk")
		for _, p := range got.Paths {
			if !path.IsAbs(p) || strings.ContainsRune(p, 0) || path.Clean(p) != p {
				t.Errorf("%q has the file %q", b, p)
			}
		}
		if (got.Refused == 0) != (got.Reason == "") {
			t.Errorf("%q: %d refused, %q", b, got.Refused, got.Reason)
		}
		name := "/" + strings.Trim(strings.ReplaceAll(string(b), "\x00", ""), "/")
		u := url.URL{Scheme: "file", Path: path.Clean(name)}
		if back := parse([]byte(u.String()+"\r\n"), "desk"); len(back.Paths) != 1 || back.Paths[0] != path.Clean(name) {
			t.Errorf("%q, written as %s, is read as %q %q", path.Clean(name), &u, back.Paths, back.Reason)
		}
	})
}
