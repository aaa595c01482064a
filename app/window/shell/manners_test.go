package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest/query/search"
	"ashlar/render/timeline"
	"ashlar/render/widget"
)

// TestScaleSaysWhatItIsNow enlarges the interface and goes back; the status line must
// show the scale.
func TestScaleSaysWhatItIsNow(t *testing.T) {
	b := newBench(t, someTrace)
	b.press("+", key.ModCtrl)
	b.press("0", key.ModCtrl)
	if got := b.Note.Text; got != "Scale: 100 %" {
		t.Errorf("after Ctrl-0 the status line says %q", got)
	}
}

// TestFoldsGoTogether folds a thread of A: the matching thread of B folds too, unless the
// sides are unlinked.
func TestFoldsGoTogether(t *testing.T) {
	b := &bench{t: t, Shell: compared(t, "before.json", "after.json")}
	b.frame()
	b.frame()
	c := b.Versus
	fold := func(side int, name string, f timeline.Fold) {
		for i, track := range c.Panes[side].Rec.Tracks {
			if track.Name == name {
				c.Panes[side].Folds = map[int]timeline.Fold{i: f}
			}
		}
		b.frame()
		b.frame()
	}
	folded := func(side int) (names []string) {
		for i := range c.Panes[side].Folds {
			names = append(names, c.Panes[side].Rec.Tracks[i].Name)
		}
		return names
	}
	fold(0, "worker-2", timeline.Closed)
	if got := folded(1); !slices.Equal(got, []string{"worker-2"}) {
		t.Errorf("A's worker-2 is folded, and of B %q", got)
	}
	c.Linked = false
	fold(1, "main", timeline.Closed)
	if got := folded(0); !slices.Equal(got, []string{"worker-2"}) {
		t.Errorf("unlinked, B's main is folded, and of A %q", got)
	}
}

// TestMenusAreGrouped checks the menu of a function: separators only between groups, keys
// skip them, and the menu has the actions for a function's calls.
func TestMenusAreGrouped(t *testing.T) {
	b := newBench(t, someTrace)
	b.settled()
	if !b.Pick("read") {
		t.Fatal("read is not there")
	}
	f, _ := b.Pane.PickedFunction()
	items := widget.Grouped([]widget.Item{{Title: "first"}}, nil, b.Pane.FunctionItems(&b.Shell.Workspace, f))
	var titles []string
	for i, it := range items {
		titles = append(titles, it.Title)
		if it.Title == "" && (i == 0 || i == len(items)-1 || items[i-1].Title == "") {
			t.Errorf("line %d is a rule between nothing: %q", i, titles)
		}
	}
	for _, want := range []string{"List its calls", "Compare its slow calls"} {
		if !slices.Contains(titles, want) {
			t.Errorf("the menu has no %q: %q", want, titles)
		}
	}
	m := widget.NewMenu(b.Size, items)
	for range 2 * len(items) {
		m.Key(key.Event{Name: key.NameDownArrow})
		if m.Items[m.Chosen].Title == "" {
			t.Fatal("a key chooses a rule")
		}
	}
	for range 2 * len(items) {
		m.Key(key.Event{Name: key.NameUpArrow})
		if m.Items[m.Chosen].Title == "" {
			t.Fatal("a key chooses a rule")
		}
	}
}

// TestPaletteBeginsWithWhatFits checks that the palette lists commands for the selected
// function first, then the last command chosen.
func TestPaletteBeginsWithWhatFits(t *testing.T) {
	b := newBench(t, someTrace)
	b.settled()
	first := func(n int) []string {
		b.openPalette()
		b.frame()
		var titles []string
		for _, l := range b.Chooser.Lines[:n] {
			titles = append(titles, l.Title)
		}
		return titles
	}
	first(1)
	b.Chooser.SetText("light theme")
	b.Chooser.Refresh()
	b.Chooser.Take(0)
	b.frame()
	if got := first(1); got[0] != "Light theme" {
		t.Errorf("after the light theme was chosen the first is %q", got)
	}
	b.Chooser = nil
	b.Pick("read")
	b.frame()
	for _, title := range first(2) {
		if !strings.Contains(title, "selected function") {
			t.Errorf("a function is selected, and %q comes first", title)
		}
	}
}

// TestFilesSayWhatTheyAre lists a folder in the file chooser, with formats and sizes.
func TestFilesSayWhatTheyAre(t *testing.T) {
	b := newBench(t, someTrace)
	dir := t.TempDir()
	for name, content := range map[string]string{"one.json": someTrace, "two.txt": "no recording"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.typeOpenIn(dir)
	details := map[string]string{}
	b.until("the format is known", func() bool {
		for _, l := range b.Chooser.Lines {
			details[l.Title] = l.Detail
		}
		return strings.HasPrefix(details["one.json"], "Chrome trace · ")
	})
	if got := details["two.txt"]; !strings.HasPrefix(got, "12 B · 20") {
		t.Errorf("of a file that is no recording it says %q", got)
	}
}

// TestSearchStaysInReach enlarges the interface until the toolbar has no room for the
// search field: a button must still open it.
func TestSearchStaysInReach(t *testing.T) {
	b := newBench(t, someTrace)
	b.Scale = 3
	b.frame()
	b.frame()
	if !b.noSearch {
		t.Fatal("there is room for the search: nothing is tried")
	}
	for x := float32(1270); x > 0 && !b.typing; x -= 20 {
		b.Menu, b.Chooser, b.Help = nil, nil, false
		b.frame()
		at := f32.Pt(x, 66)
		b.pointer(pointer.Move, at, 0)
		b.pointer(pointer.Press, at, 0)
		b.pointer(pointer.Release, at, 0)
		b.frame()
		b.frame()
	}
	if !b.typing || b.Chooser != nil {
		t.Error("no click on the toolbar leads to the search")
	}
}

// TestCountThatRepeatsSelfIsLeftOut checks that the table of samples has no count column,
// because each sample counts as one, and that the table of spans has one.
func TestCountThatRepeatsSelfIsLeftOut(t *testing.T) {
	for content, want := range map[string]bool{"main;work 1\nmain;rest 1\n": false, someTrace: true} {
		b := newBench(t, content)
		b.Pane.Tab = panel.Functions
		b.settled()
		b.until("there is a table", func() bool { return len(b.Pane.Table.Order.Rows) > 0 })
		if got := slices.Contains(b.Grid().Head, "count"); got != want {
			t.Errorf("the table has a count: %v, want %v: %q", got, want, b.Grid().Head)
		}
	}
}

// TestCalmCountOpensByAClick checks that the status line counts warnings and notes, with
// a dot only if they change numbers, and that a click opens the list.
func TestCalmCountOpensByAClick(t *testing.T) {
	const note = `{"ph":"M","pid":1,"tid":0,"name":"process_uptime_seconds","args":{"uptime":"3"}}`
	const wrong = `{"ph":"E","pid":1,"tid":9,"ts":5}`
	for _, c := range []struct {
		more []string
		text string
		dot  bool
	}{{[]string{note}, "1 note", false}, {[]string{wrong}, "1 warning", true}, {[]string{wrong, note}, "1 warning, 1 note", true}} {
		b := newBench(t, strings.TrimSuffix(someTrace, "]")+","+strings.Join(c.more, ",")+"]")
		for b.Note.Until.After(b.now) {
			b.now = b.now.Add(time.Minute)
		}
		b.frame()
		if b.Pane.Tab == panel.About {
			t.Fatal("the list is shown before the click")
		}
		if _, changes := b.Pane.Rec.Warned(); changes != c.dot {
			t.Errorf("%s: a dot is %v, want %v", c.text, changes, c.dot)
		}
		b.click(b.written(c.text).Sub(f32.Pt(20, 0)), 0, pointer.ButtonPrimary) // the text ends there
		if b.Pane.Tab != panel.About {
			t.Errorf("a click on %q shows %v", c.text, b.Pane.Tab)
		}
	}
}

// TestPinnedThreadsStayInSight scrolls far down: the pinned thread keeps its place, and
// it does not cover a span that was searched for.
func TestPinnedThreadsStayInSight(t *testing.T) {
	var events []string
	for i := range 80 {
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":1000,"dur":400,"name":"work"}`, i+1))
	}
	b := newBench(t, "["+strings.Join(events, ",\n")+"]")
	b.settled()
	p := b.Pane
	p.TogglePin(57)
	b.frame()
	b.frame()
	held := p.Plan.Held
	if held == 0 {
		t.Fatal("no row stays")
	}
	for _, track := range []int{70, 3, 40} {
		p.Show(search.Hit{Track: track, Time: p.Rec.Start, Call: p.Rec.Tracks[track].Lanes[0].Call(0)})
		b.frame()
		b.frame()
		b.pointer(pointer.Move, b.at(1200, p.Plan.Rows[1].Y+8), 0)
		if h := p.Hit; !h.Found || h.Track != 57 {
			t.Errorf("after thread %d was gone to, the pointer on the pinned one finds %+v", track, h)
		}
		i := slices.IndexFunc(p.Plan.Rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow && r.Index == track })
		if top := p.Plan.Top(&p.Plan.Rows[i], p.View.Scroll); top < held || top > p.Bounds.Lanes.Dy() {
			t.Errorf("thread %d is at %d, and what is pinned ends at %d", track, top, held)
		}
	}
	if p.View.Scroll == 0 {
		t.Error("nothing was scrolled")
	}
}
