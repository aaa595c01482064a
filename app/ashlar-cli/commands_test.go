package main

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/app/cli"
	"ashlar/app/store"
)

// asked are lines of commands, in a folder with what the tests of package cli read. What
// they say is tested there.
var asked = []string{
	"overview small.spaa",
	"findings small.spall",
	"findings diff-a.folded diff-b.folded --json",
	"info small.spaa --json",
	"info small.spall",
	"info damaged.spaa",
	"top small.spaa --event malloc --range 100ms..1.5s --by file",
	"top small.spaa --by thread --metric samples --json",
	"top small.spall --sort total",
	"top views.folded --view callers",
	"calls small.spall --json",
	"path small.spall",
	"stats small.spall",
	"diff diff-a.folded diff-b.folded",
	"diff diff-a.folded diff-b.folded --json",
	"check damaged.spaa",
	"convert small.spaa -o - --to folded",
	"marks small.spaa",
	"cache",
	"source small.spaa main",
	"bundle nothing",
	"show nothing",
	"mcp",
	"report small.spaa -o -",
	"check-claims damaged.spaa",
	"completion bash",
	"version",
	"help",
	"help formats",
	"help json top",
	"top missing.spaa",
	"top small.spaa --by nothing",
}

// elsewhere are commands that are tried otherwise, or do not end.
var elsewhere = []string{"render", "install", "uninstall", "serve", "watch"}

// commands asks the program every command, as people do, and the package that it is made of:
// both say the same, though the one is compiled otherwise and has no C library.
func commands(t *testing.T, program string) {
	t.Chdir(filepath.Join("..", "cli", "testdata"))
	for _, folder := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(folder, t.TempDir())
	}
	var tried []string
	for _, line := range asked {
		args := strings.Fields(line)
		tried = append(tried, args[0])
		var want, got answer
		want.code = cli.Main(args, strings.NewReader(""), &want.stdout, &want.stderr, cli.Runner{Store: store.Open})
		cmd := exec.Command(program, args...)
		cmd.Stdout, cmd.Stderr = &got.stdout, &got.stderr
		_ = cmd.Run() // its exit code is compared
		got.code = cmd.ProcessState.ExitCode()
		if w, g := want.text(), got.text(); g != w || got.code != want.code {
			t.Errorf("%s: exit code %d and\n%swhere the package has %d and\n%s", line, got.code, g, want.code, w)
		}
	}
	var none answer
	cli.Main([]string{"help", "nothing"}, nil, io.Discard, &none.stderr, cli.Runner{})
	_, list, _ := strings.Cut(none.stderr.String(), "; commands are ")
	list, _, _ = strings.Cut(list, "; ")
	all := strings.Split(list, ", ")
	for _, name := range all {
		if !slices.Contains(tried, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("%s was not tried", name)
		}
	}
	if len(all) < 20 {
		t.Errorf("the commands are %v: not all that there are", all)
	}
}

// answer is what a command left behind.
type answer struct {
	stdout, stderr bytes.Buffer
	code           int
}

// loading is what differs from run to run.
var loading = regexp.MustCompile(`(?m)^  read +.*$|(?s)"load": \{.*?\}`)

func (a *answer) text() string {
	return loading.ReplaceAllString(a.stdout.String()+a.stderr.String(), "…")
}
