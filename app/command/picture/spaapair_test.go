package picture_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocalIDs checks the sentence of section 4.1 that needs two files: local ids "MUST NOT
// be relied upon for comparison between files". The second file has the ids of the first
// one swapped, so a comparison by id would find that all cost moved.
func TestLocalIDs(t *testing.T) {
	dir := t.TempDir()
	one := strings.Replace(strings.Join(specFile, "\n")+"\n", "content_addressable", "local", 1)
	two := strings.NewReplacer(`"0xa"`, `"0xb"`, `"0xb"`, `"0xa"`).Replace(one)
	a, b := filepath.Join(dir, "a.spaa"), filepath.Join(dir, "b.spaa")
	for path, text := range map[string]string{a: one, b: two} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var diff struct {
		Verdict string
		Rows    []json.RawMessage
		A, B    struct{ Total int64 }
	}
	if err := json.Unmarshal([]byte(run(t, "diff", a, b, "--json")), &diff); err != nil {
		t.Fatal(err)
	}
	if diff.A.Total != 40 || diff.B.Total != 40 || len(diff.Rows) != 0 {
		t.Errorf("two files that differ in ids alone: %+v", diff)
	}
}

// TestLossless checks the guarantee of section 8 "Lossless round-trip from native formats":
// a native file that became SPAA and is converted back has the same bytes.
func TestLossless(t *testing.T) {
	dir := t.TempDir()
	for name, native := range map[string]string{
		"a.folded": "main 7\nmain;read file;[kernel] 12\nmain;run 30\n",
		"b.folded": "main;f(int) 1.25\nmain;g 3\n",
	} {
		in, out := filepath.Join(dir, name), filepath.Join(dir, "back-"+name)
		if err := os.WriteFile(in, []byte(native), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, "convert", in, in+".spaa")
		run(t, "convert", in+".spaa", out)
		if got, err := os.ReadFile(out); err != nil || string(got) != native {
			t.Errorf("%s comes back as %q (%v), want %q", name, got, err, native)
		}
	}
}
