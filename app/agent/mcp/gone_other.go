//go:build !unix

package mcp

import "os"

// unread reports whether nobody reads f any more. It cannot be detected on this system.
func unread(*os.File) bool { return false }
