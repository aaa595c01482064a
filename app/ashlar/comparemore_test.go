//go:build linux

package main

import (
	"image"
	"os"
	"testing"
	"time"

	"ashlar/testdata/e2e"
	"ashlar/testdata/twins"
)

// TestCompareAbove puts A's timeline above B's. Zooming at the same x zooms both, because they
// share a time axis; undo restores the layout.
func TestCompareAbove(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	s := comparing(t, before, after)
	s.Key("shift+x")
	c := s.both("A above B", func(c *versus) bool { return c.Above })
	s.Wheel(4, image.Pt(700, 460)) // over B's lanes, where the flamegraph was before
	was := c.Sides[1].To - c.Sides[1].From
	c = s.both("zooming both", func(c *versus) bool { return c.Sides[1].To-c.Sides[1].From < was*3/4 })
	if c.Sides[0].From != c.Sides[1].From || c.Sides[0].To != c.Sides[1].To || c.Focus != "B" {
		t.Errorf("linked views are %d to %d and %d to %d, with the focus on %s", c.Sides[0].From, c.Sides[0].To, c.Sides[1].From, c.Sides[1].To, c.Focus)
	}
	// The pointer's line is also drawn in A, at the same time.
	s.Move(image.Pt(701, 460))
	s.both("the pointer", func(c *versus) bool { return c.Above })
	differs := 0
	for began := time.Now(); differs < 60 && time.Since(began) < patience; {
		img := s.Screenshot()
		differs = 0
		for y := 140; y < 230; y++ {
			if img.At(701, y) != img.At(703, y) {
				differs++
			}
		}
	}
	if differs < 60 {
		t.Errorf("the line at the pointer shows in %d of 90 rows of A's lanes", differs)
	}
	s.Key("ctrl+z", "ctrl+z")
	s.both("undoing", func(c *versus) bool { return !c.Above })

	s.Key("shift+x")
	s.both("A above B again", func(c *versus) bool { return c.Above })
	// A file dropped on a timeline replaces its recording. Only the right fifth of a timeline adds
	// a run instead.
	x := s.StartDragger(t)
	others := recordings(t, 3)[1:]
	for _, d := range []struct {
		at         image.Point
		file, says string
		a, b       string
	}{
		{image.Pt(900, 200), others[0], "Replace A (before.json)", others[0], after},
		{image.Pt(100, 460), others[1], "Replace B (after.json)", others[0], others[1]},
	} {
		x.Enter(uriList(d.file), e2e.Whole, fileList)
		x.Hold(d.at)
		s.soon("what a drop does", func(f frame) bool { return len(f.Drop) > 0 && f.Drop[0] == d.says })
		x.Drop()
		if v := x.End(); !v.Accepted {
			t.Errorf("the window says %+v of a drop", v)
		}
		s.soon("what was dropped", compares(d.a, d.b))
	}
}

// TestFollowBoth rewrites B while both files are shown: the comparison uses the new content,
// and the view and the selection stay.
func TestFollowBoth(t *testing.T) {
	t.Parallel()
	before, after := twinPair(t)
	s := comparing(t, "--follow", before, after)
	first := s.last().Compare
	s.Wheel(4, inA)
	s.both("zooming both", func(c *versus) bool {
		return c.Sides[1].To-c.Sides[1].From < (first.Sides[1].To-first.Sides[1].From)*3/4
	})
	s.Drag(e2e.Left, image.Pt(300, 250), image.Pt(500, 250), "shift")
	was := s.both("a selection in both", func(c *versus) bool { return c.Sides[1].Selected[1] > 0 && c.Sure })

	// Give B the content of A.
	if err := os.WriteFile(after+".new", twins.Trace(false), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(after+".new", after); err != nil {
		t.Fatal(err)
	}
	c := s.both("the comparison with the new B", func(c *versus) bool {
		return c.Sure && c.Functions["changed"]+c.Functions["new"]+c.Functions["gone"] == 0
	})
	for i := range c.Sides {
		if c.Sides[i].From != was.Sides[i].From || c.Sides[i].To != was.Sides[i].To || c.Sides[i].Selected != was.Sides[i].Selected {
			t.Errorf("%s shows %+v, was %+v", c.Sides[i].File, c.Sides[i], was.Sides[i])
		}
	}
}
