package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// checkout is a repository that has .ci/version.
type checkout struct {
	t   *testing.T
	dir string
}

// newCheckout returns a repository without commits.
func newCheckout(t *testing.T) *checkout {
	t.Helper()
	for _, tool := range []string{"git", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here", tool)
		}
	}
	script, err := os.ReadFile("../../.ci/version")
	if err != nil {
		t.Fatal(err)
	}
	c := &checkout{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(c.dir, ".ci"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, ".ci/version"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	c.git("", "init", "-q", "-b", "main")
	return c
}

// git runs git in the repository, with the time of a commit.
func (c *checkout) git(time string, args ...string) {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Env = c.env("GIT_COMMITTER_DATE="+time, "GIT_AUTHOR_DATE="+time)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// env returns an environment in which git reads no settings of this machine.
func (c *checkout) env(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(c.dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}, more...)
}

func (c *checkout) version() string {
	c.t.Helper()
	cmd := exec.Command("./.ci/version")
	cmd.Dir, cmd.Env = c.dir, c.env()
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestVersionsGrow checks that each commit has a higher version than its parent, for dpkg too,
// although the parent may be dated later or be of the same second.
func TestVersionsGrow(t *testing.T) {
	c := newCheckout(t)
	if got := c.version(); got != "0.0.0-unknown" {
		t.Errorf("without a commit the version is %s", got)
	}
	_, err := exec.LookPath("dpkg")
	withDpkg := err == nil
	last := "0.0.0-unknown"
	for i, step := range []struct{ time, tag, want string }{
		{"2026-01-02T10:00:00+0000", "", `^0\.0\.0-20260102\.1-g[0-9a-f]+$`},
		{"2026-01-02T10:00:00+0000", "", `^0\.0\.0-20260102\.2-g`},
		{"2026-01-03T01:00:00+0900", "", `^0\.0\.0-20260102\.3-g`}, // still the second in UTC
		{"2025-06-01T10:00:00+0000", "", `^0\.0\.0-20260102\.4-g`},
		{"2026-01-04T10:00:00+0000", "", `^0\.0\.0-20260104\.5-g`},
		{"2026-01-05T10:00:00+0000", "", `^0\.0\.0-20260105\.6-g`},
		{"2026-01-05T10:00:00+0000", "", `^0\.0\.0-20260105\.7-g`},
		{"2026-01-05T10:00:00+0000", "", `^0\.0\.0-20260105\.8-g`},
		{"2026-01-05T10:00:00+0000", "", `^0\.0\.0-20260105\.9-g`},
		{"2026-01-05T10:00:00+0000", "", `^0\.0\.0-20260105\.10-g`},
		{"2026-01-06T10:00:00+0000", "v0.1.0-rc1", `^0\.1\.0-rc1$`},
		{"2026-01-06T10:00:00+0000", "", `^0\.1\.0-rc1-1-g`},
		{"2026-01-06T10:00:00+0000", "v0.1.0", `^0\.1\.0$`},
		{"2025-01-01T10:00:00+0000", "", `^0\.1\.0-1-g`},
		{"2026-01-06T10:00:00+0000", "v0.1.1", `^0\.1\.1$`},
	} {
		c.git(step.time, "commit", "-q", "--allow-empty", "-m", "step")
		if step.tag != "" {
			c.git(step.time, "tag", "-a", "-m", "release", step.tag)
		}
		got := c.version()
		if !regexp.MustCompile(step.want).MatchString(got) {
			t.Errorf("commit %d has the version %s, want %s", i+1, got, step.want)
		}
		if withDpkg && exec.Command("dpkg", "--compare-versions", debVersion(last), "lt", debVersion(got)).Run() != nil {
			t.Errorf("for dpkg %s does not come before %s", debVersion(last), debVersion(got))
		}
		last = got
	}
}

// TestVersionOfShallowClone checks that a clone without history has the day and the commit.
func TestVersionOfShallowClone(t *testing.T) {
	full := newCheckout(t)
	full.git("2026-01-02T10:00:00+0000", "add", ".ci")
	for range 3 {
		full.git("2026-01-02T10:00:00+0000", "commit", "-q", "--allow-empty", "-m", "step")
	}
	clone := &checkout{t, filepath.Join(t.TempDir(), "clone")}
	full.git("", "clone", "-q", "--depth", "1", "file://"+full.dir, clone.dir)
	_, commit, _ := strings.Cut(full.version(), "-g")
	if got := clone.version(); got != "0.0.0-20260102.1-g"+commit {
		t.Errorf("the version of a shallow clone is %s, of the whole %s", got, full.version())
	}
	script, err := os.ReadFile(filepath.Join(full.dir, ".ci/version"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clone.dir, ".ci/version"), append(script, '\n'), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := clone.version(); got != "0.0.0-20260102.1-g"+commit+"-dirty" {
		t.Errorf("the version of a changed tree is %s", got)
	}
	inner := &checkout{t, filepath.Join(clone.dir, "inner")}
	if err := os.MkdirAll(filepath.Join(inner.dir, ".ci"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner.dir, ".ci/version"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := inner.version(); got != "0.0.0-unknown" {
		t.Errorf("the version of a copy inside another repository is %s", got)
	}
}
