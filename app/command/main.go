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
	"io/fs"
	"os"
	"regexp"
	"sync"

	"github.com/spf13/pflag"

	"ashlar/app/agent/budget"
	"ashlar/app/core/cache"
	"ashlar/app/core/settings"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
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
	Problem = 1 // a problem with the input, or with writing the output
	Usage   = 2 // invalid arguments
)

// WindowOptions are the options for opening the window.
type WindowOptions struct {
	Files    []string // "-" is standard input
	Demo     bool     // open the built-in recording; Files is empty
	Reuse    bool     // show Files in an open window, if there is one
	Compare  bool     // compare Files with that window's recording
	Desktop  bool     // started by the desktop: the window reports problems with Files
	FrameLog string   // file that gets a JSON line per frame; "" for none
	Theme    string   // "dark", "light" or "" to follow the system
	// Event and Metric are names to choose by (see analyze.Choose); "" selects the
	// recording's default.
	Event, Metric string
	// Exe is the program to take function names from if the file has none.
	Exe     string
	Roots   []sourcefile.Root // where source files are
	Part    recording.Part    // the part of the files to open
	Follow  bool              // read the file again when it changes
	Cache   *cache.Cache      // cached recordings; nil for none
	Scratch string            // see [ingest.Options.Scratch]
}

// RenderOptions describe the picture to draw.
type RenderOptions struct {
	File string // "-" is standard input; "" with Demo
	// With is the recording to compare File with, "" for none.
	With string
	// State is the view, as far as flags define it (see view.AddFlags).
	State    view.State
	Demo     bool
	Out      string
	View     string // one of Views, or of CompareViews for two
	Function string // the function to mark, as typed; "" for none
	// Width and Height are the picture's size in pixels; Scale is the number of pixels
	// per unit of the layout.
	Width, Height int
	Scale         float32
	// Ranges are the selected and shown ranges of the two recordings.
	Ranges [2]recording.Range
	// Part names the threads to open. If a single recording is larger than memory, only
	// its range is opened.
	Part          recording.Part
	Event, Metric string
	Theme         string // "dark", "light" or "contrast"
	Cache         *cache.Cache
	Scratch       string // see [ingest.Options.Scratch]
	Exe           string // program to take function names from if the file has none
	Roots         []sourcefile.Root
	// Read, if set, reads the recordings. To receives the picture instead of the file
	// Out, and Remarks receives messages; nil means standard error.
	Read        func(path, exe string, part recording.Part) (*recording.Recording, ingest.Stats, error)
	To, Remarks io.Writer
	// Drawn is called with each recording in the picture.
	Drawn func(*recording.Recording)
	// Watch is called once everything is read. If memory then runs short, drawing ends
	// with an error message. It may be nil.
	Watch func()
}

// Runner holds the functions that need graphics. Their errors are one sentence that names
// the file.
type Runner struct {
	// Window opens the window; nil for a program without one.
	Window func(WindowOptions) error
	// NoWindow says why there is no window; nil if this program never has one.
	NoWindow error
	Render   func(RenderOptions) error
	// Store opens the store of marks; nil if marks are not kept.
	Store func() (*settings.Store, error)
	// Cache opens the cache of recordings; nil without a cache.
	Cache func() *cache.Cache
	// Scratch lets recordings larger than memory keep columns in a file; a cache does, too.
	Scratch bool
	// If another part of the program runs the command, Context cancels it and Read reads
	// its recordings; otherwise both are nil.
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
	terminal       io.Writer // stdout without filtering
	run            Runner
	ctx            context.Context
	exe            string // value of --exe
	cache          *cache.Cache
	unwatch        func()
	budget         int              // value of --budget, 0 for none
	redactor       *redact.Redactor // for --redact, otherwise nil
	all            []string         // the command line without --budget
	session        bool             // for --session: commands run by this one ask the session
	beside         budget.Cut       // added to answers about these recordings
	besideLock     sync.Mutex       // guards beside: render reads two recordings at once
}

// watch makes the command fail with a message if memory runs short while it works on
// recordings.
func (c *call) watch(what string) {
	halt := func(err error) {
		c.note("%v", err)
		os.Exit(Problem)
	}
	if c.run.Read != nil {
		halt = nil // exiting would end other commands too
	}
	c.ctx, c.unwatch = memory.Watch(c.ctx, what, halt)
}

// note prints a remark beside the answer. Long quotations and words are shortened: an address,
// a file or a command line from somebody else may contain megabytes.
func (c *call) note(format string, args ...any) {
	text := quotation.ReplaceAllStringFunc(safetext.Text(fmt.Sprintf(format, args...)), func(q string) string {
		return `"` + safetext.Middle(q[1:len(q)-1], mostQuoted) + `"`
	})
	text = longWord.ReplaceAllStringFunc(text, func(w string) string { return safetext.Middle(w, mostQuoted) })
	fmt.Fprintf(c.stderr, "ashlar: %s\n", text)
}

// longWord matches a word that is longer than paths are in practice.
var longWord = regexp.MustCompile(`\S{1000,}`)

// quotation matches a text as %q prints it.
var quotation = regexp.MustCompile(`"(?:\\.|[^"\\])*"`)

// mostQuoted is the maximum number of characters of a quotation in a remark.
const mostQuoted = 300

// command is a [subcommand.Command] whose setup returns the function to run in a call.
type command struct {
	subcommand.Command
	setup func(*pflag.FlagSet) func(*call, []string) error
}

// own returns a command of this package.
func own(c subcommand.Command, setup func(*pflag.FlagSet) func(*call, []string) error) command {
	return command{c, setup}
}

// commands lists all commands in the order of the help. Add new commands here.
func commands() []command {
	all := []command{
		overviewCommand(), findingsCommand(), infoCommand(), topCommand(), callsCommand(), locksCommand(), gpuCommand(), pathCommand(), statsCommand(), sqlCommand(), diffCommand(), checkCommand(), convertCommand(), renderCommand(), marksCommand(), cacheCommand(),
	}
	for _, v := range subcommands {
		all = append(all, ofSubcommand(v))
	}
	return append(all, versionCommand(), helpCommand())
}

func misuse(format string, args ...any) error { return subcommand.Misuse(format, args...) }

// Main runs the command line, given without the program's name, and returns the exit
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
	// Cached recordings are memory-mapped; another program may truncate their files.
	err := source.Guard("", func() error { return c.start(&cmd, rest) })
	if err == nil {
		return Done
	}
	var write *fs.PathError
	if f, ok := stdout.(*os.File); ok && errors.As(err, &write) && write.Op == "write" && write.Path == f.Name() {
		err = outfile.Cannot("-", err)
	}
	if errors.Is(err, context.Canceled) {
		err = cmp.Or(context.Cause(c.ctx), err)
	}
	var usage *subcommand.Usage
	var failed *subcommand.Failed
	var behind *recording.BehindEnd
	var exit *subcommand.Exit
	switch {
	case errors.As(err, &exit):
		return exit.Code
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
	words := fs.Args()
	if cmd.Name != "record" { // whose arguments are a program's
		if words, err = joinedArgs(words); err != nil {
			return err
		}
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
	if err := c.takeBudget(cmd, fs, args, words); err != nil {
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
	err = run(c, words)
	if err == nil || errors.As(err, new(*subcommand.Failed)) { // otherwise nothing was printed
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

// takeRows checks the flags for the number of rows, n. Unless -n was given, JSON, CSV and
// output under a budget have all rows.
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

// oneFile returns the file of a command that takes a single recording.
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

// demoFlag adds --demo and --exe, the flags of every command that reads a recording.
func demoFlag(fs *pflag.FlagSet) *bool {
	exeFlag(fs)
	return fs.Bool("demo", false, "use the built-in recording")
}

// exeFlag adds --exe, whose value is stored in call.exe. An automatic spall trace
// contains only addresses; the function names come from this program.
func exeFlag(fs *pflag.FlagSet) {
	fs.String("exe", "", "take function names for a spall trace without names from this `PROGRAM` (default: the program that the trace names)")
}

// chooser holds the flags that select the event and metric.
type chooser struct{ event, metric string }

func (ch *chooser) flags(fs *pflag.FlagSet) {
	fs.StringVar(&ch.event, "event", "", "the `EVENT` to use (default: the first)")
	fs.StringVar(&ch.metric, "metric", "", "the `METRIC` to use (default: the event's primary one)")
}

// rootFlag adds --source-root, which sets where source files are.
func rootFlag(fs *pflag.FlagSet) func() ([]sourcefile.Root, error) {
	var given []string
	fs.StringArrayVar(&given, "source-root", nil, "look for source files in `DIR`; with FROM=DIR, look in DIR for files recorded below FROM (repeatable)")
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
