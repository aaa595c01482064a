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

// Command describes a command and sets it up.
type Command struct {
	Name, Args, Line string
	// Text is the full description, in paragraphs. Each example is a command line and
	// what it does.
	Text     string
	Examples [][2]string
	// Answer is a value of the type that the command prints with --json; nil if it prints
	// none.
	Answer any
	// Setup adds the command's flags and returns the function to run once they are
	// parsed.
	Setup func(*pflag.FlagSet) func(*Program, []string) error
}

// Reader reads a whole recording, as [ingest.ReadAll] does.
type Reader func(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error)

// Program is what a command receives from the program that runs it.
type Program struct {
	Ctx            context.Context
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Output is standard output without filtering, for output other than text.
	Output io.Writer
	// Run runs another command line of the program and returns its exit code.
	Run func(Invocation) int
	// Commands returns all commands in the order of the help. The command without a name,
	// which opens the window, is first.
	Commands func() []Info
	// Windowed reports whether the program can open windows.
	Windowed bool
	// Recent returns the files most recently opened in the window.
	Recent func() []string
	// Read reads a recording as every command does.
	Read func(path string) (*recording.Recording, error)
	// Answer prints v as JSON, or text(n), the text with its first n rows. list is v's
	// field with the rows. It applies --budget if the command has that flag.
	Answer func(asJSON bool, v any, list string, rows int, text func(n int) string) error
}

// Invocation is a command line run on behalf of another part of the program.
type Invocation struct {
	Ctx            context.Context
	Args           []string
	Stdout, Stderr io.Writer
	// Read reads recordings; if nil, they are read from their files.
	Read Reader
	// Dir is the folder in which the Args were typed, "" for the working directory.
	// Picture receives the output of render instead of its file; nil for the file.
	Dir     string
	Picture io.Writer
}

// Info describes a command to others.
type Info struct {
	Name, Args, Line, Text string
	Examples               [][2]string
	Flags                  *pflag.FlagSet
	// Answer is the schema of the --json output, nil without one.
	Answer *jsonschema.Schema
}

// Misuse returns a usage error.
func Misuse(format string, args ...any) error { return &Usage{Err: fmt.Errorf(format, args...)} }

// Usage is an error in the command line.
type Usage struct {
	Err error
	// Complete is true if the error already lists the valid choices, so that there is no
	// need to mention the help.
	Complete bool
}

func (e *Usage) Error() string { return e.Err.Error() }

func (e *Usage) Unwrap() error { return e.Err }

// Failed is the error of a command that ran to its end and found the problem it was asked to
// check for. The exit code reports this.
type Failed struct{ Text string }

func (e *Failed) Error() string { return e.Text }

// Exit is the error of a command whose exit code is that of another program. Nothing is
// printed.
type Exit struct{ Code int }

func (e *Exit) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// AnswerFlags adds the flags of commands that answer a question about recordings: --json,
// --budget and --redact.
func AnswerFlags(fs *pflag.FlagSet, json *bool) {
	fs.BoolVar(json, "json", false, "print JSON")
	BudgetFlag(fs)
	RedactFlag(fs)
}

// RowsFlag adds --rows, the maximum number of rows, with *rows as its default. of is the word for
// rows in the help, and all names the flags that print all rows by default.
func RowsFlag(fs *pflag.FlagSet, rows *int, of, all string) {
	fs.IntVarP(rows, "rows", "n", *rows, fmt.Sprintf("print at most `N` %s, 0 for all (default %d; with %s all)", of, *rows, all))
}

// BudgetFlag adds --budget, which limits the output of [Program.Answer].
func BudgetFlag(fs *pflag.FlagSet) {
	fs.Int("budget", 0, "limit the answer to `TOKENS` (of four bytes each) and report what was left out")
}

// RedactFlag adds --redact, which removes the origin of all recordings that are read (see
// package redact).
func RedactFlag(fs *pflag.FlagSet) {
	fs.Bool("redact", false, "replace URLs, hosts, folders, arguments and labels by short names, the same everywhere")
}
