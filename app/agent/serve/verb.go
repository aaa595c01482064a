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

// Verb is the command that serves a session without a window.
var Command = subcommand.Command{
	Name: "serve", Args: "[FILE…]", Line: "keep recordings loaded, and answer commands with --session",
	Text: `
Recordings stay loaded in this program, so that commands with --session are
answered at once; what they print is the same with it and without. The FILEs are
read now, others when they are asked about. A file that has changed is read
anew; one that was not asked about for long, or that memory has no room for, is
let go of. It listens on a socket in your runtime folder that nobody else can
reach, opens what you could open, and writes nothing. Ctrl-C ends it.

ashlar help sessions says more.`,
	Examples: [][2]string{
		{"ashlar serve run.pftrace &", "read it once"},
		{"ashlar top run.pftrace --by thread --session", "ask it many times"},
		{"ashlar serve --idle 10m &", "a session that ends by itself"},
	},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		keep := fs.Duration("keep", 30*time.Minute, "let go of what nobody asked about for this `TIME`")
		overSSH := fs.Bool("stdio", false, "answer one question on standard input: what names like ssh:HOST:PATH have ssh run")
		idle := fs.Duration("idle", 0, "end when nothing was asked for this `TIME` (default: never)")
		fs.Lookup("idle").DefValue = "0" // said in the text
		return func(p *subcommand.Program, files []string) error {
			if *overSSH {
				if len(files) > 0 {
					return subcommand.Misuse("--stdio is told what to read; leave out %s", files[0])
				}
				return stdio(p)
			}
			if *keep <= 0 || *idle < 0 {
				return subcommand.Misuse("--keep and --idle are times from now on, such as 30m")
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
	fmt.Fprintf(p.Stderr, "ashlar: serving at %s; commands with --session ask here, Ctrl-C ends it\n", safetext.Text(l.Path()))
	for _, f := range files {
		// The command that reads most of what others need.
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
