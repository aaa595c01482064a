package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/render/widget"
)

// keptFolds remembers in memory whether the numbers in a file's names are folded.
type keptFolds struct {
	keptNote
	path string
	on   bool
}

func (k *keptFolds) Recents() []Recent                        { return []Recent{{Path: k.path, Folded: k.on}} }
func (k *keptFolds) SetNames(_ string, folded bool, _ string) { k.on = folded }

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

// keptNames remembers in memory how the names of files are shown.
type keptNames struct {
	keptNote
	of []Recent
}

func (k *keptNames) Recents() []Recent { return k.of }

func (k *keptNames) Opened(path string) {
	r, rest := Recent{Path: path}, []Recent(nil)
	for _, old := range k.of {
		if old.Path == path {
			r = old
		} else {
			rest = append(rest, old)
		}
	}
	k.of = append([]Recent{r}, rest...)
}

func (k *keptNames) SetNames(path string, folded bool, mine string) {
	for i := range k.of {
		if k.of[i].Path == path {
			k.of[i].Folded, k.of[i].Mine = folded, mine
		}
	}
}

// TestOwnCodeIsRemembered checks that the pattern of one's own code is remembered for a
// recording, and taken over by recordings of the same folder that are new, with a remark. It
// can be taken back, which is remembered too.
func TestOwnCodeIsRemembered(t *testing.T) {
	k, dir, elsewhere := new(keptNames), t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "a.folded"), filepath.Join(dir, "b.folded"), filepath.Join(elsewhere, "c.folded")} {
		if err := os.WriteFile(path, []byte("main.run;fmt.Sprint;fmt.write 5\nmain.run;main.load;os.Read 7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func(dir, name string) *bench {
		b := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
		b.Keep = k
		t.Cleanup(b.Close)
		b.Open(filepath.Join(dir, name))
		b.until("the recording", func() bool { return b.Pane.Rec.Done && b.Pane.Kept && b.total() != "" })
		return b
	}
	a := open(dir, "a.folded")
	a.remembered()
	const pattern = "package:main"
	treat := func() {
		t.Helper()
		items := a.Pane.FunctionItems(&a.Workspace, recording.Function{Name: "main.load"})
		i := slices.IndexFunc(items, func(i widget.Item) bool { return i.Title == "Treat main as own code" })
		if i < 0 {
			t.Fatalf("no item treats main as own code: %+v", items)
		}
		items[i].Do()
	}
	treat()
	treat() // a second time takes it back
	if a.Pane.OwnCode() != "" {
		t.Error("own code cannot be taken back")
	}
	treat()
	a.until("own code", func() bool { return k.of[0].Mine == pattern })
	if again := open(dir, "a.folded"); again.Pane.OwnCode() != pattern {
		t.Error("opened again, library code is shown")
	}
	b := open(dir, "b.folded")
	b.until("own code in b", func() bool { return !strings.Contains(b.shapes(), "Sprint") && strings.Contains(b.shapes(), "load") })
	if b.Pane.OwnCode() != pattern || !strings.Contains(b.shapes(), "a.folded") {
		t.Errorf("a new recording of the folder shows %q, with the remark %v", b.Pane.OwnCode(), strings.Contains(b.shapes(), "a.folded"))
	}
	if c := open(elsewhere, "c.folded"); c.Pane.OwnCode() != "" {
		t.Error("a recording of another folder takes it over")
	}
	b.Pane.SetOwnCode("")
	b.until("all code", func() bool { return b.Pane.OwnCode() == "" && k.of[1].Mine == "" })
	if again := open(dir, "b.folded"); again.Pane.OwnCode() != "" {
		t.Error("opened again library code is missing")
	}
}
