//go:build unix && !linux && !darwin && !freebsd

package instance

import "net"

// sameUser trusts the folder: nobody else can enter it.
func sameUser(net.Conn) error { return nil }
