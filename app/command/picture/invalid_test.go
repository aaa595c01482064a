package picture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
)

// TestInvalidAddress checks that render refuses an address with an invalid search,
// transform or filter, of one file and of two.
func TestInvalidAddress(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "run.folded"), filepath.Join(dir, "out.svg")
	if err := os.WriteFile(file, []byte("main;f 5\nmain;g 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, files := range []string{"file=" + file, "file=" + file + "&file=" + file, "file=" + file + "&file=" + file + "&tab=two"} {
		for part, want := range map[string]string{
			"find=/(/":      "invalid search: /(/ is not a regular expression",
			"find=name:/(/": "invalid search: /(/ is not a regular expression",
			"find=/" + strings.Repeat(".*", 300) + "/": "is not a regular expression: it is too complex",
			"transform=focus:/(/":                      "invalid transform: /(/ is neither a name nor a regular expression",
			"calls-filter=a~(":                         "invalid filter of calls: ",
		} {
			var said bytes.Buffer
			code := command.Main([]string{"render", "ashlar:1?" + files + "&" + part, "-o", out, "--size", "900x500"}, nil, &said, &said, command.Runner{Render: picture.Render})
			if _, err := os.Stat(out); code != command.Problem || !strings.Contains(said.String(), want) || err == nil {
				t.Errorf("%s, %s: exit code %d, %s", files, part, code, said.String())
				os.Remove(out)
			}
		}
	}
}
