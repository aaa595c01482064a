//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestEndedInTime checks that a hanging program is killed with its child processes, with an
// error.
func TestEndedInTime(t *testing.T) {
	began := time.Now()
	r, err := executeWithin(200*time.Millisecond, exec.Command("sh", "-c", "echo begun; sleep 60 & sleep 60"))
	if err == nil || !strings.Contains(err.Error(), "ended after 200ms") || r.Text != "begun\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
	// Wait would have waited for the background child, which holds the output open.
	if time.Since(began) > 5*time.Second {
		t.Error("what it had started went on")
	}
	if r, err := executeWithin(time.Minute, exec.Command("echo", "done")); err != nil || r.Text != "done\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
}
