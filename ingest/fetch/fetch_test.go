package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/source"
)

func TestIsURL(t *testing.T) {
	for name, want := range map[string]bool{
		"http://host/x": true, "HTTPS://host": true, "http://": true, "https:/x": false, "C://x": false, "./ftp://x": false,
		"ftp://host/x": true, "file:///x": true, "/tmp/http://x": false, "http": false, "": false,
	} {
		if got := fetch.IsURL(name); got != want {
			t.Errorf("IsURL(%q) = %v", name, got)
		}
	}
	if got := fetch.Name("http://localhost:6060"); got != "localhost:6060 profile" {
		t.Errorf("Name: %q", got)
	}
}

// total loads what a server hands out and adds it up.
func total(t *testing.T, url string) (sum int64, err error) {
	t.Helper()
	rec, _, err := ingest.ReadAll(context.Background(), url, ingest.Options{})
	if err != nil {
		return 0, err
	}
	s := rec.Stacks[0]
	for i := range s.Len() {
		sum += s.Value(i, 0)
	}
	return sum, nil
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

const folded = "main;a 3\nmain;b 4\n"

func TestOpen(t *testing.T) {
	var asked []string
	mux := http.NewServeMux()
	plain := func(path string, content []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.String())
			w.Write(content)
		})
	}
	plain("/plain", []byte(folded))
	plain("/packed", packed(folded))
	plain("/debug/pprof/profile", packed(folded))
	plain("/page", []byte("<html><body>not a recording</body></html>"))
	mux.Handle("/moved", http.RedirectHandler("/plain", http.StatusFound))
	mux.HandleFunc("/no", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
	})
	mux.HandleFunc("/strange", func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n\r\n")
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, path := range []string{"/plain", "/packed", "/moved", "/plain?seconds=5&x=a%20b", "", "/"} {
		if got, err := total(t, server.URL+path); err != nil || got != 7 {
			t.Errorf("%q: total %d, %v, want 7", path, got, err)
		}
	}
	want := "/plain /packed /plain /plain?seconds=5&x=a%20b /debug/pprof/profile /debug/pprof/profile"
	if got := strings.Join(asked, " "); got != want {
		t.Errorf("the server was asked for\n%s, want\n%s", got, want)
	}

	secret := strings.Replace(server.URL, "http://", "http://me:secret@", 1)
	gone := httptest.NewServer(mux)
	gone.Close()
	for url, want := range map[string]string{
		server.URL + "/nowhere": "/nowhere: the server answered 404 Not Found: 404 page not found",
		server.URL + "/no":      "the server answered 500 Internal Server Error: Could not enable CPU profiling: cpu profiling already in use",
		server.URL + "/page":    "/page: ",
		server.URL + "/strange": "/strange: the server's answer cannot be read (",
		secret + "/nowhere":     strings.TrimPrefix(server.URL, "http://") + "/nowhere: the server answered",
		gone.URL + "/plain":     "/plain: the server cannot be reached",
		"http://[::1/x":         "http://[::1/x is not a URL",
	} {
		_, err := total(t, url)
		var named *source.Error
		if !errors.As(err, &named) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "http://") {
			t.Errorf("%s: %v, want something with %q", url, err, want)
		}
	}
}

// TestUnusable checks that the error for a URL that cannot be requested gives the reason and, for
// some, what to do. It must not contain a password.
func TestUnusable(t *testing.T) {
	for name, want := range map[string]string{
		"ftp://me:secret@host/x": "ftp://host/x is a URL with ftp://, but only http:// and https:// are supported; save it as a file first",
		"s3://bucket/x":          "s3://bucket/x is a URL with s3://",
		"file:///a/b c.json":     "is a URL of a file; name the file itself: '/a/b c.json'",
		"http://":                "names no server; write it like http://localhost:6060/debug/pprof/profile",
		"https:///debug":         "names no server",
		"http://:6060/":          "names no server",
	} {
		if _, err := total(t, name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want something with %q", name, err, want)
		}
	}
}

// TestSlow checks that the data received from a slow server is shown before the rest arrives, and
// that stopping keeps it.
func TestSlow(t *testing.T) {
	more := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			return
		}
		for i := range 5000 {
			fmt.Fprintf(w, "main;f%d 1\n", i)
		}
		w.(http.Flusher).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(more)

	told := make(chan struct{}, 1)
	load := ingest.Open(context.Background(), server.URL+"/slow", ingest.Options{Notify: func() {
		select {
		case told <- struct{}{}:
		default:
		}
	}})
	defer load.Close()
	for load.Progress().Records == 0 {
		select {
		case <-told:
		case <-time.After(20 * time.Second):
			t.Fatal("nothing was shown of what the server has sent")
		}
	}
	load.Stop()
	if err := load.Wait(); err != nil {
		t.Fatal(err)
	}
	rec := load.Snapshot()
	if !rec.Done || rec.Stacks[0].Len() == 0 || len(rec.Warnings) == 0 {
		t.Errorf("stopped: done %v, %d stacks, warnings %v", rec.Done, rec.Stacks[0].Len(), rec.Warnings)
	}

	silent := ingest.Open(context.Background(), server.URL+"/silent", ingest.Options{})
	defer silent.Close()
	time.Sleep(50 * time.Millisecond)
	silent.Stop()
	if err := silent.Wait(); err == nil || !strings.Contains(err.Error(), "reading was stopped before any data arrived") {
		t.Errorf("stopped before the server answered: %v", err)
	}
}

// A real profile, of this test.
func TestProfile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pprof.Lookup("goroutine").WriteTo(w, 0)
	}))
	defer server.Close()
	got, err := total(t, server.URL+"/debug/pprof/goroutine")
	if err != nil || got < 2 {
		t.Errorf("%d goroutines, %v", got, err)
	}
}

// TestSentOn checks that a server may redirect to another path of its own, but neither to another
// server nor in a circle.
func TestSentOn(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		io.WriteString(w, folded)
	}))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/out", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/elsewhere?token=abc", http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/pool", http.StatusFound) })
	mux.HandleFunc("/pool", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/far/", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) })
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]string{
		"/out":  "/out: the server redirects to " + other.URL + "/elsewhere?token=xxxxx; open that address yourself if you trust it",
		"/loop": "/loop: the server redirects in a loop",
		"/far/": "/far/: the server redirects in a loop",
	} {
		if _, err := total(t, server.URL+path); err == nil || err.Error() != server.URL+want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if asked != 0 {
		t.Error("the other server was asked")
	}
}

// TestCredentials checks that the password and token of a URL are sent to the server, and
// that the recording's name contains neither.
func TestCredentials(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "user" || password != "secret" || r.FormValue("token") != "abc" {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		io.WriteString(w, folded)
	}))
	defer server.Close()
	rec, _, err := ingest.ReadAll(context.Background(), strings.Replace(server.URL, "http://", "http://user:secret@", 1)+"/run?token=abc&seconds=1", ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := server.URL + "/run?token=xxxxx&seconds=1"; rec.Source.Path != want {
		t.Errorf("it is called %s, want %s", rec.Source.Path, want)
	}
}

// TestStalled checks that reading ends if the server stops sending although it announced more, and
// keeps the part received. If it announced no length, it may pause.
func TestStalled(t *testing.T) {
	defer fetch.SetToContinue(50 * time.Millisecond)()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/known" {
			w.Header().Set("Content-Length", "1000")
		}
		io.WriteString(w, "main;a 1\nmain;b 2\n")
		w.(http.Flusher).Flush()
		select {
		case <-time.After(200 * time.Millisecond):
		case <-r.Context().Done():
		}
		if r.URL.Path != "/known" {
			io.WriteString(w, "main;c 3\n")
			return
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	rec, _, err := ingest.ReadAll(t.Context(), server.URL+"/unknown", ingest.Options{})
	if err != nil || len(rec.Warnings) > 0 || rec.Stacks[0].Len() != 3 {
		t.Errorf("an answer that pauses: %v, %+v", err, rec)
	}
	rec, _, err = ingest.ReadAll(t.Context(), server.URL+"/known", ingest.Options{})
	if err != nil || rec.Stacks[0].Len() != 2 {
		t.Fatalf("an answer that stops: %v, %+v", err, rec)
	}
	if told := fmt.Sprint(rec.Warnings); !strings.Contains(told, "sent nothing") || !strings.Contains(told, "982 bytes to come") {
		t.Errorf("an answer that stops is explained as %s", told)
	}
}

// TestUnfinishedMessage checks that an error message of a server that stops sending does
// not block forever, and that canceling is not reported as an error of the server.
func TestUnfinishedMessage(t *testing.T) {
	defer fetch.SetToExplain(50 * time.Millisecond)()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "profiling is")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if _, err := fetch.Open(ctx, server.URL+"/p"); err == nil || ctx.Err() != nil || !strings.HasSuffix(err.Error(), "the server answered 503 Service Unavailable: profiling is") {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	fetch.SetToExplain(time.Minute)
	ctx, stop = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := fetch.Open(ctx, server.URL+"/p"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("canceled: %v", err)
	}
}
