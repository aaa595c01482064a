//go:build !unix && !windows

package source

import "os"

// mapFile returns nil: files are read as streams.
func mapFile(*os.File, int64) *mapping { return nil }

func (m *mapping) ahead(from, to, size int64) {}

func (m *mapping) random() {}

type pipe struct{ *os.File }

func newPipe(f *os.File) *pipe { return &pipe{f} }

// waits reports whether a read of a file would wait; here none does.
func waits(*os.File) bool { return false }

func (p *pipe) interrupt() {}
