package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/assets/desktop"
	"ashlar/assets/project"
)

// TestRPM asks rpm, if it is installed, about the package.
func TestRPM(t *testing.T) {
	r, p := fake(t)
	shared, err := desktop.Files("ashlar")
	if err != nil {
		t.Fatal(err)
	}
	var name string
	pack := twice(t, "the .rpm", func() (b []byte, err error) { b, name, err = r.rpm(p, p, shared); return })
	if name != "ashlar-1.2.3+5.gabc-1.x86_64.rpm" {
		t.Errorf("the package is %s", name)
	}
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, pack, 0o644); err != nil {
		t.Fatal(err)
	}
	rpm := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("rpm", append(args, path)...).CombinedOutput()
		if err != nil {
			t.Errorf("rpm %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if got := rpm("-K"); !strings.Contains(got, "digests OK") {
		t.Errorf("the checksums: %s", got)
	}
	if got := rpm("-qp", "--qf", "%{NEVRA} %{LICENSE} %{SUMMARY} %{BUILDTIME}"); got != fmt.Sprintf("ashlar-1.2.3+5.gabc-1.x86_64 %s %s %d", project.Licence, project.Summary, testTime.Unix()) {
		t.Errorf("the package is %s", got)
	}
	if got := rpm("-qp", "--requires"); !strings.HasPrefix(got, "libc.so.6(GLIBC_2.") {
		t.Errorf("it needs %s", got)
	}
	if got := rpm("-qp", "--recommends"); !strings.Contains(got, "libEGL.so.1()(64bit)\n") {
		t.Errorf("it recommends %s", got)
	}
	want := []string{"-rwxr-xr-x root root /usr/bin/ashlar", "-rwxr-xr-x root root /usr/bin/ashlar-cli", "-rwxr-xr-x root root /usr/lib/ashlar/ashlar", "drwxr-xr-x root root /usr/lib/ashlar",
		"drwxr-xr-x root root /usr/share/licenses/ashlar", "-rw-r--r-- root root /usr/share/licenses/ashlar/LICENSE", "-rw-r--r-- root root /usr/share/zsh/site-functions/_ashlar"}
	for _, f := range shared {
		want = append(want, "-rw-r--r-- root root /usr/share/"+f.Path)
	}
	got := strings.Split(rpm("-qp", "--qf", `[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILENAMES}\n]`), "\n")
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s is missing in %q", w, got)
		}
	}
	if got := rpm("-qp", "--licensefiles"); got != "/usr/share/licenses/ashlar/LICENSE\n/usr/share/licenses/ashlar/NOTICES\n" {
		t.Errorf("the licences are %s", got)
	}
	if out, err := exec.Command("sh", "-c", `rpm2cpio "$1" | cpio -t --quiet`, "sh", path).Output(); err == nil {
		for _, name := range strings.Fields(string(out)) {
			if !strings.HasPrefix(name, "./usr/") {
				t.Errorf("unpacked by hand, it writes %s", name)
			}
		}
	}
	root := t.TempDir()
	cmd := exec.Command("rpm", "--root", root, "--dbpath", "/db", "--nodeps", "--noscripts", "--ignorearch", "--ignoreos", "-i", path)
	if os.Getuid() != 0 {
		t.Skip("only root can install it into another root")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("rpm -i: %v\n%s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(root, "usr/lib/ashlar/ashlar")); err != nil || string(b) != string(p.binary) {
		t.Errorf("the installed program differs (%v)", err)
	}
	if out, err := exec.Command("rpm", "--root", root, "--dbpath", "/db", "--nodeps", "-e", "ashlar").CombinedOutput(); err != nil {
		t.Errorf("rpm -e: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(root, "usr/lib/ashlar")); err == nil {
		t.Error("the folder of the program is left")
	}
}

// TestRPMVersions checks that rpm orders versions as Debian does.
func TestRPMVersions(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed")
	}
	order := []string{"0.0.0-unknown", "0.0.0-20251121.7-gabc", "0.0.0-20251121.10-gabc", "1.2.3-rc1", "1.2.3", "1.2.3-5-gabc", "1.2.4"}
	for i := 1; i < len(order); i++ {
		a, b := debVersion(order[i-1]), debVersion(order[i])
		out, err := exec.Command("rpm", "--eval", fmt.Sprintf(`%%{lua:print(rpm.vercmp("%s", "%s"))}`, a, b)).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "-1" {
			t.Errorf("rpm compares %s and %s as %s (%v)", a, b, out, err)
		}
	}
}
