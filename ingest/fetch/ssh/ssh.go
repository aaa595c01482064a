// Package ssh reads recordings on another machine, named ssh:HOST:PATH, through the Ashlar
// installed there. It starts "ashlar serve --stdio" with the ssh program and sends it one
// [Question], a line of JSON. The reply is a [Greeting], also a line of JSON, followed by
// the answer. The remote shell always sees the same command, because the user's input
// travels only in the Question.
package ssh

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// scheme is the prefix of names of files on other machines.
const scheme = "ssh:"

// IsURL reports whether a name means a file on another machine. A local file with such a
// name is written ./ssh:….
func IsURL(name string) bool {
	rest, ok := strings.CutPrefix(name, scheme)
	return ok && !strings.HasPrefix(rest, "//")
}

// Split splits ssh:HOST:PATH after the host's colon. A relative path is below the home
// folder on that host.
func Split(name string) (as, path string, err error) {
	rest := strings.TrimPrefix(name, scheme)
	user, at := "", strings.IndexByte(rest, '@')
	if at >= 0 && !strings.ContainsAny(rest[:at], ":/") {
		user = rest[:at+1]
	}
	host, path, ok := strings.Cut(rest[len(user):], ":")
	if tail, is := strings.CutPrefix(rest[len(user):], "["); is { // an IPv6 address contains colons
		if host, path, ok = strings.Cut(tail, "]:"); ok {
			host = "[" + host + "]"
		}
	}
	if !ok || path == "" || !named(strings.TrimSuffix(user, "@"), user == "", "._-") || !named(strings.Trim(host, "[]"), false, "._-:%") {
		return "", "", &source.Error{Path: name, What: "incomplete address; write it like ssh:HOST:/path/run.pftrace"}
	}
	return scheme + user + host + ":", path, nil
}

// named reports whether a user or host name consists of letters, digits and the
// characters in more, beginning with a letter or digit, so that ssh cannot take it for an
// option or anything else.
func named(s string, empty bool, more string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == ':' && more[len(more)-1] == '%'
		if !letter && (i == 0 || !strings.ContainsRune(more, r)) {
			return false
		}
	}
	return s != "" || empty
}

// Name shortens a file's name to its host and the last element of its path, for places
// with little room.
func Name(name string) string {
	as, file, err := Split(name)
	if err != nil {
		return name
	}
	return host(as) + " " + path.Base(strings.ReplaceAll(file, `\`, "/"))
}

func host(as string) string {
	return strings.TrimSuffix(strings.TrimPrefix(as, scheme), ":")
}

// Question is a request to the remote program; exactly one member is set.
type Question struct {
	// As is the prefix of the remote files' names on this machine: "ssh:HOST:".
	As string `json:"as"`
	// Args is a command line; the answer has the form of a session's.
	Args []string `json:"args,omitempty"`
	// Stat is the path of a file to describe in the Greeting.
	Stat string `json:"stat,omitempty"`
	// Recording is the path of a recording to read on the host and send as a stored
	// recording; Layout is [recording.Layout] of this program.
	Recording string         `json:"recording,omitempty"`
	Part      recording.Part `json:"part"`
	Layout    uint64         `json:"layout,omitempty"`
}

// Greeting is the first line of the remote program's output.
type Greeting struct {
	// Ashlar is the version of the remote program.
	Ashlar string `json:"ashlar"`
	// Refused is the reason why there is no answer.
	Refused string `json:"refused,omitempty"`
	// Bytes, Changed and Content describe the file that Stat names.
	Bytes   int64     `json:"bytes,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	Content string    `json:"content,omitempty"`
}

// command is the command for the host's shell. Programs that a user installs are often in
// folders that only interactive shells have on their PATH.
const command = `exec sh -c 'PATH=$PATH:$HOME/.local/bin:$HOME/bin:/usr/local/bin; for p in ashlar ashlar-cli; do command -v $p >/dev/null && exec $p serve --stdio; done; exit 127'`

// Exit codes of ssh, and of a shell that does not find the program.
const (
	unreached = 255
	noProgram = 127
)

// Answer is the Greeting and the output after it.
type Answer struct {
	Greeting
	r      *bufio.Reader
	cmd    *exec.Cmd
	in     io.Closer
	said   tail
	as     string
	cancel context.CancelFunc
	once   sync.Once
	ended  error
}

// Ask starts the program on a host and sends it q. The program ends with ctx. Errors are
// *source.Error with the given file.
func Ask(ctx context.Context, file string, q Question) (*Answer, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	a := &Answer{as: q.As, cancel: cancel}
	a.cmd = exec.CommandContext(running, "ssh", "-T", "-oBatchMode=yes", "-oConnectTimeout=15", "--", strings.Trim(host(q.As), "[]"), command)
	if at := strings.IndexByte(host(q.As), '@'); at >= 0 {
		a.cmd.Args[len(a.cmd.Args)-2] = host(q.As)[:at+1] + strings.Trim(host(q.As)[at+1:], "[]")
	}
	a.cmd.Stderr, a.cmd.WaitDelay = &a.said, time.Second
	out, err := a.cmd.StdoutPipe()
	if err == nil {
		var in io.WriteCloser
		if in, err = a.cmd.StdinPipe(); err == nil {
			a.in = in // kept open: the remote program ends when it is closed
			if err = a.cmd.Start(); err == nil {
				_, _ = in.Write(append(line, '\n')) // if this fails, ssh reports more
			}
		}
	}
	if err != nil {
		cancel()
		return nil, &source.Error{Path: file, What: "the program ssh cannot be run (" + err.Error() + ")", Err: err}
	}
	a.r = bufio.NewReaderSize(out, 64<<10)
	if err := a.greeting(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		a.Close()
		return nil, &source.Error{Path: file, What: err.Error(), Err: err}
	}
	return a, nil
}

// mostBefore is the maximum output of a host's shell before the Greeting, in bytes.
const mostBefore = 64 << 10

// greeting reads up to and including the Greeting, skipping the shell's own output.
func (a *Answer) greeting() error {
	for seen := 0; ; {
		line, err := a.r.ReadSlice('\n')
		seen += len(line)
		if err == nil && bytes.HasPrefix(line, []byte(`{"ashlar":`)) && json.Unmarshal(line, &a.Greeting) == nil {
			if a.Refused == "" {
				return nil
			}
			return errors.New(safetext.Text(a.Refused))
		}
		if seen > mostBefore {
			a.cancel()
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	a.in.Close()
	a.wait()
	where := safetext.Text(host(a.as))
	var exit *exec.ExitError
	switch errors.As(a.ended, &exit); {
	case exit != nil && exit.ExitCode() == unreached:
		return fmt.Errorf("ssh cannot connect to %s (%s)", where, a.said.line("no reason given"))
	case exit != nil && exit.ExitCode() == noProgram:
		return fmt.Errorf("%s has no ashlar on its PATH; copy ashlar-cli (one file) there, or copy the recording here", where)
	}
	return fmt.Errorf("the ashlar on %s is too old for ssh (%s); copy a newer one there, or the recording here", where, a.said.line("no message"))
}

// Read implements io.Reader. If ssh or the remote program fails, the error contains its
// last line of output.
func (a *Answer) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	if n > 0 || err == nil {
		return n, nil
	}
	a.in.Close()
	if a.wait(); a.ended != nil && errors.Is(err, io.EOF) {
		err = fmt.Errorf("the connection to %s was lost (%s)", safetext.Text(host(a.as)), a.said.line(a.ended.Error()))
	}
	return 0, err
}

func (a *Answer) wait() { a.once.Do(func() { a.ended = a.cmd.Wait() }) }

// Close ends ssh, and with it the program there.
func (a *Answer) Close() error {
	a.cancel()
	a.wait()
	return nil
}

// Stat returns the description of a file on a host.
func Stat(ctx context.Context, name string) (Greeting, error) {
	as, path, err := Split(name)
	if err != nil {
		return Greeting{}, err
	}
	a, err := Ask(ctx, name, Question{As: as, Stat: path})
	if err != nil {
		return Greeting{}, err
	}
	return a.Greeting, a.Close()
}

// Open returns a recording, or a part of one, as a stored recording. The host reads it.
func Open(ctx context.Context, name string, part recording.Part) (*source.Input, error) {
	as, path, err := Split(name)
	if err != nil {
		return nil, err
	}
	a, err := Ask(ctx, name, Question{As: as, Recording: path, Part: part, Layout: recording.Layout()})
	if err != nil {
		return nil, err
	}
	return source.FromStream(name, Name(name), a, a.cancel), nil
}

// tail keeps the last bytes written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	const most = 1000
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	t.b = t.b[max(0, len(t.b)-most):]
	return len(b), nil
}

// line returns the last line, or none if there is no output.
func (t *tail) line(none string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bytes.TrimSpace(t.b)
	if len(b) == 0 {
		return none
	}
	return safetext.Short(strings.ToValidUTF8(string(b[bytes.LastIndexByte(b, '\n')+1:]), "\ufffd"))
}
