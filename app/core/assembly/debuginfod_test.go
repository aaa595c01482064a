package assembly_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/core/assembly"
	"ashlar/ingest/fetch"
)

// TestDownloadedBinary takes a binary that is not on this machine, and its symbols and lines,
// from a server; one that sends another binary is not believed, and without a server nothing
// is asked.
func TestDownloadedBinary(t *testing.T) {
	path, symbols, id := compile(t)
	other, _, _ := compile(t, "-O1")
	start := symbols["spin"].Value
	rec := recordingOf("/nowhere/busy", id, "spin", start, map[uint64]int64{starts(t, path, "spin", start)[3]: 7}, layouts[1])
	stripped := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command("strip", "--strip-all", "-o", stripped, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		for from, file := range map[string]string{"/good/buildid/" + id + "/executable": stripped, "/good/buildid/" + id + "/debuginfo": path,
			"/partly/buildid/" + id + "/executable": stripped, "/partly/buildid/" + id + "/debuginfo": other, "/lies/buildid/" + id + "/executable": other} {
			if r.URL.Path == from {
				http.ServeFile(w, r, file)
				return
			}
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	get := func(name string) (*assembly.Listing, string, error) {
		d := &fetch.Debuginfod{Server: server.URL + "/" + name, Dir: t.TempDir()}
		l, err := list(t, rec, assembly.Options{Download: d.Get})
		return l, d.Dir, err
	}
	l, _, err := get("good")
	if err != nil || !l.Verified || l.Self != 7 || l.Parts[0].Name != "spin" || l.Insts[0].Line == 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if l, _, err = get("partly"); err != nil || !l.Verified || l.Self != 7 || l.Parts[0].Low != start || l.Insts[0].Line != 0 {
		t.Errorf("with other symbols: %+v, %v", l, err)
	}
	_, dir, err := get("lies")
	if err == nil || !strings.Contains(err.Error(), "sent another file") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, id, fetch.Executable)); err == nil {
		t.Error("the other binary is kept")
	}
	if _, _, err = get("none"); err == nil || !strings.Contains(err.Error(), "is not on this machine") || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("%v", err)
	}
	was := len(asked)
	if _, err := list(t, rec, assembly.Options{}); err == nil || len(asked) != was {
		t.Errorf("without a server: %v, asked %q", err, asked[was:])
	}
	here := recordingOf(path, id, "spin", start, map[uint64]int64{0: 7}, layouts[1])
	if _, err := list(t, here, assembly.Options{Download: (&fetch.Debuginfod{Server: server.URL, Dir: dir}).Get}); err != nil || len(asked) != was {
		t.Errorf("with the binary on this machine: %v, asked %q", err, asked[was:])
	}
}
