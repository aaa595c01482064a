// Package complete writes shell completion scripts from the flags of the commands.
package complete

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
)

// shells maps each supported shell to the function that writes its script.
var shells = map[string]func(*strings.Builder, []subcommand.Info){"bash": bash, "zsh": zsh, "fish": fish}

// Command is the command that prints a completion script.
var Command = subcommand.Command{
	Name: "completion", Args: "bash|zsh|fish", Line: "print a completion script for a shell",
	Text: `
The script completes commands, their flags, and files. It works for the program
name ashlar. Save it as:
  bash: ~/.local/share/bash-completion/completions/ashlar
  zsh:  _ashlar in a folder of $fpath
  fish: ~/.config/fish/completions/ashlar.fish`,
	Examples: [][2]string{{"ashlar completion bash", "print the script for bash"}},
	Setup: func(*pflag.FlagSet) func(*subcommand.Program, []string) error {
		return func(p *subcommand.Program, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return subcommand.Misuse("name one shell: bash, zsh or fish")
			}
			var b strings.Builder
			shells[args[0]](&b, p.Commands())
			_, err := io.WriteString(p.Stdout, b.String())
			return err
		}
	},
}

type flag struct {
	name, short, what string
	takes             bool // takes a value
}

func flags(c *subcommand.Info) (all []flag) {
	c.Flags.VisitAll(func(f *pflag.Flag) {
		_, what := pflag.UnquoteUsage(f)
		all = append(all, flag{f.Name, f.Shorthand, what, f.NoOptDefVal == "" && f.Value.Type() != "bool"})
	})
	return append(all, flag{name: "help", short: "h", what: "show this help"})
}

func names(commands []subcommand.Info) (all []string) {
	for _, c := range commands {
		if c.Name != "" {
			all = append(all, c.Name)
		}
	}
	return all
}

// long returns the long flags of a command, with dashes, sorted.
func long(c *subcommand.Info) string {
	var all []string
	for _, f := range flags(c) {
		all = append(all, "--"+f.name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func bash(b *strings.Builder, commands []subcommand.Info) {
	fmt.Fprintf(b, "# bash completion of ashlar\n_ashlar() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} flags\n\tCOMPREPLY=()\n\tcase ${COMP_WORDS[1]} in\n")
	for i := range commands {
		if c := &commands[i]; c.Name != "" {
			fmt.Fprintf(b, "\t%s) flags=\"%s\" ;;\n", c.Name, long(c))
		}
	}
	fmt.Fprintf(b, "\t*) flags=\"%s\" ;;\n\tesac\n", long(&commands[0]))
	fmt.Fprintf(b, "\tif [[ $cur == -* ]]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n\telif [[ $COMP_CWORD == 1 ]]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$cur\"; compgen -f -- \"$cur\")\n\telse\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n\tfi\n}\ncomplete -o filenames -F _ashlar ashlar\n", strings.Join(names(commands), " "))
}

// quoted returns a text in single quotes that are valid in all three shells.
func quoted(s string) string { return "'" + strings.NewReplacer("'", "’", `\`, "").Replace(s) + "'" }

func zsh(b *strings.Builder, commands []subcommand.Info) {
	b.WriteString("#compdef ashlar\n_ashlar() {\n\tlocal -a commands\n\tcommands=(\n")
	for _, c := range commands {
		if c.Name != "" {
			fmt.Fprintf(b, "\t\t%s\n", quoted(c.Name+":"+c.Line))
		}
	}
	b.WriteString("\t)\n\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n\t\t_describe command commands\n\t\t_files\n\t\treturn\n\tfi\n\tcase $words[2] in\n")
	for i := range commands[1:] {
		c := &commands[1+i]
		fmt.Fprintf(b, "\t%s)\n\t\t_arguments", c.Name)
		zshFlags(b, c)
	}
	b.WriteString("\t*)\n\t\t_arguments")
	zshFlags(b, &commands[0])
	b.WriteString("\tesac\n}\n_ashlar \"$@\"\n")
}

func zshFlags(b *strings.Builder, c *subcommand.Info) {
	plain := strings.NewReplacer("[", "(", "]", ")", ":", ";")
	for _, f := range flags(c) {
		value := ""
		if f.takes {
			value = "=:value:_files"
		}
		fmt.Fprintf(b, " \\\n\t\t\t%s", quoted(fmt.Sprintf("*--%s%s[%s]%s", f.name, strings.TrimSuffix(value, ":value:_files"), plain.Replace(f.what), strings.TrimPrefix(value, "="))))
	}
	b.WriteString(" \\\n\t\t\t'*:file:_files'\n\t\t;;\n")
}

func fish(b *strings.Builder, commands []subcommand.Info) {
	all := strings.Join(names(commands), " ")
	b.WriteString("# fish completion of ashlar\n")
	for i := range commands {
		c := &commands[i]
		when := "__fish_seen_subcommand_from " + c.Name
		if c.Name == "" {
			when = "not __fish_seen_subcommand_from " + all
		} else {
			fmt.Fprintf(b, "complete -c ashlar -n 'not __fish_seen_subcommand_from %s' -a %s -d %s\n", all, c.Name, quoted(c.Line))
		}
		for _, f := range flags(c) {
			fmt.Fprintf(b, "complete -c ashlar -n '%s' -l %s", when, f.name)
			if f.short != "" {
				fmt.Fprintf(b, " -s %s", f.short)
			}
			if f.takes {
				b.WriteString(" -r")
			}
			fmt.Fprintf(b, " -d %s\n", quoted(f.what))
		}
	}
}
