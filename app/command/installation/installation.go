// Package installation implements "ashlar install" and "ashlar uninstall": it registers the
// program with the desktop and removes it again.
package installation

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/install"
	"ashlar/ingest/input/safetext"
)

// Install is the command that registers the program.
var Install = subcommand.Command{
	Name: "install", Args: "[--check]", Line: "open recordings with a double click",
	Text: `
Registers Ashlar with your desktop: media types of recordings, icons and a menu
entry. It writes only into your own folders; ashlar uninstall removes the files.
.spaa, .spall, .pprof, .otlp and .ashlar files open with Ashlar unless you chose
another program. For .json, .gz (also .pb.gz) and .zst files Ashlar is listed
under "Open with", behind the program that opens them now.

--check changes nothing: it lists what is installed, and the exit code is 1 if
something is missing.`,
	Examples: [][2]string{
		{"ashlar install", "install for yourself"},
		{"ashlar install --check", "check the installation"},
		{"sudo ashlar install --prefix /usr/local", "copy the program and install it for all users"},
	},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		check := fs.Bool("check", false, "only show what is installed")
		prefix := prefixFlags(fs)
		return func(p *subcommand.Program, args []string) error {
			if err := prefix.check("install", args); err != nil {
				return err
			}
			if *check && prefix.Root != "" {
				return subcommand.Misuse("--check covers only your own folders; leave out --prefix")
			}
			program, err := install.Program()
			if err != nil {
				return err
			}
			if *check {
				return checkInstalled(p, program)
			}
			do := install.User
			if prefix.Root != "" {
				do = prefix.Install
			}
			lines, err := do(program)
			report(p, lines)
			return err
		}
	},
}

// Uninstall is the command that undoes Install.
var Uninstall = subcommand.Command{
	Name: "uninstall", Line: "undo ashlar install",
	Text: `
Removes the files that ashlar install wrote. The program itself is removed
only with --prefix.`,
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		prefix := prefixFlags(fs)
		return func(p *subcommand.Program, args []string) error {
			if err := prefix.check("uninstall", args); err != nil {
				return err
			}
			do := install.RemoveUser
			if prefix.Root != "" {
				do = prefix.Remove
			}
			lines, err := do()
			report(p, lines)
			return err
		}
	},
}

// placeFlags are the flags for installing for all users.
type placeFlags struct{ install.Prefix }

func prefixFlags(fs *pflag.FlagSet) *placeFlags {
	p := &placeFlags{}
	fs.StringVar(&p.Root, "prefix", "", "install for all users, in `DIR`/bin and DIR/share")
	fs.StringVar(&p.Dest, "destdir", "", "with --prefix: stage the files below `DIR`, for a package")
	return p
}

func (p *placeFlags) check(name string, args []string) error {
	switch {
	case len(args) > 0:
		return subcommand.Misuse("%s takes no arguments", name)
	case p.Dest != "" && p.Root == "":
		return subcommand.Misuse("--destdir needs --prefix")
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
func report(p *subcommand.Program, lines []install.Line) {
	for _, l := range lines {
		if l.OK {
			fmt.Fprintln(p.Stdout, safetext.Text(l.Text))
		} else {
			fmt.Fprintf(p.Stderr, "ashlar: %s\n", safetext.Text(l.Text))
		}
	}
}

func checkInstalled(p *subcommand.Program, program string) error {
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
		fmt.Fprintln(p.Stdout, mark+safetext.Text(l.Text))
	}
	if missing > 0 {
		return fmt.Errorf("not installed, or incomplete; run ashlar install")
	}
	return nil
}
