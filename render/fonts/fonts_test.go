package fonts

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-text/typesetting/font"
)

const needed = "no font of this system has %q; the tests need those of Debian's fonts-wqy-zenhei and fonts-hosny-amiri"

func TestFindsFontsOfTheSystem(t *testing.T) {
	var f Finder
	if f.Font('中') != nil || f.Version() != 0 {
		t.Fatal("a finder that was not started looks for fonts")
	}
	f.Start(nil)
	for _, r := range "中文函数한ح" {
		ft := f.Font(r)
		if ft == nil {
			t.Fatalf(needed, r)
		}
		if _, ok := ft.NominalGlyph(r); !ok {
			t.Errorf("the font that is given for %q does not have it", r)
		}
	}
	n := len(f.Fonts())
	if n > 3 || f.Version() != int64(n) {
		t.Errorf("%d fonts were loaded for three scripts, in %d steps", n, f.Version())
	}
	// No common font has this private-use character.
	if ft := f.Font('\U0010fffd'); ft != nil {
		t.Errorf("%q is said to be in %v", '\U0010fffd', ft.Describe())
	}
	if len(f.Fonts()) != n {
		t.Error("a font was kept for a character that it does not have")
	}
}

// TestLooksBesideTheWindow checks that the search runs in the background: Font returns
// nil at first, and the font once wake was called.
func TestLooksBesideTheWindow(t *testing.T) {
	var f Finder
	woken := make(chan struct{}, 16)
	f.Start(func() { woken <- struct{}{} })
	has := func(r rune) bool { return r < 0x250 }
	f.Want("plain naïve text", has)
	if f.busy {
		t.Error("a text that lacks nothing was looked for")
	}
	if f.Font('中') != nil {
		t.Error("the first answer did not wait")
	}
	f.Want("函数 f(x)", has)
	deadline := time.After(2 * time.Minute)
	var got *font.Font
	for got == nil {
		select {
		case <-woken:
			got = f.Font('数')
		case <-deadline:
			t.Fatalf(needed, '数')
		}
	}
	if f.Version() == 0 {
		t.Error("fonts were found, but the version says nothing")
	}
}

// TestMissingCharactersAreNumbers checks that a text keeps its characters until the search
// ends, and then has numbers for those in no font.
func TestMissingCharactersAreNumbers(t *testing.T) {
	var f Finder
	has := func(r rune) bool { return r < 0x250 }
	const text = "a\U0010fffdb"
	if got := f.Readable(text, has); got != text {
		t.Errorf("without a search, %+q became %+q", text, got)
	}
	woken := make(chan struct{}, 16)
	f.Start(func() { woken <- struct{}{} })
	if got := f.Readable(text, has); got != text {
		t.Errorf("during the search, %+q became %+q", text, got)
	}
	select {
	case <-woken:
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing says that the search has ended")
	}
	if got := f.Readable(text, has); got != "a[U+10FFFD]b" {
		t.Errorf("after the search, %+q is %+q", text, got)
	}
}

// TestIndexPlaces checks which folders can hold the index.
func TestIndexPlaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := writable(dir); err != nil {
		t.Fatalf("a folder that is not there yet: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("trying a folder left %v (%v)", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if writable(filepath.Join(file, "sub")) == nil {
		t.Error("a folder below a file is said to be writable")
	}
}
