//go:build linux

package main

import (
	"image"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// devices matches paths to which writing stores nothing on disk.
var devices = regexp.MustCompile(`^/dev/(null|tty|dri(/.*)?|shm/[^/]*)$|^/proc/self/|^/sys/`)

// outside returns the paths that lie in none of the folders.
func outside(paths []string, folders ...string) []string {
	var out []string
next:
	for _, p := range paths {
		for _, f := range folders {
			if p == f || strings.HasPrefix(p, f+"/") {
				continue next
			}
		}
		if !devices.MatchString(p) {
			out = append(out, p)
		}
	}
	return out
}

// local matches sockets of this machine outside the user's folders: the X display, and the
// name service cache, which libc asks for user names.
var local = regexp.MustCompile(`^(/tmp/\.X11-unix/X\d+|/var/run/nscd/socket)$`)

// abroad returns the sockets that lead to other machines, or to programs other than the
// display and those with a socket in one of the folders.
func abroad(sockets []string, folders ...string) []string {
	var out []string
	for _, s := range sockets {
		_, path, unix := strings.Cut(s, `AF_UNIX, sun_path="`)
		if !unix {
			_, path, unix = strings.Cut(s, `AF_UNIX, sun_path=@"`) // an abstract socket, without a file
		}
		path, _, _ = strings.Cut(path, `"`)
		if !unix || !local.MatchString(path) && len(outside([]string{path}, folders...)) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// commandLine matches the commands listed by ashlar --help.
var commandLine = regexp.MustCompile(`(?m)^  ([a-z-]+) +[a-z]`)

// commandLines returns app/command/testdata/lines.txt and copies the recordings that its lines
// name to a folder.
func commandLines(t *testing.T, to string) string {
	t.Helper()
	from := os.DirFS("../command/testdata")
	if err := os.CopyFS(to, from); err != nil {
		t.Fatal(err)
	}
	lines, err := fs.ReadFile(from, "lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(lines)
}

// TestCommandsKeepToThemselves runs every command under a system call tracer: it may write
// only to the given files and the user's own folders, and connect only where asked.
func TestCommandsKeepToThemselves(t *testing.T) {
	t.Parallel()
	bin := e2e.Build(t, "./app/ashlar")
	home, work := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"a.spaa": tiny, "b.spaa": tiny, "t.json": `[{"name":"work","ph":"X","ts":1,"dur":5,"pid":1,"tid":1}]`} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := filepath.Abs("../../testdata/recorded/after.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) e2e.Trace {
		t.Helper()
		log := filepath.Join(t.TempDir(), "trace")
		full := append(append(e2e.Tracer(t, log), bin), args...)
		cmd := exec.Command(full[0], full[1:]...)
		cmd.Dir = work
		// Mesa's shader cache ignores HOME.
		cmd.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + home + "/.cache", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + work, "EGL_PLATFORM=surfaceless", "LIBGL_ALWAYS_SOFTWARE=1"}
		// check exits with 1 because the recording has errors; show and watch because there is no
		// window.
		failing := map[string]bool{"check": true, "show": true, "watch": true}
		if out, err := cmd.CombinedOutput(); err != nil && (!failing[args[0]] || cmd.ProcessState.ExitCode() != 1) {
			t.Fatalf("ashlar %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return e2e.ReadTrace(t, log, work)
	}

	lines := map[string][][]string{
		"info":   {{"a.spaa"}, {"a.spaa", "--json"}},
		"top":    {{"a.spaa"}, {"a.spaa", "--session"}},
		"stats":  {{"--demo", "--function", "main.main"}},
		"source": {{recorded, "main.main"}},
		"report": {{"a.spaa", "-o", "text.md"}, {"a.spaa", "-o", "page.html"}},
		"serve":  {{"a.spaa", "--idle", "100ms"}}, "show": {{"ashlar:1?file=a.spaa"}}, "watch": {{}},
		"check-claims": {{"claims.md"}},
		"cache":        {{}, {"--clean"}},
		"check":        {{"a.spaa", "b.spaa"}},
		"convert":      {{"a.spaa", "c.pb.gz"}, {"a.spaa", "d.spaa.zst"}},
		"render":       {{"a.spaa", "-o", "a.png"}, {"a.spaa", "-o", "a.svg"}},
		"marks":        {{"a.spaa"}, {"a.spaa", "--export", "marks.json"}, {"a.spaa", "--import", "marks.json"}},
		// The order matters: --check and uninstall need an installed program.
		"install": {{}, {"--check"}}, "uninstall": {{}},
	}
	// The other commands use the lines that the tests of commands share.
	others := map[string][][]string{}
	for line := range strings.Lines(commandLines(t, work)) {
		if args := strings.Fields(strings.ReplaceAll(line, "$OUT", work)); lines[args[0]] == nil {
			others[args[0]] = append(others[args[0]], args[1:])
		}
	}
	maps.Copy(lines, others)
	run("report", "a.spaa", "-o", "claims.md")
	out, err := exec.Command(bin, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(out), "Commands\n")
	list, _, _ = strings.Cut(list, "\n\n")
	names := commandLine.FindAllStringSubmatch(list, -1)
	if len(names) < len(lines) {
		t.Fatalf("the help names %d commands: %s", len(names), list)
	}
	for _, m := range names {
		if lines[m[1]] == nil {
			t.Errorf("what %s writes is not watched: add a line to app/command/testdata/lines.txt", m[1])
		}
		for _, args := range lines[m[1]] {
			line := append([]string{m[1]}, args...)
			tr := run(line...)
			t.Logf("ashlar %s\n\twrites %q\n\tconnects to %q", strings.Join(line, " "), tr.Wrote, tr.Connected)
			if bad := outside(tr.Wrote, home, work); len(bad) > 0 {
				t.Errorf("ashlar %s writes to %q", strings.Join(line, " "), bad)
			}
			if bad := abroad(tr.Connected, home, work); len(bad) > 0 {
				t.Errorf("ashlar %s connects to %q", strings.Join(line, " "), bad)
			}
		}
	}

	// Check the tracer itself: it sees a file written elsewhere, and a requested connection.
	elsewhere := filepath.Join(t.TempDir(), "x.spaa")
	if tr := run("convert", "a.spaa", elsewhere); len(outside(tr.Wrote, home, work)) == 0 {
		t.Errorf("the tracer does not see that %s is written: %q", elsewhere, tr.Wrote)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(work)))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	tr := run("info", server.URL+"/a.spaa")
	asked := false
	for _, s := range tr.Connected {
		if strings.HasPrefix(s, "connect AF_INET") {
			if !strings.Contains(s, "htons("+port+")") || !strings.Contains(s, "127.0.0.1") {
				t.Errorf("asked for %s it also connects to %s", server.URL, s)
			}
			asked = true
		}
	}
	if !asked {
		t.Errorf("the tracer does not see that %s is asked: %q", server.URL, tr.Connected)
	}
	if bad := outside(tr.Wrote, home, work); len(bad) > 0 {
		t.Errorf("what was fetched is written to %q", bad)
	}
}

// TestWindowKeepsToItself traces a window while it is opened, used, dropped on and closed, as
// TestCommandsKeepToThemselves does commands.
func TestWindowKeepsToItself(t *testing.T) {
	t.Parallel()
	d := e2e.StartDisplay(t)
	trace := filepath.Join(t.TempDir(), "trace")
	s := traced(t, d, e2e.Tracer(t, trace), "--theme", "dark", "--demo")
	s.soon("the demo", read)
	s.Wheel(2, right)
	s.Click(e2e.Left, image.Pt(100, 584))
	s.Key("t", "t", "m", "l")
	s.Key("ctrl+c")
	s.Key("ctrl+o")
	s.soon("the opener", func(f frame) bool { return f.Typed != "" })
	s.Key("Escape")
	x := d.StartDragger(t)
	path := recordings(t, 1)[0]
	x.Enter(uriList(path), e2e.Whole, fileList)
	x.Hold(middle)
	x.Drop()
	x.End()
	s.soon("the file that was dropped", shows(path))
	if code := quit(s); code != 0 {
		t.Errorf("it ends with %d: %s", code, s.Output())
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tr := e2e.ReadTrace(t, trace, wd)
	t.Logf("the window writes %q\nconnects to %q", tr.Wrote, tr.Connected)
	own := append(d.Homes(), e2e.Shaders(t))
	if bad := outside(tr.Wrote, append(own, s.log.Path())...); len(bad) > 0 {
		t.Errorf("the window writes to %q", bad)
	}
	if bad := abroad(tr.Connected, own...); len(bad) > 0 {
		t.Errorf("the window connects to %q", bad)
	}
	x11 := false
	for _, s := range tr.Connected {
		x11 = x11 || strings.Contains(s, ".X11-unix")
	}
	if !x11 || len(outside(tr.Wrote, own...)) == 0 {
		t.Errorf("the tracer sees neither the display nor the frame log")
	}
}
