//go:build linux

package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// key presses keys and waits for a frame for which holds is true.
func (s *session) key(what string, holds func(frame) bool, keys ...string) frame {
	s.t.Helper()
	s.Key(keys...)
	return s.until(what, holds)
}

func TestSearchWalksHits(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	s.Key("slash")
	s.Type("pricecart")
	s.until("the search", func(f frame) bool { return f.Search == "pricecart" && strings.Contains(f.Found, "%") })
	s.Key("Return")
	one := s.until("the first hit", func(f frame) bool { return strings.HasPrefix(f.Found, "1 / ") })
	if !strings.Contains(one.Picked, "PriceCart") {
		t.Errorf("the first hit shows %q", one.Picked)
	}
	// After Return, keys go to the view again.
	two := s.key("the second hit", func(f frame) bool { return strings.HasPrefix(f.Found, "2 / ") }, "n")
	if two.PickedAt <= one.PickedAt || two.PickedAt < two.From || two.PickedAt > two.To {
		t.Errorf("the second hit is at %d of the view %d to %d, the first at %d", two.PickedAt, two.From, two.To, one.PickedAt)
	}
	s.key("the first hit again", func(f frame) bool { return strings.HasPrefix(f.Found, "1 / ") }, "shift+n")
	s.key("the end of the search", func(f frame) bool { return f.Search == "" && f.Found == "" }, "Escape")
}

func TestTransformsAndUndo(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	// Click the outermost function of the demo's requests, in the flamegraph's second row.
	s.Click(e2e.Left, image.Pt(100, 584))
	picked := s.until("a picked function", func(f frame) bool { return f.Picked != "" })
	whole := picked.Total
	for _, x := range []struct{ key, chip string }{{"i", "invert"}, {"r", "collapse recursion"}, {"o", "by time"}} {
		before := len(s.last().Transforms)
		f := s.key(x.chip, func(f frame) bool { return len(f.Transforms) == before+1 }, x.key)
		if f.Total != whole {
			t.Errorf("%s changes the total from %s to %s", x.chip, whole, f.Total)
		}
	}
	s.key("undo", func(f frame) bool { return len(f.Transforms) < 3 }, "ctrl+z")
	s.key("redo", func(f frame) bool { return len(f.Transforms) == 3 }, "ctrl+y")
	s.key("no transforms", func(f frame) bool { return len(f.Transforms) == 0 }, "BackSpace")

	// Dropping the function, through the command palette, removes its cost.
	s.key("the palette", func(f frame) bool { return f.Typed == "Command: " }, "ctrl+k")
	s.Type("remove selected")
	s.until("the command to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, "remove selected") })
	s.key("the drop", func(f frame) bool { return len(f.Transforms) == 1 && f.Total != whole }, "Return")
	s.key("undoing the drop", func(f frame) bool { return len(f.Transforms) == 0 && f.Total == whole }, "ctrl+z")
}

// TestEachTransform applies each transform through the command palette and undoes it.
func TestEachTransform(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	s.Click(e2e.Left, image.Pt(100, 584))
	whole := s.until("a picked function", func(f frame) bool { return f.Picked != "" && f.Total != "" }).Total
	for _, x := range []struct {
		command, chip string
		less          bool // the transform reduces the total
	}{
		{"focus on selected", "focus", true},
		{"merge selected function", "hide", false},
		{"remove selected", "drop", true},
		{"callers of selected", "callers of", true},
		{"callees of selected", "callees of", true},
		{"merge by module", "merge by module", false},
		{"merge by file", "merge by file", false},
		{"fold inlined", "fold inlined", false},
		{"hide kernel", "hide kernel", false},
		{"invert flamegraph (bottom-up)", "invert", false},
		{"sort flamegraph by time", "sorted by time", false},
		{"collapse recursion", "collapse recursion", false},
	} {
		s.key("the palette", func(f frame) bool { return f.Typed == "Command: " }, "ctrl+k")
		s.Type(x.command)
		s.until("the command", func(f frame) bool { return strings.HasSuffix(f.Typed, x.command) })
		f := s.key(x.command, func(f frame) bool {
			return len(f.Transforms) == 1 && (f.Total != whole) == x.less
		}, "Return")
		if !strings.HasPrefix(f.Transforms[0].String(), x.chip) {
			t.Errorf("%s is the chip %q", x.command, f.Transforms[0])
		}
		s.key("undoing "+x.command, func(f frame) bool { return len(f.Transforms) == 0 && f.Total == whole }, "ctrl+z")
	}
}

// TestProcessesFold folds processes by clicks on their headers, including a header that sticks
// to the top while its threads scroll, and undoes it.
func TestProcessesFold(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("[")
	for pid := 1; pid <= 2; pid++ {
		for tid := 1; tid <= 12; tid++ {
			fmt.Fprintf(&b, "%s{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":50,\"name\":\"work\"}\n", strings.Repeat(",", min(1, pid*tid-1)), pid, pid*100+tid, tid*10)
		}
	}
	b.WriteString("]")
	path := filepath.Join(t.TempDir(), "two.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := startAshlar(t, path)
	header := image.Pt(60, 121)
	s.until("all threads", func(f frame) bool { return len(f.Threads) == 24 })
	s.Click(e2e.Left, header)
	s.until("the first process folded", func(f frame) bool { return len(f.Threads) == 12 })
	s.key("undo", func(f frame) bool { return len(f.Threads) == 24 }, "ctrl+z")
	s.Wheel(-2, image.Pt(60, 220))
	s.until("rows to scroll", func(f frame) bool { return f.Scroll > 30 })
	s.Click(e2e.Left, header) // the first process's header, now stuck to the top
	f := s.until("the first process folded again", func(f frame) bool { return len(f.Threads) == 12 })
	if f.Pinned+f.Chosen+f.Folded != 0 {
		t.Errorf("a click on a header that stays does something else: %+v", f)
	}
	s.Click(e2e.Left, header, "ctrl")
	s.until("the second process's threads selected", func(f frame) bool { return f.Chosen == 12 })
	s.key("no thread is selected by it", func(f frame) bool { return f.Chosen == 0 }, "Escape")
}

func TestThreads(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	first := s.last()
	if len(first.Threads) < 3 {
		t.Fatalf("the demo shows the threads %q", first.Threads)
	}
	// In the column of names: the rows of the first and the second thread.
	row1, row2 := image.Pt(100, 160), image.Pt(100, 438)
	s.Click(e2e.Left, row1, "ctrl")
	f := s.until("a selected thread", func(f frame) bool { return f.Chosen == 1 && f.Total != first.Total })
	if f.Total == first.Total {
		t.Error("one thread's total is that of all")
	}
	s.Click(e2e.Left, row1, "ctrl")
	s.until("all threads again", func(f frame) bool { return f.Chosen == 0 && f.Total == first.Total })

	s.Drag(e2e.Left, row2, row1)
	s.until("another order of threads", func(f frame) bool {
		return len(f.Threads) == len(first.Threads) && f.Threads[0] == first.Threads[1] && f.Threads[1] == first.Threads[0]
	})
	// Pin the first row with the fourth item of its menu.
	s.Click(e2e.Right, row1)
	s.Click(e2e.Left, row1.Add(image.Pt(40, 5+28*3+14)))
	pinned := s.until("a pinned thread", func(f frame) bool { return f.Pinned == 1 })
	if !slices.Contains(pinned.Threads, first.Threads[1]) {
		t.Errorf("pinning loses the thread: %q", pinned.Threads)
	}
}

func TestByKeyboardOnly(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	s.Key("slash")
	s.Type("mallocgc")
	s.until("the search", func(f frame) bool { return f.Search == "mallocgc" && strings.Contains(f.Found, "%") })
	s.key("a hit", func(f frame) bool { return strings.Contains(f.Picked, "mallocgc") }, "Return")
	s.key("out of the search line", func(f frame) bool { return f.Search == "" }, "Escape")
	s.key("its time", func(f frame) bool { return f.To-f.From < 1e12 }, "f")
	s.key("the table", func(f frame) bool { return f.Tab == "functions" }, "t")
	s.key("the callers", func(f frame) bool { return f.Tab == "callers" }, "t")
	s.key("the malloc event", func(f frame) bool { return f.Metric == "alloc_bytes" }, "e")
	s.key("the next metric", func(f frame) bool { return f.Metric == "alloc_count" }, "m")
}
