// Package instance finds running instances of the same user's program, passes files to one
// of them, and asks what they have open.
//
// Every instance listens on its own socket in a folder that only the user can enter; the
// instance with the most recently used window is asked first. Sockets of dead instances
// refuse connections and are removed. A lock is held from looking for others to listening,
// so that of two instances starting at once the second finds the first.
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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ashlar/app/desktop/filelock"
)

// Request is a request of a starting program to a running one.
type Request struct {
	// Files are absolute paths.
	Files []string `json:"files"`
	// Reuse asks for the files in the running window, Compare for them beside
	// what it shows. With neither, a new window is wanted.
	Reuse   bool `json:"reuse,omitempty"`
	Compare bool `json:"compare,omitempty"`
}

// Answer is a running program's reply to it.
type Answer string

// Answers: the files are taken; or the asking program should open a window of
// its own.
const (
	Taken Answer = "taken"
	Own   Answer = "own"
)

// protocol is the version of what is said: a Request and an Answer, each a JSON
// object on a line with the key "ashlar" for the version. Programs of different
// versions open windows of their own.
const protocol = 1

type message struct {
	Ashlar int `json:"ashlar"`
	Request
	// Session asks about what the program holds (see package serve); it is nil if
	// files are handed over.
	Session json.RawMessage `json:"session,omitempty"`
	Answer  Answer          `json:"answer,omitempty"`
}

// Bounds of what others may take: a message has at most longest bytes, some thousand
// paths, and mostConns programs are listened to at once.
const (
	longest   = 4 << 20
	mostConns = 64
)

// Patience: a start must not be held up by a program that hangs, except where
// its window was asked for.
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

// Place is the folder in which programs find each other.
type Place struct {
	dir     string
	display string // begins the names of sockets: other displays are left alone
}

// Open finds the folder and makes it where it is missing. The error says why
// it can't be trusted: it is not a folder, belongs to somebody else, or others
// may enter it.
func Open() (*Place, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	return &Place{dir: dir, display: display()}, nil
}

// display is a short name for where windows open. A person may sit at one
// display while a program of theirs runs on another.
func display() string {
	h := fnv.New32a()
	for _, name := range []string{"WAYLAND_DISPLAY", "DISPLAY"} {
		io.WriteString(h, os.Getenv(name)+"\x00")
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// Start hands a request to a running program. Where none takes it, this
// program listens from now on; the listener answers once Serve is called. The
// error says why others can't be found or can't find this program; a window can
// be opened anyway.
func (p *Place) Start(ctx context.Context, r Request) (l *Listener, answer Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.patience())
	defer cancel()
	release, err := p.lock(ctx)
	if err != nil {
		return nil, Own, err
	}
	defer release()
	if p.ask(ctx, r) == Taken {
		return nil, Taken, nil
	}
	l, err = p.listen(p.display)
	return l, Own, err
}

// lock keeps other starts waiting. Where it can't be had in time, some start
// hangs, and this one goes on without.
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

const ending = ".sock"

// server begins the names of sockets of programs without a window, which serve all
// displays.
const server = "serve"

// sockets lists those of running programs whose names begin so, which is by display,
// the one used last first. What is not a socket of this person's is left alone.
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
	slices.SortFunc(all, func(a, b found) int { return b.used.Compare(a.used) })
	paths := make([]string, len(all))
	for i, f := range all {
		paths[i] = f.path
	}
	return paths
}

// ask asks the running programs one after another, until one takes the request
// or there is no time left.
func (p *Place) ask(ctx context.Context, r Request) Answer {
	for _, path := range p.sockets(p.display) {
		answer, err := ask(ctx, path, r)
		switch {
		case err == nil && answer == Taken:
			return Taken
		case err == nil && !r.Reuse && !r.Compare:
			return Own // the others would say the same
		case died(err):
			_ = os.Remove(path)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return Own
}

// died says that the program of a socket is gone.
func died(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) || isRefused(err) }

func ask(ctx context.Context, path string, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience())
	defer cancel()
	c, err := say(ctx, path, message{Ashlar: protocol, Request: r})
	if err != nil {
		return "", err
	}
	defer c.Close()
	m, err := receive(c)
	if err != nil {
		return "", err
	}
	return m.Answer, nil
}

// say connects to a program and tells it something; the connection has the deadline
// of ctx.
func say(ctx context.Context, path string, m message) (net.Conn, error) {
	address, done, err := address(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	err = sameUser(c.(*net.UnixConn))
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

// Ask tells a question to the programs that run, one after another, until answer, which
// reads from the connection, says that it has the answer: windows on this display
// first, the one used last before others, then the program that serves without one.
// A program has patience to begin an answer; whoever takes the connection clears its
// deadline.
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

// Listener is how other starts find this program.
type Listener struct {
	// Session answers questions about the open recordings on a connection; its ctx ends
	// with the connection. nil answers nothing. It is set before Serve.
	Session func(ctx context.Context, c net.Conn, question json.RawMessage)

	l      *net.UnixListener
	path   string
	wg     sync.WaitGroup
	ctx    context.Context // until Close
	cancel context.CancelFunc
	conns  chan struct{} // has one of each that is served
}

// Path is where the socket is.
func (l *Listener) Path() string { return l.path }

// errServed is the error of a second program that would serve without a window.
var errServed = errors.New("a session is already running; use --session")

// Server listens as the program that serves without a window, of which a person has one.
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

// listen makes a socket that only this person can reach, whose name begins so.
func (p *Place) listen(prefix string) (*Listener, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	path := filepath.Join(p.dir, prefix+"-"+hex.EncodeToString(b[:])+ending)
	address, done, err := address(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the address may be by way of a folder's number
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		_ = os.Remove(path)
		return nil, err
	}
	made := &Listener{l: l, path: path, conns: make(chan struct{}, mostConns)}
	made.ctx, made.cancel = context.WithCancel(context.Background())
	return made, nil
}

// Serve answers requests, in goroutines, until Close. handle may take its time,
// up to some seconds; whoever asks gives up then.
func (l *Listener) Serve(handle func(context.Context, Request) Answer) {
	l.wg.Go(func() {
		for {
			c, err := l.l.AcceptUnix()
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
				c.Close() // a flood
			}
		}
	})
}

func (l *Listener) serve(c *net.UnixConn, handle func(context.Context, Request) Answer) {
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
			return // it would be somewhere else here
		}
	}
	ctx, cancel := context.WithTimeout(l.ctx, m.patience())
	defer cancel()
	_ = send(c, message{Ashlar: protocol, Answer: handle(ctx, m.Request)}) // whoever asked may be gone
}

// session answers a question for as long as whoever asked is there. They have said
// all: whoever says more is taken for gone.
func (l *Listener) session(c *net.UnixConn, question json.RawMessage) {
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

// patient is a connection to somebody who should read what is written to them.
type patient struct{ *net.UnixConn }

func (c patient) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(long)); err != nil {
		return 0, err
	}
	return c.UnixConn.Write(b)
}

// Used says that the person used this program's window just now.
func (l *Listener) Used() {
	now := time.Now()
	_ = os.Chtimes(l.path, now, now) // where it fails, another window is found first
}

// Close ends listening and waits for the answers under way.
func (l *Listener) Close() {
	_ = os.Remove(l.path)
	l.l.Close()
	l.cancel()
	l.wg.Wait()
}
