// Command ashlar-cli is ashlar without the window: one static program with all commands,
// for servers, containers and CI. It draws on the CPU.
package main

import (
	"fmt"
	"os"

	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/app/core/settings"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == "install" || os.Args[1] == "uninstall") {
		fmt.Fprintln(os.Stderr, "ashlar: ashlar-cli has no window, so no file types can be assigned to it; install ashlar, or copy this program into a folder in PATH")
		os.Exit(command.Usage)
	}
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, command.Runner{
		NoWindow: lacking(os.Getenv("ASHLAR_INSTALL")),
		Render:   picture.Render,
		Store:    settings.Open,
		Scratch:  true,
	}))
}

// lacking returns the error for a window if this program runs in place of ashlar, because
// libraries are missing, with the command that installs them.
func lacking(install string) error {
	if install == "" {
		return nil
	}
	return fmt.Errorf("the window needs libraries that this system lacks; run %s, or give a command (see ashlar --help)", install)
}
