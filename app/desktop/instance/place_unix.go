//go:build unix

package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// folder returns the folder ashlar in the session's runtime folder, or else a folder with
// the user's id in the folder for temporary files.
func folder() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && private(dir) == nil {
		return makePrivate(filepath.Join(dir, "ashlar"))
	}
	return makePrivate(filepath.Join(os.TempDir(), "ashlar-"+strconv.Itoa(os.Getuid())))
}

func makePrivate(dir string) (string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return "", fmt.Errorf("the folder %s, where windows and sessions find each other, cannot be made (%w)", dir, err)
	}
	return dir, private(dir)
}

// private returns an error unless a folder belongs to the user and is closed to others.
func private(dir string) error {
	i, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !i.IsDir():
		return fmt.Errorf("%s is not a folder, so windows can't find each other there", dir)
	case !mine(i):
		return fmt.Errorf("%s belongs to another user, so windows can't find each other there", dir)
	case i.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others (its mode is %04o), so windows can't find each other there; chmod 700 fixes it", dir, i.Mode().Perm())
	}
	return nil
}

func mine(i fs.FileInfo) bool {
	s, ok := i.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

func isSocket(i fs.FileInfo) bool { return i.Mode().Type() == fs.ModeSocket }

const ending = ".sock"

type (
	conn     = net.UnixConn
	listener = net.UnixListener
)

func accept(l *listener) (*conn, error) { return l.AcceptUnix() }

// dial connects to a program's socket.
func dial(ctx context.Context, path string) (*conn, error) {
	address, done, err := address(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	return c.(*conn), nil
}

// died reports whether err means that a socket's program is gone.
func died(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// listenAt creates a socket. A new socket refuses connections until listen is called, and
// another program would remove it as dead. So it gets its name afterwards.
func listenAt(path string) (*listener, error) {
	first := path + "-new"
	address, done, err := address(first)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the address may be a path through a file descriptor
	if err = os.Chmod(first, 0o600); err == nil {
		err = os.Rename(first, path)
	}
	if err != nil {
		l.Close()
		_ = os.Remove(first)
		return nil, err
	}
	return l, nil
}

// address shortens a socket's path to the maximum length of an address: 108 bytes, 104 on
// some systems, including a NUL. The caller calls done when finished with it.
func address(path string) (short string, done func(), err error) {
	if len(path) < 104 {
		return path, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("the path %s is too long for a socket", path)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}
