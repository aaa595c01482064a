package version

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

func TestFromBuild(t *testing.T) {
	set := func(pairs ...string) []debug.BuildSetting {
		var s []debug.BuildSetting
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"", nil, "0.0.0-unknown"},
		{"(devel)", nil, "0.0.0-unknown"},
		{"v1.2.3", nil, "1.2.3"},
		{"v0.0.0-20251121001544-81b354c1e808+dirty", set("vcs.revision", "81b354c1e808aaaa"), "0.0.0-20251121001544-81b354c1e808+dirty"},
		{"(devel)", set("vcs.revision", "81b354c1e80812345678"), "0.0.0-g81b354c1e808"},
		{"(devel)", set("vcs.revision", "81b354c1e80812345678", "vcs.modified", "true"), "0.0.0-g81b354c1e808-dirty"},
	} {
		info := &debug.BuildInfo{Settings: c.settings}
		info.Main.Version = c.main
		if got := fromBuild(info); got != c.want {
			t.Errorf("%q with %v is the version %s, want %s", c.main, c.settings, got, c.want)
		}
	}
}

// TestLinkerSetsTheNumber builds a program with -X, as make does. The linker silently ignores
// -X for a variable that does not exist.
func TestLinkerSetsTheNumber(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"ashlar/app/desktop/version\"\n\nfunc main() { println(version.String()) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", "-ldflags", "-X ashlar/app/desktop/version.number=7.8.9", source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`^ashlar 7\.8\.9, go1\.`).MatchString(strings.TrimSpace(string(out))) {
		t.Errorf("the program says %s", out)
	}
}
