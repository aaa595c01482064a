//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/testdata/e2e"
)

// tabTo presses Tab until a part of the window has the keyboard focus.
func (s *session) tabTo(part string) frame {
	s.t.Helper()
	for range 12 {
		was := s.last().Focus
		s.Key("Tab")
		if f := s.until("Tab to move the keyboard", func(f frame) bool { return f.Focus != was }); f.Focus == part {
			return f
		}
	}
	s.t.Fatalf("Tab never comes to %s; the last frame is %+v", part, s.last())
	return frame{}
}

// top returns the total of a range of the demo, in picoseconds from and to, as the command
// line prints it.
func top(t *testing.T, from, to int64) string {
	t.Helper()
	var b strings.Builder
	cmd := exec.Command(e2e.Build(t, "./app/ashlar"), "top", "--demo", "--range", fmt.Sprintf("%dps..%dps", from, to), "--json")
	cmd.Stdout, cmd.Stderr = &b, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var answer struct{ Total json.Number }
	if err := json.Unmarshal([]byte(b.String()), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Total.String()
}

// TestRangeAndTable selects a time range with the pointer and reads the table.
func TestRangeAndTable(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	whole := s.last()
	s.Drag(e2e.Left, image.Pt(500, 300), image.Pt(800, 300), "shift")
	s.until("a selection that is answered", func(f frame) bool { return f.Selected != [2]int64{} && f.Total != whole.Total })
	f := s.key("the table", func(f frame) bool { return f.Tab == "functions" }, "t")
	if want := top(t, f.Selected[0], f.Selected[1]); f.Total != want {
		t.Errorf("the table's total for %v is %s, the command line says %s", f.Selected, f.Total, want)
	}
	// A click on the first row picks the heaviest function.
	s.Click(e2e.Left, image.Pt(200, 574))
	s.until("a picked row", func(f frame) bool { return f.Picked != "" })
	longer := s.key("a longer selection", func(g frame) bool { return g.Selected[1] > f.Selected[1] && g.Total != f.Total }, "shift+Right", "shift+Right")
	if longer.Selected[0] != f.Selected[0] {
		t.Errorf("extending the end moves the beginning from %d to %d", f.Selected[0], longer.Selected[0])
	}
}

// TestFromOpenToAnswerByKeyboard opens a file, picks a span, selects its time range and reads
// its callers and callees, all by keyboard.
func TestFromOpenToAnswerByKeyboard(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.json")
	const content = `[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"main"},{"ph":"X","pid":1,"tid":1,"ts":10,"dur":20,"name":"read"},
		{"ph":"X","pid":1,"tid":1,"ts":40,"dur":50,"name":"work"},{"ph":"X","pid":1,"tid":1,"ts":45,"dur":5,"name":"sort"},
		{"ph":"X","pid":1,"tid":2,"ts":20,"dur":60,"name":"other"}]`
	if err := os.WriteFile(trace, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startOn(t, e2e.StartDisplay(t))
	s.tabTo("first page")
	s.key("the opener", func(f frame) bool { return strings.HasPrefix(f.Typed, "File to open: /") }, "Return")
	s.Type(trace)
	s.until("the path to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, "trace.json") })
	s.key("the file", func(f frame) bool { return f.Done && f.Events == 5 && f.Total == "160000" }, "Return")

	s.tabTo("timeline")
	s.key("the span in the middle", func(f frame) bool { return f.Picked == "main" }, "ctrl+Right")
	s.key("what it calls first", func(f frame) bool { return f.Picked == "read" }, "ctrl+Down")
	s.key("the next in the lane", func(f frame) bool { return f.Picked == "work" && f.PickedAt == 40e6 }, "ctrl+Right")
	s.key("the thread below", func(f frame) bool { return f.Picked == "other" }, "alt+Down")
	s.key("and back up", func(f frame) bool { return f.Picked == "main" }, "alt+Up")
	s.key("the last one below", func(f frame) bool { return f.Picked == "work" }, "ctrl+Down", "ctrl+Right")
	// While work runs on its thread, main takes 50 µs in total; sort takes 5 µs of them.
	f := s.key("its time", func(f frame) bool {
		return f.Selected == [2]int64{40e6, 90e6} && f.Chosen == 1 && f.Total == "50000"
	}, "Return")

	s.tabTo("tabs")
	s.key("the table", func(f frame) bool { return f.Tab == "functions" }, "Right", "Return")
	s.tabTo("Functions")
	// Self times: work 45, sort 5, main 0.
	s.key("the heaviest by self", func(f frame) bool { return f.Picked == "work" }, "Home")
	s.key("the next row", func(f frame) bool { return f.Picked == "sort" }, "Down")
	s.key("its callers", func(f frame) bool { return f.Tab == "callers" }, "Return")
	s.key("its caller", func(f frame) bool { return f.Picked == "work" }, "Up")
	// The caller is always the row above, whether or not the function was moved to the middle.
	s.key("its caller's caller", func(f frame) bool { return f.Picked == "main" }, "Return", "Up")
	s.key("the flamegraph", func(f frame) bool { return f.Tab == "flamegraph" }, "t", "t", "t", "t", "t")
	s.key("down the stack", func(f frame) bool { return f.Picked == "work" }, "Down")
	s.key("up the stack", func(f frame) bool { return f.Picked == "main" }, "Up")
	s.key("down again", func(f frame) bool { return f.Picked == "work" }, "Down")
	s.key("the bar zoomed", func(f frame) bool { return f.Zoom == 2 }, "Return")
	if f.Metric != "time" {
		t.Errorf("the metric is %q", f.Metric)
	}
	s.key("a menu's command", func(f frame) bool { return len(f.Transforms) == 1 }, "shift+F10", "f", "Return")
	s.key("backwards", func(f frame) bool { return f.Focus == "tabs" }, "shift+Tab")
}

// TestThreadsByKeyboard folds, pins, moves, hides and filters threads.
func TestThreadsByKeyboard(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	first := s.last().Threads
	// The busiest thread starts unfolded.
	s.key("a fold of the first thread", func(f frame) bool { return f.Folded == 1 }, "y")
	s.key("all folded", func(f frame) bool { return f.Folded == len(first) }, "shift+y")
	s.key("undo", func(f frame) bool { return f.Folded < len(first) }, "ctrl+z")
	s.key("another order", func(f frame) bool { return f.Threads[0] == first[1] && f.Threads[1] == first[0] }, "alt+shift+Down")
	s.key("a pinned thread", func(f frame) bool { return f.Pinned == 1 }, "p")
	s.key("no pinned thread", func(f frame) bool { return f.Pinned == 0 }, "p")
	hidden := s.key("a hidden thread", func(f frame) bool { return f.Hidden == 1 && len(f.Threads) == len(first)-1 }, "Delete")
	missing := ""
	for _, name := range first {
		if !slices.Contains(hidden.Threads, name) {
			missing = name
		}
	}
	s.key("the list of threads", func(f frame) bool { return strings.HasPrefix(f.Typed, "Threads (Return") }, "v")
	s.Type(missing)
	s.until("its name to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, missing) })
	s.key("the thread again", func(f frame) bool { return f.Hidden == 0 && len(f.Threads) == len(first) }, "Return")
	s.key("no list", func(f frame) bool { return f.Typed == "" }, "Escape")

	s.key("the field above the names", func(f frame) bool { return f.Focus == "text" }, "ctrl+shift+f")
	s.Type("WORKER")
	s.until("the filtered threads", func(f frame) bool {
		return len(f.Threads) == 2 && !slices.ContainsFunc(f.Threads, func(n string) bool { return !strings.HasPrefix(n, "worker") })
	})
	s.key("all threads", func(f frame) bool { return len(f.Threads) == len(first) }, "Return", "Escape")
}

// TestGoingToATime goes to typed times and zooms to a dragged box.
func TestGoingToATime(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	whole := s.last()
	middle := func(f frame) float64 { return float64(f.From+f.To) / 2 }
	goTo := func(text string, at float64) {
		t.Helper()
		s.key("the line for a time", func(f frame) bool { return strings.HasPrefix(f.Typed, "Time: 1.25 s") }, "g")
		s.Type(text)
		s.until("the time to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, text) })
		s.key("the time "+text, func(f frame) bool { return f.Typed == "" && math.Abs(middle(f)-at) < 2 }, "Return")
	}
	// Zoom in enough that the recording's ends do not limit the view.
	zoomed := s.key("a closer view", func(f frame) bool { return f.To-f.From < (whole.To-whole.From)/4 }, "w", "w", "w", "w", "w", "w")
	goTo("0.75 s", 0.75e12)
	goTo("+3ms", 0.753e12)
	goTo("50 %", 0.65e12)
	if f := s.last(); f.To-f.From != zoomed.To-zoomed.From {
		t.Errorf("going to a time changes the width of the view from %d to %d", zoomed.To-zoomed.From, f.To-f.From)
	}

	s.key("everything", func(f frame) bool { return f.From == whole.From && f.To == whole.To }, "0")
	at := func(x int) float64 { // the column of names and the map at the right take some of the width
		return float64(whole.From) + float64(x-170)/(1280-170-18)*float64(whole.To-whole.From)
	}
	s.Drag(e2e.Left, image.Pt(400, 200), image.Pt(600, 204), "ctrl")
	slack := float64(whole.To-whole.From) * .01
	box := func(f frame) bool {
		return math.Abs(float64(f.From)-at(400)) < slack && math.Abs(float64(f.To)-at(600)) < slack
	}
	f := s.until("the box", box)
	if f.Scroll != 0 {
		t.Errorf("a flat box scrolls the rows by %d", f.Scroll)
	}
	s.key("the view before", func(f frame) bool { return f.From == whole.From && f.To == whole.To }, "alt+Left")
	s.key("the box again", box, "alt+Right")
	s.key("the view before", func(f frame) bool { return f.From == whole.From && f.To == whole.To }, "alt+Left")
	s.Key("z")
	s.Drag(e2e.Left, image.Pt(400, 300), image.Pt(600, 420))
	f = s.until("a box over rows", func(f frame) bool { return box(f) && f.Scroll > 0 })
	s.Drag(e2e.Left, image.Pt(1270, 130+f.Scroll/4), image.Pt(1270, 400))
	s.until("the map to scroll", func(g frame) bool { return g.Scroll > f.Scroll })
}

// TestThrow releases a drag while the pointer moves: the view moves on a little and stops.
func TestThrow(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	s.key("a closer view", func(f frame) bool { return f.To-f.From < 400e9 }, "w", "w", "w", "w", "w", "w")
	const dragged = 240
	moved := 0.
	for range 20 {
		before := s.last()
		s.Drag(e2e.Left, right, right.Add(image.Pt(dragged, 0)))
		after := s.until("the view to move", func(f frame) bool { return f.From < before.From })
		moved = float64(before.From-after.From) * (1280 - 170 - 18) / float64(before.To-before.From)
		// On a busy machine the pointer may stop before the release, which is not a throw.
		if moved > dragged*1.01 {
			break
		}
		s.key("the view before", func(f frame) bool { return f.From == before.From }, "ctrl+z")
	}
	if moved < dragged*1.02 || moved > dragged*3 {
		t.Errorf("a throw over %d pixels moves the view by %.0f", dragged, moved)
	}
	for end, n := time.Now().Add(patience), -1; n != len(s.log.Read(t)); time.Sleep(700 * time.Millisecond) {
		if n = len(s.log.Read(t)); time.Now().After(end) {
			t.Fatal("at rest there are frames all the time")
		}
	}
}
