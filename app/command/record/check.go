package record

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"ashlar/app/core/subcommand"
	"ashlar/ingest/input/safetext"
)

// check prints the profilers that work on this machine.
func check(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", name, safetext.Text(fmt.Sprintf(format, args...)))
	}
	line("perf", "%s", perfState())
	for _, t := range []struct{ name, program, does, install string }{
		{"node", "node", "node SCRIPT", "from nodejs.org or your system's package nodejs"},
		{"java", "java", "java CLASS", "a JDK of version 11 or later"},
		{"gotest", "go", "go test PACKAGE", "from go.dev"},
	} {
		if path, err := exec.LookPath(t.program); err == nil {
			line(t.name, "works for %s (%s)", t.does, path)
		} else {
			line(t.name, "not installed. Install %s", t.install)
		}
	}
	line("--url", "works for Go programs that import net/http/pprof and listen")
	_, err := io.WriteString(w, b.String())
	return err
}

func perfState() string {
	if runtime.GOOS != "linux" {
		return "not on this system, only on Linux"
	}
	path, _ := exec.LookPath("perf")
	var notes strings.Builder
	j := &job{p: &subcommand.Program{Stderr: &notes}}
	if err := j.perfWorks(); err != nil {
		return err.Error()
	}
	said := "works for all programs (" + path + ")"
	if notes.Len() > 0 {
		said += "; " + strings.TrimPrefix(strings.TrimSpace(notes.String()), "ashlar: ")
	}
	return said
}
