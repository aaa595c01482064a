package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/finder"
	"ashlar/app/window/panel"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
)

// lookFor searches for a text and waits for the result.
func (b *bench) lookFor(text string) {
	b.t.Helper()
	b.Pane.SearchFor(text)
	b.settled()
	b.until("what is found", func() bool { return b.Pane.Finder.Info() != "" })
}

func (b *bench) settled() {
	b.t.Helper()
	if err := b.Finish(); err != nil {
		b.t.Fatal(err)
	}
	b.frame()
	b.frame()
}

// until draws frames until holds returns true.
func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	for range 5000 {
		if b.frame(); holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatal("waited in vain for ", what)
}

// TestListOfHits lists ten thousand hits on two threads, goes to one with keys and to
// another with the pointer.
func TestListOfHits(t *testing.T) {
	var lines []string
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"work"},{"ph":"X","pid":1,"tid":3,"ts":%d,"dur":2,"name":"rest"}`,
			1+i%2, 10*i, 1+i%5, 10*i))
	}
	b := newBench(t, "["+strings.Join(lines, ",\n")+"]")
	p := b.Pane
	b.lookFor("work")
	b.press("L", key.ModCtrl)
	l := &p.Finder.Fresh().List
	b.until("the list", func() bool { return l.Open && len(l.Bars) > 5 && l.Focused })
	for range 3 {
		b.press(key.NameDownArrow, 0)
	}
	b.press(key.NamePageDown, 0)
	want := int64(3 + l.Seen - 1)
	b.press(key.NameReturn, 0)
	if got := p.Pick.Hit.Start - p.Rec.Start; p.Pick.Kind != panel.PickBar || got != want*10e6 || l.Open {
		t.Errorf("Return shows what begins at %d ps, not row %d's; open: %v", got, want, l.Open)
	}
	if info := p.Finder.Info(); !strings.HasPrefix(info, fmt.Sprint(want+1, " / ")) {
		t.Errorf("the line says %q of row %d", info, want)
	}

	// The list opens at the current hit. Scroll to its last rows.
	b.press("L", key.ModCtrl)
	b.until("the list", func() bool { return l.Open && l.Focused })
	if !l.Open || l.Chosen != want {
		t.Fatalf("the list opens at %d, not at %d: %v", l.Chosen, want, l.Open)
	}
	l.Chosen, l.Down = 9_999, -1
	b.until("the last rows", func() bool { return l.Have == l.Want && l.Have.From > 9_000 })
	b.click(b.written(finder.Moment(9_998*10e6, p.Rec.Duration())), 0, pointer.ButtonPrimary)
	if h := &p.Pick.Hit; h.Start-p.Rec.Start != 9_998*10e6 || h.End-h.Start != 4e6 || l.Open {
		t.Errorf("a click shows %d to %d; open: %v", h.Start-p.Rec.Start, h.End-p.Rec.Start, l.Open)
	}

	// Escape closes the list first; the search stays.
	b.press("L", key.ModCtrl)
	b.until("the list again", func() bool { return l.Open && l.Focused })
	b.press(key.NameEscape, 0)
	if l.Open || p.Find != "work" {
		t.Errorf("Escape leaves the list open (%v) or ends the search for %q", l.Open, p.Find)
	}
}

// TestWalkingFunctions steps through the hits of a recording without times: they are
// functions, the heaviest first, each shown at its heaviest bar.
func TestWalkingFunctions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.folded")
	if err := os.WriteFile(path, []byte("main;copy_a;x 3\nmain;copy_b 9\nmain;x;copy_a 4\nmain;y 20\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	t.Cleanup(b.Close)
	b.Open(path)
	b.settled()
	p := b.Pane
	b.lookFor("copy")
	if got := p.Finder.Info(); !strings.HasPrefix(got, "2 ") {
		t.Errorf("the line says %q", got)
	}
	if got := p.MatchedText(p.Doc.Answer()); got != "2 functions match, 44.4 % of the total" {
		t.Errorf("the flamegraph says %q", got) // 16 of 36
	}
	at := func() string {
		f, _ := p.PickedFunction()
		return fmt.Sprint(f.Name, " ", p.Doc.Answer().Tree.Nodes[p.Pick.Node].Total, " ", strings.Fields(p.Finder.Info())[0])
	}
	for _, want := range []struct {
		key  key.Modifiers
		want string
	}{{0, "copy_b 9 1"}, {0, "copy_a 4 2"}, {0, "copy_b 9 1"}, {key.ModShift, "copy_a 4 2"}, {key.ModShift, "copy_b 9 1"}} {
		b.press("N", want.key)
		if got := at(); got != want.want {
			t.Errorf("N leads to %s, not %s", got, want.want)
		}
	}
	// Stepping to a function outside the zoomed part ends the zoom.
	n := workspace.NodeNamed(p.Doc.Answer(), recording.Function{Name: "y"}.FuncName())
	p.ZoomTo(panel.PathOf(p.Rec, p.Doc.Answer().Tree, int(n)))
	b.press("N", 0)
	if len(p.Zoom) != 0 {
		t.Error("what is walked to is not in the picture")
	}
	b.press("L", key.ModCtrl)
	b.until("the list", func() bool { return p.Finder.Fresh().List.Open && p.Finder.Fresh().List.Focused })
	b.written("Total")
	b.press(key.NameUpArrow, 0)
	b.press(key.NameReturn, 0)
	if got := at(); got != "copy_b 9 1" {
		t.Errorf("the list leads to %s", got)
	}
}
