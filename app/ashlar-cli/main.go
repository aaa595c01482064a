// Command ashlar-cli is ashlar without the window: one static program with all commands,
// for servers, containers and CI. It draws on the CPU.
package main

import (
	"errors"
	"fmt"
	"os"

	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/app/core/settings"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == "install" || os.Args[1] == "uninstall") {
		fmt.Fprintln(os.Stderr, "ashlar: this is ashlar-cli, which opens no files by a double click: install ashlar, or copy this program to where programs are")
		os.Exit(command.Usage)
	}
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, command.Runner{
		Render: picture.Render,
		Store:  settings.Open,
		Window: func(command.WindowOptions) error {
			return errors.New("this is ashlar-cli, which has no window: use ashlar, or a command (ashlar-cli --help lists them)")
		},
	}))
}
