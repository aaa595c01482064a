package command

import (
	"bytes"
	"context"
	"reflect"
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/agent/claims"
	"ashlar/app/agent/mcp"
	"ashlar/app/agent/serve"
	"ashlar/app/command/complete"
	"ashlar/app/command/dataset"
	"ashlar/app/command/installation"
	"ashlar/app/command/jsondoc"
	"ashlar/app/command/record"
	"ashlar/app/command/sourcelines"
	"ashlar/app/command/trend"
	"ashlar/app/core/bundle"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

// subcommands are the commands in packages of their own. Add new ones here.
var subcommands = []subcommand.Command{record.Command, sourcelines.Command, trend.Command, bundle.Command, dataset.Command, serve.Command, serve.Show, serve.Watch, mcp.Command, claims.Check, claims.Report, complete.Command, installation.Install, installation.Uninstall}

// ofSubcommand wraps a command from a package of its own.
func ofSubcommand(v subcommand.Command) command {
	return own(v, func(fs *pflag.FlagSet) func(*call, []string) error {
		run := v.Setup(fs)
		return func(c *call, args []string) error { return run(c.program(), args) }
	})
}

// program returns the interface through which a subcommand uses the call.
func (c *call) program() *subcommand.Program {
	return &subcommand.Program{
		Ctx: c.ctx, Stdin: c.stdin, Stdout: c.stdout, Stderr: c.stderr, Output: c.terminal, Commands: described, Windowed: c.run.Window != nil, Recent: c.recent, Answer: c.printRows,
		Run: func(a subcommand.Invocation) int {
			if c.session && serve.Answers(a.Args[0]) {
				a.Args = slices.Insert(slices.Clone(a.Args), 1, "--session")
			}
			return c.run.Answer(a)
		},
		Read: func(path string) (*recording.Recording, error) {
			rec, _, err := c.read(path, recording.Part{})
			return rec, err
		},
	}
}

// Answer runs a command line for another part of the program.
func (r Runner) Answer(a subcommand.Invocation) int {
	r.Context, r.Read, r.Dir, r.Picture = a.Ctx, a.Read, a.Dir, a.Picture
	return Main(a.Args, bytes.NewReader(nil), a.Stdout, a.Stderr, r)
}

// described returns the descriptions of all commands.
func described() (all []subcommand.Info) {
	for _, cmd := range append([]command{windowCommand()}, commands()...) {
		d := subcommand.Info{Name: cmd.Name, Args: cmd.Args, Line: cmd.Line, Text: cmd.Text, Examples: cmd.Examples}
		d.Flags, _ = cmd.prepare()
		if cmd.Answer != nil {
			d.Answer = jsondoc.Answer(reflect.TypeOf(cmd.Answer))
		}
		all = append(all, d)
	}
	return all
}

// context returns the context of the part of the program that runs the command, or a new
// one if the user typed the command.
func (r *Runner) context() context.Context {
	if r.Context != nil {
		return r.Context
	}
	return context.Background()
}
