package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/serve"
)

// elsewhere are flags that name other files than recordings, which are looked for where
// they were typed.
var elsewhere = []string{"exe", "a", "b", "source-root", "no-cache", "redact"}

// sessionFlag adds the flag of commands that a session answers, and of those that are
// made of them.
func (cmd *command) sessionFlag(fs *pflag.FlagSet) {
	if serve.Answers(cmd.name) || cmd.name == "report" || cmd.name == "check-claims" {
		fs.Bool("session", false, "ask the session that runs, where one has the file open (ashlar help sessions)")
	}
}

// answered is the outcome of a command that a session answered.
type answered struct{ code int }

func (a *answered) Error() string { return "answered" }

// askSession asks the session where --session says so; nil leaves the answer to this
// program.
func (c *call) askSession(cmd *command, fs *pflag.FlagSet, args []string) error {
	if asked, err := fs.GetBool("session"); err != nil || !asked || c.run.Read != nil {
		return nil
	}
	if c.session = !serve.Answers(cmd.name); c.session {
		return nil // it asks with each command that it runs
	}
	for _, name := range elsewhere {
		if f := fs.Lookup(name); f != nil && f.Changed {
			return nil
		}
	}
	if slices.Contains(fs.Args(), "-") {
		return nil
	}
	args = slices.DeleteFunc(append([]string{cmd.name}, args...), func(a string) bool { return a == "--session" })
	code, ok, err := serve.Ask(c.ctx, args, c.stdout, c.stderr)
	if !ok || err != nil {
		return err
	}
	return &answered{code}
}
