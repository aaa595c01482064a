//go:build !windows

package main

// attachConsole does nothing: programs here inherit their output.
func attachConsole() {}
