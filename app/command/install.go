package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/install"
	"ashlar/ingest/input/safetext"
)

func installCommand() command {
	return own(subcommand.Command{
		Name: "install", Args: "[--check]", Line: "make recordings open by a double click",
		Text: `
Makes this program known to your desktop: the media types of recordings, icons,
and an entry in the menu. Only files in your own folders are written; ashlar
uninstall removes them. .spaa, .spall, .pprof, .otlp and .ashlar files open with
Ashlar unless you chose otherwise. For .json, .gz and .zst files Ashlar is
offered beside the program that opens them now.

With --check nothing is changed: it says what is installed, and the exit code is
1 if something is missing.`,
		Examples: [][2]string{
			{"ashlar install", "install for yourself"},
			{"ashlar install --check", "see whether it is"},
			{"sudo ashlar install --prefix /usr/local", "copy the program, and install for everybody"},
		},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		check := fs.Bool("check", false, "only say what is installed")
		prefix := prefixFlags(fs)
		return func(c *call, args []string) error {
			if err := prefix.check("install", args); err != nil {
				return err
			}
			if *check && prefix.Root != "" {
				return misuse("--check is about your own folders; leave out --prefix")
			}
			program, err := install.Program()
			if err != nil {
				return err
			}
			switch {
			case *check:
				return c.checkInstalled(program)
			case prefix.Root != "":
				return c.report(prefix.Install(program))
			}
			return c.report(install.User(program))
		}
	})
}

func uninstallCommand() command {
	return own(subcommand.Command{
		Name: "uninstall", Line: "undo ashlar install",
		Text: `
Removes what ashlar install wrote. The program itself stays, except with
--prefix.`,
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		prefix := prefixFlags(fs)
		return func(c *call, args []string) error {
			if err := prefix.check("uninstall", args); err != nil {
				return err
			}
			if prefix.Root != "" {
				return c.report(prefix.Remove())
			}
			return c.report(install.RemoveUser())
		}
	})
}

// placeFlags are the flags of a place for everybody.
type placeFlags struct{ install.Prefix }

func prefixFlags(fs *pflag.FlagSet) *placeFlags {
	p := &placeFlags{}
	fs.StringVar(&p.Root, "prefix", "", "for everybody, in `DIR`/bin and DIR/share")
	fs.StringVar(&p.Dest, "destdir", "", "with --prefix: put `DIR` before it, for a package")
	return p
}

func (p *placeFlags) check(name string, args []string) error {
	switch {
	case len(args) > 0:
		return misuse("%s takes no arguments", name)
	case p.Dest != "" && p.Root == "":
		return misuse("--destdir goes with --prefix")
	}
	for _, dir := range []*string{&p.Root, &p.Dest} {
		if *dir == "" {
			continue
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	return nil
}

// report prints what was done.
func (c *call) report(lines []install.Line, err error) error {
	for _, l := range lines {
		if l.OK {
			fmt.Fprintln(c.stdout, safetext.Text(l.Text))
		} else {
			c.note("%s", l.Text)
		}
	}
	return err
}

func (c *call) checkInstalled(program string) error {
	lines, err := install.CheckUser(program)
	if err != nil {
		return err
	}
	missing := 0
	for _, l := range lines {
		mark := "ok "
		if !l.OK {
			mark = "-- "
			missing++
		}
		fmt.Fprintln(c.stdout, mark+safetext.Text(l.Text))
	}
	if missing > 0 {
		return fmt.Errorf("not installed, or not wholly; ashlar install does it")
	}
	return nil
}
