package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// peer is another program, run with the first commands that its manual recommends.
type peer struct {
	// name is the heading of its column; program must be on the PATH.
	name, program string
	// ext is the format that it reads, command the shell command, with the file as $1.
	ext, command string
}

// peers lists the programs other than ashlar. Missing programs are reported.
type peers []peer

// The programs are asked for the most expensive functions, 30 if the number can be
// chosen. jq runs a program that adds up stacks by their leaf; grep selects the records
// of stacks, which name their frames by number.
var others = peers{
	{"grep", "grep", ".spaa", `grep '"type":"header"' "$1"; grep '"type":"stack"' "$1"; grep '"type":"frame"' "$1"`},
	{"jq", "jq", ".spaa", `jq -rn '[inputs] as $all | ($all | map(select(.type == "frame") | {key: (.id | tostring), value: .func}) | from_entries) as $name
		| [$all[] | select(.type == "stack") | {leaf: $name[.frames[0] | tostring], weight: .weights[0].value}]
		| group_by(.leaf) | map([.[0].leaf, (map(.weight) | add)]) | sort_by(-.[1])[:30][] | @tsv' "$1"`},
	{"pprof", "go", ".pb.gz", `go tool pprof -top "$1" 2>/dev/null`},
	// A daemon reads the file. On a busy machine the client gives up before the daemon is
	// ready, so retry.
	{"profiler-cli", "profiler-cli", "", `for i in 1 2 3 4 5; do profiler-cli load "$1" >/dev/null && break; sleep 1; done; profiler-cli profile info && profiler-cli thread functions; s=$?; profiler-cli stop --all >/dev/null; exit $s`},
}

// patience is the time limit for another program.
const patience = 2 * time.Minute

// said is the result of a program: whether it read the recording, the number of tokens, and
// whether the output named the cause.
type said struct {
	read, names, missing bool
	tokens               int
}

func (s said) String() string {
	switch {
	case s.missing:
		return "missing"
	case !s.read:
		return "–"
	case s.names:
		return fmt.Sprintf("%d+", s.tokens)
	}
	return fmt.Sprint(s.tokens)
}

// ask runs the program on a recording. A cause counts as named if its words appear
// anywhere in the output, even if the output does not call it the cause.
func (p *peer) ask(c *recorded, dir string) (s said) {
	if _, err := exec.LookPath(p.program); err != nil {
		return said{missing: true}
	}
	ext := p.ext
	if ext == "" {
		ext = "." + c.files[len(c.files)-1].ext
	}
	path := c.as(dir, ext)
	if path == "" {
		return s
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "sh", "-c", p.command, "sh", path).Output()
	if err != nil || len(out) == 0 {
		return s
	}
	return said{read: true, names: c.rule != "" && strings.Contains(string(out), c.says), tokens: tokens(string(out), dir)}
}

// missing returns a sentence that names the missing programs, "" if there are none.
func (all peers) missing() string {
	var names []string
	for _, p := range all {
		if _, err := exec.LookPath(p.program); err != nil {
			names = append(names, p.program)
		}
	}
	if names == nil {
		return ""
	}
	return " Missing on this machine: " + strings.Join(names, ", ") + "."
}
