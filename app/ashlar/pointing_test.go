//go:build linux

package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// framesTrace writes a trace of a browser's kind: tasks of a main thread, each 25th of
// which is slow since its layout is, and a worker thread.
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
	path := filepath.Join(t.TempDir(), "frames.json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAskByPointing answers what people ask first, with as few keys and clicks as that
// may take: a click, a key and typing a word are one action each.
func TestAskByPointing(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, framesTrace(t))
	actions := 0
	act := func(do func()) {
		actions++
		do()
	}
	took := func(what string, most int) {
		t.Helper()
		if actions > most {
			t.Errorf("%s takes %d actions, at most %d", what, actions, most)
		}
		actions = 0
	}
	function := func(name string) {
		act(func() { s.key("the palette", func(f frame) bool { return f.Typed == "What to do: " }, "ctrl+k") })
		act(func() {
			s.Type(name)
			s.until(name, func(f frame) bool { return strings.HasSuffix(f.Typed, name) })
		})
		act(func() { s.Key("Return") })
	}

	// The longest RunTask: it is picked, in view, and fills most of it.
	function("RunTask")
	const at, long = int64(375 * 20_000e6), int64((9000 + 10*375 + 1500) * 1e6)
	f := s.until("the longest task", func(f frame) bool { return f.Picked == "RunTask" && f.PickedAt == at })
	if f.From > at || f.To < at+long || f.To-f.From > 20*long {
		t.Errorf("the longest task, of %d at %d, is shown in %d to %d", long, at, f.From, f.To)
	}
	took("the longest RunTask", 4)

	// Why slow frames are slow: both humps are compared in place, the slow one is B.
	act(func() { s.key("the palette", func(f frame) bool { return f.Typed == "What to do: " }, "ctrl+k") })
	act(func() {
		s.Type("slow calls")
		s.until("the command", func(f frame) bool { return strings.HasSuffix(f.Typed, "slow calls") })
	})
	act(func() { s.Key("Return") })
	s.until("what slow tasks differ by", func(f frame) bool {
		return len(f.Scope) == 2 && strings.HasPrefix(f.Scope[0], "A calls !RunTask[") && strings.HasPrefix(f.Scope[1], "B calls RunTask[") && f.Tab == "difference"
	})
	took("why slow tasks are slow", 3)
	s.key("the view before", func(g frame) bool { return len(g.Scope) == 0 && g.From == f.From && g.To == f.To }, "Escape", "Escape")

	// All FunctionCalls, the longest first.
	function("FunctionCall")
	s.until("a FunctionCall", func(f frame) bool { return f.Picked == "FunctionCall" })
	act(func() { s.Click(e2e.Left, image.Pt(331, 237)) }) // the tab Calls
	s.until("the list of calls", func(f frame) bool { return f.Tab == "calls" && f.Picked == "FunctionCall" })
	took("all FunctionCalls by duration", 4)
}
