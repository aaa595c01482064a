//go:build !windows

package main

// attachConsole has nothing to do: programs have the output they are given.
func attachConsole() {}
