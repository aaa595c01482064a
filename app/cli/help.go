package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/version"
)

const helpWidth = 80

func helpCommand() command {
	return command{
		name: "help", args: "[COMMAND]", line: "show how a command is used",
		setup: func(*pflag.FlagSet) func(*call, []string) error {
			return func(c *call, args []string) error {
				if len(args) == 0 {
					cmd := windowCommand()
					return c.printHelp(&cmd)
				}
				cmd := find(args[0])
				if cmd == nil {
					return misuse("there is no command %q; there are %s", args[0], strings.Join(names(), ", "))
				}
				return c.printHelp(cmd)
			}
		},
	}
}

func versionCommand() command {
	return command{
		name: "version", line: "print the version",
		setup: func(*pflag.FlagSet) func(*call, []string) error {
			return func(c *call, args []string) error {
				if len(args) > 0 {
					return misuse("version takes no arguments")
				}
				_, err := fmt.Fprintln(c.stdout, version.String())
				return err
			}
		},
	}
}

func names() []string {
	var all []string
	for _, c := range commands() {
		all = append(all, c.name)
	}
	return all
}

// helpFor is what to type to see a command's help.
func helpFor(cmd *command) string {
	if cmd.name == "" {
		return "ashlar --help"
	}
	return "ashlar " + cmd.name + " --help"
}

// printHelp writes a command's page; the window's also lists the commands.
func (c *call) printHelp(cmd *command) error {
	var b strings.Builder
	title := strings.TrimSpace("ashlar " + cmd.name)
	fmt.Fprintf(&b, "%s: %s\n\n", title, cmd.line)
	b.WriteString("Usage\n")
	fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(title+" "+cmd.args))
	if cmd.name == "" {
		b.WriteString("  ashlar COMMAND …\n\nCommands\n")
		for _, other := range commands() {
			fmt.Fprintf(&b, "  %-9s %s\n", other.name, other.line)
		}
	}
	if cmd.text != "" {
		b.WriteString("\n" + strings.TrimSpace(cmd.text) + "\n")
	}
	fs, _ := cmd.prepare()
	fs.BoolP("help", "h", false, "show this and stop")
	fmt.Fprintf(&b, "\nFlags\n%s", fs.FlagUsagesWrapped(helpWidth))
	if len(cmd.examples) > 0 {
		b.WriteString("\nExamples\n")
		for _, e := range cmd.examples {
			fmt.Fprintf(&b, "  %s\n      %s\n", e[0], e[1])
		}
	}
	_, err := c.stdout.Write([]byte(b.String()))
	return err
}
