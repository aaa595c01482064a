package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/assets/project"
)

// TestReleaseNeedsAnOwner checks that only a release is refused as long as the project does
// not say who answers for it.
func TestReleaseNeedsAnOwner(t *testing.T) {
	r, _ := fake(t)
	defer func(m, h string) { project.Maintainer, project.HomePage = m, h }(project.Maintainer, project.HomePage)
	project.Maintainer, project.HomePage = "", ""
	for version, refused := range map[string]bool{
		"1.2.3": true, "0.1.0": true, "0.0.1": true,
		"0.0.0-unknown": false, "0.0.0-20260102.34-gabc": false, "1.2.3-5-gabc": false, "1.2.3-dirty": false,
	} {
		r.version = version
		if err := r.complete(); (err != nil) != refused {
			t.Errorf("%s: %v", version, err)
		}
	}
	r.version = "1.2.3"
	project.Maintainer, project.HomePage = "Ann <ann@example.org>", "https://example.org/ann/ashlar"
	if err := r.complete(); err != nil && strings.Contains(err.Error(), "fill in") {
		t.Errorf("with an owner: %v", err)
	}
}

func TestMaintainer(t *testing.T) {
	defer func(m string) { project.Maintainer = m }(project.Maintainer)
	r := &release{root: t.TempDir()}
	project.Maintainer = ""
	t.Setenv("DEBFULLNAME", "")
	t.Setenv("DEBEMAIL", "")
	if got, err := r.maintainer(); err == nil {
		t.Errorf("without anybody, the maintainer is %s", got)
	}
	t.Setenv("DEBFULLNAME", "Bob O'Hara")
	t.Setenv("DEBEMAIL", "bob@example.org")
	if got, err := r.maintainer(); err != nil || got != "Bob O'Hara <bob@example.org>" {
		t.Errorf("the maintainer is %q: %v", got, err)
	}
	project.Maintainer = "Ann <ann@example.org>"
	if got, err := r.maintainer(); err != nil || got != project.Maintainer {
		t.Errorf("the maintainer is %q: %v", got, err)
	}
	c := newCheckout(t)
	c.git("2026-01-02T10:00:00+0000", "commit", "-q", "--allow-empty", "-m", "step")
	project.Maintainer = ""
	t.Setenv("DEBEMAIL", "")
	if got, err := (&release{root: c.dir}).maintainer(); err != nil || got != "a <a@example.org>" {
		t.Errorf("without an owner the maintainer is %q: %v", got, err)
	}
}

// TestRename gives a small module another path, and that another.
func TestRename(t *testing.T) {
	c := newCheckout(t)
	script, err := os.ReadFile("../../.ci/rename")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".ci/rename": string(script), "go.mod": "module ashlar\n\ngo 1.26.0\n", "ingest/a.go": "package ingest\n",
		"app/a.go":          "package app\n\nimport (\n\t\"ashlar/ingest\"\n\t\"x.org/ashlar/ingest\"\n)\n\nvar _, cache = ingest.A, \"ashlar/recordings\"\n",
		"app/x/cold.txt":    "ashlar/app/...\nashlar/ingest\n",
		"testdata/a.folded": "ashlar/ingest.A 1\n",
	} {
		path := filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.git("", "add", ".")
	for _, module := range []string{"example.org/ann/ashlar", "code.example.org/bob/ashlar"} {
		cmd := exec.Command("sh", ".ci/rename", module)
		cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "GO="+goTool(), "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for name, want := range map[string]string{
			"go.mod":            "module " + module + "\n\ngo 1.26.0\n",
			"app/a.go":          "package app\n\nimport (\n\t\"" + module + "/ingest\"\n\t\"x.org/ashlar/ingest\"\n)\n\nvar _, cache = ingest.A, \"ashlar/recordings\"\n",
			"app/x/cold.txt":    module + "/app/...\n" + module + "/ingest\n",
			"testdata/a.folded": "ashlar/ingest.A 1\n",
		} {
			if got, err := os.ReadFile(filepath.Join(c.dir, name)); err != nil || string(got) != want {
				t.Errorf("after the name %s, %s is\n%s", module, name, got)
			}
		}
	}
}
