package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gioui.org/io/key"
	"gioui.org/io/pointer"
)

// hundredSpans returns the rest of a trace, with spans from a time on.
func hundredSpans(us int) string {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, `,{"name":"work","ph":"X","ts":%d,"dur":80,"pid":1,"tid":1}`, us+100*i)
	}
	return text.String() + "]"
}

// TestFirstViewWithoutStrayEvents checks that one event five minutes before all others
// does not make the first view empty; that the window says so; and that a click on that
// and the key 0 show it, and Escape the others again.
func TestFirstViewWithoutStrayEvents(t *testing.T) {
	b := newBench(t, `[{"name":"early","ph":"i","ts":1,"pid":1,"tid":1}`+hundredSpans(300_000_001))
	p := b.Pane
	const offer = "1 event 5 min earlier"
	fits := func() bool { return p.View.From > p.Rec.Start && p.View.Span() < p.Rec.Duration()/1000 }
	b.until("the first view", fits)
	b.until("the offer", func() bool { return strings.Contains(b.shapes(), offer) })
	all := func() {
		t.Helper()
		if b.frame(); p.View.From > p.Rec.Start || p.View.To < p.Rec.End || strings.Contains(b.shapes(), offer) {
			t.Errorf("the view %+v is not of all, or more is offered", p.View)
		}
	}
	b.click(b.written(offer), 0, pointer.ButtonPrimary)
	all()
	b.press(key.NameEscape, 0)
	if b.frame(); !fits() {
		t.Errorf("Escape leads to %+v", p.View)
	}
	b.press("0", 0)
	all()
}

// TestFirstComparedViewWithoutStrayEvents checks the same where such a recording is compared with
// one that has no event far from the others: the spans of both are shown below each other.
func TestFirstComparedViewWithoutStrayEvents(t *testing.T) {
	b := newBench(t, `[{"name":"early","ph":"i","ts":1,"pid":1,"tid":1}`+hundredSpans(300_000_001))
	path := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(path, []byte("["+hundredSpans(1)[1:]), 0o644); err != nil {
		t.Fatal(err)
	}
	b.OpenBeside(path)
	b.settled()
	const offer, minutes = "1 event 5 min earlier", 300_000_000_000_000
	a, other := b.Versus.Panes[0], b.Versus.Panes[1]
	first := func() bool {
		return a.View.From-a.Rec.Start-minutes == other.View.From-other.Rec.Start && a.View.Span() == other.View.Span() && a.View.Span() < minutes/1000
	}
	b.until("the first view", first)
	b.click(b.written(offer), 0, pointer.ButtonPrimary)
	if b.frame(); a.View.From > a.Rec.Start || other.View.Span() != a.View.Span() || strings.Contains(b.shapes(), offer) {
		t.Errorf("the views %+v and %+v are not of all, or more is offered", a.View, other.View)
	}
	b.press(key.NameEscape, 0)
	if b.frame(); !first() {
		t.Errorf("Escape leads to %+v and %+v", a.View, other.View)
	}
}
