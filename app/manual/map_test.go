package manual

import (
	"flag"
	"go/build"
	"go/doc"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/app/manual/manualtest"
)

var update = flag.Bool("update", false, "write the tables of the pages anew")

// The architecture page lists every package with the sentence at its head, so
// that the map is never of another house.
func TestMapOfPackages(t *testing.T) {
	manualtest.CheckTable(t, "assets/manual/architecture.md", "packages", packageTable(t), *update)
}

func packageTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| package | what it does |\n|---|---|\n")
	for _, top := range []string{"app", "render", "ingest", "spaa", "assets", "testdata"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(dir, filepath.FromSlash("../../")))
			if line := synopsis(t, dir); line != "" {
				b.WriteString("| `" + name + "` | " + line + " |\n")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// synopsis is the first sentence of a package's documentation, which on the page
// stands beside its name; "" for a folder without Go files.
func synopsis(t *testing.T, dir string) string {
	t.Helper()
	// Files for other systems count: their packages are there too.
	context := build.Default
	context.UseAllFiles = true
	p, err := context.ImportDir(dir, build.ImportComment)
	if _, none := err.(*build.NoGoError); none {
		return ""
	}
	if p.Doc == "" {
		if len(p.GoFiles)+len(p.CgoFiles) > 0 {
			t.Errorf("%s: no file says what the package is for", dir)
		}
		return ""
	}
	line := new(doc.Package).Synopsis(p.Doc)
	line = strings.TrimRight(regexp.MustCompile(`^(Package|Command) \w+ `).ReplaceAllString(line, ""), ".:")
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`, "[", "", "]", "").Replace(line)
}
