//go:build linux || darwin || freebsd

package instance

import (
	"fmt"
	"os"
)

// sameUser returns an error unless this user is at the other end.
func sameUser(c *conn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var uid uint32
	var uerr error
	if err := raw.Control(func(fd uintptr) { uid, uerr = peer(int(fd)) }); err != nil {
		return err
	}
	if uerr == nil && int(uid) != os.Getuid() {
		return fmt.Errorf("the other program belongs to user %d", uid)
	}
	return uerr
}
