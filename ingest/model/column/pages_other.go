//go:build !linux

package column

func advise(addr, size uintptr) {}
