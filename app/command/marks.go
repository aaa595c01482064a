package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/demo"
	"ashlar/app/core/settings"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

func marksCommand() command {
	return own(subcommand.Command{
		Name: "marks", Args: "FILE [flags]", Line: "list, export and import the marks of a recording",
		Text: `
Marks are notes on a time, a range or a function that were made in the window.
They belong to a recording's content, so they stay when its file is moved. Times
count from the recording's start.

Exported marks are JSON: {"format": "ashlar-marks", "version": 1, "recording":
KEY, "name": NAME, "marks": [{"id", "from_ps", "to_ps", "function": {"name",
"module"}, "text", "created"}]}. Importing adds those that are not there yet.`,
		Examples: [][2]string{
			{"ashlar marks run.spall", "list them"},
			{"ashlar marks run.spall --export notes.json", "export marks"},
			{"ashlar marks run.spall --import notes.json", "import marks"},
		},
		Answer: settings.Marks{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var export, imports string
		var asJSON, force bool
		fs.StringVar(&export, "export", "", "write the marks to `OUT.json`; - is standard output")
		fs.BoolVarP(&force, "force", "f", false, "with --export, replace an existing file")
		fs.StringVar(&imports, "import", "", "add the marks of `IN.json`; - is standard input")
		fs.BoolVar(&asJSON, "json", false, "print the marks as JSON, in the export format")
		demo := demoFlag(fs)
		return func(c *call, args []string) error {
			file, err := oneFile(args, *demo)
			if err != nil {
				return err
			}
			if file == "-" {
				return misuse("standard input cannot have marks; name a file")
			}
			if export != "" && imports != "" {
				return misuse("use either --export or --import")
			}
			if asJSON {
				export = "-"
			}
			return c.marks(file, *demo, export, imports, force)
		}
	})
}

func (c *call) marks(file string, builtin bool, export, imports string, force bool) error {
	if c.run.Store == nil {
		return errors.New("there is no folder for marks")
	}
	st, err := c.run.Store()
	if err != nil {
		return err
	}
	defer func() {
		for _, n := range st.Notes() {
			c.note("%s", n)
		}
	}()
	name := filepath.Base(file)
	var key string
	if builtin {
		name = demo.Name
		b := demo.Input().Mapped()
		key, err = settings.Key(bytes.NewReader(b), int64(len(b)))
	} else {
		key, err = settings.FileKey(file)
	}
	switch {
	case fetch.IsURL(file):
		return fmt.Errorf("%s: only files have marks; save the recording in a file first", safetext.URL(file))
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no such file", file)
	case err != nil:
		return err
	case key == "":
		return fmt.Errorf("%s: not a file; only files have marks", file)
	case imports != "":
		return c.importMarks(st, key, name, imports)
	case export == "-":
		return st.Export(c.stdout, key, name)
	case export != "":
		o := outfile.Options{Replace: force, Not: []string{file}}
		return outfile.Write(export, o, func(w io.Writer) error { return st.Export(w, key, name) })
	}
	return c.listMarks(st, key)
}

func (c *call) importMarks(st *settings.Store, key, name, path string) error {
	in := c.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	} else {
		path = "standard input"
	}
	added, other, err := st.Import(in, key, name)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if other != "" {
		c.note("these marks belong to another recording, %s; their times may not fit", other)
	}
	_, err = fmt.Fprintf(c.stdout, "%s added\n", units.Plural(int64(added), "mark"))
	return err
}

// listMarks prints one mark a line.
func (c *call) listMarks(st *settings.Store, key string) error {
	marks, err := st.Marks(key)
	if err != nil {
		return err
	}
	if len(marks) == 0 {
		c.note("the recording has no marks")
	}
	order.By(marks, func(a, b view.Mark) int { return cmp.Compare(a.From, b.From) })
	for _, m := range marks {
		if err := printMark(c.stdout, m); err != nil {
			return err
		}
	}
	return nil
}

func printMark(w io.Writer, m view.Mark) error {
	at := recording.Offsets(m.From, m.To).String()
	switch {
	case m.Func != nil:
		at = "function " + safetext.Short(m.Func.Name)
		if m.Func.Module != "" {
			at += " (" + safetext.Short(m.Func.Module) + ")"
		}
	case m.From == m.To:
		at, _, _ = strings.Cut(at, "..")
	}
	_, err := fmt.Fprintf(w, "%s\t%s\n", at, safetext.Text(m.Text))
	return err
}
