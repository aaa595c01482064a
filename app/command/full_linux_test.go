package command

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFullOutput writes answers to a full device. The error must name standard output, not the
// input or an internal file.
func TestFullOutput(t *testing.T) {
	in := filepath.Join(t.TempDir(), "a.folded")
	if err := os.WriteFile(in, []byte("main;f 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"top", in}, {"top", in, "--json"}} {
		var said bytes.Buffer
		code := Main(args, nil, full, &said, Runner{})
		const want = "ashlar: standard output cannot be written (no space left on device). Make room on that disk, or write to another one\n"
		if code != Problem || said.String() != want {
			t.Errorf("%q: exit code %d, %q", args, code, said.String())
		}
	}
}
