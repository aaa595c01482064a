package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"time"

	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
)

// Paths that a Go program with net/http/pprof serves.
const pprofFolder = "/debug/pprof"

// toListen is how long a started command has until it listens at the address.
const toListen = 30 * time.Second

// toSend is how long an address may send nothing, beyond the time that it records for. It is a
// variable for tests.
var toSend = time.Minute

// address returns the URL to request: by default a CPU profile of ten seconds.
func (j *job) address() (*url.URL, error) {
	text := j.url
	if strings.HasPrefix(text, ":") {
		text = "localhost" + text
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, subcommand.Misuse("--url %s is not an address like localhost:6060", safetext.Short(j.url))
	}
	if p := strings.TrimRight(u.Path, "/"); p == "" || p == pprofFolder {
		u.Path = pprofFolder + "/profile"
	}
	if kind := path.Base(u.Path); kind == "profile" || kind == "trace" {
		q := u.Query()
		if !q.Has("seconds") {
			q.Set("seconds", strconv.FormatFloat(cmp.Or(j.seconds, 10), 'f', -1, 64))
			u.RawQuery = q.Encode()
		}
	}
	return u, nil
}

// fetch records a Go program at its pprof address.
func (j *job) fetch(ctx context.Context) error {
	u, err := j.address()
	if err != nil {
		return err
	}
	kind := path.Base(u.Path)
	ext := map[string]string{"trace": ".trace"}[kind]
	j.name = strings.ReplaceAll(u.Host, ":", "-")
	if ext == "" && kind != "profile" {
		j.name += "-" + kind
	}
	if len(j.args) == 0 {
		if err := j.choose(cmp.Or(ext, ".pprof")); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(ctx, passed...)
		defer stop()
		if err := j.download(ctx, u); err != nil {
			return err
		}
		return j.show()
	}
	path, err := exec.LookPath(j.args[0])
	if err != nil {
		return subcommand.Misuse("%s: there is no such program", j.args[0])
	}
	j.name = base(path)
	if err := j.choose(cmp.Or(ext, ".pprof")); err != nil {
		return err
	}
	c, err := j.start(j.command(path, j.args[1:]...))
	if err != nil {
		return err
	}
	defer c.stop()
	ctx, cancel := context.WithCancel(ctx)
	recorded := make(chan error, 1)
	go func() {
		err := listens(ctx, u)
		if err == nil {
			err = j.download(ctx, u)
		}
		if err == nil {
			err = j.show()
		} else if ctx.Err() != nil {
			err = errors.New("the command ended before its recording did; record less with --seconds")
		}
		recorded <- err
	}()
	out := c.wait()
	select { // the end of the answer may be on its way
	case err = <-recorded:
	case <-time.After(time.Second):
		cancel()
		err = <-recorded
	}
	cancel()
	if err != nil {
		j.note("%v", err)
	}
	if out.signal != nil {
		endBy(out.signal)
	}
	if out.code != 0 {
		return &subcommand.Exit{Code: out.code}
	}
	return nil
}

// listens waits until a program listens at the address.
func listens(ctx context.Context, u *url.URL) error {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	end := time.Now().Add(toListen)
	for {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("the command does not listen at %s", u.Host)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// renewing is a writer that postpones an end with each write.
type renewing struct {
	w    io.Writer
	end  *time.Timer
	wait time.Duration
}

func (r *renewing) Write(b []byte) (int, error) {
	r.end.Reset(r.wait)
	return r.w.Write(b)
}

// download writes what the address answers to the job's file, as it comes. It gives up if
// nothing comes for too long. An answer in no known format, such as a login page, is an error,
// but stays in the file.
func (j *job) download(ctx context.Context, u *url.URL) error {
	seconds, _ := strconv.ParseFloat(u.Query().Get("seconds"), 64) // 0 if there is no such number
	wait := toSend + time.Duration(min(max(seconds, 0), 1e9)*float64(time.Second))
	silent := fmt.Errorf("%s: the server sent nothing for %s", safetext.URL(u.String()), wait)
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	end := time.AfterFunc(wait, func() { giveUp(silent) })
	defer end.Stop()
	f, err := os.Create(j.file)
	if err != nil {
		return outfile.Cannot(j.file, err)
	}
	watch, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); j.follow(watch) }()
	err = fetch.Download(ctx, u.String(), &renewing{f, end, wait})
	if err != nil && context.Cause(ctx) == silent {
		err = silent
	}
	cancel()
	<-watched
	st, _ := f.Stat()
	if e := f.Close(); err == nil && e != nil {
		err = outfile.Cannot(j.file, e)
	}
	switch {
	case err == nil && st != nil && st.Size() > 0:
		if _, e := ingest.Recognise(j.file); e != nil {
			return fmt.Errorf("%s answered with something that is no recording, which is kept in %s: %v", safetext.URL(u.String()), safetext.Short(j.file), e)
		}
	case err == nil:
	case st != nil && st.Size() > 0 && path.Base(u.Path) == "trace":
		j.note("the recording is incomplete (%v)", err)
		err = nil
	default:
		_ = os.Remove(j.file)
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted: the program sends its profile only at the end, so nothing was recorded")
		}
	}
	return err
}
