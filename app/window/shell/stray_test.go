package shell

import (
	"fmt"
	"strings"
	"testing"

	"gioui.org/io/key"
	"gioui.org/io/pointer"
)

// TestFirstViewWithoutStrayEvents checks that one event five minutes before all others
// does not make the first view empty; that the window says so; and that a click on that
// and the key 0 show it, and Escape the others again.
func TestFirstViewWithoutStrayEvents(t *testing.T) {
	var text strings.Builder
	text.WriteString(`[{"name":"early","ph":"i","ts":1,"pid":1,"tid":1}`)
	for i := range 100 {
		fmt.Fprintf(&text, `,{"name":"work","ph":"X","ts":%d,"dur":80,"pid":1,"tid":1}`, 300_000_001+100*i)
	}
	b := newBench(t, text.String()+"]")
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
