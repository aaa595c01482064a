package command

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/agent/budget"
	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/join"
	"ashlar/ingest/query/redact"
)

// takeBudget reads --budget if the command has it. joined are the arguments among args, with
// those to join as one.
func (c *call) takeBudget(cmd *command, fs *pflag.FlagSet, args, joined []string) (err error) {
	if fs.Lookup("budget") == nil {
		return nil
	}
	c.all = []string{"ashlar", cmd.Name}
	given := fs.Args()
	if slices.Equal(given, joined) {
		given = nil
	}
	for i := 0; i < len(args); i++ {
		switch {
		case len(given) > 0 && args[i] == given[0]:
			given = given[1:]
			for _, word := range joined {
				if c.redactor != nil && join.IsName(word) {
					word = redact.FileName(word)
				}
				c.all = append(c.all, word)
			}
			joined = nil
		case args[i] == "--budget":
			i++
		case args[i] == "--session": // --session does not change the answer
		case !strings.HasPrefix(args[i], "--budget="):
			word := args[i]
			if _, err := os.Stat(word); err == nil && c.redactor != nil {
				word = redact.FileName(word)
			}
			c.all = append(c.all, word)
		}
	}
	if c.budget, err = fs.GetInt("budget"); err == nil && fs.Changed("budget") && c.budget < budget.Least {
		return misuse("--budget %d is too small; the shortest answer needs %d", c.budget, budget.Least)
	}
	if f := fs.Lookup("rows"); f != nil && !f.Changed && !fs.Changed("json") {
		c.all = append(c.all, "-n", "0")
	}
	return err
}

// printRows prints a command's answer: v as JSON, or a text. text(n) returns the text
// with its first n rows. list is the field of v that holds the rows, "" if there is none.
func (c *call) printRows(asJSON bool, v any, list string, rows int, text func(n int) string) error {
	if c.redactor != nil {
		c.beside.Redacted = c.redactor.Said()
	}
	v = budget.With{Of: v, Beside: c.beside}
	if asJSON {
		c.beside.Damage = nil // the answer itself lists the damage
	}
	if c.budget == 0 {
		if asJSON {
			return writeJSON(c.stdout, v)
		}
		return c.say(text(rows))
	}
	all := safetext.Command(c.all...)
	if asJSON {
		b, err := budget.JSON(v, c.budget, all)
		if err == nil {
			_, err = c.stdout.Write(b)
		}
		return err
	}
	s, err := budget.Rows(v, list, rows, c.budget, all, func(n int) string {
		var b strings.Builder
		_, _ = io.WriteString(safetext.Writer(&b), text(n)) // filtered like output; a write to memory cannot fail
		return b.String()
	})
	if err == nil {
		err = c.say(s)
	}
	return err
}

// say prints a text, wrapped to the terminal's width.
func (c *call) say(text string) error {
	if width := columnsOf(c.terminal); width > 0 {
		text = tabular.Fit(text, width)
	}
	_, err := io.WriteString(c.stdout, text)
	return err
}
