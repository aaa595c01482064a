package record

import (
	"os"
	"testing"
	"time"
)

// ReplacePatience replaces the time for which an address may send nothing until the end of a
// test.
func ReplacePatience(t *testing.T, wait time.Duration) {
	was := toSend
	t.Cleanup(func() { toSend = was })
	toSend = wait
}

// Replace replaces how a command's signal is passed on, and the program that opens windows,
// until the end of a test. No signal counts as sent by the terminal.
func Replace(t *testing.T, program string, passOn func(os.Signal)) {
	by, sent, self := endBy, terminalSent, executable
	t.Cleanup(func() { endBy, terminalSent, executable = by, sent, self })
	endBy = passOn
	terminalSent = func(os.Signal) bool { return false }
	executable = func() (string, error) { return program, nil }
}
