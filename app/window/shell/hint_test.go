package shell

import (
	"image"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/timeline"
	"ashlar/render/widget"
)

// TestToolbarButtonsNameTheirKeys points at every icon in the toolbar: the tooltip must
// name a command and its key, if it has one.
func TestToolbarButtonsNameTheirKeys(t *testing.T) {
	b := newBench(t, someTrace)
	b.frame()
	titles := map[string]bool{}
	without := b.shapes()
	icons := iconsAt(without, image.Rect(0, 0, 1280, toolbarHeight))
	for _, at := range icons {
		b.router.Queue(pointer.Event{Kind: pointer.Move, Source: pointer.Mouse, Position: at})
		b.frame()
		shown := b.shapes()
		n := 0
		for _, c := range Commands {
			if title := ">" + c.Title + "</text>"; strings.Count(shown, title) == strings.Count(without, title) {
				continue
			}
			n++
			titles[c.Title] = true
			if len(c.Keys) > 0 && !strings.Contains(shown, ">"+c.Keys[0].String()+"</text>") {
				t.Errorf("the tooltip of %q does not name its key, %s", c.Title, c.Keys[0])
			}
		}
		if n > 1 {
			t.Errorf("over %v there are %d tooltips", at, n)
		}
	}
	for _, want := range []string{"Open file", "Compare with file", "Search", "Next colour mode", "Switch dark or light", "Help"} {
		if !titles[want] {
			t.Errorf("no button names %q", want)
		}
	}
	if len(titles) != len(icons) {
		t.Errorf("%d icons have %d tooltips", len(icons), len(titles))
	}
}

// TestMenusHaveIcons checks that the menu of a span has icons.
func TestMenusHaveIcons(t *testing.T) {
	b := newBench(t, someTrace)
	row := b.Pane.Plan.Rows[slices.IndexFunc(b.Pane.Plan.Rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow })]
	b.click(b.at(1010, row.Y+10), 0, pointer.ButtonSecondary)
	if b.Menu == nil {
		t.Fatal("there is no menu")
	}
	before := len(iconsAt(b.shapes(), image.Rect(0, 0, 1280, 800)))
	b.Menu = nil
	if n := before - len(iconsAt(b.shapes(), image.Rect(0, 0, 1280, 800))); n < 5 {
		t.Errorf("the menu of a span has %d icons", n)
	}
}

// shapes returns the next frame as SVG.
func (b *bench) shapes() string {
	b.t.Helper()
	b.Shapes = svg.New(b.window().X, b.window().Y, raster.Pack(b.Theme.Background))
	b.frame()
	var all strings.Builder
	if err := b.Shapes.Write(&all, ""); err != nil {
		b.t.Fatal(err)
	}
	b.Shapes = nil
	return all.String()
}

// iconsAt returns the positions of the icons drawn in r.
func iconsAt(shapes string, r image.Rectangle) (all []f32.Point) {
	for _, m := range regexp.MustCompile(`transform="translate\(([0-9.]+) ([0-9.]+)\)`).FindAllStringSubmatch(shapes, -1) {
		x, _ := strconv.ParseFloat(m[1], 32)
		y, _ := strconv.ParseFloat(m[2], 32)
		if image.Pt(int(x), int(y)).In(r) {
			all = append(all, f32.Pt(float32(x), float32(y)))
		}
	}
	return all
}

// TestBarsSayWhatTheyAreOf checks that the tooltip of a bar shows its arguments, which
// distinguish bars of one name.
func TestBarsSayWhatTheyAreOf(t *testing.T) {
	b := newBench(t, someTrace)
	b.settled()
	row := b.Pane.Plan.Rows[slices.IndexFunc(b.Pane.Plan.Rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow })]
	if strings.Contains(b.shapes(), "/tmp/x") {
		t.Fatal("arguments are shown of what the pointer is not at")
	}
	b.pointer(pointer.Move, b.at(1010, row.Y+10), 0)
	b.pointer(pointer.Move, b.at(1012, row.Y+10), 0)
	for _, want := range []string{"path  /tmp/x", "n  3"} {
		if !strings.Contains(b.shapes(), want) {
			t.Errorf("what is at the pointer does not say %q", want)
		}
	}
}

// TestRangesAreComparedFromBars sets two selected times as A and B from menus of bars, and
// checks that the menu's last line is inside a low window.
func TestRangesAreComparedFromBars(t *testing.T) {
	b := newBench(t, someTrace)
	b.size = image.Pt(1280, 560)
	b.settled()
	row := b.Pane.Plan.Rows[slices.IndexFunc(b.Pane.Plan.Rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow })]
	for side, span := range [][2]float64{{1200, 1260}, {1210, 1300}} {
		b.Pane.SelectRange(b.Pane.Rec.Start+int64((span[0]-1000)*1e6), b.Pane.Rec.Start+int64((span[1]-1000)*1e6))
		b.settled()
		b.click(b.at(1220, row.Y+30), 0, pointer.ButtonSecondary)
		has := func(title string) int {
			return slices.IndexFunc(b.Menu.Items, func(it widget.Item) bool { return it.Title == title })
		}
		i := has([]string{"Set time as A", "Set time as B"}[side])
		if i < 0 || has("Select this call") < 0 {
			t.Fatalf("a span in the selected time has the menu %v", b.Menu.Items)
		}
		if at := b.written(b.Menu.Items[len(b.Menu.Items)-1].Title); int(at.Y) > b.size.Y-8 {
			t.Errorf("the last line of the menu is at %v of %d", at.Y, b.size.Y)
		}
		b.Menu.Items[i].Do()
		b.Menu = nil
		b.settled()
	}
	if b.Pane.Against == nil {
		t.Error("two times are not compared")
	}
}

// TestOneCallIsTheSelection selects a single call from the menu of its bar.
func TestOneCallIsTheSelection(t *testing.T) {
	b := newBench(t, someTrace)
	b.settled()
	row := b.Pane.Plan.Rows[slices.IndexFunc(b.Pane.Plan.Rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow })]
	b.click(b.at(1220, row.Y+30), 0, pointer.ButtonSecondary)
	i := slices.IndexFunc(b.Menu.Items, func(it widget.Item) bool { return it.Title == "Select this call" })
	if i < 0 {
		t.Fatal("the menu of a span does not have it")
	}
	b.Menu.Items[i].Do()
	b.settled()
	if a := b.Pane.Doc.Answer(); a.Tree.Weights.Sum != 100e6 || a.Scope.Calls.Calls != 1 {
		t.Errorf("it took %d ps, want 100 µs", a.Tree.Weights.Sum)
	}
}
