package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestForeignFiles: no command replaces a file that it did not write, unless --force says so.
func TestForeignFiles(t *testing.T) {
	const file = "testdata/small.spaa"
	dir := t.TempDir()
	mine := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	held := func(path, words string, args ...string) {
		t.Helper()
		r := run(args...)
		r.sentence(t, Problem, words)
		if b, err := os.ReadFile(path); err != nil || string(b) != "mine\n" {
			t.Errorf("%v: %s has %.20q, %v", args, path, b, err)
		}
	}
	png := mine("notes.png")
	// The picture of a report lies beside it.
	report := filepath.Join(dir, "notes.md")
	held(png, "notes.png: the file already exists; --force replaces it", "report", file, "-o", report)
	if _, err := os.Stat(report); err == nil {
		t.Errorf("a report without its picture was written")
	}
	if r := run("report", file, "-o", report, "--redact"); r.code != Done {
		t.Errorf("a report without a picture: %s", r.stderr)
	}

	if runtime.GOOS == "windows" {
		return
	}
	link := filepath.Join(dir, "link.spaa")
	if err := os.Symlink("nowhere.spaa", link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"convert", file, link}, {"convert", file, link, "--force"}} {
		r := run(args...)
		r.sentence(t, Problem, "link.spaa is a link to nowhere.spaa, which does not exist")
		if to, err := os.Readlink(link); err != nil || !strings.Contains(to, "nowhere") {
			t.Errorf("the link is %q, %v", to, err)
		}
	}
}
