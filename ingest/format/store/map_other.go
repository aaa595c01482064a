//go:build !unix && !windows

package store

import "os"

func mapFile(f *os.File, size int64) ([]byte, error) { return inMemory(f, size) }

func unmap([]byte) {}
