//go:build !windows

package outfile

import "os"

// createTemp creates a file, which must not exist.
func createTemp(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}
