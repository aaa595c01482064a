package main

import (
	"os"
	"path/filepath"
	"testing"

	"ashlar/testdata/gen/synth"
)

func TestWriteLeavesWholeFilesOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.spall")
	sum, err := write(synth.Options{Kind: "spall1", Records: 1000}, path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != sum.Bytes {
		t.Errorf("the file is not the %d bytes that were written: %v, %v", sum.Bytes, info, err)
	}
	if _, err := write(synth.Options{Kind: "nothing"}, filepath.Join(dir, "b")); err == nil {
		t.Error("a kind that does not exist was written")
	}
	if _, err := write(synth.Options{Kind: "spall1"}, filepath.Join(dir, "missing", "c")); err == nil {
		t.Error("a folder that does not exist was written to")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder should hold a.spall alone: %v, %v", entries, err)
	}
}
