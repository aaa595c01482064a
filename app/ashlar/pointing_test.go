//go:build linux

package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/testdata/e2e"
)

// framesTrace writes a trace like a browser's. Every 25th task of the main thread is slow
// because of its layout; a worker thread has one task that is longer still; both threads have
// JavaScript samples.
func framesTrace(t *testing.T) string {
	t.Helper()
	events := []string{`{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"CrRendererMain"}}`, `{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"ThreadPoolForegroundWorker"}}`}
	span := func(tid int, name string, at, dur int) {
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"name":%q,"ts":%d,"dur":%d,"tdur":%d}`, tid, name, at, dur, dur*2/3))
	}
	for i := range 400 {
		at, layout := i*20_000, 200+i%40
		if i%25 == 0 {
			layout = 9000 + 10*i
		}
		span(1, "RunTask", at, layout+1500)
		span(1, "FunctionCall", at+100, 900+i%90)
		span(1, "performLayout", at+1100, layout)
		span(2, "Decode", at+300, 2000)
	}
	span(2, "RunTask", 2_000_000+5000, 14_900)
	// On the main thread hot has the most samples after idle; over both threads busy has the most.
	for tid, samples := range map[int][]int{1: {4, 2, 4, 2, 3, 4}, 2: {5, 5, 5}} {
		var of, deltas []string
		for i := range 600 {
			of, deltas = append(of, fmt.Sprint(samples[i%len(samples)])), append(deltas, "10000")
		}
		var nodes []string
		for i, name := range []string{"(root)", "hot", "cold", "(idle)", "busy"} {
			nodes = append(nodes, fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":%q,"scriptId":5,"url":"file:///a.js","lineNumber":%d}%s}`, i+1, name, i, map[bool]string{true: `,"parent":1`}[i > 0]))
		}
		events = append(events, fmt.Sprintf(`{"ph":"P","name":"Profile","id":"0x%d","pid":1,"tid":%d,"ts":0,"args":{"data":{"startTime":0}}}`, tid, tid),
			fmt.Sprintf(`{"ph":"P","name":"ProfileChunk","id":"0x%d","pid":1,"tid":%d,"ts":1,"args":{"data":{"cpuProfile":{"nodes":[%s],"samples":[%s]},"timeDeltas":[%s]}}}`, tid, tid, strings.Join(nodes, ","), strings.Join(of, ","), strings.Join(deltas, ",")))
	}
	path := filepath.Join(t.TempDir(), "frames.json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// goProfile writes a CPU profile of a Go program.
func goProfile(t *testing.T) string {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1}
	for i, name := range []string{"runtime.mallocgc", "encoding/json.(*Decoder).Decode", "main.load", "main.save", "main.main"} {
		f := &profile.Function{ID: uint64(i + 1), Name: name}
		p.Function, p.Location = append(p.Function, f), append(p.Location, &profile.Location{ID: uint64(i + 1), Address: uint64(i + 1), Line: []profile.Line{{Function: f}}})
	}
	l := p.Location
	for i, stack := range [][]*profile.Location{{l[0], l[1], l[2], l[4]}, {l[0], l[3], l[4]}, {l[1], l[2], l[4]}} {
		p.Sample = append(p.Sample, &profile.Sample{Location: stack, Value: []int64{int64(30 - 10*i)}})
	}
	path := filepath.Join(t.TempDir(), "cpu.pb.gz")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := p.Write(w); err != nil {
		t.Fatal(err)
	}
	return path
}

// Positions of tabs in the window that shows framesTrace.
var flamegraph, callsTab = image.Pt(48, 259), image.Pt(330, 259)

// pointing is a window that counts user actions: a click, a drag, a key press and a typed word
// are one each.
type pointing struct {
	*session
	actions int
}

func (p *pointing) key(what string, holds func(frame) bool, key string) {
	p.t.Helper()
	p.actions++
	p.session.key(what, holds, key)
}

func (p *pointing) click(b e2e.Button, at image.Point, with ...string) {
	p.actions++
	p.Click(b, at, with...)
}

func (p *pointing) word(w string) {
	p.t.Helper()
	p.actions++
	p.Type(w)
	p.until(w, func(f frame) bool { return strings.HasSuffix(f.Typed, w) })
}

// function goes to a function by its name, through the command palette.
func (p *pointing) function(name string) {
	p.t.Helper()
	p.key("the palette", func(f frame) bool { return f.Typed == "Command: " }, "ctrl+k")
	p.word(name)
	p.actions++
	p.Key("Return")
}

// took checks the number of actions since the last task, and resets it.
func (p *pointing) took(what string, want int) {
	p.t.Helper()
	if p.actions != want {
		p.t.Errorf("%s takes %d actions, want %d", what, p.actions, want)
	}
	p.actions = 0
}

// again undoes all selections.
func (p *pointing) again(first frame) {
	p.t.Helper()
	for range 8 {
		if f := p.last(); len(f.Scope) == 0 && f.Picked == "" {
			break
		}
		p.Key("Escape")
	}
	p.Click(e2e.Left, flamegraph)
	p.until("everything as it was", func(f frame) bool { return len(f.Scope) == 0 && f.Picked == "" && f.Tab == first.Tab })
}

// TestAskByPointing answers the most common questions, starting from a newly opened file, and
// checks that each takes the fewest possible actions.
func TestAskByPointing(t *testing.T) {
	t.Parallel()
	p := &pointing{session: startAshlar(t, framesTrace(t))}
	first := p.last()
	mainThread, task := image.Pt(72, 144), image.Pt(78, 340) // task is a bar of the flamegraph

	// The longest RunTask of the main thread: it is picked and fills a good part of the view.
	p.click(e2e.Left, mainThread, "ctrl")
	p.until("the main thread", func(f frame) bool { return len(f.Scope) == 1 && strings.HasPrefix(f.Scope[0], "thread CrRendererMain") })
	p.function("RunTask")
	const at, long = int64(375 * 20_000e6), int64((9000 + 10*375 + 1500) * 1e6)
	f := p.until("the longest task", func(f frame) bool { return f.Picked == "RunTask" && f.PickedAt == at })
	if f.From > at || f.To < at+long || f.To-f.From > 20*long {
		t.Errorf("the longest task, of %d at %d, is shown in %d to %d", long, at, f.From, f.To)
	}
	p.took("the longest RunTask of the main thread", 4)
	p.again(first)

	// All FunctionCalls, longest first.
	p.function("FunctionCall")
	p.until("a FunctionCall", func(f frame) bool { return f.Picked == "FunctionCall" })
	p.click(e2e.Left, callsTab)
	p.until("the list of calls", func(f frame) bool { return f.Tab == "calls" && f.Picked == "FunctionCall" })
	p.took("all FunctionCalls by duration", 4)
	p.again(first)

	// The main thread's heaviest JavaScript function: the first of the heaviest list.
	p.click(e2e.Left, mainThread, "ctrl")
	p.key("samples of the main thread", func(f frame) bool { return len(f.Scope) == 2 && f.Scope[1] == "event JS samples" }, "e")
	p.click(e2e.Left, image.Pt(1045, 469))
	p.until("the hottest function", func(f frame) bool { return f.Picked == "hot" })
	p.took("the hottest JavaScript function of the main thread", 3)
	p.again(first)

	// Why slow frames are slow: click a task, then the question shown beside it.
	p.click(e2e.Left, task)
	f = p.until("a task", func(f frame) bool { return f.Picked == "RunTask" })
	p.click(e2e.Left, image.Pt(1070, 373))
	p.until("what slow tasks differ by", func(f frame) bool {
		return len(f.Scope) == 2 && strings.HasPrefix(f.Scope[0], "A calls RunTask, shorter than ") && strings.HasPrefix(f.Scope[1], "B calls RunTask, ") && f.Tab == "difference"
	})
	p.took("why slow tasks are slow", 2)
	p.session.key("the view before", func(g frame) bool { return len(g.Scope) == 0 && g.From == f.From && g.To == f.To }, "Escape", "Escape")

	// The same question by keyboard.
	p.actions = 0
	p.function("why RunTask")
	p.until("what slow tasks differ by", func(f frame) bool {
		return len(f.Scope) == 2 && strings.HasPrefix(f.Scope[1], "B calls RunTask, ") && f.Tab == "difference"
	})
	p.took("why slow tasks are slow, by keys", 3)

	// The callers of a function in a Go program.
	p = &pointing{session: startAshlar(t, goProfile(t))}
	p.function("mallocgc")
	p.until("a function", func(f frame) bool { return f.Picked == "runtime.mallocgc" })
	p.key("its callers", func(f frame) bool { return f.Tab == "callers" && f.Picked == "runtime.mallocgc" }, "q")
	p.took("the callers of a Go function", 4)
}
