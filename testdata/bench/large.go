//go:build linux

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// perfettoLarge is a generated recording, because Perfetto's recorder does not run
// everywhere.
var perfettoLarge = recording{ext: ".pftrace", options: synthOptions("perfetto", 0, 1_000_000_000)}

// largeRows measures formats at a size at which their own tools are slow. With -page they
// are measured too, and written to tables of their own: see [sections].
var largeRows = []row{
	{largeRow + "/perfetto", func(b *bench) ([]result, error) {
		f, err := b.get(perfettoLarge)
		if err != nil {
			return nil, err
		}
		return b.large(f, "Perfetto")
	}},
	{largeRow + "/file", func(b *bench) (out []result, err error) {
		err = eachGiven(b.givenLarge, func(name string, f *file) error {
			all, err := b.large(f, name)
			out = append(out, all...)
			return err
		})
		return out, err
	}},
}

// largeRow is the prefix of the names of these rows.
const largeRow = "large"

// large measures ashlar and the tool of a format on a recording.
func (b *bench) large(f *file, what string) ([]result, error) {
	tools := b.toolsOf(f.path)
	mute := func(title, command string) peer { // discard the output, which may be as large as the recording
		return b.tool(title, "sh", "-c", "exec "+command+` "$0" >/dev/null`)
	}
	switch {
	case strings.HasSuffix(f.path, ".trace"):
		tools = []peer{b.goTrace}
	case strings.HasSuffix(f.path, ".jfr"):
		tools = append(tools, mute("jfr print --events ExecutionSample", "jfr print --events ExecutionSample"))
	case strings.HasSuffix(f.path, ".data"):
		tools = append(tools, mute("perf report -g", "perf report -f --stdio --no-children -g caller -i"))
	}
	all, err := b.against(f, what, tools...)
	for i := range all {
		all[i].Large, all[i].Peer = all[i].Peer, nil
		all[i].Large.Bytes = f.bytes
	}
	return all, err
}

// goTrace measures the time until the viewer that comes with Go serves its page of
// goroutines, for which it has to read everything.
func (b *bench) goTrace(f *file) (string, run, error) {
	me, err := os.Executable()
	if err != nil {
		return "", run{}, err
	}
	r, err := b.tree(exec.Command(me, "-child", "go-trace", f.path))
	return "go tool trace, " + cmp.Or(thisMachine().Go, "Go"), r, err
}

// openGoTrace starts Go's viewer, asks for the page and stops the viewer.
func openGoTrace(path string) error {
	name, err := exec.Command("go", "tool", "-n", "trace").Output()
	if err != nil {
		return err
	}
	cmd := exec.Command("prlimit", "--as="+mostPeer, strings.TrimSpace(string(name)), "-http=127.0.0.1:0", path)
	cmd.Env = append(os.Environ(), "BROWSER=true") // opens no browser
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for s := bufio.NewScanner(said); s.Scan(); {
		_, url, ok := strings.Cut(s.Text(), "listening on ")
		if !ok {
			continue
		}
		go io.Copy(io.Discard, said)
		got, err := http.Get(url + "/goroutines")
		if err != nil {
			return err
		}
		defer got.Body.Close()
		if _, err := io.Copy(io.Discard, got.Body); err != nil || got.StatusCode != http.StatusOK {
			return cmp.Or(err, errors.New(got.Status))
		}
		return nil
	}
	return errors.New("it ended before it had a page")
}

// large writes the tables of formats at a large size.
func (rep *report) large(b *strings.Builder) {
	fmt.Fprintf(b, "\nMeasured on %s on %s, with a load of %.1f before the start; other programs used %s of the machine. Whole programs, from start to answer; the best of up to three runs, or a single run if it takes more than %d s. *Memory* is the peak without the mapped file. *None*: no answer within %.0f minutes and %s of memory, or the program failed.\n",
		rep.When.Format("2006-01-02"), rep.Machine, rep.Machine.Load, rep.others(), peerOnce, peerPatience.Minutes(), mostPeer[:len(mostPeer)-9]+" GB")
	b.WriteString("\n| recording | program | time | MB/s | memory |\n|---|---|--:|--:|--:|\n")
	last := ""
	for _, x := range rep.Results {
		p := x.Large
		name := cell(p.File)
		if name == last {
			name = ""
		} else {
			last = name
		}
		if p.Failed {
			fmt.Fprintf(b, "| %s | %s | none | | |\n", name, cell(p.Program))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %.0f | %s |\n", name, cell(p.Program), seconds(p.Seconds), float64(p.Bytes)/mega/p.Seconds, size(p.Own))
	}
}

// A section is a part of the page that is rewritten if any of its rows were measured.
type section struct {
	begins, ends string
	of           func(row string) bool
	text         func(rep *report, b *strings.Builder)
}

var sections = []section{
	{pageBegins, pageEnds, func(row string) bool { return !isLarge(row) }, (*report).page},
	{largeBegins, largeEnds, isLarge, (*report).large},
}

func isLarge(row string) bool { return strings.HasPrefix(row, largeRow+"/") }

// part returns the report of a section.
func (rep *report) part(s *section) *report {
	p := *rep
	p.Results = slices.DeleteFunc(slices.Clone(rep.Results), func(x result) bool { return !s.of(x.Row) })
	p.Errors = slices.DeleteFunc(slices.Clone(rep.Errors), func(text string) bool { return !s.of(text) })
	return &p
}
