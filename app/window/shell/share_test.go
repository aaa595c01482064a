package shell

import (
	"strings"
	"testing"

	"gioui.org/io/pointer"
)

// TestNobodyIsInterrupted checks that a program can change the view only while the
// session is shared, and never while the user drags or types.
func TestNobodyIsInterrupted(t *testing.T) {
	b := newBench(t, someTrace)
	address := "ashlar:1?file=" + b.Pane.Path + "&select=10us..20us"
	refused := func(what, why string) {
		t.Helper()
		if err := b.ShowFor(address, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("at first", "does not share")
	b.toggleShare()
	at := b.at(1150, 30)
	b.pointer(pointer.Press, at, 0)
	refused("while the pointer is pressed", "dragging")
	to := at
	to.X += 60
	b.pointer(pointer.Move, to, 0)
	refused("while the pointer is dragged", "dragging")
	b.pointer(pointer.Release, to, 0)
	b.openPalette()
	refused("in the palette", "typing")
	b.Chooser = nil
	b.frame()
	if err := b.ShowFor("ashlar:1?nothing", ""); err == nil {
		t.Error("an address of no file is shown")
	}
	for _, bad := range []string{"find=/(/", "transform=focus:/(/"} {
		if err := b.ShowFor(address+"&"+bad, ""); err == nil || !strings.Contains(err.Error(), "the address has an invalid ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	was := settledText(b.Shell)
	if err := b.ShowFor(address, "look"); err != nil {
		t.Fatal(err)
	}
	b.frame()
	b.frame()
	if got := b.Address().String(); !strings.Contains(got, "select=10us..20us") {
		t.Errorf("it shows %s", got)
	}
	b.Undo()
	if got := settledText(b.Shell); got != was {
		t.Errorf("undo leads to\n%s, not\n%s", got, was)
	}
	b.toggleShare()
	refused("at last", "does not share")
}
