//go:build linux

package main

import (
	"image"
	"slices"
	"testing"

	"ashlar/testdata/e2e"
)

func TestSandwich(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	s.command("Table of functions")
	s.until("the table", func(f frame) bool { return f.Tab == "functions" && f.Rows > 100 })
	s.Click(e2e.Left, image.Pt(100, 598)) // about the third row
	row := s.until("a row", func(f frame) bool { return f.Picked != "" })
	s.key("its callers and callees", func(f frame) bool { return f.Tab == "callers" && f.Near == row.Picked }, "q")

	// A click in the graph picks another function but keeps the central one.
	at := image.Pt(60, 566)
	s.Click(e2e.Left, at)
	other := s.until("another function", func(f frame) bool { return f.Picked != row.Picked && f.Picked != "" })
	if other.Near != row.Picked {
		t.Errorf("after a click on %s the middle is %s, want %s", other.Picked, other.Near, row.Picked)
	}
	s.DoubleClick(e2e.Left, at)
	s.until("the other in the middle", func(f frame) bool { return f.Near == other.Picked })
	s.key("the first in the middle again", func(f frame) bool { return f.Near == row.Picked }, "alt+Left")
	s.key("and the other", func(f frame) bool { return f.Near == other.Picked }, "alt+Right")
}

func TestTableIsShaped(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	s.command("Table of functions")
	first := s.until("the table", func(f frame) bool { return f.Tab == "functions" && f.Rows > 100 && f.Sorted == "self" })

	s.Click(e2e.Left, image.Pt(745, 544)) // the header of the column of totals
	s.until("another order", func(f frame) bool { return f.Sorted == "total" })
	s.Click(e2e.Left, image.Pt(745, 544))
	s.until("the order turned round", func(f frame) bool { return f.Sorted == "-total" })

	edge := image.Pt(271, 544) // the border between the columns of names and modules
	s.Drag(e2e.Left, edge, edge.Sub(image.Pt(80, 0)))
	s.until("a wider column of modules", func(f frame) bool {
		return len(f.Widths) == 1 && f.Widths[0].Column == "module" && int(f.Widths[0].DP)/100 == 2
	})

	s.command("Table of modules")
	s.until("the modules", func(f frame) bool { return f.Grouped == "module" && f.Rows > 0 && f.Rows < 10 })
	s.key("the functions again", func(f frame) bool { return f.Grouped == "function" && f.Rows == first.Rows }, "ctrl+z")
	s.key("the columns as they were", func(f frame) bool { return slices.Equal(f.Widths, first.Widths) }, "ctrl+z")
	s.key("the order as it was", func(f frame) bool { return f.Sorted == "self" }, "ctrl+z", "ctrl+z")
}

func TestLook(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	before := s.Screenshot()
	s.key("a larger picture", func(f frame) bool { return f.Scale > 1.2 }, "ctrl+plus", "ctrl+plus")
	if differ(before, s.Screenshot(), lanes) < 1000 {
		t.Error("everything is larger, but looks the same")
	}
	s.key("the usual size", func(f frame) bool { return f.Scale == 1 }, "ctrl+0")
	s.key("a smaller picture", func(f frame) bool { return f.Scale < 1 }, "ctrl+minus")
	s.key("the usual size", func(f frame) bool { return f.Scale == 1 }, "ctrl+0")
	for _, mode := range []string{"package", "name", "module", "kind", "thread", "search", "function"} {
		old := s.Screenshot()
		s.key("colours by "+mode, func(f frame) bool { return f.Colour == mode }, "c")
		if differ(old, s.Screenshot(), lanes) < 1000 {
			t.Errorf("colours by %s look as those before", mode)
		}
	}
	s.command("High contrast theme")
	s.until("more contrast", func(f frame) bool { return f.Theme == "contrast" })
	s.key("the light theme", func(f frame) bool { return f.Theme == "light" }, "l")

	s.key("the root at the bottom", func(f frame) bool { return f.Up }, "u")
	s.key("the root at the top", func(f frame) bool { return !f.Up }, "ctrl+z")
	// Zoom to the first bar below the root, and zoom out by a click on the root.
	s.DoubleClick(e2e.Left, image.Pt(300, 544))
	s.until("a zoom", func(f frame) bool { return f.Zoom > 0 })
	s.Click(e2e.Left, image.Pt(20, 518))
	s.until("everything", func(f frame) bool { return f.Zoom == 0 })
}
