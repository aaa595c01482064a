package command

import (
	"bytes"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/agent/serve"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
)

// fileFlags are the flags whose value is a path on this machine, or which concern files
// here. A command line with one of them is never sent to a session.
var fileFlags = []string{"exe", "debuginfod", "query", "with", "a", "b", "source-root", "no-cache", "redact"}

// sessionFlag adds --session to the commands that a session answers, and to report and
// check-claims, which run such commands.
func (cmd *command) sessionFlag(fs *pflag.FlagSet) {
	if serve.Answers(cmd.Name) || cmd.Name == "report" || cmd.Name == "check-claims" {
		fs.Bool("session", false, "ask a running session instead of reading the file (see ashlar help sessions)")
	}
}

// namedBy returns the files named by arguments, including those in addresses.
func namedBy(args []string) (files []string) {
	for _, a := range args {
		if v, err := view.Parse(a); err == nil {
			files = append(files, v.Files...)
		} else {
			files = append(files, a)
		}
	}
	return files
}

// askSession asks the session if --session is set. It returns nil if this program must
// answer.
func (c *call) askSession(cmd *command, fs *pflag.FlagSet, args []string) error {
	if asked, err := fs.GetBool("session"); err != nil || !asked || c.run.Read != nil {
		return nil
	}
	if c.session = !serve.Answers(cmd.Name); c.session {
		return nil // the commands that it runs ask the session
	}
	for _, name := range fileFlags {
		if f := fs.Lookup(name); f != nil && f.Changed {
			return nil
		}
	}
	if slices.Contains(fs.Args(), "-") {
		return nil
	}
	args = slices.DeleteFunc(append([]string{cmd.Name}, args...), func(a string) bool { return a == "--session" })
	var picture bytes.Buffer
	code, ok, err := serve.Ask(c.ctx, args, c.fittedOutput(fs), c.stderr, &picture)
	if !ok || err != nil {
		return err
	}
	return c.writeAnswer(fs, code, &picture)
}

// askHost asks the program on another machine if all recordings are there. It returns nil
// if this program must answer.
func (c *call) askHost(cmd *command, fs *pflag.FlagSet, args []string) error {
	file := serve.RemoteFile(cmd.Name, namedBy(fs.Args()))
	if file == "" || c.run.Read != nil {
		return nil
	}
	for _, name := range fileFlags {
		if f := fs.Lookup(name); f != nil && f.Changed && name != "redact" && name != "no-cache" {
			return nil
		}
	}
	var picture bytes.Buffer
	code, ok, err := serve.AskHost(c.ctx, file, append([]string{cmd.Name}, args...), c.fittedOutput(fs), c.stderr, &picture)
	if !ok || err != nil {
		return err
	}
	return c.writeAnswer(fs, code, &picture)
}

// fittedOutput returns standard output for an answer written elsewhere; its text is
// wrapped to the terminal's width.
func (c *call) fittedOutput(fs *pflag.FlagSet) io.Writer {
	if on, err := fs.GetBool("json"); err == nil && on || columnsOf(c.terminal) == 0 {
		return c.stdout
	}
	return fittedWriter{c}
}

type fittedWriter struct{ *call }

// Write implements io.Writer.
func (s fittedWriter) Write(b []byte) (int, error) { return len(b), s.say(string(b)) }

// writeAnswer finishes a command answered elsewhere: it writes the picture, if any, and
// returns the exit code.
func (c *call) writeAnswer(fs *pflag.FlagSet, code int, picture *bytes.Buffer) error {
	if picture.Len() > 0 {
		err := outfile.Write(fs.Lookup("output").Value.String(), outfile.Options{Replace: true, Only: outfile.Picture(fs.Lookup("output").Value.String()), Not: namedBy(fs.Args())}, func(w io.Writer) error {
			_, err := w.Write(picture.Bytes())
			return err
		})
		if err != nil {
			return err
		}
	}
	return &subcommand.Exit{Code: code}
}
