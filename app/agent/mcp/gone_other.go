//go:build !unix

package mcp

import "os"

// detects reports whether unread works for f.
func detects(*os.File) bool { return false }

// unread reports whether nobody reads f any more. It cannot be detected on this system.
func unread(*os.File) bool { return false }
