package serve

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"ashlar/app/core/locate"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/instance"
	"ashlar/app/desktop/version"
	"ashlar/ingest/input/safetext"
)

// Window is a window's interface for programs. Its methods may be called from any
// goroutine.
type Window interface {
	// Shared reports whether the user lets programs ask.
	Shared() bool
	// Show goes to an address and tells the user that a program did so, with its note. An
	// error is a sentence that explains why it could not.
	Show(ctx context.Context, address, note string) error
	// Follow makes the window track its selection until stop is called. Selected returns
	// the last selection and a channel that is closed when the selection changes.
	Follow() (stop func())
	Selected() (now Selection, next <-chan struct{})
}

// Selection is the user's selection in the window.
type Selection struct {
	// Address is the address of the shown view, "" while nothing is open.
	Address string
	// Command is the command line, in words, that answers for the selection.
	Command []string
	// Program is true if a program made the selection, not the user.
	Program bool
}

// Selected is a line of watch's output.
type Selected struct {
	Address string `json:"address"`
	// Command is the command line that answers for the selection. Answer is its --json
	// output, limited to 500 tokens, null if there is none.
	Command string `json:"command"`
	Answer  any    `json:"answer"`
	// By is who made the selection: person or program.
	By string `json:"by"`
}

// show is a request to show an address.
type show struct {
	Address string `json:"address"`
	Note    string `json:"note,omitempty"`
}

// Shown is the answer to show.
type Shown struct {
	// Address is the address of the window's current view.
	Address string `json:"address"`
	Note    string `json:"note,omitempty"`
	Shown   bool   `json:"shown"`
}

// Reasons why a window refuses a request.
const (
	notShared = "the window does not share its session; allow it there with “Share this session” (Ctrl-K)"
	noWindow  = "no window is open; open one with ashlar FILE and allow access there with “Share this session” (Ctrl-K)"
	mostNote  = 160 // characters
)

// windowPatience is how long a window may take to answer a request.
const windowPatience = 4 * time.Second

func (s *Server) show(ctx context.Context, what *show) reply {
	switch {
	case s.Window == nil:
		return reply{Own: true}
	case !s.Window.Shared():
		return reply{Own: true, Refused: notShared}
	}
	ctx, cancel := context.WithTimeout(ctx, windowPatience)
	defer cancel()
	if err := s.Window.Show(ctx, what.Address, note(what.Note)); err != nil {
		return reply{Refused: safetext.Text(err.Error())}
	}
	return reply{Begun: true}
}

// note shortens a program's text and makes it safe to show.
func note(s string) string {
	r := []rune(strings.TrimSpace(safetext.Text(strings.ToValidUTF8(s, "\ufffd"))))
	if len(r) > mostNote {
		r = append(r[:mostNote-1:mostNote-1], '…')
	}
	return string(r)
}

// line is one message of a watch.
type line struct {
	Selected json.RawMessage `json:"selected,omitempty"` // a Selected
	Refused  string          `json:"refused,omitempty"`
}

// watch sends the selection each time it changes.
func (s *Server) watch(ctx context.Context, c net.Conn) {
	switch {
	case s.Window == nil:
		_ = writeLine(c, reply{Own: true})
		return
	case !s.Window.Shared():
		_ = writeLine(c, reply{Own: true, Refused: notShared})
		return
	}
	if writeLine(c, reply{Begun: true}) != nil {
		return
	}
	defer s.Window.Follow()()
	for last := ""; ctx.Err() == nil; {
		now, next := s.Window.Selected()
		if !s.Window.Shared() {
			_ = writeLine(c, line{Refused: "the session is no longer shared"})
			return
		}
		if command := safetext.Command(now.Command...); now.Address != "" && command != last {
			last = command
			x := Selected{Address: now.Address, Command: command, By: "person", Answer: s.answerFor(ctx, now.Command)}
			if now.Program {
				x.By = "program"
			}
			if writeLine(c, map[string]Selected{"selected": x}) != nil {
				return
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// answerFor returns the --json output of one of the window's command lines, null if it
// has none.
func (s *Server) answerFor(ctx context.Context, words []string) json.RawMessage {
	none := json.RawMessage("null")
	if len(words) < 2 || !Answers(words[1]) {
		return none
	}
	dir, err := os.Getwd()
	if err != nil {
		return none
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return none
	}
	args := append([]string{words[1], "--json", "--budget=500"}, words[2:]...)
	x, ok := s.run(ctx, dir, args)
	if !ok || len(x.out.parts) == 0 || x.out.parts[0].To != 1 {
		return none
	}
	b := x.out.b[:x.out.parts[0].N]
	if !json.Valid(b) {
		return none
	}
	return b
}

// Show is the command that shows an address in the window.
var Show = subcommand.Command{
	Name: "show", Args: "ADDRESS [--note TEXT]", Line: "show an address in the open window, if its user allows it",
	Text: `
The open window goes to the ADDRESS; Ctrl-Z there goes back. Its status line
says that a program did this, and shows the note. This works only if the person
at the window has chosen "Share this session", and never while they are
dragging, typing or in a menu.`,
	Examples: [][2]string{{"ashlar show 'ashlar:1?file=run.spall&select=1.2s..1.5s' --note 'late frames'", "show a time range with a note"}},
	Answer:   Shown{},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		text := fs.String("note", "", "show `TEXT` in the window's status line")
		asJSON := fs.Bool("json", false, "print JSON")
		subcommand.BudgetFlag(fs)
		return func(p *subcommand.Program, args []string) error {
			if len(args) != 1 {
				return subcommand.Misuse("name one address; “Copy view address” in the window copies one, and findings contain them")
			}
			address, notes, err := localAddress(args[0], p.Recent())
			for _, n := range notes {
				fmt.Fprintln(p.Stderr, "ashlar:", n)
			}
			if err != nil {
				return err
			}
			if err := askWindow(p.Ctx, question{Show: &show{address, *text}}, func(net.Conn, *bufio.Reader) error { return nil }); err != nil {
				return err
			}
			return p.Answer(*asJSON, &Shown{address, note(*text), true}, "", 0, func(int) string { return "The window shows it.\n" })
		}
	},
}

// localAddress returns the address with the local paths of its files, which must exist.
// notes name the files found elsewhere.
func localAddress(s string, recent []string) (address string, notes []string, err error) {
	v, err := view.Parse(s)
	switch {
	case err != nil:
		return "", nil, &subcommand.Usage{Err: err}
	case len(v.Files) == 0:
		return "", nil, subcommand.Misuse("the address names no file; add file=PATH")
	case slices.Contains(v.Files, "-"):
		return "", nil, subcommand.Misuse("standard input cannot be shown in another window")
	}
	notes, err = locate.Files(v, "", recent)
	return v.String(), notes, err
}

// askWindow asks the windows on this display, the most recently used first, until one
// accepts questions from programs. Then it calls then with the connection to that window.
func askWindow(ctx context.Context, q question, then func(net.Conn, *bufio.Reader) error) error {
	q.Version = version.String()
	place, err := instance.Open()
	if err != nil {
		return err
	}
	refused, ended, busy := "", error(nil), false
	ask := func(c net.Conn) bool {
		r := bufio.NewReader(c)
		var first reply
		if readLine(r, &first) != nil {
			busy = true // it has too many clients
			return false
		}
		if first.Own {
			refused = cmp.Or(refused, first.Refused)
			return false
		}
		if refused = first.Refused; refused == "" {
			ended = then(c, r)
		}
		return true
	}
	done, err := place.Ask(ctx, q, windowPatience+time.Second, ask)
	for began := time.Now(); !done && err == nil && refused == ""; {
		if gone := time.Since(began); gone > windowPatience || gone > 300*time.Millisecond && !busy {
			break
		}
		time.Sleep(20 * time.Millisecond)
		done, err = place.Ask(ctx, q, windowPatience+time.Second, ask)
	}
	switch {
	case err != nil || ended != nil:
		return cmp.Or(err, ended)
	case refused != "":
		return errors.New(refused)
	case !done && busy:
		return errors.New("the window is busy; try again in a moment")
	case !done:
		return errors.New(noWindow)
	}
	return nil
}

// Watch is the command that prints the user's selections.
var Watch = subcommand.Command{
	Name: "watch", Args: "[-n N]", Line: "print what the user selects in the open window, as JSON",
	Text: `
Each line has the address of the view, a command that reports on the selection,
and its answer; the field by says whether the person or a program selected it.
The first line is the current selection. Each new selection adds a line, once it
has lasted a moment. The command needs "Share this session" in the
window, and ends with it.`,
	Examples: [][2]string{
		{"ashlar watch -n 1", "print the current selection"},
		{"ashlar watch | jq -r .command", "the command for each selection"},
	},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		lines := fs.IntP("lines", "n", 0, "end after `N` lines")
		return func(p *subcommand.Program, args []string) error {
			if len(args) > 0 || *lines < 0 {
				return subcommand.Misuse("watch takes no file; it prints the selection of the open window")
			}
			return askWindow(p.Ctx, question{Watch: true}, func(c net.Conn, r *bufio.Reader) error {
				if err := c.SetDeadline(time.Time{}); err != nil {
					return err
				}
				return follow(p.Stdout, r, *lines)
			})
		}
	},
}

// follow prints the lines that a window sends, at most limit of them, or all if limit is 0.
func follow(w io.Writer, r *bufio.Reader, limit int) error {
	for n := 0; limit == 0 || n < limit; n++ {
		var l line
		switch err := readLine(r, &l); {
		case errors.Is(err, io.EOF):
			return errors.New("the window was closed")
		case err != nil:
			return err
		case l.Refused != "":
			return errors.New(l.Refused)
		case l.Selected == nil:
			continue
		}
		if err := writeLine(w, l.Selected); err != nil {
			return err
		}
	}
	return nil
}
