package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/version"
	"ashlar/ingest/fetch"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/query/join"
)

// windowCommand returns the command that runs if none is named.
func windowCommand() command {
	return own(subcommand.Command{
		Args: "[FILE [+ FILE]… [FILE]|ADDRESS [FILE]]", Line: "open profiles and traces in a window",
		Text: `
Without a command, a window opens with the files. - is standard input, an
http:// or https:// address is fetched from its server, and ssh:HOST:/PATH is a
file on another machine that has ashlar. If a file has the name of a command,
write ./info. Formats are recognised by content; files may be compressed with
gzip or zstd.

With a plus sign between files, or after the last, they become one recording on
one timeline, such as the ranks of a distributed job; so it is in all commands.
ashlar help opening says how their clocks are aligned.

To find out why a program is slow, start with ashlar overview FILE; to find out
what changed between two runs, with ashlar diff A B.

An ADDRESS names a file and a view of it; "Copy view address" in the
window copies it. Quote it:
  ashlar 'ashlar:1?file=run.spall&select=1.2s..1.5s&tab=functions'
A FILE after it replaces the file in the address. ashlar help addresses lists
what an address can have.

The exit code is 0 if all went well, 1 for a problem with the input or the
output, and 2 if the command line is wrong.`,
		Examples: [][2]string{
			{"ashlar run.spaa.zst", "open a recording"},
			{"ashlar old.pprof new.pprof", "compare two recordings side by side"},
			{"ashlar rank*.json +", "put the ranks of a job on one timeline"},
			{"ashlar nightly/", "compare the runs in a folder, or show their trend"},
			{"zcat run.spall.gz | ashlar -", "open the output of another program"},
			{"ashlar http://localhost:6060/debug/pprof/profile?seconds=5", "profile a Go program for 5 seconds"},
			{"ashlar ssh:server:run.pftrace", "open a recording on another machine"},
			{"ashlar huge.spall --range 10s..12s --thread worker", "open part of a file that is larger than memory"},
			{"ashlar --demo", "open the built-in recording"},
			{"ashlar top run.spaa -n 10", "print the ten heaviest functions"},
		},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o WindowOptions
		var ch chooser
		asked := false
		var only partFlags
		fs.BoolVar(&o.Demo, "demo", false, "open the built-in recording")
		fs.BoolVar(&o.Reuse, "reuse", false, "show the file in the window that is already open, if any")
		fs.BoolVar(&o.Compare, "compare-with-open", false, "compare the file with the one in the window that is already open")
		fs.BoolVar(&o.Desktop, "from-desktop", false, "start as after a double click: errors appear in the window, and files of different formats open in separate windows")
		only.rangeFlag(fs)
		only.threadFlag(fs)
		ch.flags(fs)
		exeFlag(fs)
		cacheFlag(fs)
		fs.StringVar(&o.Theme, "theme", "", "dark, light or contrast `THEME` (default: the system's)")
		fs.StringVar(&o.FrameLog, "frame-log", "", "log each frame to `FILE` as a line of JSON: time, CPU time of layout and drawing, bars drawn, events loaded")
		fs.BoolVar(&o.Follow, "follow", false, "watch the file (or both files) and reload it when it grows or is replaced")
		roots := rootFlag(fs)
		fs.BoolVar(&asked, "version", false, "print the version")
		return func(c *call, args []string) error {
			if asked {
				_, err := fmt.Fprintln(c.stdout, version.String())
				return err
			}
			var err error
			if o.Part, err = only.part(); err != nil {
				return err
			}
			o.Files, o.Event, o.Metric, o.Exe = args, ch.event, ch.metric, c.exe
			o.Cache, o.Scratch = c.cache, c.scratch()
			if err := o.check(c); err != nil {
				return err
			}
			if o.Roots, err = roots(); err != nil {
				return err
			}
			if c.run.Window == nil {
				return cmp.Or(c.run.NoWindow, errors.New("ashlar-cli has no window; run ashlar, or give a command (see ashlar-cli --help)"))
			}
			return c.run.Window(o)
		}
	})
}

// check rejects options that cannot work, before a window opens.
func (o *WindowOptions) check(c *call) error {
	if err := checkTheme(o.Theme); err != nil {
		return err
	}
	switch {
	case o.Demo && len(o.Files) > 0:
		return misuse("--demo replaces the file; leave out %s", o.Files[0])
	case o.Reuse && o.Compare:
		return misuse("use either --reuse or --compare-with-open")
	case (o.Reuse || o.Compare) && o.Part.IsSet():
		return misuse("an open window takes whole files; leave out --range and --thread")
	case (o.Reuse || o.Compare) && len(o.Files) == 0 && !o.Desktop:
		return misuse("name the file for the open window")
	case (o.Reuse || o.Compare) && slices.Contains(o.Files, "-"):
		return misuse("standard input cannot be passed to another window")
	case (o.Reuse || o.Compare) && slices.ContainsFunc(o.Files, fetch.IsURL):
		return misuse("a URL cannot be passed to another window; download the file first")
	case (o.Reuse || o.Compare) && o.Exe != "":
		return misuse("--exe cannot be passed to another window; leave it out")
	}
	var given []string
	if n := len(o.Files); n > 1 && view.IsAddress(o.Files[0]) && !view.IsAddress(o.Files[1]) {
		o.Files, given = o.Files[:1], o.Files[1:]
	}
	stdin := false
	for i, f := range o.Files {
		if f == "" {
			return misuse("a file name is empty")
		}
		if view.IsAddress(f) {
			var err error
			if o.Files[i], err = c.address(f, "", given...); err != nil {
				return err
			}
			continue
		}
		parts, err := join.Files(f)
		if err != nil {
			return err
		}
		for _, f := range parts {
			if f == "-" && stdin {
				return misuse("standard input can be named only once")
			}
			if stdin = stdin || f == "-"; f == "-" || fetch.IsURL(f) {
				continue
			}
			if err := o.exists(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// exists returns an error if there is no file of a name that was typed.
func (o *WindowOptions) exists(f string) error {
	_, second := stored.Second(f)
	if _, err := os.Stat(f); !errors.Is(err, fs.ErrNotExist) || second || o.Desktop {
		return nil
	}
	if near := nearest(f); near != "" {
		return misuse("there is no file %s; did you mean the command %s?", f, near)
	}
	return errors.New(f + ": there is no such file")
}

func checkTheme(name string) error {
	switch name {
	case "", "dark", "light", "contrast":
		return nil
	}
	return misuse("unknown theme %q; use dark, light or contrast", name)
}

// nearest returns the command that a word probably means, because the word is a typo of
// its name or begins it; "" for none.
func nearest(word string) string {
	for _, name := range names() {
		if len(word) > 2 && (editDistance(word, name) == 1 || strings.HasPrefix(name, word)) {
			return name
		}
	}
	return ""
}
