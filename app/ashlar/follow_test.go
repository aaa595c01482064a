//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/testdata/e2e"
)

// TestFollowInTheWindow appends to an open file, replaces it and deletes it. The window shows
// the new content, or the last one after deletion; the selected function and the transforms
// stay.
func TestFollowInTheWindow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.folded")
	if err := os.WriteFile(path, []byte(smallRun), 0o644); err != nil {
		t.Fatal(err)
	}
	d := e2e.StartDisplay(t)
	s := startOn(t, d, "--follow", "ashlar:1?file="+path+"&transform=invert&function=read&tab=functions")
	s.until("the recording", func(f frame) bool { return f.Total == "100" && f.Picked == "read" })
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	sum := 100
	for i := range 20 {
		fmt.Fprintf(f, "main;more%d 5\n", i)
		sum += 5
		time.Sleep(100 * time.Millisecond)
	}
	f.Close()
	same := func(f frame) bool {
		return f.Picked == "read" && len(f.Transforms) == 1 && f.Tab == "functions"
	}
	s.until("all that was added", func(f frame) bool { return f.Total == fmt.Sprint(sum) && same(f) })
	if err := os.WriteFile(path+".new", []byte("zz;other 1\n"+strings.ReplaceAll(smallRun, "main", "start")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.until("the file that took its place", func(f frame) bool { return f.Total == "101" && same(f) })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	s.Key("t") // the window still responds
	s.until("the last picture", func(f frame) bool { return f.Total == "101" && f.Tab != "functions" })
	s.Key("ctrl+q")
	if code := s.WaitExit(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
