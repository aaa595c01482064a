package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ashlar/app/core/subcommand"
)

// resolve finds the program to run, replaces a script by its interpreter's command line,
// and returns the profiler for it.
func (j *job) resolve() (kind string, err error) {
	path, err := exec.LookPath(j.args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", subcommand.Misuse("%s: there is no such program", j.args[0])
	}
	j.path, j.name = path, base(path)
	if kind := kindOf(path); kind != "perf" {
		j.nameScript()
		return j.toTest(kind)
	}
	interpreter, flags := shebang(path)
	if kind := kindOf(interpreter); interpreter != "" && kind == "node" {
		if interpreter, err = exec.LookPath(interpreter); err != nil {
			return "", fmt.Errorf("%s needs node, which is not in PATH", j.args[0])
		}
		j.args = slices.Concat([]string{interpreter}, flags, []string{path}, j.args[1:])
		j.path = interpreter
		return kind, nil
	}
	if runtime.GOOS != "linux" {
		return "", errors.New(elsewhere)
	}
	return "perf", nil
}

// elsewhere is the error for native programs on other systems than Linux.
const elsewhere = "native programs are recorded with perf, which is part of Linux. Here, use samply (samply record --save-only -o FILE -- COMMAND) and open its file; Go programs are recorded with --url"

// kindOf returns the profiler for a program by its name.
func kindOf(path string) string {
	switch name := base(path); {
	case name == "node" || name == "nodejs":
		return "node"
	case name == "java":
		return "java"
	case name == "go":
		return "gotest"
	}
	return "perf"
}

// base returns the name of a program without folder and .exe.
func base(path string) string {
	name := filepath.Base(path)
	if strings.EqualFold(filepath.Ext(name), ".exe") {
		name = name[:len(name)-4]
	}
	return name
}

// toTest rejects go commands that cannot be recorded.
func (j *job) toTest(kind string) (string, error) {
	if kind != "gotest" || j.with != "" && j.with != kind {
		return kind, nil
	}
	switch {
	case len(j.args) > 1 && j.args[1] == "test":
		return kind, nil
	case len(j.args) > 1 && j.args[1] == "run":
		return "", subcommand.Misuse("a recording of go run would include the compiler; build first: go build -o prog %s, then ashlar record ./prog", strings.Join(j.args[2:], " "))
	}
	return "perf", nil
}

// nameScript names the job after the script, class or package instead of the
// interpreter.
func (j *job) nameScript() {
	for i, a := range j.args[1:] {
		switch {
		case a == "test" && i == 0 || strings.HasPrefix(a, "-"):
		case i > 0 && slices.Contains([]string{"-cp", "-classpath", "--class-path", "-r", "--require", "--import", "-run", "-bench", "-count"}, j.args[i]):
		default:
			name := filepath.Base(filepath.Clean(a))
			if name == "." || name == ".." {
				if dir, err := filepath.Abs(a); err == nil {
					name = filepath.Base(dir)
				}
			}
			for _, ext := range []string{".js", ".mjs", ".cjs", ".ts", ".jar", ".java"} {
				name = strings.TrimSuffix(name, ext)
			}
			j.name = name
			return
		}
	}
}

// shebang returns the interpreter of a script and its arguments, "" for other files.
func shebang(path string) (interpreter string, flags []string) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	line, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return "", nil
	}
	if filepath.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
		if len(words) == 0 {
			return "", nil
		}
	}
	return words[0], words[1:]
}
