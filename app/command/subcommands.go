package command

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/agent/claims"
	"ashlar/app/agent/mcp"
	"ashlar/app/agent/serve"
	"ashlar/app/command/complete"
	"ashlar/app/command/jsondoc"
	"ashlar/app/command/sourcelines"
	"ashlar/app/core/bundle"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

// rooms are the commands that live in packages of their own. To add one, add it.
var rooms = []subcommand.Command{sourcelines.Command, bundle.Command, serve.Command, serve.Show, serve.Watch, mcp.Command, claims.Check, claims.Report, complete.Command}

// enter makes a command of a verb.
func enter(v subcommand.Command) command {
	return command{name: v.Name, args: v.Args, line: v.Line, text: v.Text, examples: v.Examples, setup: func(fs *pflag.FlagSet) func(*call, []string) error {
		run := v.Setup(fs)
		return func(c *call, args []string) error {
			err := run(c.program(), args)
			var usage *subcommand.Usage
			var failed *subcommand.Failed
			switch {
			case errors.As(err, &usage):
				return &usageError{err: usage.Err}
			case errors.As(err, &failed):
				return &failure{failed.Text}
			}
			return err
		}
	}}
}

// program makes of a call what its verb gets.
func (c *call) program() *subcommand.Program {
	return &subcommand.Program{
		Ctx: c.ctx, Stdin: c.stdin, Stdout: c.stdout, Stderr: c.stderr, Output: c.terminal, Commands: described, Recent: c.recent, Answer: c.rows,
		Run: func(a subcommand.Ask) int {
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

// Answer runs a command line that a part of the program asks.
func (r Runner) Answer(a subcommand.Ask) int {
	r.Context, r.Read, r.Dir, r.Picture = a.Ctx, a.Read, a.Dir, a.Picture
	return Main(a.Args, bytes.NewReader(nil), a.Stdout, a.Stderr, r)
}

// described are all commands as others see them.
func described() (all []subcommand.Info) {
	for _, cmd := range append([]command{windowCommand()}, commands()...) {
		d := subcommand.Info{Name: cmd.name, Args: cmd.args, Line: cmd.line, Text: cmd.text, Examples: cmd.examples}
		d.Flags, _ = cmd.prepare()
		for _, a := range answers() {
			if a.command == cmd.name {
				d.Answer = jsondoc.Answer(a.of)
			}
		}
		all = append(all, d)
	}
	return all
}

// roomAnswers are the types of what the rooms' commands print with --json.
func roomAnswers() (all []answer) {
	for _, v := range rooms {
		if v.Answer != nil {
			all = append(all, answer{v.Name, reflect.TypeOf(v.Answer)})
		}
	}
	return all
}

// context is that of a call, where the program was asked by a part of itself.
func (r *Runner) context() context.Context {
	if r.Context != nil {
		return r.Context
	}
	return context.Background()
}
