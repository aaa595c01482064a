package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ashlar/testdata/samples"
)

var quoted = regexp.MustCompile(`'[^']*'`)

// TestWidth checks that on a terminal with 80 columns no command prints a longer line, for all
// samples.
func TestWidth(t *testing.T) {
	old := columnsOf
	columnsOf = func(io.Writer) int { return 80 }
	defer func() { columnsOf = old }()
	long := filepath.Join(t.TempDir(), "long.folded")
	if err := os.WriteFile(long, []byte("main;"+strings.Repeat("name::space<int>::", 40)+"end 5\nmain;"+strings.Repeat("ä", 90)+" 7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := []string{long, "testdata/small.spaa", "testdata/small.spall", "testdata/diff-a.folded"}
	if !testing.Short() {
		paths = append(paths, samples.Small(2<<20, samples.Files(t))...)
	}
	narrow := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		Main(args, nil, &out, &errs, Runner{Read: read.In("")})
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) <= 80 || len(strings.Fields(quoted.ReplaceAllString(strings.TrimSuffix(line, ` \`), "x"))) == 1 {
				continue // a single word cannot be wrapped
			}
			t.Errorf("%v prints %d columns: %s", args, utf8.RuneCountInString(line), line)
			return
		}
	}
	for _, path := range paths {
		for _, args := range [][]string{{"overview"}, {"findings"}, {"info"}, {"top"}, {"top", "--tree"}, {"top", "--by", "thread"}, {"top", "--by", "module"}, {"check"}} {
			narrow(append(append([]string{args[0]}, path), args[1:]...)...)
		}
		narrow("diff", path, long)
		if t.Failed() {
			return
		}
	}
	narrow("--help")
	for _, c := range commands() {
		narrow(c.Name, "--help")
	}
}
