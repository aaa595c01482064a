package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

const noFollow = 0

// folder returns a folder in the user's local application data, which others cannot
// enter.
func folder() (string, error) {
	base, err := os.UserCacheDir() // %LocalAppData%
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "Ashlar", "run")
	return dir, os.MkdirAll(dir, 0o700)
}

func mine(fs.FileInfo) bool { return true }

// ending is that of the empty files that stand for pipes.
const ending = ".pipe"

func isSocket(i fs.FileInfo) bool { return i.Mode().IsRegular() }

// pipe returns the name of the pipe for which a file stands.
func pipe(path string) string {
	return `\\.\pipe\ashlar-` + strings.TrimSuffix(filepath.Base(path), ending)
}

type (
	conn     struct{ net.Conn }
	listener struct{ net.Listener }
)

func accept(l *listener) (*conn, error) {
	c, err := l.Accept()
	return &conn{c}, err
}

// dial connects to a program's pipe. The program learns nothing about this one: it cannot
// act in its user's name.
func dial(ctx context.Context, path string) (*conn, error) {
	c, err := winio.DialPipeContext(ctx, pipe(path))
	return &conn{c}, err
}

// died reports whether err means that a pipe's program is gone: its pipe went with it.
func died(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// listenAt creates a pipe that this user owns and nobody else may use, and then the file that
// stands for it.
func listenAt(path string) (*listener, error) {
	me, err := user()
	if err != nil {
		return nil, err
	}
	l, err := listenOn(pipe(path), fmt.Sprintf("O:%[1]sD:P(A;;GA;;;%[1]s)", me))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// listenOn creates a pipe for programs on this machine. security says in SDDL who owns it and
// who may use it.
func listenOn(name, security string) (*listener, error) {
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: security, InputBufferSize: 64 << 10, OutputBufferSize: 64 << 10})
	if err != nil {
		return nil, err
	}
	// The library keeps the name by an instance of the pipe that serves nobody. Windows connects
	// no program to it, but Wine the first one, so that is this one.
	if c, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
		c.Close()
	}
	return &listener{l}, nil
}

// user returns the user of this program.
func user() (*windows.SID, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return u.User.Sid, nil
}

// sameUser returns an error unless this user owns the pipe. Once a program has ended, another
// user could create a pipe with the name that it had.
func sameUser(c *conn) error {
	me, err := user()
	if err != nil {
		return err
	}
	h, ok := c.Conn.(interface{ Fd() uintptr })
	if !ok {
		return errors.New("the connection is not a pipe")
	}
	sd, err := windows.GetSecurityInfo(windows.Handle(h.Fd()), windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err == nil && !owner.Equals(me) {
		err = fmt.Errorf("the other program belongs to user %s", owner)
	}
	return err
}
