//go:build linux

package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/assets/desktop"
)

// need fails the test if a program is missing, and names its package.
func need(t *testing.T, program, pkg string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%s is missing: install the package %s (make test does it on Debian and Ubuntu).", program, pkg)
	}
}

// home is a user's home folder on a system with other programs.
type home struct {
	t      *testing.T
	dir    string
	system string // the system's data folder
}

// freshHome returns a home without any settings, on a system with an editor for JSON and no
// program for archives.
func freshHome(t *testing.T) *home {
	t.Helper()
	return newHome(t, "my home ü")
}

func newHome(t *testing.T, name string) *home {
	t.Helper()
	need(t, "update-mime-database", "shared-mime-info")
	need(t, "update-desktop-database", "desktop-file-utils")
	need(t, "gio", "libglib2.0-bin")
	need(t, "xdg-mime", "xdg-utils")
	h := &home{t: t, dir: filepath.Join(t.TempDir(), name), system: t.TempDir()}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "KDE_") || strings.HasPrefix(name, "GNOME_") || name == "DESKTOP_SESSION" || name == "DBUS_SESSION_BUS_ADDRESS" {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", h.dir)
	t.Setenv("XDG_DATA_DIRS", h.system+":/usr/share")
	t.Setenv("XDG_CONFIG_DIRS", h.system)
	// With GNOME, xdg-open and xdg-mime ask GIO, as on most desktops.
	t.Setenv("XDG_CURRENT_DESKTOP", "GNOME")
	// Disable the session bus: a call would start one, which would outlive the test.
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(h.dir, "no-bus"))
	t.Setenv("GIO_USE_VFS", "local")
	t.Setenv("DISPLAY", "")
	h.entry(h.system, "editor.desktop", "[Desktop Entry]\nType=Application\nName=Editor\nExec=editor %F\nMimeType=application/json;text/plain;\n")
	if out, err := exec.Command("update-desktop-database", filepath.Join(h.system, "applications")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

func (h *home) entry(data, name, text string) {
	h.t.Helper()
	h.write(filepath.Join(data, "applications", name), text)
}

func (h *home) write(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// program writes a script in place of Ashlar that logs its arguments.
func (h *home) program() (path, log string) { return h.programIn(`own $programs & "tools" \ü`) }

func (h *home) programIn(dir string) (path, log string) {
	h.t.Helper()
	dir = filepath.Join(h.dir, dir)
	path, log = filepath.Join(dir, "ashlar"), filepath.Join(h.dir, "started")
	h.write(path, "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done > \"$HOME/started.new\" && mv \"$HOME/started.new\" \"$HOME/started\"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		h.t.Fatal(err)
	}
	return path, log
}

// tree lists the names, modes and digests of all files in a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		sum := ""
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf(" %x", sha256.Sum256(b))
		}
		rel, _ := filepath.Rel(dir, path)
		all = append(all, rel+" "+d.Type().String()+sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ask(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.WaitDelay = time.Second // a child process may keep the output open
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, complaints.String())
	}
	return strings.TrimSpace(out.String())
}

func install(t *testing.T, program string) {
	t.Helper()
	lines, err := User(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if !l.OK {
			t.Errorf("installing says: %s", l.Text)
		}
	}
}

func spall() string {
	b := binary.LittleEndian.AppendUint64(nil, 0x0BADF00D)
	b = binary.LittleEndian.AppendUint64(b, 1)
	return string(append(b, make([]byte, 16)...))
}

const spaaHeader = `{"type":"header","format":"spaa","version":"1.0","events":[],"frame_order":"leaf_to_root","stack_id_mode":"local"}` + "\n"

// sortedHeader is a header with sorted keys, as some programs write it: the type comes last.
const sortedHeader = `{"events":[{"kind":"timer","name":"cpu-profile","sampling":{"frequency_hz":605,"mode":"frequency","primary_metric":"samples"}}],"format":"spaa","frame_order":"leaf_to_root","type":"header","version":"1.0"}` + "\n"

func TestTypesAreKnown(t *testing.T) {
	h := freshHome(t)
	program, _ := h.program()
	install(t, program)
	for _, c := range []struct{ name, content, want string }{
		{"a.spaa", spaaHeader, desktop.TypeSPAA},
		{"without-ending", spaaHeader, desktop.TypeSPAA},
		{"sorted", sortedHeader, desktop.TypeSPAA},
		{"with blanks", strings.ReplaceAll(spaaHeader, `"format":`, `"format": `), desktop.TypeSPAA},
		{"a.spaa.zst", "\x28\xb5\x2f\xfd", desktop.TypeSPAAZstd},
		{"a.spaa.gz", "\x1f\x8b\x08", desktop.TypeSPAAGzip},
		{"a.spall", spall(), desktop.TypeSpall},
		{"spall-without-ending", spall(), desktop.TypeSpall},
		{"auto", "\x0d\xf0\xad\xab\x00\x00\x00\x00\x03", desktop.TypeSpall},
		{"a.spall.gz", "\x1f\x8b\x08", desktop.TypeSpallGzip},
		{"cpu.pprof", "\x1f\x8b\x08", desktop.TypePprof},
		{"a.otlp", "\x0a\x01", desktop.TypeOTLP},
		// Other files keep their types.
		{"trace.json", `{"traceEvents":[]}`, "application/json"},
		{"cpu.pb.gz", "\x1f\x8b\x08", "application/gzip"},
		{"a.zst", "\x28\xb5\x2f\xfd", "application/zstd"},
		{"notes.txt", `the key "format":"spaa" is in the header`, "text/plain"},
		{"other", "\x0d\xf0\xad\x0b\x01\x02\x03\x04 and so on", "application/octet-stream"},
	} {
		path := filepath.Join(h.dir, c.name)
		h.write(path, c.content)
		if got := ask(t, "xdg-mime", "query", "filetype", path); got != c.want {
			t.Errorf("%s has the type %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDoubleClick(t *testing.T) {
	// xdg-mime does not find programs whose path contains a blank, so test it with a home without
	// blanks.
	for name, dir := range map[string]string{"home": "bin", "my home ü": `own $programs & "tools" \ü`} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, name)
			program, log := h.programIn(dir)
			install(t, program)
			if name == "home" {
				for _, mediaType := range desktop.OwnTypes {
					if got := ask(t, "xdg-mime", "query", "default", mediaType); got != entryName {
						t.Errorf("%s is opened by %q", mediaType, got)
					}
				}
			}
			h.doubleClicks(log)
		})
	}
}

// doubleClicks opens files with the commands that desktops use.
func (h *home) doubleClicks(log string) {
	t := h.t
	t.Helper()
	for _, c := range []struct{ opener, name string }{
		{"gio", "a.spaa"}, {"gio", "two words, ü and 100% 'quoted' \"so\".spall"}, {"xdg-open", "b $HOME.spaa.zst"}, {"gio", "--demo.spaa"},
	} {
		path := filepath.Join(h.dir, c.name)
		content := map[string]string{".spaa": spaaHeader, ".spall": spall(), ".zst": "\x28\xb5\x2f\xfd"}[filepath.Ext(c.name)]
		h.write(path, content)
		os.Remove(log)
		if c.opener == "gio" {
			ask(t, "gio", "open", path)
		} else {
			ask(t, "xdg-open", path)
		}
		if got, want := started(t, log), "--from-desktop\n--\n"+path+"\n"; got != want {
			t.Errorf("%s starts it with %q, want %q", c.opener, got, want)
		}
	}
	entry := filepath.Join(h.dir, ".local/share/applications", entryName)
	need(t, "desktop-file-validate", "desktop-file-utils")
	if out := ask(t, "desktop-file-validate", entry); out != "" {
		t.Errorf("desktop-file-validate says: %s", out)
	}
	os.Remove(log)
	a, b := filepath.Join(h.dir, "a.spaa"), filepath.Join(h.dir, "b.spaa")
	ask(t, "gio", "launch", entry, a, b)
	if got, want := started(t, log), "--from-desktop\n--\n"+a+"\n"+b+"\n"; got != want {
		t.Errorf("two files start it with %q, want %q", got, want)
	}
}

// started waits until the script has run and returns its log.
func started(t *testing.T, log string) string {
	t.Helper()
	for range 500 {
		if b, err := os.ReadFile(log); err == nil {
			return string(b)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the program was not started")
	return ""
}

// TestOfferedIsNotTaken checks that the editor stays the default for JSON, even if it opens
// JSON only as text, with Ashlar as an alternative, and that Ashlar is offered for archives,
// which no other program opens.
func TestOfferedIsNotTaken(t *testing.T) {
	h := freshHome(t)
	program, _ := h.program()
	install(t, program)
	if got := ask(t, "xdg-mime", "query", "default", "application/json"); got != "editor.desktop" {
		t.Errorf("JSON is opened by %q", got)
	}
	t.Setenv("LC_ALL", "C.UTF-8") // some locales print question marks instead of quotes
	said := ask(t, "gio", "mime", "application/json")
	if !strings.Contains(said, entryName) || !strings.Contains(said, "“application/json”: editor.desktop") && !strings.Contains(said, "'application/json': editor.desktop") {
		t.Errorf("gio says of JSON:\n%s", said)
	}
	for _, archive := range []string{"application/gzip", "application/zstd"} {
		if said := ask(t, "gio", "mime", archive); !strings.Contains(said, entryName) {
			t.Errorf("gio says of %s:\n%s", archive, said)
		}
	}
	lines, err := CheckUser(program)
	for _, l := range lines {
		if !l.OK {
			t.Errorf("the check says: %s", l.Text)
		}
	}
	if err != nil || len(lines) < 1+len(desktop.OwnTypes)+len(desktop.OfferedTypes) {
		t.Errorf("the check has %d lines, and %v", len(lines), err)
	}
	f, err := userFolders()
	if err != nil {
		t.Fatal(err)
	}
	if all := f.openers("application/json"); !slices.Equal(all[:2], []string{"editor.desktop", entryName}) {
		t.Errorf("openers of JSON: %v", all)
	}
}

func TestUninstallLeavesNothing(t *testing.T) {
	for name, before := range map[string]map[string]string{
		"a fresh home": {},
		"own choices": {".config/mimeapps.list": "[Default Applications]\ntext/plain=editor.desktop\n\n[Added Associations]\nimage/png=editor.desktop;\n\n[Removed Associations]\nx/y=z.desktop;\n",
			".local/share/applications/mine.desktop": "[Desktop Entry]\nType=Application\nName=Mine\nExec=mine\n"},
		"no section": {".config/mimeapps.list": "[Default Applications]\ntext/plain=editor.desktop\n"},
		"a list":     {".config/mimeapps.list": "[Added Associations]\napplication/json=editor.desktop;\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := freshHome(t)
			program, _ := h.program()
			for path, text := range before {
				h.write(filepath.Join(h.dir, path), text)
			}
			if len(before) > 1 { // caches that the desktop makes from the files
				ask(t, "update-desktop-database", filepath.Join(h.dir, ".local/share/applications"))
			}
			was := tree(t, h.dir)
			install(t, program)
			if len(tree(t, h.dir)) < len(was)+20 {
				t.Error("installing wrote next to nothing")
			}
			install(t, program) // install again, as after an update
			if _, err := RemoveUser(); err != nil {
				t.Fatal(err)
			}
			if is := tree(t, h.dir); !slices.Equal(is, was) {
				t.Errorf("before installing there was\n%s\nafter uninstalling there is\n%s", strings.Join(was, "\n"), strings.Join(is, "\n"))
			}
			if _, err := RemoveUser(); err != nil {
				t.Errorf("uninstalling twice: %v", err)
			}
		})
	}
}

func TestUninstallKeepsWhatIsNotOurs(t *testing.T) {
	h := freshHome(t)
	program, _ := h.program()
	install(t, program)
	data := filepath.Join(h.dir, ".local/share")
	icon := filepath.Join(data, "icons/hicolor/16x16/apps/other.png")
	h.write(icon, "other")
	h.write(filepath.Join(data, "mime/packages/other.xml"), `<?xml version="1.0"?><mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info"><mime-type type="application/x-other"><glob pattern="*.oth"/></mime-type></mime-info>`)
	list := filepath.Join(h.dir, ".config/mimeapps.list")
	k := readKeyFile(list).set(defaultApps, "application/json", []string{entryName, "editor.desktop"}).set(addedApps, "x/y", []string{"editor.desktop"})
	h.write(list, string(k.bytes()))
	if _, err := RemoveUser(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{icon, filepath.Join(data, "mime/packages/other.xml"), filepath.Join(data, "mime/globs2")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	b, err := os.ReadFile(list)
	if err != nil || strings.Contains(string(b), desktop.ID) || !strings.Contains(string(b), "x/y=editor.desktop;") || !strings.Contains(string(b), "application/json=editor.desktop;") {
		t.Errorf("the list of programs is now %q (%v)", b, err)
	}
}

// TestEditedFilesAreKept checks that neither install nor uninstall touches a file that the
// user wrote or edited, and that both name it.
func TestEditedFilesAreKept(t *testing.T) {
	data := func(h *home) string { return filepath.Join(h.dir, ".local/share") }
	entry := func(h *home) string { return filepath.Join(data(h), "applications", entryName) }
	icon := func(h *home) string {
		return filepath.Join(data(h), "icons/hicolor/scalable/apps", desktop.ID+".svg")
	}
	const own = "[Desktop Entry]\nType=Application\nName=Mine\nTryExec=ashlar\nExec=env GOGC=50 ashlar %F\n"
	said := func(lines []Line) (all string) {
		for _, l := range lines {
			if !l.OK {
				all += l.Text + "\n"
			}
		}
		return all
	}
	run := func(program string) string {
		t.Helper()
		lines, err := User(program)
		if err != nil {
			t.Fatal(err)
		}
		return said(lines)
	}
	take := func() string {
		t.Helper()
		lines, err := RemoveUser()
		if err != nil {
			t.Fatal(err)
		}
		return said(lines)
	}
	kept := func(what, path, text, said string) {
		t.Helper()
		if b, err := os.ReadFile(path); string(b) != text {
			t.Errorf("%s: the file is now %q, %v", what, b, err)
		}
		if !strings.Contains(said, path+" is kept: ") {
			t.Errorf("%s: it says %q", what, said)
		}
	}

	t.Run("written before", func(t *testing.T) {
		h := freshHome(t)
		program, _ := h.program()
		h.write(entry(h), own)
		ask(t, "update-desktop-database", filepath.Dir(entry(h))) // makes a cache
		was := tree(t, h.dir)
		kept("install", entry(h), own, run(program))
		kept("uninstall", entry(h), own, take())
		if is := tree(t, h.dir); !slices.Equal(is, was) {
			t.Errorf("uninstalling leaves\n%s\nwant\n%s", strings.Join(is, "\n"), strings.Join(was, "\n"))
		}
	})
	t.Run("edited", func(t *testing.T) {
		h := freshHome(t)
		program, _ := h.program()
		if got := run(program); strings.Contains(got, "kept") {
			t.Errorf("it says %s", got)
		}
		h.write(entry(h), own)
		h.write(icon(h), "<svg/>")
		got := run(program)
		kept("install", entry(h), own, got)
		kept("install", icon(h), "<svg/>", got)
		if got := strings.Count(got, "is kept"); got != 2 {
			t.Errorf("%d files are kept", got)
		}
		got = take()
		kept("uninstall", entry(h), own, got)
		kept("uninstall", icon(h), "<svg/>", got)
	})
	t.Run("linked", func(t *testing.T) {
		h := freshHome(t)
		program, _ := h.program()
		target := filepath.Join(h.dir, "dotfiles.desktop")
		h.write(target, own)
		if err := os.MkdirAll(filepath.Dir(entry(h)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, entry(h)); err != nil {
			t.Fatal(err)
		}
		kept("install", entry(h), own, run(program))
		kept("uninstall", entry(h), own, take())
	})
	// Ashlar's own files are replaced and removed without a record, and of another program.
	t.Run("no record", func(t *testing.T) {
		h := freshHome(t)
		program, _ := h.program()
		other, _ := h.programIn(`odd \ place`)
		run(other)
		record := filepath.Join(data(h), recordPath)
		if err := os.Remove(record); err != nil {
			t.Fatal(err)
		}
		if got := run(program); strings.Contains(got, "kept") {
			t.Errorf("it says %s", got)
		}
		if b, err := os.ReadFile(entry(h)); !bytes.Contains(b, []byte(`tools`)) {
			t.Errorf("the entry is %q, %v", b, err)
		}
		os.Remove(record)
		if got := take(); strings.Contains(got, "kept") {
			t.Errorf("it says %s", got)
		}
		for _, path := range []string{entry(h), icon(h)} {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s is left", path)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	h := freshHome(t)
	program, _ := h.program()
	wrong := func(program string) (n int, text string) {
		t.Helper()
		lines, err := CheckUser(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if !l.OK {
				n++
			}
			text += l.Text + "\n"
		}
		return n, text
	}
	was := tree(t, h.dir)
	if n, text := wrong(program); n == 0 || !strings.Contains(text, "nothing is installed") {
		t.Errorf("nothing is installed, and the check says:\n%s", text)
	}
	if !slices.Equal(was, tree(t, h.dir)) {
		t.Error("checking wrote something")
	}
	install(t, program)
	if n, text := wrong(program); n != 0 {
		t.Errorf("all is installed, and the check says:\n%s", text)
	}
	if n, text := wrong("/opt/another/ashlar"); n != 1 || !strings.Contains(text, "written by another program: ") {
		t.Errorf("another program is checked as if it were installed:\n%s", text)
	}
	os.Remove(filepath.Join(h.dir, ".local/share/mime/packages", desktop.ID+".xml"))
	h.write(filepath.Join(h.dir, ".config/mimeapps.list"), "[Default Applications]\n"+desktop.TypeSPAA+"=editor.desktop\n")
	if n, text := wrong(program); n < 2 || !strings.Contains(text, "missing: ") || !strings.Contains(text, desktop.TypeSPAA+" is opened by editor.desktop") {
		t.Errorf("a file is gone and the default is another, and the check says:\n%s", text)
	}
}

func TestDataHomeIsHonoured(t *testing.T) {
	h := freshHome(t)
	program, _ := h.program()
	data, config := t.TempDir(), t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	t.Setenv("XDG_CONFIG_HOME", config)
	was := tree(t, h.dir)
	install(t, program)
	if _, err := os.Stat(filepath.Join(data, "applications", entryName)); err != nil {
		t.Error(err)
	}
	if !slices.Equal(was, tree(t, h.dir)) {
		t.Error("something was written to the default folders")
	}
	t.Setenv("XDG_DATA_HOME", "relative/does/not/count")
	if f, err := userFolders(); err != nil || f.data != filepath.Join(h.dir, ".local/share") {
		t.Errorf("a relative XDG_DATA_HOME gives %s, %v", f.data, err)
	}
}

func TestPrefix(t *testing.T) {
	h := freshHome(t)
	program, log := h.program()
	root := filepath.Join(t.TempDir(), "opt", "ashlar")
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	was := tree(t, filepath.Dir(root))
	p := Prefix{Root: root}
	if _, err := p.Install(program); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_DATA_DIRS", filepath.Join(root, "share")+":"+os.Getenv("XDG_DATA_DIRS"))
	if got := ask(t, "xdg-mime", "query", "default", desktop.TypeSpall); got != entryName {
		t.Errorf("spall is opened by %q", got)
	}
	path := filepath.Join(h.dir, "run.spall")
	h.write(path, spall())
	ask(t, "gio", "open", path)
	if got, want := started(t, log), "--from-desktop\n--\n"+path+"\n"; got != want {
		t.Errorf("it is started with %q, want %q", got, want)
	}
	if _, err := p.Remove(); err != nil {
		t.Fatal(err)
	}
	if is := tree(t, filepath.Dir(root)); !slices.Equal(is, was) {
		t.Errorf("uninstalling leaves %v", is)
	}
}

func TestPrefixForAPackage(t *testing.T) {
	dest := t.TempDir()
	program := filepath.Join(t.TempDir(), "ashlar")
	if err := os.WriteFile(program, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := Prefix{Root: "/usr", Dest: dest}
	if _, err := p.Install(program); err != nil {
		t.Fatal(err)
	}
	entry, err := os.ReadFile(filepath.Join(dest, "usr/share/applications", entryName))
	if err != nil || !strings.Contains(string(entry), "\nExec=ashlar --from-desktop -- %F\n") {
		t.Errorf("the entry in the package is %q (%v)", entry, err)
	}
	if i, err := os.Stat(filepath.Join(dest, "usr/bin/ashlar")); err != nil || i.Mode() != 0o755 {
		t.Errorf("the program in the package: %v, %v", i, err)
	}
	if text := strings.Join(tree(t, dest), "\n"); strings.Contains(text, "cache") || strings.Contains(text, "installed.json") {
		t.Errorf("the package has files of this system:\n%s", text)
	}
	if _, err := (Prefix{Root: "usr"}).Install(program); err == nil {
		t.Error("a relative prefix was taken")
	}
}

func TestRecordOfAStrangerIsRefused(t *testing.T) {
	h := freshHome(t)
	h.write(filepath.Join(h.dir, ".local/share", recordPath), `{"files":["../../precious"]}`)
	h.write(filepath.Join(h.dir, "precious"), "kept")
	if _, err := RemoveUser(); err == nil {
		t.Error("a record that names a file elsewhere was followed")
	}
	if _, err := os.Stat(filepath.Join(h.dir, "precious")); err != nil {
		t.Error(err)
	}
}
