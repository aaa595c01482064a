// Package serve shares one session between programs and a person. Recordings stay loaded
// in a window or in "ashlar serve", and commands with --session ask it instead of reading
// the files again. Their output is the same.
//
// The client sends its arguments and working directory; the server runs the same command
// on its loaded recordings and returns the output. Commands that the server cannot answer
// identically (unreadable files, standard input, URLs, file patterns) run in the client.
package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/app/core/resident"
	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/version"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// Questions are the commands that read recordings and write nothing. A session answers
// them, and a report may cite them.
var Questions = []string{"overview", "findings", "info", "top", "calls", "locks", "gpu", "path", "stats", "sql", "diff", "source"}

// drawing is the command that draws a picture; the client writes it to the output file. A
// window's session declines it, because the window is busy with its own drawing.
const drawing = "render"

// Answers reports whether a session answers a command.
func Answers(command string) bool { return command == drawing || slices.Contains(Questions, command) }

// question is a request to a session: a command line, or a request to its window.
type question struct {
	// Version is the client's version. A session of another version declines, because its
	// answers may differ.
	Version string `json:"version"`
	// Dir is the client's working directory.
	Dir   string   `json:"dir,omitempty"`
	Args  []string `json:"args,omitempty"`
	Show  *show    `json:"show,omitempty"`
	Watch bool     `json:"watch,omitempty"`
}

// reply is a line of an answer. The first line says that the answer has begun. The last
// has the exit code and, in order, the parts of the output that follows.
type reply struct {
	Begun bool   `json:"begun,omitempty"`
	Own   bool   `json:"own,omitempty"` // the client should run the command itself
	Code  int    `json:"code,omitempty"`
	Parts []part `json:"parts,omitempty"`
	// Refused is the reason why a window refuses a request.
	Refused string `json:"refused,omitempty"`
}

// part is a run of N bytes for one output: 1 is standard output, 2 standard error, 3 the
// picture.
type part struct {
	To int `json:"to"`
	N  int `json:"n"`
}

// Limits on questions and answers.
const (
	mostArgs   = 10_000
	mostOutput = 64 << 20
	mostLine   = 4 << 20
	atOnce     = 4                // questions answered at the same time
	mostTime   = 10 * time.Minute // for one question
	patience   = 400 * time.Millisecond
)

// Server answers questions to a session.
type Server struct {
	// Run runs a command line of this program.
	Run func(subcommand.Invocation) int
	// In returns a reader for paths relative to a folder. If the reader fails, the client
	// runs its command itself.
	In func(dir string) subcommand.Reader
	// Window is the window that shows the session, nil for none.
	Window Window

	as    string // prefix that remote clients put before paths of files here
	once  sync.Once
	turns chan struct{}
	asked atomic.Int64 // time of the last question's start or end, in Unix nanoseconds
	now   atomic.Int32 // questions being answered
	again answers
}

// Session answers a question. It is a handler for [instance.Listener].
func (s *Server) Session(ctx context.Context, c net.Conn, raw json.RawMessage) {
	s.once.Do(func() { s.turns = make(chan struct{}, atOnce) })
	s.now.Add(1)
	defer func() {
		s.asked.Store(time.Now().UnixNano())
		s.now.Add(-1)
	}()
	var q question
	if json.Unmarshal(raw, &q) != nil || q.Version != version.String() {
		_ = writeLine(c, reply{Own: true})
		return
	}
	// Write errors are ignored: the client may be gone.
	switch {
	case q.Show != nil:
		_ = writeLine(c, s.show(ctx, q.Show))
	case q.Watch:
		s.watch(ctx, c)
	default:
		_ = s.answer(ctx, c, &q)
	}
}

// quiet returns the time since the last question ended, 0 while one is being answered.
func (s *Server) quiet() time.Duration {
	if s.now.Load() > 0 {
		return 0
	}
	return time.Since(time.Unix(0, s.asked.Load()))
}

// writeLine writes a line of JSON, without escaping the & and < in addresses and names.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// answer runs a command line and sends its output.
func (s *Server) answer(ctx context.Context, w io.Writer, q *question) error {
	if !filepath.IsAbs(q.Dir) || len(q.Args) == 0 || len(q.Args) > mostArgs || !Answers(q.Args[0]) || slices.Contains(q.Args, "-") || s.Window != nil && (!s.Window.Shared() || q.Args[0] == drawing) {
		return writeLine(w, reply{Own: true})
	}
	if err := writeLine(w, reply{Begun: true}); err != nil {
		return err
	}
	x := s.again.find(q.Dir, q.Args)
	if x == nil {
		ctx, cancel := context.WithTimeout(ctx, mostTime)
		defer cancel()
		select {
		case s.turns <- struct{}{}:
			defer func() { <-s.turns }()
		case <-ctx.Done():
			return ctx.Err()
		}
		var ok bool
		if x, ok = s.run(ctx, q.Dir, q.Args); !ok || x.out.over {
			return writeLine(w, reply{Own: true})
		}
	}
	return x.send(w)
}

// send writes an answer.
func (x *answered) send(w io.Writer) error {
	b, err := json.Marshal(reply{Code: x.code, Parts: x.out.parts})
	if err != nil {
		return err
	}
	_, err = w.Write(append(append(b, '\n'), x.out.b...))
	return err
}

var errElsewhere = errors.New("the client reads this file itself")

// run runs a command line; ok is false if its recordings cannot be read here.
func (s *Server) run(ctx context.Context, dir string, args []string) (x *answered, ok bool) {
	ctx, cancel := context.WithCancel(ctx) // the end of ctx releases recordings held for it
	defer cancel()
	var elsewhere atomic.Bool
	var mu sync.Mutex
	x = &answered{dir: dir, args: args, files: files{}, out: &tape{}}
	read, began := s.In(dir), time.Now()
	in := subcommand.Invocation{Ctx: ctx, Args: args, Dir: dir, Stdout: x.out.to(1), Stderr: x.out.to(2), Picture: x.out.to(3), Read: func(ctx context.Context, path string, o ingest.Options) (rec *recording.Recording, stats ingest.Stats, err error) {
		if here, ok := s.localPath(dir, path); !ok {
			err = errElsewhere
		} else {
			mu.Lock()
			x.files.note(dir, here)
			mu.Unlock()
			if rec, stats, err = read(ctx, here, o); err == nil && s.as != "" {
				rec = resident.Named(rec, path, "")
			}
		}
		if err != nil {
			elsewhere.Store(true)
		}
		return rec, stats, err
	}}
	// A panic ends only the request, not the session; the client then runs the command itself.
	err := source.Protect(args[0], func() error {
		x.code = s.Run(in)
		return nil
	})
	ok = err == nil && !elsewhere.Load() && ctx.Err() == nil
	// Answers of source and pictures also depend on source files. These are not tracked,
	// so such answers are not stored.
	if ok && x.code == 0 && args[0] != "source" && args[0] != drawing && time.Since(began) > worthKeeping {
		s.again.keep(x)
	}
	return x, ok
}

// localPath returns the local path of a file that the session can read.
func (s *Server) localPath(dir, path string) (file string, ok bool) {
	if s.as != "" {
		return strings.CutPrefix(path, s.as)
	}
	return path, path != "-" && !fetch.IsURL(path) && !waits(dir, path)
}

// waits reports whether a path names a pipe or another special file, which only one
// reader can read and which may block forever.
func waits(dir, path string) bool {
	return slices.ContainsFunc(join.Split(path), func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		info, err := os.Stat(path)
		return err == nil && !info.Mode().IsRegular()
	})
}

// tape records the output of a command to several writers, in order.
type tape struct {
	mu    sync.Mutex
	b     []byte
	parts []part
	over  bool // the output was too large
}

type track struct {
	*tape
	number int
}

func (t *tape) to(number int) io.Writer { return track{t, number} }

func (t track) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.b)+len(b) > mostOutput {
		t.over = true
		return 0, errors.New("the answer is too large to send over a session")
	}
	t.b = append(t.b, b...)
	if n := len(t.parts); n > 0 && t.parts[n-1].To == t.number {
		t.parts[n-1].N += len(b)
	} else {
		t.parts = append(t.parts, part{t.number, len(b)})
	}
	return len(b), nil
}

// readLine reads a line of an answer.
func readLine(r *bufio.Reader, v any) error {
	var line []byte
	for {
		b, err := r.ReadSlice('\n')
		if line = append(line, b...); err == nil {
			return json.Unmarshal(line, v)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(line) > mostLine {
			return fmt.Errorf("a line has more than %d bytes", mostLine)
		}
	}
}
