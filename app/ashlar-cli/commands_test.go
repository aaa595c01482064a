package main

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/app/core/settings"
)

// refusals are command lines that fail. Command lines that succeed are in
// app/command/testdata/lines.txt and write to $OUT; app/command tests their output.
var refusals = []string{"show nothing", "top missing.spaa", "top small.spaa --by nothing"}

// elsewhere lists commands that other tests cover or that do not end.
var elsewhere = []string{"render", "install", "uninstall", "serve", "watch"}

// refused lists commands that need not succeed: no window is open, the cache is empty, and the
// file to check is damaged.
var refused = []string{"show", "cache", "check"}

// commands checks that the compiled program gives the same answers as package command in this
// process, although it is compiled with other flags and without cgo.
func commands(t *testing.T, program string) {
	t.Chdir(filepath.Join("..", "command", "testdata"))
	lines, err := os.ReadFile("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(folder, t.TempDir())
	}
	out := t.TempDir()
	var tried []string
	for _, line := range append(strings.Split(strings.TrimSpace(string(lines)), "\n"), refusals...) {
		args := strings.Fields(strings.ReplaceAll(line, "$OUT", out))
		var want, got answer
		want.code = command.Main(args, strings.NewReader(""), &want.stdout, &want.stderr, command.Runner{Render: picture.Render, Store: settings.Open})
		want.read(t, out)
		cmd := exec.Command(program, args...)
		cmd.Stdout, cmd.Stderr = &got.stdout, &got.stderr
		_ = cmd.Run() // the exit code is compared below
		got.code = cmd.ProcessState.ExitCode()
		got.read(t, out)
		if want.code == command.Done || slices.Contains(refused, args[0]) {
			tried = append(tried, args[0])
		}
		if !maps.Equal(got.files, want.files) {
			t.Errorf("%s writes otherwise than the package", line)
		}
		if w, g := want.text(), got.text(); g != w || got.code != want.code {
			t.Errorf("%s: exit code %d and\n%swhere the package has %d and\n%s", line, got.code, g, want.code, w)
		}
	}
	var none answer
	command.Main([]string{"help", "nothing"}, nil, io.Discard, &none.stderr, command.Runner{})
	_, list, _ := strings.Cut(none.stderr.String(), "; commands: ")
	list, _, _ = strings.Cut(list, "; ")
	all := strings.Split(list, ", ")
	for _, name := range all {
		if !slices.Contains(tried, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("no line of %s was answered", name)
		}
	}
	if len(all) < 20 {
		t.Errorf("the commands are %v: not all that there are", all)
	}
}

// answer holds the output of a command.
type answer struct {
	stdout, stderr bytes.Buffer
	code           int
	files          map[string]string // files that it wrote, by name
}

// read reads the files below a folder into a.files.
func (a *answer) read(t *testing.T, dir string) {
	a.files = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		a.files[strings.TrimPrefix(path, dir)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// loading matches output that varies between runs.
var loading = regexp.MustCompile(`(?m)^  read +.*$|(?s)"load": \{.*?\}`)

func (a *answer) text() string {
	return loading.ReplaceAllString(a.stdout.String()+a.stderr.String(), "…")
}
