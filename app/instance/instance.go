// Package instance lets a program that is started find those of the same
// person that run already, and hand its files to one of them.
//
// Every running program listens on a socket of its own in a folder that only
// the person can enter; the one whose window was used last is asked first. The
// sockets of programs that died refuse to be connected to and are removed.
// Starting, from looking to listening, is done under a lock, so that of two
// starts at once the second finds the first.
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

	"ashlar/app/filelock"
)

// Request says what a program that starts would like a running one to do.
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
	Answer Answer `json:"answer,omitempty"`
}

// longest is the most bytes a message may have: some thousand paths.
const longest = 4 << 20

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
// be opened all the same.
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
	l, err = p.listen()
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

// sockets lists those of running programs on this display, the one used last
// first. What is not a socket of this person's is left alone.
func (p *Place) sockets() []string {
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
		if !strings.HasPrefix(e.Name(), p.display+"-") || !strings.HasSuffix(e.Name(), ending) {
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
	for _, path := range p.sockets() {
		answer, err := ask(ctx, path, r)
		switch {
		case err == nil && answer == Taken:
			return Taken
		case err == nil && !r.Reuse && !r.Compare:
			return Own // the others would say the same
		case errors.Is(err, syscall.ECONNREFUSED) || isRefused(err):
			_ = os.Remove(path) // its program died
		}
		if ctx.Err() != nil {
			break
		}
	}
	return Own
}

func ask(ctx context.Context, path string, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience())
	defer cancel()
	address, done, err := address(path)
	if err != nil {
		return "", err
	}
	defer done()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := sameUser(c.(*net.UnixConn)); err != nil {
		return "", err
	}
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return "", err
	}
	if err := send(c, message{Ashlar: protocol, Request: r}); err != nil {
		return "", err
	}
	m, err := receive(c)
	if err != nil {
		return "", err
	}
	return m.Answer, nil
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
	l    *net.UnixListener
	path string
	wg   sync.WaitGroup
}

func (p *Place) listen() (*Listener, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	path := filepath.Join(p.dir, p.display+"-"+hex.EncodeToString(b[:])+ending)
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
	return &Listener{l: l, path: path}, nil
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
			l.wg.Go(func() { serve(c, handle) })
		}
	})
}

func serve(c *net.UnixConn, handle func(context.Context, Request) Answer) {
	defer c.Close()
	if sameUser(c) != nil || c.SetDeadline(time.Now().Add(long)) != nil {
		return
	}
	m, err := receive(c)
	if err != nil {
		return
	}
	for _, f := range m.Files {
		if !filepath.IsAbs(f) {
			return // it would be somewhere else here
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.patience())
	defer cancel()
	_ = send(c, message{Ashlar: protocol, Answer: handle(ctx, m.Request)}) // whoever asked may be gone
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
	l.wg.Wait()
}
