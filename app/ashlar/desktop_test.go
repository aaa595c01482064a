//go:build linux

package main

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/testdata/e2e"
)

// TestOneWindowOrMany checks that a second start opens its own window unless --reuse asks for
// the open one.
func TestOneWindowOrMany(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	bin := e2e.Build(t, "./app/ashlar")
	dir := t.TempDir()
	path := filepath.Join(dir, "handed over ü.spaa")
	if err := os.WriteFile(path, []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}

	// The second program must open its own window; it writes no frame log if it hands the file
	// over.
	log := filepath.Join(dir, "second.json")
	second := s.Command(t, bin, "--frame-log", log, path)
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	// own has no Window, only the second program's frame log.
	own := &session{t: t, log: e2e.OpenLog[frame](log)}
	own.soon("the second window's file", func(f frame) bool { return f.Done && f.File == filepath.Base(path) })
	if f := s.last(); f.File == filepath.Base(path) {
		t.Error("the first window shows the file of the second")
	}
	// A killed program leaves its socket behind, which must not disturb the next one.
	_ = second.Process.Kill()
	_ = second.Wait()

	third := s.Command(t, bin, "--reuse", filepath.Base(path))
	third.Dir = dir // the new program's folder, not the window's, resolves a relative name
	if out, err := third.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("handing over: %v: %s", err, out)
	}
	f := s.until("the file that was handed over", func(f frame) bool { return f.File == filepath.Base(path) && f.Done })
	if f.Events != 1 {
		t.Errorf("it has %d events", f.Events)
	}
}

// TestFirstPage opens the demo from the page shown when no file is open.
func TestFirstPage(t *testing.T) {
	t.Parallel()
	s := startOn(t, e2e.StartDisplay(t), "--theme", "light")
	if f := s.until("the first page", func(f frame) bool { return true }); f.File != "" {
		t.Errorf("without a file %s is shown", f.File)
	}
	s.Click(e2e.Left, image.Pt(300, 500)) // a recipe is copied; no file opens
	if f := s.until("the recipe to be copied", func(f frame) bool { return strings.HasPrefix(f.Note, "Copied") }); f.File != "" {
		t.Errorf("a click on a recipe opens %s", f.File)
	}
	s.Click(e2e.Left, image.Pt(390, 271))
	s.until("the demo", func(f frame) bool { return f.File == "demo.spaa.zst" && f.Done && f.Bars > 0 })
}

// TestDoubleClickedFile installs the program for the user and opens a file as a file manager
// does.
func TestDoubleClickedFile(t *testing.T) {
	t.Parallel()
	d := e2e.StartDisplay(t)
	bin := e2e.Build(t, "./app/ashlar")
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := d.Command(t, program, args...)
		cmd.Env = append(cmd.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "GIO_USE_VFS=local")
		// Use a file, not a pipe: a child that outlives the command would keep a pipe open, and Run
		// would wait for it.
		out, err := os.Create(filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd.Stdout, cmd.Stderr = out, out
		err = cmd.Run()
		b, _ := os.ReadFile(out.Name())
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, b)
		}
		return string(b)
	}
	run(bin, "install")
	run(bin, "install", "--check")
	path := filepath.Join(t.TempDir(), "double clicked.spaa")
	if err := os.WriteFile(path, []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	run("gio", "open", path)
	find := func() string {
		// Search by window class: desktops use it to find a window's icon.
		out, _ := d.Command(t, "xdotool", "search", "--onlyvisible", "--class", "^dev.ashlar.Ashlar$").Output()
		id, _, _ := strings.Cut(string(out), "\n")
		if title, _ := d.Command(t, "xdotool", "getwindowname", id).Output(); !strings.HasPrefix(string(title), "double clicked.spaa") {
			return ""
		}
		return id
	}
	id := ""
	for range 600 {
		if id = find(); id != "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if id == "" {
		t.Fatal("no window opened with the file")
	}
	run("xdotool", "windowfocus", id, "key", "--clearmodifiers", "ctrl+q")
	for range 600 {
		if id = find(); id == "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if id != "" {
		t.Error("the window does not close")
	}
	run(bin, "uninstall")
}
