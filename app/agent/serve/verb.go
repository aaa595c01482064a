package serve

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"ashlar/app/core/resident"
	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/instance"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
)

// Command is the command that serves a session without a window.
var Command = subcommand.Command{
	Name: "serve", Args: "[FILE…]", Line: "keep recordings loaded for commands with --session",
	Text: `
Recordings stay loaded in this program, so commands with --session answer
quickly; their output is the same as without. The FILEs are read now, others
when first used. A file that has changed is read again. Recordings are unloaded
if unused for a while, or when memory runs short. The server listens on a socket
in your runtime folder that nobody else can reach, opens only what you can open,
and writes nothing. Ctrl-C ends it.

See ashlar help sessions for more.`,
	Examples: [][2]string{
		{"ashlar serve run.pftrace &", "load a recording once"},
		{"ashlar top run.pftrace --by thread --session", "query the session"},
		{"ashlar serve --idle 10m &", "a session that ends when idle"},
	},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		keep := fs.Duration("keep", 30*time.Minute, "unload recordings not used for this `TIME`")
		overSSH := fs.Bool("stdio", false, "answer one query from standard input; used over ssh for ssh:HOST:PATH")
		idle := fs.Duration("idle", 0, "end after this `TIME` without a query (default: never)")
		return func(p *subcommand.Program, files []string) error {
			if *overSSH {
				if len(files) > 0 {
					return subcommand.Misuse("--stdio takes no files; leave out %s", files[0])
				}
				return stdio(p)
			}
			if *keep <= 0 || *idle < 0 {
				return subcommand.Misuse("--keep and --idle take positive times, such as 30m")
			}
			return run(p, files, *keep, *idle)
		}
	},
}

func run(p *subcommand.Program, files []string, keep, idle time.Duration) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	place, err := instance.Open()
	if err != nil {
		return err
	}
	l, err := place.Server(p.Ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, stop := signal.NotifyContext(p.Ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	recordings := resident.New(ingest.ReadAll, keep)
	defer recordings.Close()
	s := &Server{Run: p.Run, In: recordings.In}
	s.asked.Store(time.Now().UnixNano())
	l.Session = s.Session
	l.Serve(func(context.Context, instance.Request) instance.Answer { return instance.Own })
	fmt.Fprintf(p.Stderr, "ashlar: serving at %s; commands with --session use it, Ctrl-C ends it\n", safetext.Text(l.Path()))
	for _, f := range files {
		// Load the recording by running info: most other commands need no more of the
		// file than info.
		p.Run(subcommand.Invocation{Ctx: ctx, Args: []string{"info", "--", f}, Stdout: io.Discard, Stderr: p.Stderr, Read: recordings.In(dir)})
	}
	for ctx.Err() == nil {
		wait := time.Hour
		if idle > 0 {
			if wait = idle - s.quiet(); wait <= 0 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}
