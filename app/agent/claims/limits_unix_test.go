//go:build unix

package claims_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ashlar/app/command"
)

// TestReportsLeadToFilesOnly checks that commands in a report open only regular files, and
// that errors do not quote the content of files that are not recordings.
func TestReportsLeadToFilesOnly(t *testing.T) {
	dir := t.TempDir()
	secret, fifo, link := filepath.Join(dir, "passwords"), filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := os.WriteFile(secret, []byte("root:hunter2:0:0:root:/root:/bin/bash\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprintln(w, "main;parse 42")
	}))
	defer web.Close()
	named := []string{secret, fifo, link, dir, "/proc/self/environ", "/dev/zero", web.URL + "/x.folded", "ssh:localhost:/x.folded"}
	var report strings.Builder
	n := 0
	for _, file := range named {
		for _, name := range []string{"top", "check", "info", "overview", "findings", "calls", "stats", "source"} {
			fmt.Fprintf(&report, "`ashlar %s %s # total = 1`\n", name, file)
			n++
		}
		fmt.Fprintf(&report, "`ashlar top 'ashlar:1?file=%s' # total = 1` `ashlar diff %s %s # total = 1`\n", file, file, file)
		n += 2
		if file != secret { // an address of an existing file is a correct claim
			fmt.Fprintf(&report, "ashlar:1?file=%s\n", file)
			n++
		}
	}
	code, c := check(t, dir, report.String())
	if code != command.Failed || c.Wrong < n {
		t.Errorf("%d of %d claims are wrong (exit code %d): %+v", c.Wrong, n, code, c.Found)
	}
	for _, w := range c.Found {
		if strings.Contains(w.Why, "hunter2") || strings.Contains(w.Why, "root:") {
			t.Errorf("%s quotes the file: %s", w.Claim, w.Why)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("a server was asked %d times", asked.Load())
	}
	path := filepath.Join(dir, "web.md")
	if err := os.WriteFile(path, []byte("`ashlar top "+web.URL+"/x.folded # metrics[0].total = 42`\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("check-claims", "--allow-network", path)
	if asked.Load() == 0 {
		t.Error("--allow-network asks no server")
	}
}
