//go:build !linux

package store

const arenas = false

func (e *extents) extend() ([]byte, error) { return nil, ErrNoArena }
