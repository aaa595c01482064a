package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// nested is a Chrome trace of n spans, each inside the one before.
func nested(n int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range n {
		fmt.Fprintf(&b, `{"ph":"X","name":"f%d","ts":%d,"dur":%d,"pid":1,"tid":1},`, i%100, i, 2*(n-i))
	}
	b.WriteString("{}]")
	return b.Bytes()
}

// TestConvertSize checks that a conversion that would write gigabytes of stacks is refused
// before it writes any, with the way around it, and that one of hundreds of megabytes says
// so first.
func TestConvertSize(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "deep.json")
	if err := os.WriteFile(in, nested(30_000), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"deep.spaa", "deep.spaa.gz", "deep.folded"} {
		r := run("convert", in, filepath.Join(dir, out))
		r.sentence(t, Problem, out, "the output will have about 1.", " GB, because 30000 stacks are written in full, with 450 million frames", "--range", ".spall", "--large")
	}
	if folder(t, dir) != "deep.json" {
		t.Errorf("there is %s", folder(t, dir))
	}
	if r := run("convert", in, filepath.Join(dir, "deep.spall")); r.code != Done {
		t.Errorf("spall: %d %s", r.code, r.stderr)
	}
	if testing.Short() {
		return
	}
	if err := os.WriteFile(in, nested(8_000), 0o666); err != nil {
		t.Fatal(err)
	}
	r := run("convert", in, filepath.Join(dir, "deep.spaa.zst"))
	if r.code != Done || !strings.HasPrefix(r.stderr, "ashlar: the output will have about 128 MB, because 8000 stacks are written in full") {
		t.Errorf("%d %q", r.code, r.stderr)
	}
}
