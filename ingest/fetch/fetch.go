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
	"time"

	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// defaultPath is requested where a URL names only a server: what
// `go tool pprof` asks for, the CPU for 30 seconds.
const defaultPath = "/debug/pprof/profile"

// toConnect is how long a server may take to be reached. How long it takes to
// answer is its own affair, a profile of a minute takes a minute; the person
// can end it.
const toConnect = 15 * time.Second

// isURL is what begins as a URL does: a scheme of two letters at least, which no
// volume of Windows has, and two slashes.
var isURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+://`)

// IsURL reports whether a name is a URL or ssh:HOST:PATH rather than a file's here, of
// whatever scheme: [Open] says which are not opened.
func IsURL(name string) bool { return ssh.IsURL(name) || isURL.MatchString(name) }

// unusable says why a URL cannot be asked for, "" if it can.
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

// Name shortens such a name to the server and the last element of the path, for where
// there is little room.
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

// Open asks for a recording and returns its content, which streams as it
// comes; compression is seen through. It waits for the server's answer as long
// as ctx lets it, and reading ends with ctx too. Errors are *source.Error, one
// sentence that begins with the URL (without what lets in, see [safetext.URL]).
func Open(ctx context.Context, name string) (*source.Input, error) {
	if ssh.IsURL(name) {
		return ssh.Open(ctx, name, recording.Part{})
	}
	u, err := url.Parse(name)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, &source.Error{Path: safetext.URL(name), What: fmt.Sprintf("is not a URL (%v)", err), Err: err}
	}
	if what := unusable(u); what != "" {
		return nil, &source.Error{Path: safetext.URL(name), What: what}
	}
	u = withPath(u)
	shown := safetext.URL(u.String())
	fail := func(err error, format string, args ...any) (*source.Input, error) {
		return nil, &source.Error{Path: shown, What: fmt.Sprintf(format, args...), Err: err}
	}
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return fail(err, "cannot be requested (%v)", err)
	}
	req.Header.Set("User-Agent", "ashlar")
	resp, err := client().Do(req)
	if err != nil {
		gone := ctx.Err()
		cancel()
		if gone != nil {
			return nil, gone
		}
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		var on *sentOn
		if errors.As(err, &on) {
			return fail(err, "%v", on)
		}
		return fail(err, "the server cannot be reached (%v)", err)
	}
	if resp.StatusCode != http.StatusOK {
		said := firstLine(resp.Body)
		resp.Body.Close()
		cancel()
		if said != "" {
			said = ": " + said
		}
		return fail(nil, "the server answered %s%s", resp.Status, said)
	}
	in := source.FromStream(shown, Name(shown), resp.Body, cancel)
	if resp.ContentLength > 0 {
		in.Bytes = resp.ContentLength
	}
	return in, nil
}

// client waits for slow answers but not for servers that cannot be reached.
// Compression is left to the source, which sees through what the server's files
// have themselves.
func client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: toConnect}).DialContext
	t.TLSHandshakeTimeout = toConnect
	t.DisableCompression = true
	t.DisableKeepAlives = true // one request: nothing stays open behind it
	return &http.Client{Transport: t, CheckRedirect: follow}
}

// sentOn says why a server's word that the recording is elsewhere is not
// followed.
type sentOn struct{ what string }

func (e *sentOn) Error() string { return e.what }

// mostRedirects is how often a server may send on.
const mostRedirects = 10

// follow lets a server send on to another place on it, also from http to https,
// but to no other server: that one the person has not named.
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
