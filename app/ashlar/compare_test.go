//go:build linux

package main

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/render/theme"
	"ashlar/testdata/e2e"
	"ashlar/testdata/twins"
)

// versus holds the comparison fields of a line of the frame log.
type versus struct {
	Sides [2]struct {
		File          string
		Done          bool
		From, To      int64
		Picked, Total string
		PickedAt      int64 `json:"picked_at"`
		Runs          int
		looks
	}
	Why, Metric, First string
	Sure, Whole        bool
	Functions          map[string]int
	Rows               int

	Focus, Tab, Chosen string // from the frame's address
	Linked, Above      bool
}

// twinPair writes two versions of a trace: the original, and one after a program change.
func twinPair(t *testing.T) (before, after string) {
	t.Helper()
	dir := t.TempDir()
	before, after = filepath.Join(dir, "before.json"), filepath.Join(dir, "after.json")
	for path, b := range map[string][]byte{before: twins.Trace(false), after: twins.Trace(true)} {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return before, after
}

// comparing opens a window with two files and waits until their comparison is complete.
func comparing(t *testing.T, args ...string) *session {
	t.Helper()
	s := startAshlar(t, args...)
	s.both("the comparison", func(c *versus) bool { return c.Sure && c.Whole })
	return s
}

// both waits for a frame that shows a comparison for which holds is true.
func (s *session) both(what string, holds func(c *versus) bool) *versus {
	s.t.Helper()
	return s.until(what, func(f frame) bool { return f.Compare != nil && holds(f.Compare) }).Compare
}

// Positions in a 1280x800 window that shows the twins: the lanes of A and of B, and the
// flamegraph.
var (
	inA  = image.Pt(380, 250)
	inB  = image.Pt(1000, 250)
	diff = image.Rect(10, 397, 950, 482)
)

func TestCompareTwoFiles(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	s := comparing(t, before, after)
	c := s.last().Compare
	if c.Sides[0].File != "before.json" || c.Sides[1].File != "after.json" || !c.Linked || c.Focus != "A" {
		t.Fatalf("the window compares %+v", c)
	}
	if c.Functions["new"] != 1 || c.Functions["gone"] != 1 {
		t.Errorf("of the functions there are %v; one is new and one is gone", c.Functions)
	}
	if title := s.Title(); title != "before.json vs after.json – Ashlar" {
		t.Errorf("the window's title is %q", title)
	}
	img := s.Screenshot()
	for what, d := range map[string]float64{"more": 1, "less": -1} {
		col, _ := theme.Dark.Difference(d)
		if n := count(img, diff, col); n < 100 {
			t.Errorf("the flamegraph has %d pixels of the colour for far %s in B", n, what)
		}
	}

	// Zooming A also zooms B, to the same offsets from its start.
	whole := c
	s.Wheel(5, inA)
	c = s.both("zooming both", func(c *versus) bool {
		return c.Sides[0].To-c.Sides[0].From < (whole.Sides[0].To-whole.Sides[0].From)*3/4
	})
	if c.Sides[0].From != c.Sides[1].From || c.Sides[0].To != c.Sides[1].To {
		t.Errorf("linked views are %d to %d and %d to %d", c.Sides[0].From, c.Sides[0].To, c.Sides[1].From, c.Sides[1].To)
	}

	// Selecting a range in B also selects it in A, and the panels below answer for it.
	total := c.Sides[0].Total
	s.Drag(e2e.Left, image.Pt(900, 250), image.Pt(1100, 250), "shift")
	c = s.both("a selection in both", func(c *versus) bool {
		return c.Sides[0].Selected[1] > 0 && c.Sides[1].Selected[1] > 0 && c.Sides[0].Total != total && c.Sure
	})
	if c.Sides[0].Selected != c.Sides[1].Selected || c.Focus != "B" {
		t.Errorf("linked selections are %v and %v, with the focus on %s", c.Sides[0].Selected, c.Sides[1].Selected, c.Focus)
	}

	// Unlinked sides zoom separately.
	s.Key("k")
	s.both("unlinking", func(c *versus) bool { return !c.Linked })
	was := s.last().Compare
	s.Wheel(3, inB)
	c = s.both("zooming B alone", func(c *versus) bool {
		return c.Sides[1].To-c.Sides[1].From < was.Sides[1].To-was.Sides[1].From
	})
	if c.Sides[0].From != was.Sides[0].From || c.Sides[0].To != was.Sides[0].To {
		t.Error("A moves with B though they are not linked")
	}
	s.Key("ctrl+z") // undo the zoom, then the unlinking
	s.both("undoing", func(c *versus) bool { return c.Sides[1].From == was.Sides[1].From })
}

func TestCompareAnchors(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	s := comparing(t, before, after)
	s.Click(e2e.Left, image.Pt(300, 172)) // a call of frame in A
	c := s.both("the call and its twin", func(c *versus) bool { return c.Sides[0].PickedAt > 0 && c.Sides[1].PickedAt > 0 })
	if c.Sides[0].Picked != "frame" || c.Sides[1].Picked != "frame" || c.Chosen != "frame" {
		t.Fatalf("picked are %q and %q", c.Sides[0].Picked, c.Sides[1].Picked)
	}
	// In B the first frame starts later and each takes a few percent longer.
	n := (c.Sides[0].PickedAt/1e6 - twins.Early) / 1080
	if lo, hi := int64(twins.Late)+n*1080, int64(twins.Late)+(n+2)*1300; c.Sides[1].PickedAt/1e6 < lo || c.Sides[1].PickedAt/1e6 > hi {
		t.Errorf("call %d is at %d µs in A and at %d in B, not between %d and %d", n, c.Sides[0].PickedAt/1e6, c.Sides[1].PickedAt/1e6, lo, hi)
	}
	s.Key("shift+j")
	at := c
	c = s.both("aligning both", func(c *versus) bool {
		return c.Sides[0].Anchor == at.Sides[0].PickedAt && c.Sides[1].Anchor == at.Sides[1].PickedAt
	})
	if a, b := c.Sides[0].Anchor-c.Sides[0].From, c.Sides[1].Anchor-c.Sides[1].From; a != b {
		t.Errorf("the anchors lie %d and %d from the left edges", a, b)
	}
	s.Wheel(4, inA)
	c = s.both("zooming both from the anchors", func(c *versus) bool {
		return c.Sides[0].To-c.Sides[0].From < (at.Sides[0].To-at.Sides[0].From)*3/4
	})
	if a, b := c.Sides[0].Anchor-c.Sides[0].From, c.Sides[1].Anchor-c.Sides[1].From; a != b {
		t.Errorf("after zooming the anchors lie %d and %d from the left edges", a, b)
	}

	// Set an anchor on B alone, at the start of its selection.
	s.Key("ctrl+Tab")
	s.both("the focus on B", func(c *versus) bool { return c.Focus == "B" })
	s.Key("Escape", "Escape")
	s.Drag(e2e.Left, image.Pt(900, 250), image.Pt(1000, 250), "shift")
	c = s.both("a selection", func(c *versus) bool { return c.Sides[1].Selected[1] > 0 })
	s.Key("j")
	s.both("the selection's begin as the anchor of B", func(d *versus) bool { return d.Sides[1].Anchor == c.Sides[1].Selected[0] })
}

func TestCompareSwapAndClose(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	s := comparing(t, before, after)
	was := s.last().Compare
	s.Key("x")
	c := s.both("swapping", func(c *versus) bool { return c.Sides[0].File == "after.json" && c.Sure })
	if c.Sides[1].File != "before.json" || c.Sides[0].Total != was.Sides[1].Total || c.Sides[1].Total != was.Sides[0].Total {
		t.Errorf("swapped, the totals are %s and %s, before %s and %s", c.Sides[0].Total, c.Sides[1].Total, was.Sides[0].Total, was.Sides[1].Total)
	}
	if c.Functions["new"] != was.Functions["gone"] || c.Functions["gone"] != was.Functions["new"] {
		t.Errorf("swapped, there are %v, before %v", c.Functions, was.Functions)
	}
	s.Key("t", "t")
	s.both("the table", func(c *versus) bool { return c.Tab == "table" && c.Rows > 0 })

	s.palette("close comparison")
	f := s.until("one recording", func(f frame) bool { return f.Compare == nil && f.File == "before.json" && f.Total != "" })
	if len(f.Threads) != 3 {
		t.Errorf("what is left shows the threads %q", f.Threads)
	}
	// Compare again, typing the file's path.
	s.palette("compare with file")
	s.until("the opener", func(f frame) bool { return strings.HasPrefix(f.Typed, "File to compare with: /") })
	s.Type("after")
	s.until("the name to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, "/after") })
	s.Key("Return")
	s.both("the comparison again", func(c *versus) bool { return c.Sides[1].File == "after.json" && c.Sure })
}

// palette runs a command by its name in the command palette.
func (s *session) palette(name string) {
	s.t.Helper()
	s.Key("ctrl+k")
	s.until("the palette", func(f frame) bool { return f.Typed == "Command: " })
	s.Type(name)
	s.until("the command to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, name) })
	s.Key("Return")
}

func TestCompareMixedAndMissing(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	folded := filepath.Join(t.TempDir(), "samples.folded")
	if err := os.WriteFile(folded, twins.Profile(true), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startAshlar(t, before, folded)
	c := s.both("why these cannot be compared", func(c *versus) bool { return c.Sides[1].Done && c.Why != "" && !strings.HasPrefix(c.Why, "Reading") })
	if !strings.Contains(c.Why, "no metric") || !strings.Contains(c.Why, "samples (count)") || !strings.Contains(c.Why, "time (ns)") {
		t.Errorf("the window says %q", c.Why)
	}
	// Recording A can still be zoomed.
	s.Wheel(4, inA)
	s.both("zooming A", func(d *versus) bool { return d.Sides[0].To-d.Sides[0].From < c.Sides[0].To-c.Sides[0].From })

	// An unreadable A leaves B usable.
	gone := filepath.Join(t.TempDir(), "gone.json")
	if err := os.WriteFile(gone, []byte("nothing that anybody records"), 0o644); err != nil {
		t.Fatal(err)
	}
	s = launch(t, gone, after)
	c = s.both("what is the matter with A", func(c *versus) bool { return c.Sides[1].Done && strings.HasPrefix(c.Why, "A cannot be read") })
	s.Wheel(4, inB)
	s.both("zooming B", func(d *versus) bool { return d.Sides[1].To-d.Sides[1].From < c.Sides[1].To-c.Sides[1].From })
}

// TestCompareInPlace compares a time range with the one before it, and the slow calls of a
// function with its other calls. Both keep the timeline, and Esc ends the comparison.
func TestCompareInPlace(t *testing.T) {
	t.Parallel()
	before, _ := twinPair(t)
	s := startAshlar(t, before)
	s.Drag(e2e.Left, image.Pt(600, 250), image.Pt(800, 250), "shift")
	was := s.until("a selected time", func(f frame) bool { return f.Selected[1] > 0 })
	s.palette("compare selection")
	s.until("a time against a time", func(f frame) bool { return f.Tab == "difference" && f.Compare == nil && f.Selected == was.Selected })
	s.key("one recording", func(f frame) bool { return f.Tab == was.Tab && f.Selected == was.Selected }, "Escape")
	s.Click(e2e.Left, image.Pt(340, 144))
	s.until("a picked function", func(f frame) bool { return f.Picked == "frame" })
	s.palette("slow calls")
	s.until("slow calls against the rest", func(f frame) bool { return f.Tab == "difference" && f.File == "before.json" })
}

// TestCompareWithOpen passes a file to the open window with --compare-with-open.
func TestCompareWithOpen(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	s := startAshlar(t, before)
	second := s.Command(t, e2e.Build(t, "./app/ashlar"), "--compare-with-open", after)
	if out, err := second.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("handing over: %v: %s", err, out)
	}
	c := s.both("the comparison", func(c *versus) bool { return c.Sure && c.Whole })
	if c.Sides[0].File != "before.json" || c.Sides[1].File != "after.json" {
		t.Errorf("compared are %q and %q", c.Sides[0].File, c.Sides[1].File)
	}
}
