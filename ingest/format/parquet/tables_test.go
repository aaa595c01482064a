package parquet

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
)

// writeTables writes all tables of a recording into a folder and returns their contents by name.
func writeTables(t testing.TB, dir string, rec *recording.Recording) map[string][]byte {
	t.Helper()
	set, files := relation.New(rec), map[string][]byte{}
	for _, table := range relation.Tables {
		var b bytes.Buffer
		if _, err := Write(context.Background(), &b, set, table, nil); err != nil {
			t.Fatal(err)
		}
		files[table.Name] = b.Bytes()
		put(t, Place(dir, table.Name, "x"), b.Bytes())
	}
	return files
}

func put(t testing.TB, path string, content []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, content, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readTables reads the recording of a data set; it must be consistent even if the tables are
// damaged.
func readTables(t testing.TB, dir string) (*recording.Recording, error) {
	t.Helper()
	in, err := source.Open(Place(dir, "recordings", "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := recording.NewBuilder()
	err = Decode(context.Background(), in, b, decode.Options{})
	rec := b.Finish()
	if err := rec.Verify(context.Background()); err != nil {
		t.Fatalf("the recording is inconsistent: %v", err)
	}
	return rec, err
}

// TestDamagedTables reads data sets with one damaged table.
func TestDamagedTables(t *testing.T) {
	dir := t.TempDir()
	files := writeTables(t, dir, example(40))
	if _, err := readTables(t, dir); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	failed := 0
	for name, content := range files {
		for range rounds.Of(60) {
			b := bytes.Clone(content)
			for range 1 + rng.IntN(3) {
				b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8))
			}
			put(t, Place(dir, name, "x"), b)
			if _, err := readTables(t, dir); err != nil {
				failed++
			}
		}
		put(t, Place(dir, name, "x"), content)
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

// TestWrongTables reads data sets whose tables do not fit together.
func TestWrongTables(t *testing.T) {
	rounds.Unraced(t)
	for _, name := range []string{"metrics", "processes", "threads", "functions", "frames", "calls", "spans", "samples", "sample_values", "stacks", "stack_values", "labels", "windows", "window_stacks", "states", "counters"} {
		dir := t.TempDir()
		writeTables(t, dir, example(40))
		if err := os.Remove(Place(dir, name, "x")); err != nil {
			t.Fatal(err)
		}
		rec, err := readTables(t, dir)
		if err == nil && rec.Warnings == nil && name != "states" && name != "stacks" && name != "samples" && name != "spans" {
			t.Errorf("nothing says that the table %s is missing", name)
		}
	}
}

// FuzzTables reads data sets with one table replaced.
func FuzzTables(f *testing.F) {
	dir := f.TempDir()
	files := writeTables(f, dir, example(5))
	for i, table := range relation.Tables {
		f.Add(byte(i), files[table.Name])
	}
	f.Fuzz(func(t *testing.T, i byte, content []byte) {
		name := relation.Tables[int(i)%len(relation.Tables)].Name
		put(t, Place(dir, name, "x"), content)
		if len(content) > 0 {
			readTables(t, dir)
		}
		put(t, Place(dir, name, "x"), files[name])
	})
}
