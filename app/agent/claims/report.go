package claims

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"github.com/yuin/goldmark"

	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/redact"
)

// Report is the report command.
var Report = subcommand.Command{
	Name: "report", Args: "FILE [FILE] -o OUT.md", Line: "write a report with numbers that can be recomputed",
	Text: `
For one recording: its contents, costs and findings. For two (the baseline
first): the differences and their confidence. Each number is followed by the
command that prints it, so that check-claims can recompute it; findings have
addresses that show them. The picture is saved next to the report, except with
-o - (standard output). A name ending in .html makes an HTML page.`,
	Examples: [][2]string{
		{"ashlar report run.spaa -o report.md", "a report of one run, with its picture"},
		{"ashlar report old.pprof new.pprof -o -", "the effects of a change, for a pull request"},
	},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		out := fs.StringP("output", "o", "", "write the report to this `FILE` (.md or .html); - is standard output")
		force := fs.Bool("force", false, "replace an existing file")
		rows := fs.IntP("rows", "n", 10, "list at most `N` functions")
		subcommand.RedactFlag(fs)
		return func(p *subcommand.Program, args []string) error {
			html := strings.EqualFold(filepath.Ext(*out), ".html")
			switch {
			case len(args) < 1 || len(args) > 2:
				return subcommand.Misuse("name one recording, or two to compare")
			case args[0] == "-" || args[len(args)-1] == "-":
				return subcommand.Misuse("a report needs files; standard input cannot be used")
			case *out != "-" && !html && !strings.EqualFold(filepath.Ext(*out), ".md"):
				return subcommand.Misuse("name the report with -o: a file ending in .md or .html, or - for standard output")
			case *rows < 1:
				return subcommand.Misuse("-n %d must be at least 1", *rows)
			}
			w := &writer{p: p, rows: *rows}
			w.redact, _ = fs.GetBool("redact")
			o := outfile.Options{Replace: *force, Not: args}
			if *out != "-" {
				files := []string{*out}
				if !w.redact {
					files = append(files, pictureName(*out))
				}
				for _, name := range files {
					if err := outfile.Unused(name, o); err != nil {
						return err
					}
				}
			}
			if err := w.write(args, *out); err != nil {
				return err
			}
			text := w.b.Bytes()
			if html {
				var page bytes.Buffer
				fmt.Fprintf(&page, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Report</title>\n")
				if err := goldmark.Convert(text, &page); err != nil {
					return err
				}
				text = page.Bytes()
			}
			if *out == "-" {
				_, err := p.Stdout.Write(text)
				return err
			}
			return outfile.Write(*out, o, func(f io.Writer) error {
				_, err := f.Write(text)
				return err
			})
		}
	},
}

// writer writes a report.
type writer struct {
	p    *subcommand.Program
	rows int
	// redact removes the origin of the recordings from all answers.
	redact bool
	b      bytes.Buffer
}

func (w *writer) write(files []string, out string) error {
	if len(files) == 2 {
		if err := w.difference(files); err != nil {
			return err
		}
	} else if err := w.cost(files[0]); err != nil {
		return err
	}
	if err := w.findings(files); err != nil {
		return err
	}
	switch {
	case w.redact:
		w.say("\nURLs, hosts, folders, arguments, labels and the picture were left out.\n")
	case out != "-":
		return w.picture(files, out)
	}
	return nil
}

// source is a command whose answer the report quotes.
type source struct {
	command string
	answer  any
}

func (w *writer) ask(args ...string) (*source, error) {
	c := &checker{p: w.p, ctx: w.p.Ctx}
	if w.redact {
		args = append(args, "--redact")
	}
	s := &source{}
	var err error
	s.answer, err = c.run(safetext.Command(append([]string{"ashlar"}, args...)...))
	for i := range args {
		args[i] = w.name(args[i])
	}
	s.command = safetext.Command(append([]string{"ashlar"}, args...)...)
	return s, err
}

// name returns the recording's name in the report.
func (w *writer) name(file string) string {
	if _, err := os.Stat(file); w.redact && err == nil {
		return redact.FileName(file)
	}
	return file
}

// text returns a field of the answer as text.
func (s *source) text(path string) string {
	v, err := follow(s.answer, path)
	if err != nil || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// number returns a field of the answer in bold, formatted for people.
func (s *source) number(path string) string {
	return "**" + words(or(people(s.command, s.answer, path), s.text(path))) + "**"
}

// claim returns the code span that claims fields of the answer.
func (s *source) claim(paths ...string) string {
	var all []string
	for _, p := range paths {
		if v, err := follow(s.answer, p); err == nil {
			if n, ok := v.(json.Number); ok && one().MatchString(p+" = "+n.String()) {
				all = append(all, p+" = "+n.String())
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	text := s.command + " # " + strings.Join(all, "; ")
	fence := safetext.Fence(text, 2)
	return fence + text + fence
}

func (s *source) len(path string) int {
	v, err := follow(s.answer, path)
	list, _ := v.([]any)
	if err != nil {
		return 0
	}
	return len(list)
}

// words escapes Markdown in text that contains names from a recording.
func words(s string) string {
	return strings.NewReplacer(`\`, `\\`, "&", `\&`, "*", `\*`, "`", "\\`", "<", `\<`, ">", `\>`, "[", `\[`, "_", `\_`, "#", `\#`, "~", `\~`, "|", `\|`, "://", `:\//`, "www.", `www\.`).Replace(safetext.Text(s))
}

// sentence is like words, for text at the start of a paragraph: it also escapes a beginning that
// Markdown would take for a list.
func sentence(s string) string { return lineStart().ReplaceAllString(words(s), `$1\$2`) }

// lineStart matches what begins a list or underlines a heading.
var lineStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*[0-9]*)([-+=.)](?:[-=\s]|$))`) })

func (w *writer) say(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *writer) cost(file string) error {
	top, err := w.ask("top", file, "-n", fmt.Sprint(w.rows), "--json")
	if err != nil {
		return err
	}
	w.say("# Report of %s\n\n", words(w.name(file)))
	w.say("Total of %s: %s, from %s %s. %s\n\n", safetext.Code(top.text("metric")), top.number("total"), top.number("records"), top.text("basis"), top.claim("total", "records"))
	w.damage(top)
	w.say("## Where the cost went\n\n")
	for i := range top.len("rows") {
		at := fmt.Sprintf("rows[%d].", i)
		w.say("%d. %s: self %s, total %s. %s\n", i+1, safetext.Code(top.text(at+"name")), top.number(at+"self"), top.number(at+"total"), top.claim(at+"self", at+"total"))
	}
	return nil
}

// damage lists what the answer's recordings have that may change its numbers: errors,
// overlaps, and sums that exceed 64 bits.
func (w *writer) damage(s *source) {
	for i := range s.len("damage") {
		at := fmt.Sprintf("damage[%d].", i)
		var why []string
		for k := range s.len(at + "weighing") {
			why = append(why, strings.TrimSuffix(s.text(fmt.Sprintf("%sweighing[%d].text", at, k)), "."))
		}
		what := cmp.Or(strings.Join(why, "; "), "none of its errors changes a number")
		w.say("Problems in %s: %s. %s lists them.\n\n", words(w.name(s.text(at+"file"))), words(what), safetext.Code(s.text(at+"check")))
	}
	for i := range s.len("saturated") {
		w.say("The sum of %s exceeds 64 bits and is limited to that: the numbers here are lower bounds.\n\n", safetext.Code(s.text(fmt.Sprintf("saturated[%d]", i))))
	}
}

func (w *writer) difference(files []string) error {
	diff, err := w.ask("diff", files[0], files[1], "-n", fmt.Sprint(w.rows), "--json")
	if err != nil {
		return err
	}
	w.say("# Comparison of %s with %s\n\n%s\n\n", words(w.name(files[1])), words(w.name(files[0])), sentence(diff.text("verdict")))
	w.say("Total of %s: %s, was %s. %s\n\n", safetext.Code(diff.text("metric")), diff.number("b.total"), diff.number("a.total"), diff.claim("b.total", "a.total"))
	w.damage(diff)
	w.say("## What differs\n\n")
	if diff.len("rows") == 0 {
		w.say("Nothing.\n")
	}
	for i := range diff.len("rows") {
		at := fmt.Sprintf("rows[%d].", i)
		w.say("%d. %s: self +%s, from %s to %s", i+1, safetext.Code(diff.text(at+"name")), diff.number(at+"delta_self"), diff.number(at+"a_self"), diff.number(at+"b_self"))
		if diff.text(at+"confidence") != "" {
			w.say(", with a confidence of %s", diff.number(at+"confidence"))
		}
		w.say(". %s\n", diff.claim(at+"delta_self", at+"a_self", at+"b_self", at+"confidence"))
	}
	return nil
}

func (w *writer) findings(files []string) error {
	found, err := w.ask(append(append([]string{"findings"}, files...), "--json")...)
	if err != nil {
		return err
	}
	w.say("\n## What is unusual\n\n")
	costs := false
	for i := range found.len("findings") {
		at := fmt.Sprintf("findings[%d].", i)
		harmless := "False alarm"
		if found.text(at+"kind") == "cost" {
			if harmless = "Harmless"; !costs {
				if costs = true; i == 0 {
					w.say("Nothing unusual found.\n")
				}
				w.say("\n## What costs most\n\n")
			}
		}
		said, checks := found.finding(at)
		w.say("- %s %s if %s.%s\n  `%s`\n", said, harmless, words(found.text(at+"wrong_when")), checks, found.text(at+"address"))
	}
	switch {
	case found.len("findings") > 0:
	case len(files) == 2:
		w.say("No significant differences.\n")
	default:
		w.say("Nothing unusual found.\n")
	}
	return nil
}

// finding returns a finding's sentence, its numbers in bold, and code spans that claim them.
func (s *source) finding(at string) (said, checks string) {
	rest := s.text(at + "claim")
	var b, c strings.Builder
	begin, claimed := sentence, ""
	end := func() {
		if claimed != "" {
			fence := safetext.Fence(claimed, 2)
			fmt.Fprintf(&c, " %s%s%s", fence, claimed, fence)
		}
	}
	for k := range s.len(at + "numbers") {
		text, check := s.text(fmt.Sprintf("%snumbers[%d].text", at, k)), s.text(fmt.Sprintf("%snumbers[%d].check", at, k))
		before, after := cutUnquoted(rest, text)
		fmt.Fprintf(&b, "%s**%s**", begin(before), words(text))
		begin, rest = words, after
		command, path, _ := cutComment(check)
		if last, _, _ := cutComment(claimed); last == command {
			claimed += ";" + path
			continue
		}
		end()
		claimed = check
	}
	end()
	return b.String() + begin(rest), c.String()
}

// cutUnquoted cuts a sentence around the first of its words outside quotes that are text.
func cutUnquoted(s, text string) (before, after string) {
	for i := 0; i < len(s); {
		at := strings.Index(s[i:], text)
		if at < 0 {
			break
		}
		if at += i; strings.Count(s[:at], "“") <= strings.Count(s[:at], "”") {
			return s[:at], s[at+len(text):]
		}
		i = at + len(text)
	}
	return s, ""
}

// pictureName returns the path of a report's picture.
func pictureName(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".png" }

// picture draws the recordings beside the report.
func (w *writer) picture(files []string, out string) error {
	name := pictureName(out)
	var remarks bytes.Buffer
	if w.p.Run(subcommand.Invocation{Ctx: w.p.Ctx, Args: append([]string{"render", "--size=1280x800", "--output=" + name, "--"}, files...), Stdout: io.Discard, Stderr: &remarks}) != 0 {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(remarks.String()), "ashlar: "))
	}
	w.say("\n![The view in the window](%s)\n", linked(filepath.Base(name)))
	return nil
}

// linked returns a file's name as the target of a link in Markdown.
func linked(name string) string {
	return strings.NewReplacer(":", "%3A", "&", "%26").Replace(url.PathEscape(name))
}
