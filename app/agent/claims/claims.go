// Package claims checks the numbers in a report against the recordings they cite, and
// writes reports that can be checked.
package claims

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"ashlar/app/agent/serve"
	"ashlar/app/core/locate"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
	input "ashlar/ingest/input/source"
)

// Check is the check-claims command.
var Check = subcommand.Command{
	Name: "check-claims", Args: "REPORT.md [--json]", Line: "recompute all numbers of a report",
	Text: `
A claim is code in a line of the report: COMMAND # PATH = NUMBER, as in
  ashlar top run.spaa --metric samples # rows[name="parse"].self = 42
PATH is a field of the command's --json output (ashlar help json): rows[0] is
the first element of a list, rows[name="parse"] the one with that name. PATH /
PATH is a quotient, PATH - PATH a difference; COMMAND # PATH in place of the
second takes it from another command. With = the numbers must be equal, with ~
equal when rounded to the digits written. Semicolons separate several claims.
Bold numbers in the line must repeat those of its claims in order, as digits or
with a unit (12.40 ms, 3.1 GB, 42.1 %). Addresses must be valid, and their files
must exist.

If a claim is wrong, the right value is printed and the exit code is 3. Commands
run in this folder; commands that write are refused. Only regular files are
opened; URLs and files on other machines need --allow-network.`,
	Examples: [][2]string{{"ashlar check-claims REPORT.md", "check a report against its recordings"}},
	Answer:   Checked{},
	Setup: func(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		network := fs.Bool("allow-network", false, "open URLs and files on other machines that the report names")
		subcommand.BudgetFlag(fs)
		return func(p *subcommand.Program, args []string) error {
			if len(args) != 1 {
				return subcommand.Misuse("name one report")
			}
			text, err := read(p, args[0])
			if err != nil {
				return err
			}
			return check(p, input.WithLimits(p.Ctx, input.Limits{Network: *network}), args[0], text, *asJSON)
		}
	},
}

// mostReport is the maximum size of a report, in bytes.
const mostReport = 16 << 20

func read(p *subcommand.Program, path string) (string, error) {
	in := p.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s: there is no such file", path)
		}
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, mostReport+1))
	if err == nil && len(b) > mostReport {
		err = fmt.Errorf("%s: too large; a report may have at most %d MB", path, mostReport>>20)
	}
	return string(b), err
}

// Checked is the JSON output of check-claims: how many claims of a report were checked,
// and the wrong ones.
type Checked struct {
	Report string `json:"report"`
	// Claims is the number of numbers and addresses that were checked, and Wrong is how
	// many of them are wrong.
	Claims int `json:"claims"`
	Wrong  int `json:"wrong"`
	// Found lists the wrong claims.
	Found []Wrong `json:"found"`
}

// Wrong is a wrong claim.
type Wrong struct {
	Line  int    `json:"line"`
	Claim string `json:"claim"`
	// Why explains the error and names the correct value.
	Why string `json:"why"`
	// Right is the number in the recording, null if there is none.
	Right *json.Number `json:"right"`
}

// reading lists the commands that a report may run: they write nothing.
var reading = append(slices.Clone(serve.Questions), "check")

func check(p *subcommand.Program, ctx context.Context, name, text string, asJSON bool) error {
	c := &checker{p: p, ctx: ctx, Checked: Checked{Report: name, Found: []Wrong{}}, answers: map[string]any{}}
	n := 0
	for line := range strings.Lines(text) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n++
		c.line(n, line)
	}
	if c.Claims == 0 {
		return fmt.Errorf("%s has no claims; ashlar check-claims --help shows how to write them", name)
	}
	err := p.Answer(asJSON, &c.Checked, "found", len(c.Found), func(n int) string {
		var b strings.Builder
		for _, w := range c.Found[:n] {
			fmt.Fprintf(&b, "%s:%d: %s: %s\n", safetext.Text(name), w.Line, safetext.Text(w.Claim), safetext.Text(w.Why))
		}
		fmt.Fprintf(&b, "%d of %d claims are wrong\n", c.Wrong, c.Claims)
		return b.String()
	})
	if err == nil && c.Wrong > 0 {
		return &subcommand.Failed{Text: fmt.Sprintf("%s: %d of %d claims are wrong", name, c.Wrong, c.Claims)}
	}
	return err
}

type checker struct {
	Checked
	p       *subcommand.Program
	ctx     context.Context // limits which files a report may name
	answers map[string]any  // by command
}

var (
	address = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("ashlar:1\\?[^\\s`)>\"]+") })
	bold    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\*\*([^*]*)\*\*`) })
	escaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\\\([!-/:-@[-`{-~])") })
	one     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(.*\S)\s*([=~])\s*([-+]?[0-9][0-9]*(?:\.[0-9]+)?)\s*$`)
	})
)

// codeSpans returns the code spans of a line of Markdown, and the line without them.
// A span ends with as many backticks as it begins with; escaped backticks begin none.
func codeSpans(line string) (spans []string, plain string) {
	var b strings.Builder
	for i := 0; i < len(line); {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			b.WriteString(line[i : i+2])
			i += 2
			continue
		case line[i] != '`':
			b.WriteByte(line[i])
			i++
			continue
		}
		n := ticks(line[i:])
		end := i + n
		for end < len(line) {
			if m := ticks(line[end:]); m == n {
				break
			} else {
				end += max(m, 1)
			}
		}
		if end < len(line) {
			spans = append(spans, strings.TrimSpace(line[i+n:end]))
			i = end + n
		} else {
			b.WriteString(line[i : i+n])
			i += n
		}
	}
	return spans, b.String()
}

// ticks counts the backticks that s begins with.
func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

func (c *checker) wrong(line int, claim string, right *json.Number, format string, args ...any) {
	c.Wrong++
	c.Found = append(c.Found, Wrong{line, claim, fmt.Sprintf(format, args...), right})
}

// line checks the claims on a line of the report.
func (c *checker) line(n int, line string) {
	var numbers, said []string // claimed numbers; right numbers formatted for people
	spans, plain := codeSpans(line)
	for _, code := range spans {
		command, says, ok := cutComment(code)
		if !ok || !strings.HasPrefix(command, "ashlar ") {
			continue
		}
		for _, s := range splitOutside(says, ';') {
			c.Claims++
			x := one().FindStringSubmatch(s)
			if x == nil {
				c.wrong(n, code, nil, "%q is not a claim; write PATH = NUMBER", strings.TrimSpace(s))
				continue
			}
			numbers = append(numbers, x[3])
			said = append(said, c.number(n, strings.TrimSpace(command), x[1], x[2] == "~", x[3]))
		}
	}
	addresses := address().FindAllString(plain, -1)
	for _, code := range spans {
		if strings.HasPrefix(code, "ashlar:1?") && !strings.ContainsAny(code, " \t") {
			addresses = append(addresses, code) // may contain brackets
		} else {
			addresses = append(addresses, address().FindAllString(code, -1)...)
		}
	}
	for _, m := range addresses {
		c.Claims++
		if err := readable(c.ctx, m, c.p.Recent()); err != nil {
			c.wrong(n, m, nil, "%v", err)
		}
	}
	if len(numbers) == 0 {
		return
	}
	// The line's bold numbers repeat its claimed numbers, in the same order.
	next := 0
	for _, m := range bold().FindAllStringSubmatch(plain, -1) {
		x := even(escaped().ReplaceAllString(m[1], "$1"))
		if !spoken().MatchString(x) {
			continue
		}
		c.Claims++
		i := next
		for i < len(numbers) && !says(x, numbers[i], said[i]) {
			i++
		}
		if i == len(numbers) {
			c.wrong(n, m[0], nil, "the line claims %s", strings.Join(or2(said, numbers), ", "))
			continue
		}
		next = i + 1
	}
}

// readable returns an error if an address, its search or a transform is invalid, or if its
// files are missing or may not be read.
func readable(ctx context.Context, s string, near []string) error {
	v, err := view.Parse(s)
	if err != nil {
		return err
	}
	if all := v.Invalid(); len(all) > 0 {
		return all[0]
	}
	for _, f := range v.Files {
		err := ingest.Allowed(ctx, f)
		if f != view.Demo && err != nil && !errors.Is(err, fs.ErrNotExist) { // a missing file may have moved
			return err
		}
	}
	_, err = locate.Files(v, "", near)
	return err
}

// or2 returns a with its empty texts replaced by those of b.
func or2(a, b []string) (all []string) {
	for i := range a {
		all = append(all, or(a[i], b[i]))
	}
	return all
}

// number checks one claimed number against the command's answer and returns the right
// number, formatted for people.
func (c *checker) number(line int, command, path string, rounded bool, said string) string {
	claim := command + " # " + path
	v, err := c.value(command, path)
	if err != nil {
		c.wrong(line, claim, nil, "%v", err)
		return ""
	}
	if !equals(v.is, said, rounded) {
		right := json.Number(v.String())
		c.wrong(line, claim, &right, "claimed %s, actually %s", said, right)
	}
	return v.unit.format(v.is)
}

// answer returns the JSON that a command prints.
func (c *checker) answer(command string) (any, error) {
	if v, ok := c.answers[command]; ok {
		if err, bad := v.(error); bad {
			return nil, err
		}
		return v, nil
	}
	v, err := c.run(command)
	if c.answers[command] = v; err != nil {
		c.answers[command] = err
	}
	return v, err
}

func (c *checker) run(command string) (any, error) {
	words, err := split(command)
	if err != nil {
		return nil, err
	}
	if len(words) < 2 || !slices.Contains(reading, words[1]) {
		return nil, fmt.Errorf("a report may use only these commands: %s", strings.Join(reading, ", "))
	}
	words = words[1:]
	if !slices.Contains(words, "--json") {
		words = append(words, "--json")
	}
	var out, remarks bytes.Buffer
	code := c.p.Run(subcommand.Invocation{Ctx: c.ctx, Args: words, Stdout: &out, Stderr: &remarks})
	d := json.NewDecoder(&out)
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		said := strings.TrimPrefix(strings.TrimSpace(remarks.String()), "ashlar: ")
		return nil, fmt.Errorf("the command failed with exit code %d: %s", code, said)
	}
	return v, nil
}
