package chrome

import (
	"bytes"
	"regexp"
	"strconv"
	"sync"

	"ashlar/ingest/input/jsonscan"
)

// systemTrace reads the kernel's trace, which Android's and Chrome's recorders embed in
// the file as one text in ftrace format. It takes only the thread names from it.
type systemTrace struct {
	lines int64
	names map[int64]string
}

var (
	// "bash-12 ( 10) [001] d..2 5.5: sched_switch: …": the running thread.
	systemLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *(.{1,16})-(\d+) +(?:\([ \d-]+\) +)?\[\d+\]`) })
	// The arguments of sched_switch, sched_wakeup and others.
	systemComm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:prev_|next_)?comm=(.{0,16}?) (?:prev_|next_)?pid=(\d+)`)
	})
)

// read extracts the names from the text, which is a JSON string.
func (s *systemTrace) read(text []byte) {
	if s.names == nil {
		s.names = map[int64]string{}
	}
	for rest := []byte(jsonscan.Plain(text)); len(rest) > 0; {
		var l []byte
		l, rest, _ = bytes.Cut(rest, []byte("\n"))
		if l = bytes.TrimRight(l, "\r"); len(l) == 0 || l[0] == '#' {
			continue
		}
		s.lines++
		if m := systemLine().FindSubmatch(l); m != nil {
			s.name(m[1], m[2])
		}
		for _, m := range systemComm().FindAllSubmatch(l, -1) {
			s.name(m[1], m[2])
		}
	}
}

// name records a thread's name; the kernel writes <...> for unknown names.
func (s *systemTrace) name(name, id []byte) {
	tid, err := strconv.ParseInt(string(id), 10, 64)
	if name = bytes.TrimSpace(name); err == nil && tid > 0 && len(name) > 0 && string(name) != "<...>" {
		s.names[tid] = string(name)
	}
}

// finish names the threads that have no name in the trace.
func (s *systemTrace) finish(d *decoder) {
	if s.lines == 0 {
		return
	}
	named := 0
	for _, t := range d.threads {
		if name := s.names[t.tid]; name != "" && t.track.Name() == "" {
			t.track.SetName(name)
			named++
		}
	}
	k := d.kind("system trace line")
	k.Read, k.LeftOut, k.FirstLeftOut = s.lines, s.lines, "systemTraceEvents"
	d.warn(systemEvents, 0, strconv.Itoa(named))
}
