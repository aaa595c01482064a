package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
)

// TestAddressesOfMovedFiles checks how the file of an address is found after it moved: by its
// content among the files last opened in the window, or as the file given after the address. A
// note reports a file found by content, and a file that is another recording.
func TestAddressesOfMovedFiles(t *testing.T) {
	dir := t.TempDir()
	kept := settings.In(dir, dir)
	path, far := filepath.Join(dir, "a.folded"), filepath.Join(t.TempDir(), "b.folded")
	if err := os.WriteFile(path, []byte("main;f 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, _, err := settings.FileContent(path)
	if err != nil {
		t.Fatal(err)
	}
	v := view.State{Files: []string{path}, Contents: []view.Content{c}, Tab: "functions"}
	address := v.String()
	ask := func(args ...string) (files []string, code int, said string) {
		t.Helper()
		var errs bytes.Buffer
		run := Runner{Store: func() (*settings.Store, error) { return kept, nil },
			Render: func(o RenderOptions) error { files = append(files, o.File, o.With); return nil },
			Window: func(o WindowOptions) error { files = append(files, o.Files...); return nil }}
		code = Main(args, nil, &errs, &errs, run)
		return files, code, errs.String()
	}
	is := func(what, want, note string, args ...string) {
		t.Helper()
		for _, args := range [][]string{append([]string{"render", "-o", "x.png"}, args...), args} {
			files, code, said := ask(args...)
			if code != Done || !strings.Contains(said, note) || note == "" && said != "" {
				t.Errorf("%s: %v ends with %d and says %q", what, args, code, said)
				continue
			}
			got, err := view.Parse(files[0])
			if err != nil || len(got.Files) != 1 || got.Files[0] != want || got.Tab != "functions" || got.Contents != nil || len(files) > 1 && files[1] != "" {
				t.Errorf("%s: %v shows %q", what, args, files)
			}
		}
	}
	is("where it was", path, "", address)
	if err := os.Rename(path, far); err != nil {
		t.Fatal(err)
	}
	if _, code, said := ask(address); code != Problem || !strings.Contains(said, "No file with the same contents") {
		t.Errorf("of what is gone it ends with %d and says %q", code, said)
	}
	is("named behind it", far, "", address, far)
	if err := kept.Opened(far, time.Now()); err != nil {
		t.Fatal(err)
	}
	is("opened lately", far, "with the same contents", address)
	other := filepath.Join(dir, "other.folded")
	if err := os.WriteFile(other, []byte("main;g 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	is("another one behind it", other, "differs from the recording of the address", address, other)
	if _, code, _ := ask(address, other, far); code != Usage {
		t.Errorf("of an address of one and two files it ends with %d", code)
	}
}

// TestFromDesktop checks that a missing file is an error in a terminal, but opens a window
// with the error if the desktop started the program. The desktop's compare action needs no
// file: the window asks for one.
func TestFromDesktop(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone.spall")
	for _, x := range []struct {
		args []string
		code int
		want WindowOptions
	}{
		{[]string{"--", gone}, Problem, WindowOptions{}},
		{[]string{"--from-desktop", "--", gone}, Done, WindowOptions{Desktop: true, Files: []string{gone}}},
		{[]string{"--compare-with-open"}, 2, WindowOptions{}},
		{[]string{"--from-desktop", "--compare-with-open", "--"}, Done, WindowOptions{Desktop: true, Compare: true}},
	} {
		var got WindowOptions
		var errs bytes.Buffer
		run := Runner{Store: func() (*settings.Store, error) { return nil, nil }, Window: func(o WindowOptions) error { got = o; return nil }}
		if code := Main(x.args, nil, &errs, &errs, run); code != x.code {
			t.Errorf("%q ends with %d: %s", x.args, code, errs.String())
		}
		if got.Desktop != x.want.Desktop || got.Compare != x.want.Compare || !slices.Equal(got.Files, x.want.Files) {
			t.Errorf("%q opens %+v", x.args, got)
		}
	}
}
