//go:build linux

package main

import (
	"image"
	"testing"
)

// TestCompareAbove puts A's timeline above B's: both are zoomed at the same place
// of the screen, as one axis, and undo puts them back.
func TestCompareAbove(t *testing.T) {
	before, after := twinPair(t)
	s := comparing(t, before, after)
	s.Key("shift+x")
	c := s.both("A above B", func(c *versus) bool { return c.Above })
	s.Wheel(4, image.Pt(700, 460)) // over B's lanes, which were the flamegraph's place
	was := c.Sides[1].To - c.Sides[1].From
	c = s.both("zooming both", func(c *versus) bool { return c.Sides[1].To-c.Sides[1].From < was*3/4 })
	if c.Sides[0].From != c.Sides[1].From || c.Sides[0].To != c.Sides[1].To || c.Focus != "B" {
		t.Errorf("linked views are %d to %d and %d to %d, with the focus on %s", c.Sides[0].From, c.Sides[0].To, c.Sides[1].From, c.Sides[1].To, c.Focus)
	}
	// The pointer's line stands at the same time in both.
	s.Move(image.Pt(701, 460))
	s.both("the pointer", func(c *versus) bool { return c.Above })
	img := s.Screenshot()
	differs := 0
	for y := 140; y < 230; y++ {
		if img.At(701, y) != img.At(703, y) {
			differs++
		}
	}
	if differs < 60 {
		t.Errorf("the line at the pointer shows in %d of 90 rows of A's lanes", differs)
	}
	s.Key("ctrl+z", "ctrl+z")
	s.both("undoing", func(c *versus) bool { return !c.Above })
}
