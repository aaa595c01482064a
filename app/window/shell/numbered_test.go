package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/render/theme"
)

// keptFolds remembers in memory whether the numbers in a file's names are folded.
type keptFolds struct {
	keptNote
	path string
	on   bool
}

func (k *keptFolds) Recents() []Recent           { return []Recent{{Path: k.path, Folded: k.on}} }
func (k *keptFolds) SetFolded(_ string, on bool) { k.on = on }

// TestFoldNumbersOffered checks the offer to fold names that differ only in numbers. It
// appears if they are most of the names; a click is stored for the file and in the
// address, and undo reverts it.
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
	const offer = "Fold 60 names that differ only in numbers"
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

// TestWhyFoldedStepsAreSlow checks that the question about slow calls covers all names
// that are folded into one.
func TestWhyFoldedStepsAreSlow(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	at := 0
	for i := range 30 {
		took := 1000 + i%5
		if i%10 == 4 {
			took = 4000
			fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":3000,"name":"evaluate"},`, at)
		}
		fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"ProfilerStep#%d"},`, at, took, i)
		at += took
	}
	s := newBench(t, strings.TrimSuffix(b.String(), ",")+"]")
	p := s.Pane
	p.FoldNumbers()
	s.settled()
	for i := range p.Doc.Answer().Tree.Nodes {
		if a := p.Doc.Answer(); a.Tree.Function(a.Rec, i).Name == "ProfilerStep##" {
			p.Pick = panel.Picked{Kind: panel.PickNode, Node: int32(i), Tree: a.Tree, Fn: a.Tree.Nodes[i].Func}
		}
	}
	const offer = "Why are 3 of 30 calls slow?"
	s.until("the question", func() bool { return strings.Contains(s.shapes(), offer) })
	f, _ := p.PickedFunction()
	p.Actions.WhySlow(f, p.Scope)
	s.until("the comparison", func() bool { return p.Against != nil && p.Scope.Calls != nil })
	s.settled()
	if n := p.Scope.Calls; !strings.Contains(n.Text, "ProfilerStep#(#|[0-9]+)") {
		t.Errorf("the scope is %q", n.Text)
	}
}
