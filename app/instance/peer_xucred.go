//go:build darwin || freebsd

package instance

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sameUser makes sure that who is at the other end is this person.
func sameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Xucred
	var cerr error
	if err := raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) }); err != nil {
		return err
	}
	if cerr != nil {
		return cerr
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("the other end belongs to user %d", cred.Uid)
	}
	return nil
}
