// Package subcommand defines the interface between the program and its commands: what a
// command declares and what it receives to run.
package subcommand

import (
	"context"
	"fmt"
	"io"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/pflag"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// Command is a command.
type Command struct {
	Name, Args, Line string
	// Text says more than the line, in paragraphs; examples are what to type and
	// what it does.
	Text     string
	Examples [][2]string
	// Answer is an example of what the command prints with --json, for its type;
	// nil if it prints none.
	Answer any
	// Setup adds the command's flags and returns what runs once they are set.
	Setup func(*pflag.FlagSet) func(*Program, []string) error
}

// Reader reads a whole recording, as [ingest.ReadAll] does.
type Reader func(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error)

// Program has what a verb gets of the program that runs it.
type Program struct {
	Ctx            context.Context
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Output is the standard output as it is: what is not a text is written there.
	Output io.Writer
	// Run runs another command line of the program and returns its exit code.
	Run func(Invocation) int
	// Commands are all commands, in the order of the help, the one without a name,
	// which opens the window, first.
	Commands func() []Info
	// Recent are the files that the window opened last.
	Recent func() []string
	// Read reads a recording as every command does.
	Read func(path string) (*recording.Recording, error)
	// Answer prints v as JSON, or as the text with its first n of all rows, which
	// v has in its field list, within --budget where the command has it.
	Answer func(asJSON bool, v any, list string, rows int, text func(n int) string) error
}

// Invocation is a command line that one part of the program asks another.
type Invocation struct {
	Ctx            context.Context
	Args           []string
	Stdout, Stderr io.Writer
	// Read reads recordings; nil reads them from where they are.
	Read Reader
	// Dir is the folder in which the Args were typed, "" for the program's. Picture takes
	// what render draws in place of its file; nil for the file.
	Dir     string
	Picture io.Writer
}

// Info describes a command to others.
type Info struct {
	Name, Args, Line, Text string
	Examples               [][2]string
	Flags                  *pflag.FlagSet
	// Answer has the type of the --json output, nil without one.
	Answer *jsonschema.Schema
}

// Misuse returns an error in the command line.
func Misuse(format string, args ...any) error { return &Usage{Err: fmt.Errorf(format, args...)} }

// Usage is an error in the command line.
type Usage struct {
	Err error
	// Complete tells that the error lists the choices itself, so that no help is named.
	Complete bool
}

func (e *Usage) Error() string { return e.Err.Error() }

func (e *Usage) Unwrap() error { return e.Err }

// Failed is the outcome that a command was asked to look for: all went well, and the
// exit code says what was found.
type Failed struct{ Text string }

func (e *Failed) Error() string { return e.Text }

// BudgetFlag adds --budget, which bounds what [Program.Answer] prints.
func BudgetFlag(fs *pflag.FlagSet) {
	fs.Int("budget", 0, "limit the answer to `TOKENS` (of four bytes each) and report what was left out")
}

// RedactFlag adds --redact, which has all recordings that are read without what says
// where they come from (see package redact).
func RedactFlag(fs *pflag.FlagSet) {
	fs.Bool("redact", false, "replace URLs, hosts, folders, arguments and labels by short names, the same everywhere")
}
