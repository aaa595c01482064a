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
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/pflag"

	"ashlar/app/agent/serve"
	"ashlar/app/core/locate"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
	input "ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Check is the check-claims command.
var Check = subcommand.Command{
	Name: "check-claims", Args: "REPORT.md [--json]", Line: "recompute all numbers of a report",
	Text: `
A claim is code in a line of the report: COMMAND # PATH = NUMBER, as in
  ashlar top run.spaa --metric samples # rows[name="parse"].self = 42
PATH is a field of the command's --json output (ashlar help json): rows[0] is
the first element of a list, rows[name="parse"] the one with that name. With =
the numbers must be equal, with ~ equal when rounded to the digits written.
Semicolons separate several claims. Bold numbers in the line must repeat those
of its claims in order, as digits or with a unit (12.40 ms, 3.1 GB, 42.1 %).
Addresses must be valid, and their files must exist.

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
	spoken  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([-+]?[0-9][0-9 ]*(?:\.[0-9]+)?) ?(.*)$`) })
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

// even replaces every white-space character by a space and every minus sign by a hyphen.
func even(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '−':
			return '-'
		}
		return r
	}, strings.TrimSpace(s))
}

// says reports whether a bold number matches a claim: it has either the claimed digits or
// the form for people, possibly with fewer digits or, as 12.34 M for 12.34 M cycles, without
// the unit.
func says(bold, number, people string) bool {
	digits := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), " ", "") }
	b := spoken().FindStringSubmatch(bold)
	if b[2] == "" || people == "" {
		return same(digits(b[1]), number, false)
	}
	p := spoken().FindStringSubmatch(people)
	return p != nil && (b[2] == p[2] || strings.HasPrefix(p[2], b[2]+" ")) && (digits(b[1]) == digits(p[1]) || len(digits(b[1])) < len(digits(p[1])) && same(digits(p[1]), digits(b[1]), true))
}

// or2 returns a with its empty texts replaced by those of b.
func or2(a, b []string) (all []string) {
	for i := range a {
		all = append(all, or(a[i], b[i]))
	}
	return all
}

// people formats the number at a path of a command's answer for people; it returns "" if the
// number has no unit. The unit comes from the nearest enclosing object that has one, or from
// the command; shares are formatted in percent.
func people(command string, answer any, path string) string {
	v, err := follow(answer, path)
	n, ok := v.(json.Number)
	if err != nil || !ok {
		return ""
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	unit, metric := unitOf(command, answer, path, last)
	if unit == "share" {
		f, err := n.Float64()
		if err != nil {
			return ""
		}
		return even(strconv.FormatFloat(100*f, 'f', 1, 64) + " %")
	}
	whole, fraction, _ := strings.Cut(n.String(), ".")
	mantissa, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil || unit == "" {
		return ""
	}
	return even(safetext.Text(units.Full(mantissa, &recording.Metric{Name: metric, Unit: unit, Decimals: len(fraction)})))
}

// unitOf returns the unit of a number, share for a share, and the metric if its name changes
// how values are written. last is the last field of the path.
func unitOf(command string, answer any, path, last string) (unit, metric string) {
	switch {
	case last == "share" || strings.HasSuffix(last, "_share"):
		return "share", ""
	case strings.HasSuffix(last, "_ns"):
		return "ns", ""
	case counts[last]:
		return "", ""
	}
	for at := path; at != ""; {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
		u, err := follow(answer, strings.TrimPrefix(at+".unit", "."))
		if err != nil {
			continue
		}
		unit, _ = u.(string)
		if unit == "bytes" || unit == "byte" || unit == "B" {
			m, _ := follow(answer, strings.TrimPrefix(at+".metric", "."))
			metric, _ = m.(string)
		}
		return unit, metric
	}
	words := strings.Fields(command)
	if fields := ""; len(words) > 1 {
		for rest := path; rest != ""; {
			m := step().FindStringSubmatch(rest)
			if m == nil {
				return "", ""
			}
			if m[1] != "" {
				fields += "." + m[1]
			}
			rest = rest[len(m[0]):]
		}
		if strings.Contains(times[words[1]]+" ", " "+fields+" ") {
			return "ns", ""
		}
	}
	return "", ""
}

// times are the fields of answers that are times in nanoseconds, by command. Other answers
// have units or field names that end in _ns.
var times = map[string]string{
	"calls": " .sum .together .min .max .mean .median .p90 .p99 .p999 .histogram.from .histogram.to .modes.from .modes.to .rows.start .rows.duration .rows.self .rows.cpu .rows.waiting",
	"gpu":   " .devices.window .devices.busy .devices.copying .devices.communication .devices.hidden .devices.exposed .devices.idle.time .memory.allocated.time .memory.reserved.time .work_time .operators.self .operators.total .operators.outermost .operators.backward .operators.kernels.time .modules.self .modules.total .modules.outermost .modules.backward .modules.kernels.time .annotations.self .annotations.total .annotations.outermost .annotations.backward .annotations.kernels.time .loop.median .loop.median_gpu .loop.causes.slow .loop.causes.usual .steps.start .steps.duration .steps.gpu",
	"locks": " .blocked .locks.lost .locks.longest .locks.holds_derived.sum .locks.holds_derived.median .locks.holds_derived.longest .locks.holders.sum .locks.holders.median .locks.holders.longest .locks.losers.lost .locks.losers.longest .locks.convoy.start .locks.convoy.length",
}

// counts are the fields to which the unit of the enclosing object does not apply.
var counts = map[string]bool{"records": true, "count": true, "samples": true, "confidence": true, "calls": true, "ratio": true}

// number checks one claimed number against the command's answer and returns the right
// number, formatted for people.
func (c *checker) number(line int, command, path string, rounded bool, said string) string {
	claim := command + " # " + path
	answer, err := c.answer(command)
	if err != nil {
		c.wrong(line, claim, nil, "%v", err)
		return ""
	}
	v, err := follow(answer, path)
	if err != nil {
		c.wrong(line, claim, nil, "%v", err)
		return ""
	}
	right, ok := v.(json.Number)
	switch {
	case !ok:
		c.wrong(line, claim, nil, "%s is not a number", path)
	case !same(string(right), said, rounded):
		c.wrong(line, claim, &right, "claimed %s, actually %s", said, right)
	}
	return people(command, answer, path)
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

// same reports whether two decimals are equal or, if rounded is true, whether right
// rounds to said at said's number of digits.
func same(right, said string, rounded bool) bool {
	a, ok := new(big.Rat).SetString(right)
	b, ok2 := new(big.Rat).SetString(said)
	if !ok || !ok2 {
		return false
	}
	if !rounded {
		return a.Cmp(b) == 0
	}
	_, digits, _ := strings.Cut(said, ".")
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil)))
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(half) <= 0
}

var step = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.?([A-Za-z0-9_-]+)|^\[([0-9]+)\]|^\[([A-Za-z0-9_-]+)=("(?:[^"\\]|\\.)*")\]`)
})

// follow returns the field of an answer at a path.
func follow(v any, path string) (any, error) {
	for rest := path; rest != ""; {
		m := step().FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q is not a path; write rows[0].self or rows[name=\"parse\"].self", path)
		}
		at := strings.TrimSuffix(path, rest)
		rest = rest[len(m[0]):]
		switch {
		case m[1] != "":
			o, _ := v.(map[string]any)
			x, ok := o[m[1]]
			if !ok {
				return nil, fmt.Errorf("there is no field %s in %s", m[1], or(at, "the answer"))
			}
			v = x
		case m[2] != "":
			list, _ := v.([]any)
			i, err := strconv.Atoi(m[2])
			if err != nil || i >= len(list) {
				return nil, fmt.Errorf("%s has only %d elements, not [%s]", at, len(list), m[2])
			}
			v = list[i]
		default:
			var name string
			if err := json.Unmarshal([]byte(m[4]), &name); err != nil {
				return nil, fmt.Errorf("%s is not text: %w", m[4], err)
			}
			list, _ := v.([]any)
			i := slices.IndexFunc(list, func(x any) bool {
				o, _ := x.(map[string]any)
				return o[m[3]] != nil && fmt.Sprint(o[m[3]]) == name
			})
			if i < 0 {
				return nil, fmt.Errorf("no element of %s has the %s %q", at, m[3], name)
			}
			v = list[i]
		}
	}
	return v, nil
}
