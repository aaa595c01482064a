//go:build !windows

package main

// attachConsole does nothing: programs here inherit their output.
func attachConsole() {}

// showMessage does nothing: the standard error tells it.
func showMessage(string) {}
