//go:build !race

package command

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/core/cache"
	"ashlar/app/core/settings"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/group"
)

// limitedGroup is the environment variable with the control group of a child process, and
// limitedArgs the one with its arguments.
const (
	limitedGroup = "ASHLAR_TEST_LIMITED_GROUP"
	limitedArgs  = "ASHLAR_TEST_LIMITED_ARGS"
)

// TestTablesInLittleMemory writes a recording whose columns are larger than the memory of the
// process's control group as tables. The files must be the same as without a limit, and pages
// must not be read from disk again and again.
func TestTablesInLittleMemory(t *testing.T) {
	if folder := os.Getenv(limitedGroup); folder != "" {
		if err := group.Join(folder); err != nil {
			t.Fatal("there is no limit:", err)
		}
		code := Main(strings.Split(os.Getenv(limitedArgs), "\n"), os.Stdin, os.Stdout, os.Stderr, Runner{
			Cache: func() *cache.Cache { return cache.In(t.TempDir(), settings.CacheSettings{}) },
		})
		io, err := os.ReadFile("/proc/self/io")
		if code != Done || err != nil {
			t.Fatal("exit code", code, err)
		}
		os.Stdout.Write(io)
		return
	}
	if testing.Short() {
		t.Skip("SKIPPED: reads eight million spans twice; runs without the race detector")
	}
	const memory = 160 << 20
	folder := group.New(t, memory)
	dir := t.TempDir()
	path := filepath.Join(dir, "larger.spall")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := synth.Write(f, synth.Options{Kind: "spall3", Shape: "auto", Records: 16_000_000, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if 24*sum.Spans < memory { // 24 bytes per span
		t.Fatalf("%d spans fit into memory", sum.Spans)
	}
	free, limited := filepath.Join(dir, "free"), filepath.Join(dir, "limited")
	if r := runAs(Runner{}, nil, "tables", path, "-o", free); r.code != Done {
		t.Fatal(r.stderr)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTablesInLittleMemory$")
	cmd.Env = append(os.Environ(), limitedGroup+"="+folder, limitedArgs+"=tables\n"+path+"\n-o\n"+limited, "XDG_CACHE_HOME="+dir, "GOMEMLIMIT=off", "GOGC=100")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in a group: %v\n%.2000s", err, out)
	}
	same := 0
	for _, root := range []string{free, limited} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			want, err := os.ReadFile(filepath.Join(free, rel))
			if err != nil {
				return err
			}
			got, err := os.ReadFile(filepath.Join(limited, rel))
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs", rel)
			}
			same++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if same < 20 {
		t.Errorf("only %d files were compared", same)
	}
	var read int64
	for line := range strings.Lines(string(out)) {
		if n, ok := strings.CutPrefix(line, "read_bytes: "); ok {
			if read, err = strconv.ParseInt(strings.TrimSpace(n), 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes were read from disk, the file has %d", read, info.Size())
	if read > 8*info.Size() {
		t.Errorf("%d bytes were read from disk, the file has %d", read, info.Size())
	}
}
