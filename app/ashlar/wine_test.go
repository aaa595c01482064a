//go:build linux && desktop

package main

import (
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/render/theme"
	"ashlar/testdata/e2e"
)

// These tests run the programs for Windows under Wine: assets/packaging/test-windows.sh
// compiles them into the folder $ASHLAR_WINDOWS and sets $ASHLAR_WINE to the program that
// runs them.

// windowsProgram returns the path of a program for Windows.
func windowsProgram(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ASHLAR_WINDOWS")
	if dir == "" {
		t.Fatal("run assets/packaging/test-windows.sh, which compiles the programs for Windows")
	}
	return filepath.Join(dir, name)
}

// underWine runs a program for Windows and returns what it prints.
func underWine(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Getenv("ASHLAR_WINE"), append([]string{"enter", windowsProgram(t, program)}, args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// windowsPath returns a path as a program under Wine knows it.
func windowsPath(path string) string { return "Z:" + strings.ReplaceAll(path, "/", `\`) }

// TestWindowsWindow opens the window for Windows, presses keys, chooses a file in the
// dialog, and drops files on the window. If
// $ASHLAR_PICTURES is set, pictures of it are left in that folder. It does not use the
// mouse: Gio wants pointer messages, which Wine 10 does not make of the mouse.
func TestWindowsWindow(t *testing.T) {
	demo, err := filepath.Abs("../../assets/demo.spaa.zst")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(t.TempDir(), "läuft 日本.spaa"), filepath.Join(t.TempDir(), "run 2.spaa")}
	for _, p := range paths {
		if err := os.WriteFile(p, []byte(tiny), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shared := filepath.Join(t.TempDir(), "demo.spaa.zst")
	if b, err := os.ReadFile(demo); err != nil || os.WriteFile(shared, b, 0o644) != nil {
		t.Fatal("copying the demo recording:", err)
	}
	d := e2e.StartDisplay(t)
	log := filepath.Join(t.TempDir(), "frames.json")
	// One argument, which e2e does not recognise: it would query the window as it does a window
	// on X11.
	w := d.Start(t, os.Getenv("ASHLAR_WINE"), "enter", windowsProgram(t, "ashlar.exe"), "--frame-log="+windowsPath(log), "--theme", "light", windowsPath(shared))
	s := &session{w, t, e2e.OpenLog[frame](log)}
	picture := func(name string) {
		w.WaitStill()
		if dir := os.Getenv("ASHLAR_PICTURES"); dir != "" {
			if err := d.Save(filepath.Join(dir, name+".png")); err != nil {
				t.Error(err)
			}
		}
	}

	opened := s.until("the recording", read)
	if title := w.Title(); title != "demo.spaa.zst – Ashlar" {
		t.Errorf("the title is %q", title)
	}
	drawn := func(lane color.NRGBA) func(*image.RGBA) bool {
		return func(img *image.RGBA) bool {
			n := count(img, lanes, lane)
			return lanes.Dx()*lanes.Dy()/10 < n && n < lanes.Dx()*lanes.Dy()*9/10
		}
	}
	w.WaitFor("light bars", drawn(theme.Light.Lane))
	picture("1-opened")

	w.Key("l")
	s.until("the dark theme", func(f frame) bool { return f.Theme == "dark" })
	w.WaitFor("dark bars", drawn(theme.Dark.Lane))
	picture("2-theme")
	w.Key("m")
	s.until("the next metric", func(f frame) bool { return f.Metric != opened.Metric && f.Metric != "" })

	// The system's dialog is another window, which gets the keyboard by hand because there is
	// no window manager.
	w.Key("ctrl+o")
	dialog := strings.Fields(desktopTool(t, d, "search", "--sync", "--onlyvisible", "--name", "^Open recording"))
	picture("3-dialog")
	desktopTool(t, d, "windowfocus", "--sync", dialog[len(dialog)-1], "type", "--delay", "30", windowsPath(paths[1]))
	picture("4-dialog")
	desktopTool(t, d, "key", "Return")
	s.until("the recording from the dialog", shows(paths[1]))

	x := d.StartDragger(t)
	x.Enter(uriList(paths...), e2e.Whole, fileList)
	if v := x.Hold(middle); !v.Accepted {
		t.Errorf("the window says %+v of two files", v)
	}
	x.Drop()
	s.until("the comparison", compares(paths[0], paths[1]))
	w.WaitFor("the title of the comparison", func(*image.RGBA) bool {
		return strings.Contains(w.Title(), filepath.Base(paths[0])+" vs "+filepath.Base(paths[1]))
	})
	picture("5-compared")

	s.quit()
}

// quit quits and checks how the program ends. Wine kills one that takes more than a second
// from its call of ExitProcess until it is gone, as on a busy machine; a crash has another code.
func (s *session) quit() {
	s.t.Helper()
	const killed = 128 + 9
	s.Key("ctrl+q")
	if code := s.WaitExit(); code != 0 && code != killed {
		s.t.Errorf("quitting exits with %d: %s", code, s.Output())
	}
}

// TestWindowsReuse starts the program twice: with --reuse, the second start hands its file to
// the open window, although Wine 10, as old versions of Windows, has no Unix sockets.
func TestWindowsReuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "handed over ü 日本.spaa")
	if err := os.WriteFile(path, []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	d := e2e.StartDisplay(t)
	log := filepath.Join(dir, "frames.json")
	w := d.Start(t, os.Getenv("ASHLAR_WINE"), "enter", windowsProgram(t, "ashlar.exe"), "--frame-log="+windowsPath(log), "--demo")
	s := &session{w, t, e2e.OpenLog[frame](log)}
	s.until("the demo", func(f frame) bool { return f.File == "demo.spaa.zst" && f.Done })
	second := d.Command(t, os.Getenv("ASHLAR_WINE"), "enter", windowsProgram(t, "ashlar.exe"), "--reuse", windowsPath(path))
	if out, err := second.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("handing over: %v: %s", err, out)
	}
	if f := s.until("the file that was handed over", shows(path)); f.Events != 1 {
		t.Errorf("it has %d events", f.Events)
	}
	if dir := os.Getenv("ASHLAR_PICTURES"); dir != "" {
		w.WaitStill()
		if err := d.Save(filepath.Join(dir, "6-handed-over.png")); err != nil {
			t.Error(err)
		}
	}
	s.quit()
}

// desktopTool runs xdotool on a display and returns what it prints.
func desktopTool(t *testing.T, d *e2e.Display, args ...string) string {
	t.Helper()
	out, err := d.Command(t, "xdotool", args...).Output()
	if err != nil {
		t.Fatalf("xdotool %q: %v", args, err)
	}
	return string(out)
}

// TestWindowsCommands runs commands on names and lines as Windows has them.
func TestWindowsCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Läufe 日本")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "ein Lauf ü.txt")
	if err := os.WriteFile(in, []byte("main;a 3\r\nmain;b 4\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	spaa := filepath.Join(dir, "ü.spaa")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "windows/amd64"},
		{[]string{"top", windowsPath(in), "--json"}, `"total": 7`},
		{[]string{"top", "Z:" + in, "--json"}, `"total": 7`},
		{[]string{"convert", windowsPath(in), windowsPath(spaa)}, ""},
		{[]string{"check", windowsPath(spaa)}, ""},
		{[]string{"top", windowsPath(spaa), "--json"}, `"total": 7`},
	} {
		if out, err := underWine(t, "ashlar-cli.exe", c.args...); err != nil || !strings.Contains(out, c.want) {
			t.Errorf("ashlar-cli %q prints %q (%v), want %q in it", c.args, out, err, c.want)
		}
	}
	out, err := underWine(t, "ashlar-cli.exe", "top", windowsPath(filepath.Join(dir, "absent")))
	if err == nil || !strings.Contains(out, `absent`) {
		t.Errorf("a missing file: %q (%v)", out, err)
	}
}

// TestWindowsPaths reads and writes files in a folder with a path of more than 260
// characters, the limit of old programs, and on a server.
func TestWindowsPaths(t *testing.T) {
	short := t.TempDir()
	long := filepath.Join(short, strings.Repeat("überlang", 10), strings.Repeat("a folder ", 20)+"x", strings.Repeat("b", 100))
	if err := os.MkdirAll(long, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{short, long} {
		if err := os.WriteFile(filepath.Join(dir, "run.txt"), []byte("main;a 3\nmain;b 4\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := func(path string) string {
		return `\\server\share` + strings.ReplaceAll(strings.TrimPrefix(path, "/tmp"), "/", `\`)
	}
	for name, dir := range map[string]string{
		"long": windowsPath(long), "server": server(short), "long on a server": server(long), "verbatim": `\\?\` + windowsPath(long), "with slashes": "Z:" + long,
	} {
		t.Run(name, func(t *testing.T) {
			separator := `\`
			if name == "with slashes" {
				separator = "/"
			}
			in, out := dir+separator+"run.txt", dir+separator+"out.spaa"
			if name == "long" && len(in) < 400 {
				t.Fatalf("the path has only %d characters", len(in))
			}
			for _, args := range [][]string{{"top", in, "--json"}, {"convert", in, out, "--force"}, {"top", out, "--json"}} {
				text, err := underWine(t, "ashlar-cli.exe", args...)
				if err != nil || args[0] == "top" && !strings.Contains(text, `"total": 7`) {
					t.Errorf("ashlar-cli %q: %s (%v)", args, text, err)
				}
			}
		})
	}
}

// TestWindowsConsole runs the program with a window in a console, to which it prints
// although Windows gives it none, and with its output in a pipe and in a file.
func TestWindowsConsole(t *testing.T) {
	const want = "windows/amd64"
	if out, err := underWine(t, "ashlar.exe", "version"); err != nil || !strings.Contains(out, want) {
		t.Errorf("into a pipe it prints %q (%v)", out, err)
	}
	// script makes a terminal, which Wine takes for a console.
	program := windowsPath(windowsProgram(t, "ashlar.exe"))
	cmd := exec.Command("script", "-qec", os.Getenv("ASHLAR_WINE")+" enter cmd /c start /wait /b '"+program+"' version", "/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("into a console it prints %q (%v)", out, err)
	}
}

// TestWindowsPackages runs the tests of packages that ask the system for more than files.
func TestWindowsPackages(t *testing.T) {
	tests, err := filepath.Glob(windowsProgram(t, "*.test.exe"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests for Windows were compiled (%v)", err)
	}
	for _, path := range tests {
		name := filepath.Base(path)
		folder := strings.ReplaceAll(strings.TrimSuffix(name, ".test.exe"), ".", "/")
		t.Run(folder, func(t *testing.T) {
			t.Setenv("FOLDER", folder)
			if out, err := underWine(t, name, "-test.short", "-test.timeout=2m"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
