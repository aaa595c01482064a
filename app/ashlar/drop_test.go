//go:build linux

package main

import (
	"bytes"
	"fmt"
	"image"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// uriList writes paths as a text/uri-list (RFC 2483), percent-encoded by another
// implementation than the parser's.
func uriList(paths ...string) []byte {
	var b bytes.Buffer
	for _, p := range paths {
		fmt.Fprintf(&b, "%s\r\n", &url.URL{Scheme: "file", Path: p})
	}
	return b.Bytes()
}

// middle is a point well inside the window.
var middle = image.Pt(300, 400)

// dropSession opens an empty window and a source of drags.
func dropSession(t *testing.T) (*session, *e2e.Dragger) {
	s := launch(t)
	return s, s.StartDragger(t)
}

func shows(path string) func(frame) bool {
	return func(f frame) bool {
		return f.File == filepath.Base(path) && f.Done && f.Drop == nil && f.Compare == nil
	}
}

const fileList = "text/uri-list"

// TestDroppedFiles drops file lists in all forms that sources use.
func TestDroppedFiles(t *testing.T) {
	t.Parallel()
	s, x := dropSession(t)
	paths := recordings(t, 5000)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dropped := func(what string, list []byte, how e2e.How, at image.Point, types ...string) {
		t.Helper()
		x.Enter(list, how, types...)
		if v := x.Hold(at); !v.Accepted || !v.Copy {
			t.Errorf("%s: the window says %+v while it is held", what, v)
		}
		s.soon(what+": its name", func(f frame) bool { return len(f.Drop) > 1 && f.Drop[len(f.Drop)-1] != "" })
		x.Drop()
		if v := x.End(); !v.Accepted || !v.Copy {
			t.Errorf("%s: the window says %+v at the end", what, v)
		}
	}
	escaped := strings.ReplaceAll(paths[5], " ", "%20")
	for _, c := range []struct {
		what  string
		opens string
		list  []byte
		how   e2e.How
		types []string
		note  string
	}{
		{"one of three types", paths[1], uriList(paths[1]), e2e.Whole, []string{"text/plain", fileList, "UTF8_STRING"}, ""},
		{"the fifth of many types", paths[2], uriList(paths[2]), e2e.Whole, []string{"a/1", "a/2", "a/3", "a/4", fileList, "a/6"}, ""},
		{"in parts", paths[3], bytes.Repeat(uriList(paths[3]), 100), e2e.Parts, []string{fileList}, ""},
		{"a plain path", paths[4], []byte(paths[4] + "\n"), e2e.Whole, []string{fileList}, ""},
		{"with this computer's name", paths[5], []byte("# comment\nfile://" + host + escaped), e2e.Whole, []string{fileList}, ""},
		{"with localhost", paths[6], []byte("file://localhost" + strings.ReplaceAll(paths[6], " ", "%20")), e2e.Whole, []string{fileList}, ""},
		{"among others", paths[7], append([]byte("https://example.org/x\r\n"), uriList(paths[7])...), e2e.Whole, []string{fileList}, "https://example.org/x is on the web"},
		{"a strange name", paths[0], uriList(paths[0]), e2e.Whole, []string{fileList}, ""},
	} {
		dropped(c.what, c.list, c.how, middle, c.types...)
		f := s.soon(c.what, shows(c.opens))
		if !strings.Contains(f.Note, c.note) {
			t.Errorf("%s: the window says %q, not %q", c.what, f.Note, c.note)
		}
	}

	// A dropped folder opens a dialog to choose a file.
	folder := filepath.Dir(paths[0])
	dropped("a folder", uriList(folder), e2e.Whole, middle, fileList)
	asks := func(f frame) bool { return strings.HasPrefix(f.Typed, "Open or compare ") }
	s.soon("the folder", asks)
	s.Key("Escape")

	// Drop a file that is not a recording, and a missing one.
	odd := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(odd, []byte("nothing that a profiler writes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{odd, odd + ".gone"} {
		dropped(p, uriList(p), e2e.Whole, middle, fileList)
		s.soon("the reason in place of "+p, func(f frame) bool { return f.File == filepath.Base(p) && f.Drop == nil })
	}

	// Of thousands of dropped files, only the first thousand can be opened.
	const many = "more files not opened"
	for how, list := range map[e2e.How][]string{e2e.Whole: paths, e2e.Parts: paths[8:]} {
		dropped("thousands", uriList(list...), how, middle, fileList)
		f := s.soon("the choice for thousands", asks)
		if !strings.Contains(f.Note, many) {
			t.Errorf("of thousands the window says %q", f.Note)
		}
		s.Key("Escape")
	}
	// Drop immediately, before the window has received the list.
	x.Enter(uriList(paths[2], paths[3]), e2e.Parts, fileList)
	x.Hold(middle)
	x.Drop()
	if v := x.End(); !v.Accepted {
		t.Errorf("the window says %+v of what was dropped at once", v)
	}
	s.soon("what was dropped at once", compares(paths[2], paths[3]))

	// A drop on one half replaces the recording shown there.
	dropped("in place of B", uriList(paths[4]), e2e.Whole, image.Pt(900, 400), fileList)
	s.soon("another B", compares(paths[2], paths[4]))
	dropped("in place of A", uriList(paths[5]), e2e.Whole, middle, fileList)
	s.soon("another A", compares(paths[5], paths[4]))

	// Nine files at once become additional runs of the side.
	dropped("nine runs of A", uriList(paths[10:19]...), e2e.Whole, middle, fileList)
	dropped("nine runs of B", uriList(paths[20:29]...), e2e.Whole, image.Pt(900, 400), fileList)
	s.soon("ten runs a side", func(f frame) bool {
		return f.Compare != nil && f.Compare.Sides[0].Runs == 10 && f.Compare.Sides[1].Runs == 10
	})
	if code := quit(s); code != 0 {
		t.Errorf("after all that it ends with %d: %s", code, s.Output())
	}
}

func quit(s *session) int {
	s.Key("ctrl+q")
	return s.WaitExit()
}

// TestDroppedOthers checks what the window says if a drag has no local files, or if its source
// misbehaves.
func TestDroppedOthers(t *testing.T) {
	t.Parallel()
	s, x := dropSession(t)
	path := recordings(t, 2)[1]
	note := func(what, text string) {
		t.Helper()
		s.soon(what, func(f frame) bool { return f.Drop == nil && strings.Contains(f.Note, text) })
	}
	const only, silent = "Only files can be dropped here", "named no files"

	x.Enter([]byte("hello"), e2e.Whole, "text/plain", "UTF8_STRING")
	if v := x.Hold(middle); v.Accepted || v.Copy {
		t.Errorf("text is welcome: %+v", v)
	}
	s.soon("what is said of text", func(f frame) bool { return len(f.Drop) > 0 && f.Drop[0] == only })
	x.Leave()
	note("that text is refused", only)

	// Drop although the window refuses.
	x.Enter([]byte("hello"), e2e.Whole, "text/plain")
	x.Hold(middle)
	x.Drop()
	if v := x.End(); v.Accepted {
		t.Errorf("text is taken: %+v", v)
	}

	// The list is read while the drag is over the window, and has no local file.
	for list, reason := range map[string]string{
		"https://example.org/run.spaa\r\n": "https://example.org/run.spaa is on the web. Download it",
		"file://elsewhere/run.spaa\r\n":    "run.spaa is on the computer elsewhere",
		"sftp://host/run.spaa":             "is not on this computer",
		"":                                 silent,
		"just words":                       "just words is text",
	} {
		x.Enter([]byte(list), e2e.Whole, fileList)
		v := x.Hold(middle)
		for v.Accepted {
			v = x.Status() // the final status, sent once the list is read
		}
		s.soon("why "+list+" is refused", func(f frame) bool { return len(f.Drop) > 0 && strings.Contains(f.Drop[0], reason) })
		x.Leave()
		note("why "+list+" was refused", reason)
	}

	// A source that refuses to send its list.
	x.Enter(nil, e2e.Refuse, fileList)
	x.Hold(middle)
	x.Drop()
	if v := x.End(); v.Accepted {
		t.Errorf("nothing is taken: %+v", v)
	}
	note("that there is no list", silent)

	// Sources that never send their list, or only part of it.
	for _, how := range []e2e.How{e2e.Silent, e2e.Stuck} {
		x.Enter(uriList(strings.Repeat("/a", 1000), path), how, fileList)
		x.Hold(middle)
		x.Drop()
		s.soon("what is waited for", func(f frame) bool { return len(f.Drop) > 0 && strings.HasPrefix(f.Drop[0], "Waiting") })
		if v := x.End(); v.Accepted {
			t.Errorf("nothing is taken: %+v", v)
		}
		note("that nothing came", silent)
	}

	// Invalid messages: a leave and a drop before any enter, an unknown version, a window that
	// does not exist.
	x.Leave()
	x.Drop()
	x.Send("XdndPosition", [5]uint32{})
	x.Send("XdndEnter", [5]uint32{1, 5<<24 | 1})
	x.Send("XdndPosition", [5]uint32{1, 0, 1 << 31, 0, 0})
	x.Send("XdndEnter", [5]uint32{0xffffffff, 0xffffffff, 1, 2, 3})
	x.Send("XdndDrop", [5]uint32{0xffffffff})
	x.Send("XdndEnter", [5]uint32{0, 1 << 24})

	// A source that exits during a drag.
	other := s.StartDragger(t)
	other.Enter(uriList(path), e2e.Whole, fileList)
	other.Hold(middle)
	s.soon("what is held", func(f frame) bool { return len(f.Drop) > 0 && strings.HasPrefix(f.Drop[0], "Open") })
	other.Close()
	s.soon("nothing held", func(f frame) bool { return f.Drop == nil })

	// A well-behaved source still works.
	last := s.StartDragger(t)
	last.Enter(uriList(path), e2e.Whole, fileList)
	if v := last.Hold(middle); !v.Accepted {
		t.Errorf("after all that a file is refused: %+v", v)
	}
	last.Drop()
	if v := last.End(); !v.Accepted {
		t.Errorf("after all that a file is not taken: %+v", v)
	}
	s.soon("the file", shows(path))
	if code := quit(s); code != 0 {
		t.Errorf("after all that it ends with %d: %s", code, s.Output())
	}
}
