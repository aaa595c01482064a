package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gioui.org/io/pointer"

	"ashlar/render/theme"
)

// keptFolds keeps which files are folded.
type keptFolds struct {
	keptNote
	path string
	on   bool
}

func (k *keptFolds) Recents() []Recent           { return []Recent{{Path: k.path, Folded: k.on}} }
func (k *keptFolds) SetFolded(_ string, on bool) { k.on = on }

// TestFoldNumbersOffered: names that differ only in numbers can be folded with a click where
// they are most of the names; the file remembers it, the address has it, and undo ends it.
func TestFoldNumbersOffered(t *testing.T) {
	k := &keptFolds{path: filepath.Join(t.TempDir(), "a.folded")}
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "main;frame %d %d\n", i, i+1)
	}
	text.WriteString("main;alone 7 5\n")
	if err := os.WriteFile(k.path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func() *bench {
		b := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
		b.Keep = k
		t.Cleanup(b.Close)
		b.Open(k.path)
		b.until("the recording", func() bool { return b.Pane.Rec.Done && b.Pane.Kept && b.total() != "" })
		return b
	}
	const offer = "Fold 60 names that differ in a number"
	b := open()
	b.until("the offer", func() bool { return strings.Contains(b.shapes(), offer) })
	b.remembered()
	b.click(b.written(offer), 0, pointer.ButtonPrimary)
	b.until("the folded names", func() bool { return b.Pane.FoldsNumbers() && k.on })
	b.frame()
	if strings.Contains(b.shapes(), offer) || !strings.Contains(b.Address().String(), "fold-digits") {
		t.Errorf("it is still offered, or the address lacks it: %s", b.Address())
	}
	if again := open(); !again.Pane.FoldsNumbers() {
		t.Error("opened again, the names are not folded")
	}
	b.remembered()
	b.Undo()
	b.until("the names unfolded", func() bool { return !b.Pane.FoldsNumbers() && !k.on })
	if again := open(); again.Pane.FoldsNumbers() {
		t.Error("opened again after undo, the names are folded")
	}
}
