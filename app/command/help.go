package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"ashlar/app/command/man"
	"ashlar/app/core/manual"
	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/version"
	"ashlar/ingest"
)

const helpWidth = 80

func helpCommand() command {
	return own(subcommand.Command{
		Name: "help", Args: "[COMMAND|TOPIC]", Line: "show help for a command, or a page of the manual",
		Text: `
"ashlar help json COMMAND" prints the JSON schema of a command's --json
output, "ashlar help man" and "ashlar help man COMMAND" print pages for man.`,
	}, func(*pflag.FlagSet) func(*call, []string) error {
		return func(c *call, args []string) error {
			if len(args) == 0 {
				cmd := windowCommand()
				return c.printHelp(&cmd)
			}
			if len(args) > 0 && len(args) < 3 && args[0] == "man" {
				return c.printManPage(args[1:])
			}
			if len(args) == 2 && args[0] == "json" {
				schema, err := jsonSchema(args[1])
				if err == nil {
					_, err = io.WriteString(c.stdout, schema)
				}
				return err
			}
			if len(args) > 1 {
				return misuse("help takes one command or topic")
			}
			if cmd := find(args[0]); cmd != nil {
				return c.printHelp(cmd)
			}
			for _, t := range topics() {
				if t.name == args[0] {
					_, err := io.WriteString(c.stdout, t.text(c.width()))
					return err
				}
			}
			return misuse("unknown command or topic %q; commands: %s; topics: %s", args[0], strings.Join(names(), ", "), strings.Join(topicNames(), ", "))
		}
	})
}

// topic is a page of help that belongs to no command.
type topic struct {
	name, line string
	text       func(width int) string
}

// topics lists the pages of the manual. Pages generated from code need an entry here too.
func topics() []topic {
	all := []topic{{"json", "the fields of --json output", jsonText}}
	for _, p := range manual.Pages() {
		all = append(all, topic{p.Topic, p.Line, func(width int) string { return manual.Plain(p.Blocks, width) }})
	}
	return all
}

func topicNames() []string {
	var all []string
	for _, t := range topics() {
		all = append(all, t.name)
	}
	return all
}

// width returns the number of columns for text on standard output: the terminal's width,
// at most 100 so that lines stay readable.
func (c *call) width() int {
	if w := columnsOf(c.terminal); w > 0 {
		return min(w, 100)
	}
	return helpWidth
}

// columnsOf returns the width of a terminal, 0 for other files. Tests replace it.
var columnsOf = func(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, leastColumns)
		}
	}
	return 0
}

// leastColumns is the smallest width that text is wrapped to.
const leastColumns = 40

func versionCommand() command {
	return own(subcommand.Command{
		Name: "version", Line: "print the version",
	}, func(*pflag.FlagSet) func(*call, []string) error {
		return func(c *call, args []string) error {
			if len(args) > 0 {
				return misuse("version takes no arguments")
			}
			_, err := fmt.Fprintln(c.stdout, version.String())
			return err
		}
	})
}

func names() []string {
	var all []string
	for _, c := range commands() {
		all = append(all, c.Name)
	}
	return all
}

// helpFor returns the command line that shows a command's help.
func helpFor(cmd *command) string {
	if cmd.Name == "" {
		return "ashlar --help"
	}
	return "ashlar " + cmd.Name + " --help"
}

// ManPages returns the man pages by name: ashlar, and ashlar-COMMAND.
func ManPages(number string) map[string]string {
	all, pages := described(), map[string]string{}
	for i := range all {
		pages[man.Name(&all[i])] = man.Page(&all[i], all, number, ingest.List())
	}
	return pages
}

// printManPage prints the man page of a command, or of the program if none is named.
func (c *call) printManPage(args []string) error {
	page, ok := ManPages(version.Number())[strings.Join(append([]string{"ashlar"}, args...), "-")]
	if !ok {
		return misuse("unknown command %q; commands: %s", args[0], strings.Join(names(), ", "))
	}
	_, err := io.WriteString(c.stdout, page)
	return err
}

// printHelp writes a command's help page. The page of the command without a name also
// lists the other commands and the topics.
func (c *call) printHelp(cmd *command) error {
	var b strings.Builder
	title := strings.TrimSpace("ashlar " + cmd.Name)
	fmt.Fprintf(&b, "%s: %s\n\n", title, cmd.Line)
	b.WriteString("Usage\n")
	fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(title+" "+cmd.Args))
	if cmd.Name == "" {
		b.WriteString("  ashlar COMMAND …\n\nCommands\n")
		for _, other := range commands() {
			fmt.Fprintf(&b, "  %-12s %s\n", other.Name, other.Line)
		}
		b.WriteString("\nTopics (ashlar help TOPIC)\n")
		for _, t := range topics() {
			fmt.Fprintf(&b, "  %-12s %s\n", t.name, t.line)
		}
	}
	if cmd.Text != "" {
		b.WriteString("\n" + strings.TrimSpace(cmd.Text) + "\n")
	}
	fs, _ := cmd.prepare()
	fs.BoolP("help", "h", false, "show this help")
	fs.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(f.Usage, "(default") {
			return
		}
		// Do not print the default twice: pflag omits the zero value of the flag's type.
		f.DefValue = "0"
		if f.Value.Type() == "string" {
			f.DefValue = ""
		}
	})
	fmt.Fprintf(&b, "\nFlags\n%s", fs.FlagUsagesWrapped(helpWidth))
	if len(cmd.Examples) > 0 {
		b.WriteString("\nExamples\n")
		for _, e := range cmd.Examples {
			fmt.Fprintf(&b, "  %s\n      %s\n", e[0], e[1])
		}
	}
	return c.say(b.String())
}
