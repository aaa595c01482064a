// Command eval measures how much output a reader with a small context needs to find the
// cause of a slowdown. For each made-up recording, with a known cause or with none, it
// runs the commands that the manual recommends and prints their size, compared with other
// programs.
//
//	go run ./testdata/eval             the table
//	go run ./testdata/eval -o DIR      keeps the recordings
//	go run ./testdata/eval -page       writes the table into the manual
//	go run ./testdata/eval -planted 1  asks about the recordings of real programs
//
// A token is four bytes of what was printed, the last one rounded up; the folder of the
// recordings counts as one of two letters. The sequence is always: overview, findings,
// and the command of the first finding. The other programs are in peers.go.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"ashlar/app/agent/budget"
	"ashlar/app/command"
	"ashlar/app/desktop/version"
)

func main() {
	out := flag.String("o", "", "keep the recordings in this `DIR`")
	page := flag.Bool("page", false, "write the table into assets/manual/evaluation.md")
	half := flag.String("planted", "", "ask about the recordings of real programs: those of `HALF` 1 or 2, or all")
	flag.Parse()
	if *half != "" {
		if err := askPlanted(strings.TrimPrefix(*half, "all")); err != nil {
			fmt.Fprintln(os.Stderr, "eval:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*out, *page); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(dir string, page bool) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ashlar-eval-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	var b strings.Builder
	missing := others.missing()
	fmt.Fprintf(&b, "%s, %s, %d processors, %s.%s\n\n", time.Now().UTC().Format(time.DateOnly), machine(), runtime.NumCPU(), version.String(), missing)
	var beside strings.Builder
	b.WriteString("| recording | planted | found | tokens | seconds |\n|---|---|---|---|---|\n")
	beside.WriteString("\n| recording | SPAA |")
	for _, p := range others {
		beside.WriteString(" " + p.name + " |")
	}
	beside.WriteString("\n|---|---|" + strings.Repeat("---|", len(others)) + "\n")
	t := totals{peers: make([]named, len(others))}
	for _, c := range cases(seeds) {
		r, err := c.ask(dir)
		if err != nil {
			return err
		}
		t.add(&c, r)
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %.2f |\n", c.name, or(c.rule, "nothing"), yes(r.right), r.tokens, r.took.Seconds())
		fmt.Fprintf(&beside, "| %s | %s |", c.name, number(c.spaa(dir)))
		for i := range others {
			a := others[i].ask(&c, dir)
			fmt.Fprintf(&beside, " %s |", a)
			t.peers[i].add(&c, a)
		}
		beside.WriteString("\n")
	}
	b.WriteString(beside.String())
	t.write(&b)
	if !page {
		_, err = os.Stdout.WriteString(b.String())
		return err
	}
	return intoPage(b.String())
}

// pagePath is the page with the table, relative to the module's root; the table is between
// these marks.
const (
	pagePath  = "assets/manual/evaluation.md"
	pageBegin = "<!-- table: go run ./testdata/eval -page writes it -->\n"
	pageEnd   = "<!-- end of table -->"
)

func intoPage(table string) error {
	b, err := os.ReadFile(pagePath)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(b), pageBegin)
	_, tail, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		return errors.New(pagePath + " has no place for the table")
	}
	return os.WriteFile(pagePath, []byte(head+pageBegin+table+pageEnd+tail), 0o644)
}

// machine returns the name of the processor, if the system reports it.
func machine() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if name, of, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(of)
			}
		}
	}
	return runtime.GOARCH
}

// totals are the sums printed below the table.
type totals struct {
	planted, found, nothing, calm, most int
	slowest                             time.Duration
	peers                               []named
}

// named counts the recordings that a program could read, and the recordings for which its
// answer named the cause.
type named struct{ read, said int }

func (n *named) add(c *recorded, a said) {
	if c.rule != "" && a.read {
		n.read++
		if a.names {
			n.said++
		}
	}
}

func (t *totals) add(c *recorded, r result) {
	switch {
	case c.rule == "" && r.right:
		t.nothing, t.calm = t.nothing+1, t.calm+1
	case c.rule == "":
		t.nothing++
	case r.right:
		t.planted, t.found = t.planted+1, t.found+1
	default:
		t.planted++
	}
	t.most, t.slowest = max(t.most, r.tokens), max(t.slowest, r.took)
}

func (t *totals) write(b *strings.Builder) {
	fmt.Fprintf(b, "\nOf %d causes %d were found, in %d of %d recordings of nothing there was nothing; the most that it took are %d tokens and %.2f seconds.", t.planted, t.found, t.calm, t.nothing, t.most, t.slowest.Seconds())
	for i, p := range others {
		if t.peers[i].read > 0 {
			fmt.Fprintf(b, " %s names %d of the %d causes that it could read.", p.name, t.peers[i].said, t.peers[i].read)
		}
	}
	b.WriteString("\n")
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "**no**"
}

func number(n int) string {
	if n < 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// write writes a case's recordings.
func (c *recorded) write(dir string) (paths []string, err error) {
	for i, f := range c.files {
		path := filepath.Join(dir, fmt.Sprintf("%s-%c.%s", c.name, 'a'+i, f.ext))
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// result is the outcome of the sequence of commands.
type result struct {
	right  bool
	said   string // everything printed
	tokens int
	took   time.Duration
	rules  []string
}

// ask runs the sequence.
func (c *recorded) ask(dir string) (r result, err error) {
	paths, err := c.write(dir)
	if err != nil {
		return r, err
	}
	begin := time.Now()
	run := func(args ...string) []byte {
		var out, errs bytes.Buffer
		if code := command.Main(args, bytes.NewReader(nil), &out, &errs, command.Runner{}); code != command.Done && err == nil {
			err = fmt.Errorf("%v: %s", args, errs.String())
		}
		r.said += out.String() + errs.String()
		return out.Bytes()
	}
	run("overview", paths[len(paths)-1])
	var found struct {
		Findings []struct{ Rule, Claim, Command string }
	}
	if e := json.Unmarshal(run(append([]string{"findings", "--json", "--budget", "2000"}, paths...)...), &found); e != nil && err == nil {
		err = e
	}
	r.right = c.rule == "" && len(found.Findings) == 0
	for i, f := range found.Findings {
		r.rules = append(r.rules, f.Rule)
		if f.Rule == c.rule && strings.Contains(f.Claim, c.says) {
			r.right = true
		}
		if i == 0 {
			// Split the command as a shell would: the only quotes that names here need
			// are single quotes.
			run(append(words(f.Command)[1:], "--budget", "1500")...)
		}
	}
	r.took, r.tokens = time.Since(begin), tokens(r.said, dir)
	return r, err
}

// tokens counts the tokens of a text, with the folder of the recordings replaced by "/r":
// the length of its name is arbitrary.
func tokens(said, dir string) int {
	return budget.Tokens(len(strings.ReplaceAll(said, dir, "/r")))
}

// words splits a command into words; words with blanks are in single quotes.
func words(command string) (all []string) {
	word, quoted, any := "", false, false
	for _, c := range command {
		switch {
		case c == '\'':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			if word != "" || any {
				all = append(all, word)
			}
			word, any = "", false
		default:
			word += string(c)
		}
	}
	return append(all, word)
}

// spaa returns the number of tokens of the recording as SPAA, the input for grep and jq;
// -1 if it cannot be written.
func (c *recorded) spaa(dir string) int {
	path := c.as(dir, ".spaa")
	if st, err := os.Stat(path); err == nil {
		return budget.Tokens(int(st.Size()))
	}
	return -1
}

// as converts the recording, or the later one of two, to another format and returns its
// path; "" if that fails.
func (c *recorded) as(dir, ext string) string {
	i := len(c.files) - 1
	in, out := filepath.Join(dir, fmt.Sprintf("%s-%c.%s", c.name, 'a'+i, c.files[i].ext)), filepath.Join(dir, c.name+ext)
	if "."+c.files[i].ext == ext {
		return in
	}
	if command.Main([]string{"convert", in, out, "--force"}, bytes.NewReader(nil), new(bytes.Buffer), new(bytes.Buffer), command.Runner{}) != command.Done {
		return ""
	}
	return out
}
