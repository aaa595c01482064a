//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestEndedInTime: what hangs is ended with all that it started, and says so.
func TestEndedInTime(t *testing.T) {
	began := time.Now()
	r, err := executeWithin(200*time.Millisecond, exec.Command("sh", "-c", "echo begun; sleep 60 & sleep 60"))
	if err == nil || !strings.Contains(err.Error(), "ended after 200ms") || r.Text != "begun\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
	// The one in the background held the output, for which Wait would have waited.
	if time.Since(began) > 5*time.Second {
		t.Error("what it had started went on")
	}
	if r, err := executeWithin(time.Minute, exec.Command("echo", "done")); err != nil || r.Text != "done\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
}
