package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/testdata/rounds"
)

// TestDamagedIsReadAnew flips single bits at places throughout an entry. None of the damaged
// entries may open, and the file is read again with a remark.
func TestDamagedIsReadAnew(t *testing.T) {
	dir := t.TempDir()
	path, c := aFile(t, dir, 1), in(filepath.Join(dir, "cache"))
	first, _ := read(t, c, path)
	all, err := c.List()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	name := all[0].name
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	from, err := originOf(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.open(from); err != nil {
		t.Fatal(err)
	}
	places := rounds.Of(400)
	for i := range places {
		at := i * (len(good) - 1) / (places - 1)
		damaged := bytes.Clone(good)
		damaged[at] ^= 1 << (i % 8)
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.open(from); err == nil {
			t.Fatalf("with another bit in byte %d of %d it is opened", at, len(good))
		}
	}
	rec, was := read(t, c, path)
	if was || rec.Counts != first.Counts {
		t.Errorf("kept %v, %+v, want %+v", was, rec.Counts, first.Counts)
	}
	remarks := ""
	for _, w := range rec.Warnings {
		if w.Code == ingest.WarnKept {
			remarks += w.Text
		}
	}
	if !strings.Contains(remarks, "was unusable") {
		t.Errorf("the remark is %q", remarks)
	}
	if _, was := read(t, c, path); !was {
		t.Error("it is not kept anew")
	}
}
