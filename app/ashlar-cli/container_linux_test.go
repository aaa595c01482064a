package main

import (
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// container runs the program in a new root folder that holds nothing else: no libraries,
// fonts, devices or other processes. The demo's picture must match the one drawn outside,
// whose path is outside.
func container(t *testing.T, program, outside string) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "ashlar-cli"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	alone := func(flags uintptr) ([]byte, error) {
		cmd := exec.Command("/ashlar-cli", "render", "--demo", "-o", "/ashlar.png", "--size", "1280x800")
		cmd.Dir, cmd.Env = "/", []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
		return cmd.CombinedOutput()
	}
	all := uintptr(syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS)
	msg, err := alone(all | syscall.CLONE_NEWUSER)
	if denied(err) {
		msg, err = alone(all) // root needs no user namespace
	}
	if denied(err) {
		msg, err = alone(0)
	}
	if denied(err) {
		t.Skipf("NOT TRIED IN A CONTAINER: this machine lets nobody make one: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	drawn := filepath.Join(root, "ashlar.png")
	if far := apart(t, drawn, outside); far > .002 {
		t.Errorf("the picture is %.1f %% from that outside", 100*far)
	}
	// The README's picture was drawn with OpenGL, which draws edges slightly differently, and may
	// be older than the latest change of style.
	if far := apart(t, drawn, "../../assets/ashlar.png"); far > .03 {
		t.Errorf("the picture is %.1f %% from that of the README", 100*far)
	}
}

func denied(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOSYS)
}

// apart returns the mean difference of the colour channels of two pictures of the same size,
// from 0 to 1.
func apart(t *testing.T, a, b string) float64 {
	t.Helper()
	var sum float64
	x, y := decoded(t, a), decoded(t, b)
	if x.Bounds() != y.Bounds() {
		t.Fatalf("one picture is of %v, the other of %v", x.Bounds(), y.Bounds())
	}
	for v := range x.Bounds().Dy() {
		for h := range x.Bounds().Dx() {
			r, g, b, _ := x.At(h, v).RGBA()
			r2, g2, b2, _ := y.At(h, v).RGBA()
			for _, c := range [][2]uint32{{r, r2}, {g, g2}, {b, b2}} {
				sum += float64(max(c[0], c[1])-min(c[0], c[1])) / 0xffff
			}
		}
	}
	return sum / 3 / float64(x.Bounds().Dx()*x.Bounds().Dy())
}

func decoded(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(path, err)
	}
	return img
}
