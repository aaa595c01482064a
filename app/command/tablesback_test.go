package command

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// inRecordings are the columns of the table recordings that a recording keeps when it is read
// back from its tables.
var inRecordings = []string{"tool", "command", "duration_ps", "clock_unit", "clock_unit_ps", "clock_start", "spans", "samples", "stacks", "states"}

// checkBack writes a recording as tables, opens them as a recording, and compares its answers
// with those of the original; and its tables, written again, with the tables.
func checkBack(t *testing.T, path string) {
	dir, again := t.TempDir(), t.TempDir()
	for _, r := range []ran{ask("tables", path, "-o", dir), ask("tables", dir, "-o", again)} {
		if r.code != Done {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
	}
	name := relation.Names([]string{path})[0]
	for _, x := range relation.Tables {
		want, got := tableRows(t, dir, x.Name, name), tableRows(t, again, x.Name, name)
		if x.Name == "recordings" {
			for i := range want {
				maps.DeleteFunc(want[i], func(c, _ string) bool { return !slices.Contains(inRecordings, c) })
				maps.DeleteFunc(got[i], func(c, _ string) bool { return !slices.Contains(inRecordings, c) })
			}
		}
		if x.Name == "warnings" || x.Name == "notes" {
			got = got[:min(len(got), len(want))] // reading adds some
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d", x.Name, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if !maps.Equal(got[i], want[i]) {
				t.Errorf("%s, row %d: %v, want %v", x.Name, i, got[i], want[i])
				break
			}
		}
	}
	in, back := infoOf(t, path), infoOf(t, dir)
	if !reflect.DeepEqual(in.Events, back.Events) || !reflect.DeepEqual(in.Threads, back.Threads) {
		t.Errorf("info: %v\n%v, want %v\n%v", back.Events, back.Threads, in.Events, in.Threads)
	}
	for _, e := range in.Events {
		for _, m := range e.Metrics {
			args := []string{"--metric", m.Name}
			if e.Name != "" {
				args = append(args, "--event", e.Name)
			}
			want, got := topOf(t, append(args, path)...), topOf(t, append(args, dir)...)
			if want.Basis != got.Basis || want.Total != got.Total || !reflect.DeepEqual(want.Rows, got.Rows) {
				t.Errorf("top %v: %s %v, want %s %v", args, got.Total, got.Rows[:min(len(got.Rows), 3)], want.Total, want.Rows[:min(len(want.Rows), 3)])
			}
		}
	}
}

// TestTablesBack checks that the tables of small recordings open as the same recordings.
func TestTablesBack(t *testing.T) {
	rounds.Unraced(t)
	for _, name := range []string{"small.spaa", "small.spall", "small.ftrace", "diff-a.folded", "damaged.spaa", "small-gpu.json"} {
		t.Run(name, func(t *testing.T) { checkBack(t, "testdata/"+name) })
	}
}

// mostBack is the size of a small sample in bytes.
const mostBack = 6 << 10

// TestTablesBackOfSamples is TestTablesBack for small samples; large ones differ in size only.
func TestTablesBackOfSamples(t *testing.T) {
	samples.Need(t)
	if testing.Short() {
		t.Skip("it writes thousands of files")
	}
	for _, path := range samples.Small(mostBack, samples.Files(t)) {
		if ask("info", path).code != Done {
			continue
		}
		t.Run(samples.Name(path), func(t *testing.T) { checkBack(t, path) })
	}
}

// TestDataSet checks which recording of a data set opens.
func TestDataSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	if r := ask("tables", "testdata/small.spall", "testdata/small.spaa", "-o", dir); r.code != Done {
		t.Fatalf("%d %s", r.code, r.stderr)
	}
	if r := ask("top", dir); r.code != Problem || !strings.Contains(r.stderr, "runs is a data set of 2 recordings. Open one of the folders in "+filepath.Join(dir, "recordings")+": recording=small.spaa, recording=small.spall") {
		t.Errorf("two recordings: %d %s", r.code, r.stderr)
	}
	want := fmt.Sprint(topOf(t, "testdata/small.spall").Rows)
	for _, of := range []string{"recordings/recording=small.spall", "spans/recording=small.spall", "recordings/recording=small.spall/rows.parquet"} {
		if got := fmt.Sprint(topOf(t, filepath.Join(dir, of)).Rows); got != want {
			t.Errorf("%s: %s, want %s", of, got, want)
		}
	}
	alone := filepath.Join(t.TempDir(), "rows.parquet")
	b, err := os.ReadFile(filepath.Join(dir, "recordings", "recording=small.spall", "rows.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if r := ask("top", alone); r.code != Problem || !strings.Contains(r.stderr, "without the other tables beside it") {
		t.Errorf("alone: %d %s", r.code, r.stderr)
	}
}
