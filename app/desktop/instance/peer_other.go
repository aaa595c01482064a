//go:build !linux && !darwin && !freebsd

package instance

import "net"

// sameUser trusts the folder: nobody else can enter it.
func sameUser(*net.UnixConn) error { return nil }
