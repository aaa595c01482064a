// Package man writes the manual pages ashlar(1) and one for each command, from the
// commands and their flags.
package man

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
)

// Name returns the name of a command's page, "ashlar" for the program's own.
func Name(c *subcommand.Info) string {
	if c.Name == "" {
		return "ashlar"
	}
	return "ashlar-" + c.Name
}

// Page returns a command's man page. The first element of all is the program itself; its
// page also lists the other commands and the supported formats.
func Page(c *subcommand.Info, all []subcommand.Info, version, formats string) string {
	p := &page{}
	fmt.Fprintf(p, ".TH %s 1 \"\" \"ashlar %s\" \"User Commands\"\n", strings.ToUpper(escape(Name(c))), escape(version))
	p.head("NAME")
	fmt.Fprintf(p, "%s \\- %s\n", escape(Name(c)), escape(c.Line))
	p.head("SYNOPSIS")
	fmt.Fprintf(p, ".B %s\n%s\n", strings.TrimSpace("ashlar "+c.Name), escape(c.Args))
	if c.Name == "" {
		p.WriteString(".br\n.B ashlar\n.I COMMAND\n.RI [ ARGUMENT ...]\n")
	}
	if c.Text != "" || c.Name == "" {
		p.head("DESCRIPTION")
	}
	if c.Name == "" {
		fmt.Fprintf(p, "Ashlar is a viewer for profiles and traces. One window shows when things\nhappened (a timeline) and where the cost went (a flamegraph and tables).\nIt opens %s, also compressed with gzip or zstd;\n.B \\-\nis standard input.\n.PP\nCommands answer the same questions without a window.\n", escape(formats))
	}
	p.text(c.Text)
	if c.Name == "" {
		p.head("COMMANDS")
		for i := range all {
			if all[i].Name != "" {
				fmt.Fprintf(p, ".TP\n.BR %s (1)\n%s\n", escape(Name(&all[i])), sentence(all[i].Line))
			}
		}
	}
	p.flags(c.Flags)
	p.examples(c.Examples)
	p.head("EXIT STATUS")
	p.WriteString("0 on success, 1 for problems with the input or output, 2 for an invalid command\nline, 3 if a condition of diff holds or a claim of a report is wrong.\n")
	p.head("SEE ALSO")
	if c.Name == "" {
		p.WriteString(".BR perf (1)\n.PP\n.B ashlar help\n.I TOPIC\nprints a page of the manual.\n")
	} else {
		p.WriteString(".BR ashlar (1)\n")
	}
	return p.String()
}

type page struct{ strings.Builder }

func (p *page) head(title string) { p.WriteString(".SH " + title + "\n") }

// text writes paragraphs; indented lines keep their layout.
func (p *page) text(text string) {
	as := false // in indented lines
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, " ")
		switch {
		case indented && !as:
			p.WriteString(".PP\n.nf\n")
		case !indented && as:
			p.WriteString(".fi\n")
		}
		switch {
		case line != "":
			p.WriteString(escape(line) + "\n")
		case i > 0 && !as:
			p.WriteString(".PP\n")
		}
		as = indented
	}
	if as {
		p.WriteString(".fi\n")
	}
}

func (p *page) flags(fs *pflag.FlagSet) {
	p.head("OPTIONS")
	fs.VisitAll(func(f *pflag.Flag) {
		value, what := pflag.UnquoteUsage(f)
		p.flag(f.Shorthand, f.Name, value, f.NoOptDefVal != "" && f.Value.Type() != "bool", what)
	})
	p.flag("h", "help", "", false, "show the help")
}

func (p *page) flag(short, name, value string, optional bool, what string) {
	p.WriteString(".TP\n")
	if short != "" {
		fmt.Fprintf(p, `\fB\-%s\fR, `, escape(short))
	}
	fmt.Fprintf(p, `\fB\-\-%s\fR`, escape(name))
	switch {
	case value != "" && optional:
		fmt.Fprintf(p, `[=\fI%s\fR]`, escape(value))
	case value != "":
		fmt.Fprintf(p, `=\fI%s\fR`, escape(value))
	}
	p.WriteString("\n" + sentence(what) + "\n")
}

func (p *page) examples(all [][2]string) {
	if len(all) == 0 {
		return
	}
	p.head("EXAMPLES")
	for _, e := range all {
		fmt.Fprintf(p, ".TP\n.B %s\n%s\n", quoted(e[0]), sentence(e[1]))
	}
}

// sentence capitalizes a text and ends it with a period.
func sentence(s string) string {
	return escape(strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] + ".")
}

// escape escapes text so that roff shows it literally.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

// quoted returns text as a macro's argument, with blanks and quotes intact.
func quoted(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }
