// Package fetch opens recordings over HTTP, such as the profiles of a Go program at
// /debug/pprof, and over SSH (see package ssh). It requests only the URLs that the user
// names.
package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// defaultPath is requested if a URL names only a server. As with `go tool pprof`, it is a
// CPU profile of 30 seconds.
const defaultPath = "/debug/pprof/profile"

// toConnect is the time limit for reaching a server. The answer itself has no limit,
// since a profile of a minute takes a minute; the user can cancel.
const toConnect = 15 * time.Second

// toContinue is the longest pause in an answer whose length the server has announced. It is
// a variable for tests. Other answers may be of a program that runs and writes now and then.
var toContinue = time.Minute

// toExplain is the time limit for a server's error message after its status. It is a
// variable for tests.
var toExplain = 2 * time.Second

// isURL matches the beginning of a URL: a scheme of at least two letters, unlike a
// Windows drive letter, and two slashes.
var isURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+://`)

// IsURL reports whether a name is a URL of any scheme or ssh:HOST:PATH, rather than a
// local file. [Open] rejects unsupported schemes.
func IsURL(name string) bool { return ssh.IsURL(name) || isURL.MatchString(name) }

// unusable explains why a URL cannot be requested, "" if it can.
func unusable(u *url.URL) string {
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme == "file":
		return "is a URL of a file; name the file itself: " + safetext.Command(u.Path)
	case scheme == "ssh":
		return "is not a file on a host; write it like " + safetext.Command("ssh:"+u.Host+":"+u.Path)
	case scheme != "http" && scheme != "https":
		return "is a URL with " + scheme + "://, but only http:// and https:// are supported; save it as a file first"
	case u.Hostname() == "":
		return "names no server; write it like http://localhost:6060/debug/pprof/profile"
	}
	return ""
}

// Name shortens a URL or ssh name to the server and the last element of the path, for
// places with little room.
func Name(name string) string {
	if ssh.IsURL(name) {
		return ssh.Name(name)
	}
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return name
	}
	last := path.Base(withPath(u).Path)
	return u.Host + " " + last
}

func withPath(u *url.URL) *url.URL {
	v := *u
	if v.Path == "" || v.Path == "/" {
		v.Path = defaultPath
	}
	return &v
}

// Open requests a recording and returns its content, which is streamed and decompressed
// as it arrives. It waits for the server's answer until ctx ends; reading ends with ctx
// too. Errors are *source.Error, one sentence that begins with the URL (without
// credentials, see [safetext.URL]).
func Open(ctx context.Context, name string) (*source.Input, error) {
	if ssh.IsURL(name) {
		return ssh.Open(ctx, name, recording.Part{})
	}
	resp, shown, cancel, err := request(ctx, name)
	if err != nil {
		return nil, err
	}
	in := source.FromStream(shown, Name(shown), resp.Body, cancel)
	if resp.ContentLength > 0 {
		in.Bytes = resp.ContentLength
	}
	return in, nil
}

// Download requests a recording over HTTP and writes it to w as it arrives, compressed if
// it is. Its errors are like those of Open.
func Download(ctx context.Context, name string, w io.Writer) error {
	resp, shown, cancel, err := request(ctx, name)
	if err != nil {
		return err
	}
	defer cancel()
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &source.Error{Path: shown, What: fmt.Sprintf("the answer ends early (%s)", safetext.Short(err.Error())), Err: err}
	}
	return nil
}

// request sends a request and waits for the beginning of the answer. shown is the URL without
// credentials; cancel ends the answer.
func request(ctx context.Context, name string) (resp *http.Response, shown string, cancel func(), err error) {
	u, err := url.Parse(name)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, "", nil, &source.Error{Path: safetext.URL(name), What: fmt.Sprintf("is not a URL (%v)", err), Err: err}
	}
	if what := unusable(u); what != "" {
		return nil, "", nil, &source.Error{Path: safetext.URL(name), What: what}
	}
	u = withPath(u)
	shown = safetext.URL(u.String())
	fail := func(err error, format string, args ...any) (*http.Response, string, func(), error) {
		return nil, "", nil, &source.Error{Path: shown, What: fmt.Sprintf(format, args...), Err: err}
	}
	caller := ctx
	ctx, cancel = context.WithCancel(caller)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return fail(err, "cannot be requested (%v)", err)
	}
	req.Header.Set("User-Agent", "ashlar")
	resp, err = client().Do(req)
	if err != nil {
		gone := ctx.Err()
		cancel()
		if gone != nil {
			return nil, "", nil, gone
		}
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		var on *sentOn
		if errors.As(err, &on) {
			return fail(err, "%v", on)
		}
		var reached *net.OpError
		if errors.As(err, &reached) && reached.Op == "dial" || strings.HasPrefix(u.Scheme, "https") {
			return fail(err, "the server cannot be reached (%v)", err)
		}
		return fail(err, "the server's answer cannot be read (%s)", safetext.Short(err.Error()))
	}
	if resp.StatusCode != http.StatusOK {
		// The message only explains the status, so an unfinished one is not waited for.
		enough := time.AfterFunc(toExplain, cancel)
		said := firstLine(resp.Body)
		enough.Stop()
		resp.Body.Close()
		gone := caller.Err()
		cancel()
		if gone != nil {
			return nil, "", nil, gone
		}
		if said != "" {
			said = ": " + said
		}
		return fail(nil, "the server answered %s%s", resp.Status, said)
	}
	if resp.ContentLength > 0 {
		resp.Body = &steady{ReadCloser: resp.Body, left: resp.ContentLength, cancel: cancel}
	}
	return resp, shown, cancel, nil
}

// steady reads an answer of a known length, and fails if it pauses for too long.
type steady struct {
	io.ReadCloser
	left   int64
	cancel func()
}

func (s *steady) Read(p []byte) (int, error) {
	var late atomic.Bool
	pause := time.AfterFunc(toContinue, func() {
		late.Store(true)
		s.cancel()
	})
	n, err := s.ReadCloser.Read(p)
	pause.Stop()
	s.left -= int64(n)
	if err != nil && err != io.EOF && late.Load() {
		err = fmt.Errorf("the server sent nothing for %.0f s, with %s to come", toContinue.Seconds(), safetext.Plural(s.left, "byte"))
	}
	return n, err
}

// client returns a client that waits for slow answers but not for unreachable servers.
// Decompression is left to the source, which also handles compressed files.
func client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: toConnect}).DialContext
	t.TLSHandshakeTimeout = toConnect
	t.DisableCompression = true
	t.DisableKeepAlives = true // a single request: keep no connection open
	return &http.Client{Transport: t, CheckRedirect: follow}
}

// sentOn is the reason why a redirect is not followed.
type sentOn struct{ what string }

func (e *sentOn) Error() string { return e.what }

// mostRedirects is the maximum number of redirects.
const mostRedirects = 10

// follow allows redirects to the same server, also from http to https, but not to another
// server, which the user has not named.
func follow(req *http.Request, via []*http.Request) error {
	was, to := via[len(via)-1].URL, req.URL
	same := strings.EqualFold(was.Host, to.Host) && (was.Scheme == to.Scheme || to.Scheme == "https")
	upgrade := was.Scheme == "http" && to.Scheme == "https" && strings.EqualFold(was.Hostname(), to.Hostname())
	switch {
	case !same && !upgrade:
		return &sentOn{fmt.Sprintf("the server redirects to %s; open that address yourself if you trust it", safetext.URL(to.String()))}
	case slices.ContainsFunc(via, func(r *http.Request) bool { return *r.URL == *to }) || len(via) > mostRedirects:
		return &sentOn{"the server redirects in a loop"}
	}
	return nil
}

// firstLine returns the first line of a server's error message.
func firstLine(r io.Reader) string {
	line, _ := bufio.NewReader(io.LimitReader(r, 200)).ReadString('\n')
	line = strings.TrimSpace(strings.ToValidUTF8(line, "�"))
	if strings.HasPrefix(line, "<") {
		return "" // a page for a browser
	}
	return line
}
