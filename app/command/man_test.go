package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// manPage returns the man page of a command, or of ashlar.
func manPage(t *testing.T, args ...string) string {
	t.Helper()
	r := run(append([]string{"help", "man"}, args...)...)
	if r.code != Done {
		t.Fatalf("help man %v: %s", args, r.stderr)
	}
	return r.stdout
}

var manListed = regexp.MustCompile(`(?m)^\.BR ashlar\\-(\S+) \(1\)$`)

// TestManPages checks that each command has a page with all its flags, and that the tools that
// read man pages report no problems.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	pages := map[string]string{"": manPage(t)}
	for _, m := range manListed.FindAllStringSubmatch(pages[""], -1) {
		name := strings.ReplaceAll(m[1], `\-`, "-")
		pages[name] = manPage(t, name)
	}
	if len(pages) < 15 {
		t.Errorf("there are only %d pages", len(pages))
	}
	flag := regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+)`)
	for name, text := range pages {
		args := []string{name, "--help"}
		if name == "" {
			args = args[1:]
		}
		_, flags, _ := strings.Cut(run(args...).stdout, "\nFlags\n")
		flags, _, _ = strings.Cut(flags, "\nExamples\n")
		all := flag.FindAllStringSubmatch(flags, -1)
		if len(all) == 0 {
			t.Errorf("%q has no flags", name)
		}
		for _, f := range all {
			if want := `\fB\-\-` + strings.ReplaceAll(f[1], "-", `\-`) + `\fR`; !strings.Contains(text, want) {
				t.Errorf("the page of %q lacks --%s", name, f[1])
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "ashlar-"+name+".1"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, checker := range [][]string{{"groff", "-man", "-Tutf8", "-z", "-ww", "-rLL=78n"}, {"mandoc", "-T", "lint", "-W", "warning"}} {
		if _, err := exec.LookPath(checker[0]); err != nil {
			t.Logf("NOT CHECKED by %s, which is not here", checker[0])
			continue
		}
		msg, err := exec.Command(checker[0], append(checker[1:], files...)...).CombinedOutput()
		if err != nil || len(msg) > 0 {
			t.Errorf("%s: %v\n%s", checker[0], err, msg)
		}
	}
}

// TestManPagesAsShown checks that man shows quotes, dots and backslashes unchanged.
func TestManPagesAsShown(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("NOT CHECKED: there is no groff, which man shows pages with")
	}
	cmd := exec.Command("groff", "-man", "-Tascii", "-P-cbou", "-rLL=300n")
	cmd.Stdin = strings.NewReader(manPage(t, "diff"))
	shown, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`'total>5%', 'self(parse)>1%'`, "ashlar diff --a 'old-*.spaa' --b 'new-*.spaa'", "ashlar diff old.pprof new.pprof --fail-if 'self(parse)>10ms'", "--metric-b=METRIC", "-n, --rows=N"} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("%q is not shown in\n%s", want, shown)
		}
	}
}
