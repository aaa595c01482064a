package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ashlar/assets/project"
)

// owned gives the project an owner until the end of the test.
func owned(t *testing.T, home string) {
	maintainer, was := project.Maintainer, project.HomePage
	t.Cleanup(func() { project.Maintainer, project.HomePage = maintainer, was })
	project.Maintainer, project.HomePage = "Ann Example <ann@example.org>", home
}

// released100 returns a release with files in place of the archives that recipes refer to.
func released100(t *testing.T) (*release, *program, []entry) {
	r, p := fake(t)
	r.version = "1.0.0"
	var files []entry
	for _, name := range []string{"ashlar-cli-1.0.0-macos-arm64.tar.gz", "ashlar-cli-1.0.0-macos-amd64.tar.gz", "ashlar-cli-1.0.0-linux-arm64.tar.gz",
		"ashlar-cli-1.0.0-linux-amd64.tar.gz", "ashlar-1.0.0-linux-amd64.tar.gz", "ashlar-1.0.0-windows-amd64.zip", "ashlar-1.0.0-windows-arm64.zip"} {
		files = append(files, file(name, 0o644, []byte(name)))
	}
	return r, p, files
}

// TestRecipes reads the recipes and asks the tools that are installed about them.
func TestRecipes(t *testing.T) {
	owned(t, "https://example.org/ann/ashlar")
	r, p, files := released100(t)
	_, content := untar(t, twice(t, "the recipes", func() ([]byte, error) { f, err := r.recipes(p, files); return f.data, err }))
	dir := t.TempDir()
	n := 0
	for name, b := range content {
		if strings.HasSuffix(name, "/") {
			continue
		}
		n++
		path := filepath.Join(dir, strings.TrimPrefix(name, "ashlar-1.0.0-recipes/"))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`@[A-Z-]{2,}|TODO`).Find(b); m != nil {
			t.Errorf("%s holds %s", name, m)
		}
		if strings.HasSuffix(name, "ml") {
			var v map[string]any
			if err := yaml.Unmarshal(b, &v); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if id := v["PackageIdentifier"]; strings.Contains(name, "winget") && (id != "Ashlar.Ashlar" || v["PackageVersion"] != "1.0.0") {
				t.Errorf("%s is of %v %v", name, id, v["PackageVersion"])
			}
		}
	}
	if n != len(recipePaths) {
		t.Errorf("there are %d recipes, want %d", n, len(recipePaths))
	}
	// Each file has its address and its checksum next to each other, here those of sha256sum.
	var all []byte
	for _, name := range []string{"homebrew/ashlar-cli.rb", "aur/PKGBUILD", "winget/Ashlar.Ashlar.installer.yaml", "flatpak/dev.ashlar.Ashlar.yml"} {
		all = append(all, content["ashlar-1.0.0-recipes/"+name]...)
	}
	for _, f := range files {
		cmd := exec.Command("sha256sum")
		cmd.Stdin = bytes.NewReader(f.data)
		sum, err := cmd.Output()
		if err != nil {
			t.Skip("sha256sum is not installed")
		}
		if !regexp.MustCompile(fmt.Sprintf(`https://example\.org/ann/ashlar/releases/download/v1\.0\.0/%s\W+\w+\W+%s\W`, regexp.QuoteMeta(f.path), sum[:64])).Match(all) {
			t.Errorf("no recipe has the address and checksum of %s (%s)", f.path, sum[:64])
		}
	}
	check := func(want string, dir string, command ...string) {
		t.Helper()
		if _, err := exec.LookPath(command[0]); err != nil {
			t.Log(err)
			return
		}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PACMAN=true") // makepkg looks for pacman even to print
		var out, problem bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problem
		if err := cmd.Run(); err != nil || want != "" && out.String() != want {
			t.Errorf("%q: %v\n%s%s\nwant\n%s", command, err, problem.String(), out.String(), want)
		}
	}
	check("Syntax OK\n", dir, "ruby", "-wc", "homebrew/ashlar-cli.rb")
	check("", dir, "sh", "-n", "appimage/build.sh")
	check("", dir, "bash", "-n", "aur/PKGBUILD")
	check("", dir, "flatpak-builder", "--show-manifest", "flatpak/dev.ashlar.Ashlar.yml")
	printed := []string{"makepkg", "--printsrcinfo"}
	if _, err := exec.LookPath("makepkg"); err == nil && os.Getuid() == 0 { // which it refuses to run as
		printed = append([]string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, printed...)
		for d := filepath.Join(dir, "aur"); len(d) > len(os.TempDir()); d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	check(string(content["ashlar-1.0.0-recipes/aur/.SRCINFO"]), filepath.Join(dir, "aur"), printed...)
}

// TestNoInvalidRecipes checks that recipes are refused rather than wrong.
func TestNoInvalidRecipes(t *testing.T) {
	r, p, files := released100(t)
	owned(t, "")
	if why := r.noRecipes(); !strings.Contains(why, "fill in HomePage") {
		t.Errorf("without a home page: %q", why)
	}
	for _, home := range []string{"http://example.org/a", "https://example.org/a/", `https://example.org/"; rm -rf /`} {
		project.HomePage = home
		if _, err := r.recipes(p, files); err == nil {
			t.Errorf("the home page %q is accepted", home)
		}
	}
	project.HomePage = "https://example.org/ann/ashlar"
	if why := r.noRecipes(); why != "" {
		t.Errorf("a release has no recipes: %s", why)
	}
	if _, err := r.recipes(p, files[1:]); err == nil || !strings.Contains(err.Error(), files[0].path) {
		t.Errorf("without a file of the release: %v", err)
	}
	r.version = "1.0.0-3-gabc"
	if why := r.noRecipes(); why == "" {
		t.Error("there are recipes for a version that is no release")
	}
}
