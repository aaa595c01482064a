// Package command implements the command line. It parses the arguments, answers commands
// that need no window, and passes the rest to a [Runner]. It draws nothing, so tests need
// no display.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/pflag"

	"ashlar/app/agent/budget"
	"ashlar/app/core/cache"
	"ashlar/app/core/settings"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/redact"
)

// Exit codes.
const (
	Done    = 0
	Problem = 1 // with the input, or with writing the output
	Usage   = 2 // what was typed makes no sense
)

// WindowOptions say what the window opens with.
type WindowOptions struct {
	Files    []string // "-" is standard input
	Demo     bool     // the built-in recording, where Files is empty
	Reuse    bool     // show Files in the window that is open already, if any
	Compare  bool     // show Files beside what that window shows
	FrameLog string   // a file for a JSON line a frame; "" for none
	Theme    string   // "dark", "light" or "" to follow the system
	// Event and Metric are names to choose by (see analyze.Choose); "" for
	// the recording's default.
	Event, Metric string
	// Exe is the program to take names from where the file has none.
	Exe     string
	Roots   []sourcefile.Root // where sources are
	Part    recording.Part    // what is opened of the files
	Follow  bool              // read the file again when it changes
	Cache   *cache.Cache      // what was read before; nil for none
	Scratch string            // see [ingest.Options.Scratch]
}

// RenderOptions say what picture is drawn.
type RenderOptions struct {
	File string // "-" is standard input; "" with Demo
	// With is the recording that File is compared with, "" for none; the rest is
	// about comparing.
	With string
	// State is how it is looked at, as far as flags say (see view.AddFlags).
	State    view.State
	Demo     bool
	Out      string
	View     string // one of Views, or of CompareViews for two
	Function string // the one that is marked, as people type it; "" for none
	// Width and Height are the picture's, in pixels; Scale is how many of
	// them make a unit of the layout.
	Width, Height int
	Scale         float32
	// Ranges are selected and shown of each.
	Ranges [2]recording.Range
	// Part has the threads that are opened; where one recording is larger than
	// memory, its range is all that is opened of it.
	Part          recording.Part
	Event, Metric string
	Theme         string // "dark", "light" or "contrast"
	Cache         *cache.Cache
	Scratch       string // see [ingest.Options.Scratch]
	Exe           string // the program to take names from where the file has none
	Roots         []sourcefile.Root
	// Read, if set, reads the recordings. To takes the picture in place of the file, and
	// Remarks what else is to be said; nil stands for the standard error.
	Read        func(path, exe string, part recording.Part) (*recording.Recording, ingest.Stats, error)
	To, Remarks io.Writer
	// Drawn is called with each recording that the picture is of.
	Drawn func(*recording.Recording)
	// Watch has drawing end in a sentence when memory runs short; it is called once all
	// is read. It may be nil.
	Watch func()
}

// Runner does what needs graphics. Errors are one sentence that names the file.
type Runner struct {
	Window func(WindowOptions) error
	Render func(RenderOptions) error
	// Store opens where marks are kept; nil if they are not.
	Store func() (*settings.Store, error)
	// Cache has recordings that were read before; nil if none are kept.
	Cache func() *cache.Cache
	// Context ends what runs, and Read reads recordings, where a part of the
	// program asks; nil else.
	Context context.Context
	Read    subcommand.Reader
	// Dir and Picture: see [subcommand.Invocation].
	Dir     string
	Picture io.Writer
}

// call is one run of a command.
type call struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       io.Writer // stdout as it was given
	run            Runner
	ctx            context.Context
	exe            string // of --exe
	cache          *cache.Cache
	unwatch        func()
	budget         int              // of --budget, 0 for none
	redactor       *redact.Redactor // of --redact, nil else
	all            []string         // the command line without it
	session        bool             // a session is asked, of --session
	beside         budget.Cut       // what answers say of the recordings that were asked
	besideLock     sync.Mutex       // pictures read two at once
}

// watch has what is asked of the recordings that were read end in a sentence when
// memory runs short.
func (c *call) watch(what string) {
	halt := func(err error) {
		c.note("%v", err)
		os.Exit(Problem)
	}
	if c.run.Read != nil {
		halt = nil // it would end others too
	}
	c.ctx, c.unwatch = memory.Watch(c.ctx, what, halt)
}

// note prints a remark beside the answer.
func (c *call) note(format string, args ...any) {
	fmt.Fprintf(c.stderr, "ashlar: %s\n", safetext.Text(fmt.Sprintf(format, args...)))
}

// command is one thing that ashlar does: a [subcommand.Command] whose setup returns what
// runs as part of a call.
type command struct {
	subcommand.Command
	setup func(*pflag.FlagSet) func(*call, []string) error
}

// own makes a command of this package.
func own(c subcommand.Command, setup func(*pflag.FlagSet) func(*call, []string) error) command {
	return command{c, setup}
}

// commands lists all commands in the order in which help shows them. To add
// one, add its entry.
func commands() []command {
	all := []command{
		overviewCommand(), findingsCommand(), infoCommand(), topCommand(), callsCommand(), pathCommand(), statsCommand(), diffCommand(), checkCommand(), convertCommand(), renderCommand(), marksCommand(), cacheCommand(),
	}
	for _, v := range subcommands {
		all = append(all, ofSubcommand(v))
	}
	return append(all, installCommand(), uninstallCommand(), versionCommand(), helpCommand())
}

func misuse(format string, args ...any) error { return subcommand.Misuse(format, args...) }

// Main runs the command line without the program's name and returns the exit
// code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, run Runner) int {
	c := &call{stdin: stdin, stdout: safetext.Writer(stdout), terminal: stdout, stderr: stderr, run: run, ctx: run.context(), unwatch: func() {}}
	defer func() { c.unwatch() }()
	cmd, rest := windowCommand(), args
	if len(args) > 0 {
		if named := find(args[0]); named != nil {
			cmd, rest = *named, args[1:]
		}
	}
	// What was kept of recordings is read in place, and may be cut meanwhile.
	err := source.Guard("", func() error { return c.start(&cmd, rest) })
	if err == nil {
		return Done
	}
	if errors.Is(err, context.Canceled) {
		err = cmp.Or(context.Cause(c.ctx), err)
	}
	var usage *subcommand.Usage
	var failed *subcommand.Failed
	var behind *recording.BehindEnd
	var answered *exitCode
	switch {
	case errors.As(err, &answered):
		return answered.code
	case errors.As(err, &behind):
		c.note("%v", err)
		return Problem
	case errors.As(err, &failed):
		c.note("%v", err)
		return Failed
	case !errors.As(err, &usage):
		c.note("%v", err)
		return Problem
	}
	if usage.Complete {
		c.note("%v", err)
	} else {
		c.note("%v (%s shows how)", err, helpFor(&cmd))
	}
	return Usage
}

func find(name string) *command {
	for _, c := range commands() {
		if c.Name == name {
			return &c
		}
	}
	return nil
}

// start reads a command's flags and runs it.
func (c *call) start(cmd *command, args []string) error {
	fs, run := cmd.prepare()
	help := fs.BoolP("help", "h", false, "show this help")
	err := fs.Parse(args)
	if *help || errors.Is(err, pflag.ErrHelp) {
		return c.printHelp(cmd)
	}
	if err != nil {
		return &subcommand.Usage{Err: suggestFlag(fs, err)}
	}
	if f := fs.Lookup("exe"); f != nil {
		if c.exe = f.Value.String(); f.Changed {
			if _, err := os.Stat(c.exe); err != nil {
				return misuse("--exe %s: there is no such file", c.exe)
			}
		}
	}
	if on, err := fs.GetBool("redact"); err == nil && on {
		c.redactor = new(redact.Redactor)
	}
	if err := c.takeBudget(cmd, fs, args); err != nil {
		return err
	}
	if err := c.askHost(cmd, fs, args); err != nil {
		return err
	}
	if err := c.askSession(cmd, fs, args); err != nil {
		return err
	}
	if off, err := fs.GetBool("no-cache"); err == nil && !off && c.run.Cache != nil {
		c.cache = c.run.Cache()
		defer c.cache.Wait()
	}
	err = run(c, fs.Args())
	if err == nil || errors.As(err, new(*subcommand.Failed)) { // otherwise there is no answer
		c.sayDamage()
	}
	if c.redactor != nil && err == nil {
		c.note("left out: %s", c.redactor.Said())
	}
	return err
}

func (cmd *command) prepare() (*pflag.FlagSet, func(*call, []string) error) {
	fs := pflag.NewFlagSet(cmd.Name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.SortFlags = false
	fs.Usage = func() {}
	run := cmd.setup(fs)
	cmd.sessionFlag(fs)
	return fs, run
}

// takeRows checks how many of something are to be printed, n: without a word on that all
// of them where a program reads the answer, or where a budget cuts it.
func (c *call) takeRows(fs *pflag.FlagSet, n *int, what string, json, csv bool) error {
	switch {
	case *n < 0:
		return misuse("-n %d is negative; 0 prints all %s", *n, what)
	case json && csv:
		return misuse("use either --json or --csv")
	case (json || csv || c.budget > 0) && !fs.Changed("rows"):
		*n = 0
	}
	return nil
}

// oneFile is for commands that take a single recording.
func oneFile(args []string, demo bool) (string, error) {
	switch {
	case demo && len(args) > 0:
		return "", misuse("--demo replaces the file; leave out %s", args[0])
	case demo:
		return "", nil
	case len(args) == 0 || args[0] == "":
		return "", misuse("name the file with the recording, or - for standard input")
	case len(args) > 1:
		return "", misuse("this command takes one file, but got %[2]s and %[1]s; ashlar diff A B compares two", args[1], args[0])
	}
	return args[0], nil
}

// demoFlag adds the flag that every command has which reads a recording.
func demoFlag(fs *pflag.FlagSet) *bool {
	exeFlag(fs)
	return fs.Bool("demo", false, "use the built-in recording")
}

// exeFlag adds the flag that says where the names of an automatic spall trace
// are, which has addresses only. Its value is call.exe.
func exeFlag(fs *pflag.FlagSet) {
	fs.String("exe", "", "take function names from this `PROGRAM`, for a spall trace without names (default: the one it names)")
}

// chooser are the flags that choose what is looked at.
type chooser struct{ event, metric string }

func (ch *chooser) flags(fs *pflag.FlagSet) {
	fs.StringVar(&ch.event, "event", "", "the `EVENT` to look at (default: the first)")
	fs.StringVar(&ch.metric, "metric", "", "the `METRIC` to weigh by (default: the event's primary one)")
}

// rootFlag adds the flag that says where source files are.
func rootFlag(fs *pflag.FlagSet) func() ([]sourcefile.Root, error) {
	var given []string
	fs.StringArrayVar(&given, "source-root", nil, "look for source files in `DIR`, or with FROM=DIR for those below FROM; may be repeated")
	return func() (roots []sourcefile.Root, err error) {
		for _, g := range given {
			r, err := sourcefile.ParseRoot(g)
			if err != nil {
				return nil, &subcommand.Usage{Err: err}
			}
			roots = append(roots, r)
		}
		return roots, nil
	}
}
