//go:build !race

package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/group"
)

// limitedScratch is the environment variable with the child's scratch folder for columns.
const limitedScratch = "ASHLAR_TEST_LIMITED_SCRATCH"

// limitedHeld is the number of additional bytes that the child keeps allocated. On a busy
// machine, queued work takes as much.
const limitedHeld = 6 << 20

// TestLargerThanItsGroup reads a recording whose columns do not fit into the memory of the
// process's control group. It must read all of it, give the same answers as without a
// limit, and leave no files behind.
func TestLargerThanItsGroup(t *testing.T) {
	if path := os.Getenv(limitedFile); path != "" {
		if err := group.Join(os.Getenv(limitedIn)); err != nil {
			t.Fatal("there is no limit:", err)
		}
		held := bytes.Repeat([]byte{1}, limitedHeld)
		rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{Scratch: os.Getenv(limitedScratch)})
		if err != nil {
			t.Fatal(err)
		}
		runtime.KeepAlive(held)
		os.Stdout.WriteString(answers(t, rec))
		return
	}
	if testing.Short() {
		t.Skip("SKIPPED: reads six million spans twice; runs without the race detector")
	}
	const memory = 96 << 20
	folder := group.New(t, memory)
	path := filepath.Join(t.TempDir(), "larger.spall")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := synth.Write(f, synth.Options{Kind: "spall3", Shape: "auto", Records: 13_000_000, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	rec, _, err := ingest.ReadAll(t.Context(), path, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := answers(t, rec)
	if n := rec.Counts.Spans; n != sum.Spans || 16*n < memory { // 16 bytes or more per span
		t.Fatalf("it has %d spans, of %d", n, sum.Spans)
	}
	scratch := filepath.Join(t.TempDir(), "scratch")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLargerThanItsGroup$")
	cmd.Env = append(os.Environ(), limitedFile+"="+path, limitedIn+"="+folder, limitedScratch+"="+scratch, "GOMEMLIMIT=off", "GOGC=100")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("in a group it ends with %v, and says\n%.2000s\nnot\n%.2000s", err, out, want)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
		t.Errorf("files are left: %v, %v", left, err) // no folder: the columns fitted into memory
	}
}

// answers returns a recording's bounds, counts, warnings and function table as text.
func answers(t *testing.T, rec *recording.Recording) string {
	t.Helper()
	weights, err := analyze.Weigh(t.Context(), rec, analyze.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, rec.Start, rec.End, rec.Counts, rec.Warnings)
	for _, row := range analyze.Table(rec, analyze.NewTree(rec, weights), analyze.ByFunction) {
		fmt.Fprintf(&b, "%+v\n", row)
	}
	return b.String()
}
