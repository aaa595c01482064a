// Command eval shows how far a reader gets who has room for few words: for each of
// some made-up recordings, each with a known cause or with none, it asks what the
// manual says to ask first, and prints what that takes beside other programs.
//
//	go run ./testdata/eval          the table
//	go run ./testdata/eval -o DIR   keeps the recordings
//
// Tokens are bytes divided by four, rounded up, of all that was printed. The sequence
// is always: overview, findings, and the command of the first finding. Beside it
// stand the whole file as SPAA, which grep and jq would be let loose on, and go tool
// pprof -top, which only knows stacks.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ashlar/app/budget"
	"ashlar/app/cli"
)

func main() {
	out := flag.String("o", "", "keep the recordings in this folder")
	flag.Parse()
	dir := *out
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "ashlar-eval-"); err != nil {
			fmt.Fprintln(os.Stderr, "eval:", err)
			os.Exit(1)
		}
		defer os.RemoveAll(dir)
	}
	fmt.Println("| recording | planted | found | tokens | seconds | as SPAA | pprof -top |\n|---|---|---|---|---|---|---|")
	for _, c := range cases() {
		r, err := c.ask(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "eval:", err)
			os.Exit(1)
		}
		spaa, top := c.others(dir)
		fmt.Printf("| %s | %s | %s | %d | %.2f | %s | %s |\n", c.name, or(c.rule, "nothing"), map[bool]string{true: "yes", false: "**no**"}[r.right], r.tokens, r.took.Seconds(), spaa, top)
	}
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

// result has what the sequence of commands came to.
type result struct {
	right  bool
	said   string // all that was printed
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
		if code := cli.Main(args, bytes.NewReader(nil), &out, &errs, cli.Runner{}); code != cli.Done && err == nil {
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
			// The command as a shell would take it: names here need no quotes but '.
			run(append(words(f.Command)[1:], "--budget", "1500")...)
		}
	}
	r.took, r.tokens = time.Since(begin), budget.Tokens(len(r.said))
	return r, err
}

// words takes a command apart: words, with ” around those that have blanks.
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

// others are the tokens of the recording as SPAA, and of what go tool pprof prints.
func (c *recorded) others(dir string) (spaa, top string) {
	path := filepath.Join(dir, c.name+"-a."+c.files[0].ext)
	size := func(to string) string {
		out := filepath.Join(dir, c.name+to)
		if cli.Main([]string{"convert", path, out, "--force"}, bytes.NewReader(nil), new(bytes.Buffer), new(bytes.Buffer), cli.Runner{}) != cli.Done {
			return "–"
		}
		if st, err := os.Stat(out); err == nil {
			return fmt.Sprint(budget.Tokens(int(st.Size())))
		}
		return "–"
	}
	spaa, top = size(".spaa"), "–"
	if size(".pb.gz") != "–" {
		if b, err := exec.Command("go", "tool", "pprof", "-top", filepath.Join(dir, c.name+".pb.gz")).Output(); err == nil {
			top = fmt.Sprint(budget.Tokens(len(b)))
		}
	}
	return spaa, top
}
