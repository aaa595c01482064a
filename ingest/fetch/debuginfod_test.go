package fetch_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ashlar/ingest/fetch"
)

// TestDebuginfod downloads a file once, and meets servers that lack it, lie about its length,
// send too much, stall, or are not there. No failure leaves a file behind.
func TestDebuginfod(t *testing.T) {
	defer fetch.SetToContinue(200 * time.Millisecond)()
	defer fetch.SetDownload(1<<20, 8<<20, 2*time.Second)()
	id := strings.Repeat("ab", 20)
	var asked atomic.Int64
	stop := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if rest != "buildid/"+id+"/executable" {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		switch kind {
		case "good":
			fmt.Fprint(w, "content")
		case "short":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "content")
		case "endless":
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "stalls":
			fmt.Fprint(w, "content")
			w.(http.Flusher).Flush()
			<-stop
		case "silent":
			<-stop
		case "drips":
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		case "elsewhere":
			http.Redirect(w, r, "http://localhost:1/other", http.StatusFound)
		}
	}))
	defer server.Close()
	defer close(stop)
	dir := t.TempDir()
	get := func(base, id, kind string) (string, error) {
		d := fetch.Debuginfod{Server: base, Dir: dir}
		return d.Get(t.Context(), id, kind)
	}
	for range 2 {
		path, err := get(server.URL+"/good/", id, fetch.Executable)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "content" || asked.Load() != 1 {
			t.Errorf("%q, %v, asked %d times", b, err, asked.Load())
		}
		if path != filepath.Join(dir, id, "executable") {
			t.Error(path)
		}
	}
	dir = t.TempDir()
	for what, want := range map[string]string{"good/x": "404 Not Found", "short": "ends early", "endless": "is larger than 1 MB", "stalls": "too slow, or stopped", "silent": "too slow, or stopped", "drips": "too slow, or stopped", "elsewhere": "redirects to"} {
		if _, err := get(server.URL+"/"+what, id, fetch.Executable); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	if _, err := get("http://127.0.0.1:1", id, fetch.Executable); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("no server: %v", err)
	}
	was := asked.Load()
	for _, bad := range []string{"", "../../etc", "abc", strings.Repeat("a", 200)} {
		if _, err := get(server.URL+"/good", bad, fetch.Executable); err == nil || asked.Load() != was {
			t.Errorf("%q: %v", bad, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&fetch.Debuginfod{Server: server.URL + "/good", Dir: dir}).Get(ctx, id, fetch.Executable); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	left := 0
	_ = filepath.Walk(dir, func(_ string, st os.FileInfo, err error) error {
		if err == nil && st.Mode().IsRegular() {
			left++
		}
		return nil
	})
	if left > 0 {
		t.Errorf("%d files are left", left)
	}
}

// TestDebuginfodKeepsLittle checks that the files used longest ago are deleted, and progress.
func TestDebuginfodKeepsLittle(t *testing.T) {
	defer fetch.SetDownload(1<<20, 250, time.Minute)()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), 100)) }))
	defer server.Close()
	var got int64
	d := fetch.Debuginfod{Server: server.URL, Dir: t.TempDir(), Progress: func(url string, n int64) {
		if !strings.HasPrefix(url, server.URL) {
			t.Error(url)
		}
		got = n
	}}
	var paths []string
	for i := range 4 {
		path, err := d.Get(t.Context(), fmt.Sprintf("%040x", i), fetch.DebugInfo)
		if err != nil || got != 100 {
			t.Fatal(err, got)
		}
		paths = append(paths, path)
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // used again, so the second is the oldest
			if _, err := d.Get(t.Context(), fmt.Sprintf("%040x", 0), fetch.DebugInfo); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, want := range []bool{true, false, false, true} {
		if _, err := os.Stat(paths[i]); (err == nil) != want {
			t.Errorf("file %d is there: %t", i, err == nil)
		}
	}
}
