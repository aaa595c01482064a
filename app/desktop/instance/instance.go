// Package instance finds running instances of the same user's program, passes files to
// one of them, and asks what they have open.
//
// Every instance listens on its own socket in a folder that only the user can enter; the
// instance with the most recently used window is asked first. Sockets of dead instances
// refuse connections and are removed. On Windows, whose older versions lack such sockets, an
// empty file in the folder stands for a named pipe. An instance holds a lock while it looks
// for others and until it listens, so that of two instances starting at once the second
// finds the first.
package instance

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ashlar/app/desktop/filelock"
	"ashlar/ingest/model/order"
)

// Request is a request of a starting program to a running one.
type Request struct {
	// Files are absolute paths.
	Files []string `json:"files"`
	// Reuse opens the files in the running window, Compare beside the recording shown
	// there. With neither, the files open in a new window.
	Reuse   bool `json:"reuse,omitempty"`
	Compare bool `json:"compare,omitempty"`
}

// Answer is a running program's reply to a Request.
type Answer string

// Taken means that the files were accepted, Own that the asking program should open its
// own window.
const (
	Taken Answer = "taken"
	Own   Answer = "own"
)

// protocol is the version of the protocol: a Request and an Answer, each a JSON object on
// one line, with the version under the key "ashlar". Programs of different versions open
// their own windows.
const protocol = 1

type message struct {
	Ashlar int `json:"ashlar"`
	Request
	// Session is a question about the open recordings (see package serve), nil in a
	// request to open files.
	Session json.RawMessage `json:"session,omitempty"`
	Answer  Answer          `json:"answer,omitempty"`
	// Shows is the path of the recording in the answering program's window, "" if it shows none or
	// two.
	Shows string `json:"shows,omitempty"`
}

// Limits on other programs: a message has at most longest bytes, enough for some thousand
// paths; at most mostConns connections are served at once.
const (
	longest   = 4 << 20
	mostConns = 64
)

// Timeouts: a program that hangs must not delay the start of another. If the user asked
// for its window, the other program waits longer.
const (
	briefly = 300 * time.Millisecond
	long    = 5 * time.Second
)

func (r *Request) patience() time.Duration {
	if r.Reuse || r.Compare {
		return long
	}
	return briefly
}

// Place is the folder in which instances find each other.
type Place struct {
	dir     string
	display string // prefix of the sockets' names; other displays are ignored
}

// Open returns the folder, creating it if necessary. It fails if the folder cannot be
// trusted: it is not a folder, belongs to somebody else, or is open to others.
func Open() (*Place, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	return &Place{dir: dir, display: display()}, nil
}

// display returns a short name for the display on which windows open. A user may sit at
// one display while a program of theirs runs on another.
func display() string {
	h := fnv.New32a()
	for _, name := range []string{"WAYLAND_DISPLAY", "DISPLAY"} {
		io.WriteString(h, os.Getenv(name)+"\x00")
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// Start hands a request to a running program. If none takes it, this program listens from
// now on; the listener answers once Serve is called. An error says why other programs
// cannot be found or cannot find this one; a window can be opened anyway.
func (p *Place) Start(ctx context.Context, r Request) (l *Listener, answer Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.patience())
	defer cancel()
	release, err := p.lock(ctx)
	if err != nil {
		return nil, Own, err
	}
	defer release()
	answer, shows := p.ask(ctx, r)
	if answer == Taken {
		return nil, Taken, nil
	}
	if l, err = p.listen(p.display); err == nil {
		l.Elsewhere = shows
	}
	return l, Own, err
}

// lock makes other starting programs wait. If it cannot get the lock in time, another
// start hangs, and this one goes on without the lock.
func (p *Place) lock(ctx context.Context) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(p.dir, "lock"), os.O_CREATE|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	switch err := filelock.Wait(ctx, f); {
	case err == nil:
		return func() { f.Close() }, nil // closing unlocks
	case ctx.Err() != nil:
		f.Close()
		return func() {}, nil
	default:
		f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
}

// server is the prefix of the socket names of programs without a window, which serve all
// displays.
const server = "serve"

// sockets lists the sockets whose names begin with prefix (the display), most recently
// used first. It ignores files that are not sockets of this user.
func (p *Place) sockets(prefix string) []string {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil
	}
	type found struct {
		path string
		used time.Time
	}
	var all []found
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix+"-") || !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		i, err := e.Info()
		if err != nil || !isSocket(i) || !mine(i) {
			continue
		}
		all = append(all, found{filepath.Join(p.dir, e.Name()), i.ModTime()})
	}
	order.By(all, func(a, b found) int { return b.used.Compare(a.used) })
	paths := make([]string, len(all))
	for i, f := range all {
		paths[i] = f.path
	}
	return paths
}

// ask sends the request to the running programs, one after another, until one takes it or
// time runs out. shows is the recording in the window of the first that does not.
func (p *Place) ask(ctx context.Context, r Request) (a Answer, shows string) {
	for _, path := range p.sockets(p.display) {
		m, err := ask(ctx, path, r)
		if shows == "" {
			shows = m.Shows
		}
		switch {
		case err == nil && m.Answer == Taken:
			return Taken, ""
		case err == nil && !r.Reuse && !r.Compare:
			return Own, shows // the others would say the same
		case died(err):
			_ = os.Remove(path)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return Own, shows
}

func ask(ctx context.Context, path string, r Request) (m message, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience())
	defer cancel()
	c, err := say(ctx, path, message{Ashlar: protocol, Request: r})
	if err != nil {
		return m, err
	}
	defer c.Close()
	m, err = receive(c)
	if !filepath.IsAbs(m.Shows) {
		m.Shows = ""
	}
	return m, err
}

// say connects to a program and sends it a message; the connection has ctx's deadline.
func say(ctx context.Context, path string, m message) (net.Conn, error) {
	c, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	err = sameUser(c)
	if deadline, ok := ctx.Deadline(); ok && err == nil {
		err = c.SetDeadline(deadline)
	}
	if err == nil {
		err = send(c, m)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Ask sends a question to the running programs, one after another, until answer, which
// reads from the connection, returns true. Windows on this display come first, most
// recently used first, then the program that serves without a window. Each program must
// begin its answer within patience; an answer function that takes over the connection
// must clear its deadline.
func (p *Place) Ask(ctx context.Context, question any, patience time.Duration, answer func(net.Conn) bool) (answered bool, err error) {
	b, err := json.Marshal(question)
	if err != nil {
		return false, err
	}
	for _, path := range append(p.sockets(p.display), p.sockets(server)...) {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		soon, cancel := context.WithTimeout(ctx, patience)
		c, err := say(soon, path, message{Ashlar: protocol, Session: b})
		cancel()
		if err != nil {
			if died(err) {
				_ = os.Remove(path)
			}
			continue
		}
		stop := context.AfterFunc(ctx, func() { c.Close() })
		done := answer(c)
		stop()
		c.Close()
		if done {
			return true, nil
		}
	}
	return false, nil
}

func send(w io.Writer, m message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func receive(r io.Reader) (message, error) {
	var m message
	line, err := bufio.NewReader(io.LimitReader(r, longest)).ReadBytes('\n')
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, err
	}
	if m.Ashlar != protocol {
		return m, fmt.Errorf("it speaks version %d", m.Ashlar)
	}
	return m, nil
}

// A Listener lets later starts find this program.
type Listener struct {
	// Session answers questions about the open recordings on a connection; its ctx ends
	// with the connection. If nil, questions are not answered. Set it before calling
	// Serve.
	Session func(ctx context.Context, c net.Conn, question json.RawMessage)
	// Shows returns the absolute path of the recording that this program's window shows, "" for
	// none; it may be called from any goroutine. Set it before calling Serve; if nil, other
	// programs learn nothing. Elsewhere is the path of the recording in the most recently used
	// window when this program started.
	Shows     func() string
	Elsewhere string

	l      *listener
	path   string
	wg     sync.WaitGroup
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	conns  chan struct{} // one element for each connection being served
}

// Path returns the socket's path.
func (l *Listener) Path() string { return l.path }

// errServed is returned to a second program that wants to serve without a window.
var errServed = errors.New("a session is already running; use --session")

// Server listens as the program that serves without a window. Each user has at most one
// such program.
func (p *Place) Server(ctx context.Context) (*Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	release, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	for _, path := range p.sockets(server) {
		c, err := say(ctx, path, message{Ashlar: protocol})
		if err == nil {
			c.Close()
			return nil, errServed
		}
		if died(err) {
			_ = os.Remove(path)
		}
	}
	return p.listen(server)
}

// listen creates a socket that only this user can reach; its name begins with prefix.
func (p *Place) listen(prefix string) (*Listener, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	path := filepath.Join(p.dir, prefix+"-"+hex.EncodeToString(b[:])+ending)
	l, err := listenAt(path)
	if err != nil {
		return nil, err
	}
	made := &Listener{l: l, path: path, conns: make(chan struct{}, mostConns)}
	made.ctx, made.cancel = context.WithCancel(context.Background())
	return made, nil
}

// Serve answers requests, in goroutines, until Close. If handle takes more than some
// seconds, the asking program gives up.
func (l *Listener) Serve(handle func(context.Context, Request) Answer) {
	l.wg.Go(func() {
		for {
			c, err := accept(l.l)
			if err != nil {
				return
			}
			select {
			case l.conns <- struct{}{}:
				l.wg.Go(func() {
					l.serve(c, handle)
					<-l.conns
				})
			default:
				c.Close() // too many connections
			}
		}
	})
}

func (l *Listener) serve(c *conn, handle func(context.Context, Request) Answer) {
	defer context.AfterFunc(l.ctx, func() { c.Close() })()
	defer c.Close()
	if sameUser(c) != nil || c.SetDeadline(time.Now().Add(long)) != nil {
		return
	}
	m, err := receive(c)
	if err != nil {
		return
	}
	if m.Session != nil && l.Session != nil {
		l.session(c, m.Session)
		return
	}
	for _, f := range m.Files {
		if !filepath.IsAbs(f) {
			return // a relative path would mean another file here
		}
	}
	ctx, cancel := context.WithTimeout(l.ctx, m.patience())
	defer cancel()
	answer := message{Ashlar: protocol, Answer: handle(ctx, m.Request)}
	if l.Shows != nil {
		answer.Shows = l.Shows()
	}
	_ = send(c, answer) // the asking program may be gone
}

// session answers a question for as long as the asking program is connected. The question
// is complete, so further input counts as the end of the connection.
func (l *Listener) session(c *conn, question json.RawMessage) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	if c.SetDeadline(time.Time{}) != nil {
		return
	}
	l.wg.Go(func() {
		var b [1]byte
		_, _ = c.Read(b[:])
		cancel()
	})
	l.Session(ctx, patient{c}, question)
}

// patient is a connection with a write timeout, for a peer that should be reading.
type patient struct{ *conn }

func (c patient) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(long)); err != nil {
		return 0, err
	}
	return c.conn.Write(b)
}

// Used records that the user has just used this program's window.
func (l *Listener) Used() {
	now := time.Now()
	_ = os.Chtimes(l.path, now, now) // if this fails, another window is found first
}

// Close stops listening and waits for answers in progress.
func (l *Listener) Close() {
	_ = os.Remove(l.path)
	l.l.Close()
	l.cancel()
	l.wg.Wait()
}
