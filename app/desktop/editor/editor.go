// Package editor opens a file at a line in the user's editor.
package editor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"ashlar/ingest/input/safetext"
)

// form describes how an editor takes the line number on its command line.
type form struct {
	names    []string
	args     func(file, line string) []string
	terminal bool
}

func plus(file, line string) []string  { return []string{"+" + line, file} }
func colon(file, line string) []string { return []string{file + ":" + line} }

// dashed is like plus, for editors that accept -- as the end of options.
func dashed(file, line string) []string { return []string{"+" + line, "--", file} }

// forms are the known editors; others get the file and +LINE, which most understand.
var forms = []form{
	{[]string{"vim", "nvim", "vi", "nano"}, dashed, true},
	{[]string{"pico", "joe", "jed", "ne", "kak", "micro", "mcedit", "ed", "vile"}, plus, true},
	{[]string{"hx", "helix"}, colon, true},
	{[]string{"gvim", "mvim"}, dashed, false},
	{[]string{"gedit", "xed", "pluma", "emacs", "emacsclient", "mousepad", "featherpad", "nedit"}, plus, false},
	{[]string{"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"}, func(f, l string) []string { return []string{"--goto", f + ":" + l} }, false},
	{[]string{"subl", "sublime_text", "zed", "zeditor", "lapce", "lite-xl", "atom"}, colon, false},
	{[]string{"kate", "kwrite"}, func(f, l string) []string { return []string{"-l", l, f} }, false},
	{[]string{"geany", "mate"}, func(f, l string) []string { return []string{"-l", l, f} }, false},
	{[]string{"idea", "goland", "clion", "pycharm", "webstorm", "rider", "rustrover", "phpstorm", "rubymine", "studio"}, func(f, l string) []string { return []string{"--line", l, f} }, false},
	{[]string{"notepad++"}, func(f, l string) []string { return []string{"-n" + l, f} }, false},
	{[]string{"notepad"}, func(f, _ string) []string { return []string{f} }, false},
}

// Command returns the command line that shows a file at a line in the editor named by
// VISUAL or EDITOR, including the arguments there. terminal reports whether the editor
// runs in a terminal.
//
// The file's name comes from a recording, and an editor would execute a +COMMAND or an
// option. So the path is made absolute: it then begins with neither + nor -.
func Command(file string, line int) (args []string, terminal bool, err error) {
	editor := strings.TrimSpace(os.Getenv("VISUAL"))
	if editor == "" {
		editor = strings.TrimSpace(os.Getenv("EDITOR"))
	}
	if editor == "" {
		return nil, false, errors.New("no editor is set; set EDITOR or VISUAL, for example to code, gvim or kate")
	}
	if file, err = filepath.Abs(file); err != nil {
		return nil, false, fmt.Errorf("%s: cannot resolve its path: %w", file, err)
	}
	args = strings.Fields(editor)
	if _, serr := os.Stat(editor); serr == nil {
		args = []string{editor} // the editor's path contains blanks
	}
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(args[0]), ".exe"))
	if line < 1 {
		line = 1
	}
	f := form{args: plus}
	for _, known := range forms {
		for _, n := range known.names {
			if n == name {
				f = known
			}
		}
	}
	terminal = f.terminal
	for _, a := range args[1:] {
		// The flags -nw and -t make Emacs run in a terminal; -g makes vim run without
		// one.
		switch {
		case strings.HasPrefix(name, "emacs") && (a == "-nw" || a == "-t" || a == "--tty" || a == "--no-window-system"):
			terminal = true
		case (name == "vim" || name == "vi") && a == "-g":
			terminal = false
		}
	}
	return append(args, f.args(file, strconv.Itoa(line))...), terminal, nil
}

// Open shows a file at a line and returns at once. The error is one sentence.
func Open(file string, line int) error {
	args, terminal, err := Command(file, line)
	if err != nil {
		return err
	}
	if terminal {
		return fmt.Errorf("%s needs a terminal. Run: %s", filepath.Base(args[0]), safetext.Command(args...))
	}
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the editor %s cannot be started: %w", args[0], err)
	}
	go cmd.Wait() // or it stays behind as a zombie
	return nil
}
