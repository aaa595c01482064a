package editor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		visual, editor string
		want           []string
		terminal       bool
	}{
		{"", "vim", []string{"vim", "+12", "--", "/a b/x.go"}, true},
		{"", "vim -g", []string{"vim", "-g", "+12", "--", "/a b/x.go"}, false},
		{"code --wait", "vim", []string{"code", "--wait", "--goto", "/a b/x.go:12"}, false},
		{"", "/usr/bin/emacsclient -t", []string{"/usr/bin/emacsclient", "-t", "+12", "/a b/x.go"}, true},
		{"", "hx", []string{"hx", "/a b/x.go:12"}, true},
		{"", "subl", []string{"subl", "/a b/x.go:12"}, false},
		{"", "kate", []string{"kate", "-l", "12", "/a b/x.go"}, false},
		{"", "goland", []string{"goland", "--line", "12", "/a b/x.go"}, false},
		{"", "unheardof", []string{"unheardof", "+12", "/a b/x.go"}, false},
	} {
		t.Setenv("VISUAL", c.visual)
		t.Setenv("EDITOR", c.editor)
		got, terminal, err := Command("/a b/x.go", 12)
		if err != nil || terminal != c.terminal || !slices.Equal(got, c.want) {
			t.Errorf("%q %q: %q, %v, %v", c.visual, c.editor, got, terminal, err)
		}
	}
}

// TestCommandsOfNames checks that no editor takes a source file's name from a recording for a
// command or an option.
func TestCommandsOfNames(t *testing.T) {
	t.Setenv("VISUAL", "")
	for _, f := range forms {
		for _, editor := range f.names {
			t.Setenv("EDITOR", editor)
			for _, file := range []string{"+!touch PWNED", "--cmd=!touch PWNED", "-c", "+", "a/../-x"} {
				here, err := filepath.Abs(file)
				if err != nil {
					t.Fatal(err)
				}
				args, _, err := Command(file, 3)
				if err != nil || !strings.Contains(strings.Join(args, " "), here) {
					t.Fatalf("%s: %q, %v", editor, args, err)
				}
				for _, a := range args[1:] {
					if strings.Contains(a, "touch") && a[0] != '/' || a == file {
						t.Errorf("%s gets %q", editor, args)
					}
				}
			}
		}
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	if err := Open("x", 1); err == nil || !strings.Contains(err.Error(), "EDITOR") {
		t.Errorf("without an editor: %v", err)
	}
	t.Setenv("EDITOR", "nano")
	if err := Open("x", 7); err == nil || !strings.Contains(err.Error(), "terminal") || !strings.Contains(err.Error(), "nano +7 -- ") {
		t.Errorf("in a terminal: %v", err)
	}
	// An editor that logs its arguments.
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	script := filepath.Join(dir, "gedit")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" > "+out+".new; mv "+out+".new "+out+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", script)
	if err := Open("x.go", 7); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if b, err := os.ReadFile(out); err == nil {
			if here, _ := filepath.Abs("x.go"); string(b) != "+7 "+here+"\n" {
				t.Errorf("it was called with %q", b)
			}
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the editor was not started")
}
