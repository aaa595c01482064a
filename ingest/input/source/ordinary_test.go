package source

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOrdinary(t *testing.T) {
	dir := t.TempDir()
	file, link, looped := filepath.Join(dir, "x.c"), filepath.Join(dir, "link"), filepath.Join(dir, "looped")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Ordinary(file); err != nil || got != real {
		t.Errorf("a file: %q, %v", got, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, to := range map[string]string{link: "/proc/self/environ", looped: "looped"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, link, looped, filepath.Join(dir, "none"), "/proc/self/environ", "/proc/self/pagemap", "/proc/kmsg", "/dev/null", "/dev/zero", "/sys/kernel/uevent_seqnum", "/../proc/version", ""} {
		if got, err := Ordinary(path); err == nil {
			t.Errorf("%q is taken for the file %s", path, got)
		}
	}
}

func TestRegular(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	const want = "/dev/zero is a system file; files in /dev, /proc and /sys are not opened here"
	if err := Regular("/dev/zero"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRemote(t *testing.T) {
	for path, want := range map[string]bool{
		`\\evil\share\x.c`: true, `//evil/share/x.c`: true, `\/evil\x`: true, `\\.\pipe\x`: true, `\\?\UNC\evil\x`: true,
		`C:\x.c`: false, `\x.c`: false, `/x.c`: false, `x.c`: false, ``: false, `\`: false,
	} {
		if got := remote(path); got != want {
			t.Errorf("remote(%q) = %v", path, got)
		}
	}
}
