// Package twins generates pairs of small recordings for tests of comparisons: one program
// before and after a change. After the change, parse takes a fifth longer, legacy_check
// is gone, validate is new, a template argument has another name, and the workers have
// swapped places.
package twins

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Frames is the number of calls of frame in each trace. Early and Late are the times at
// which they begin in the first and in the second trace, in microseconds from the start.
const (
	Frames = 40
	Early  = 1000
	Late   = 7000
)

// Trace returns a trace of the program in Chrome's format, before or after the change.
// Durations jitter, the same way each time.
func Trace(after bool) []byte {
	t := &tracer{dice: 1}
	start := Early
	workers := [2]string{"worker-1", "worker-2"}
	if after {
		t.dice, start = 99, Late
		workers = [2]string{"worker-2", "worker-1"}
	}
	t.meta("thread_name", 1, "main")
	t.meta("thread_name", 2, workers[0])
	t.meta("thread_name", 3, workers[1])
	t.meta("process_name", 1, "app")
	t.add("init", 1, 0, start)
	at := start
	for range Frames {
		begin := at
		at = t.span(1, "update", at, 120, nil)
		parse := 400
		if after {
			parse = 480
		}
		at = t.span(1, "parse", at, parse, func(from int) { t.span(1, "read", from, 90, nil) })
		at = t.span(1, "render", at, 300, func(from int) {
			t.span(1, map[bool]string{false: "Cache<int>::get", true: "Cache<unsigned long>::get"}[after], from, 110, nil)
		})
		if after {
			at = t.span(1, "validate", at, 60, nil)
		} else {
			at = t.span(1, "legacy_check", at, 80, nil)
		}
		t.add("frame", 1, begin, at-begin)
		at += 200
	}
	for i, name := range workers {
		at := start
		for range Frames / 2 {
			if name == "worker-1" {
				at = t.span(2+i, "compress", at, 500, nil) + 900
			} else {
				at = t.span(2+i, "upload", at, 600, nil) + 800
			}
		}
	}
	b, err := json.Marshal(map[string]any{"traceEvents": t.events})
	if err != nil {
		panic(err) // maps of strings and numbers can always be encoded
	}
	return b
}

type tracer struct {
	events []map[string]any
	dice   uint32
}

func (t *tracer) meta(what string, tid int, name string) {
	t.events = append(t.events, map[string]any{"ph": "M", "name": what, "pid": 1, "tid": tid, "args": map[string]any{"name": name}})
}

func (t *tracer) add(name string, tid int, ts, dur int) {
	t.events = append(t.events, map[string]any{"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur})
}

// span adds a call of about the given length and returns the time at which it ends.
func (t *tracer) span(tid int, name string, at, length int, inside func(from int)) int {
	t.dice = t.dice*1664525 + 1013904223
	length += length * (int(t.dice>>16)%7 - 3) / 100
	t.add(name, tid, at, length)
	if inside != nil {
		inside(at + 5)
	}
	return at + length
}

// stacks are the stacks of the profile, with the number of their samples before the
// change.
var stacks = []struct {
	stack   string
	samples int
}{
	{"main;parse", 4000}, {"main;parse;read", 900}, {"main;render", 2500}, {"main;render;Cache<int>::get", 1200},
	{"main;sort", 1500}, {"main;sort;less", 700}, {"main;log", 800}, {"main;legacy_check", 400}, {"main;gc", 600}, {"main", 150},
}

// Profile returns a sampled profile of the program, as folded stacks.
func Profile(after bool) []byte {
	var b bytes.Buffer
	for i, s := range stacks {
		stack, n := s.stack, s.samples
		if after {
			n += []int{800, -11, 17, 9, -23, 14, -6, -50, 4, 2}[i]
			switch i {
			case 3:
				stack = "main;render;Cache<unsigned long>::get"
			case 7:
				stack = "main;validate"
			}
		}
		fmt.Fprintf(&b, "%s %d\n", stack, n)
	}
	return b.Bytes()
}
