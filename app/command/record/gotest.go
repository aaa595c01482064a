package record

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/core/subcommand"
)

// runGoTest records a Go package's tests or benchmarks with the test binary's own profiler.
// The binary is kept beside the recording, because it has the instructions.
func runGoTest(_ context.Context, j *job) (outcome, error) {
	if len(j.args) < 2 || j.args[1] != "test" {
		return outcome{}, subcommand.Misuse("--with gotest is for go test PACKAGE")
	}
	for _, a := range j.args[2:] {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case strings.HasSuffix(a, "..."):
			return outcome{}, subcommand.Misuse("go test profiles one package at a time; name one instead of %s", a)
		case strings.HasPrefix(a, "-") && slices.Contains([]string{"cpuprofile", "o", "c"}, name):
			return outcome{}, subcommand.Misuse("leave out %s; ashlar record sets what it needs", a)
		}
	}
	dir, err := j.folder()
	if err != nil {
		return outcome{}, err
	}
	file := filepath.Join(dir, "cpu.pprof")
	args := slices.Concat([]string{"test", "-cpuprofile=" + file, "-o=" + dir + string(filepath.Separator)}, j.args[2:])
	c, err := j.start(j.command(j.path, args...))
	if err != nil {
		return outcome{}, err
	}
	defer c.stop()
	out := c.wait()
	if st, err := os.Stat(file); err != nil || st.Size() == 0 {
		j.note("go test wrote no profile: the package does not build, has no tests, or was interrupted")
		return out, nil
	}
	j.keepTest(dir)
	return out, j.keep(file, j.file)
}

// keepTest moves the test binary beside the recording.
func (j *job) keepTest(dir string) {
	binaries, _ := filepath.Glob(filepath.Join(dir, "*.test*"))
	for _, b := range binaries {
		to := filepath.Join(filepath.Dir(j.file), filepath.Base(b))
		if st, err := os.Stat(to); err == nil && (!st.Mode().IsRegular() || st.Mode()&0o111 == 0) {
			continue // not a program
		}
		if j.keep(b, to) == nil {
			_ = os.Chmod(to, 0o755)
			j.note("%s has its instructions", to)
		}
	}
}
