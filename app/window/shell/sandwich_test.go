package shell

import (
	"testing"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest/query/analyze"
)

// TestWayBackInTheSandwich zooms the callers of a function and goes back by clicks on the
// path of names.
func TestWayBackInTheSandwich(t *testing.T) {
	b := newBench(t, shownTrace)
	p := b.Pane
	p.Tab = panel.Callers
	a := p.Doc.Answer()
	for i := range a.Tree.Nodes {
		if i > 0 && a.Tree.Function(a.Rec, i).Name == "it's leaf" {
			p.Pick = panel.Picked{Kind: panel.PickNode, Node: int32(i), Tree: a.Tree, Fn: a.Tree.Nodes[i].Func}
		}
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	a = p.Doc.Answer()
	deep := func(tree *analyze.Tree, names ...string) int32 {
		t.Helper()
		var refs []analyze.Ref
		for _, n := range names {
			refs = append(refs, analyze.Named(n))
		}
		n, missing := tree.Find(a.Rec, refs)
		if missing >= 0 {
			t.Fatal("there is no ", names[missing])
		}
		return int32(n)
	}
	b.frame()
	p.ZoomAround(a.Above, deep(a.Above, "it's leaf", "inner", "outer"))
	b.frame()
	b.frame()
	// The path is "it's leaf ‹ inner ‹ outer"; this is the first arrow.
	arrow := b.written("‹")
	b.click(arrow.Add(f32.Pt(20, 0)), 0, pointer.ButtonPrimary)
	if got, want := nodeOf(a, a.Above, p.Sides[0]), deep(a.Above, "it's leaf", "inner"); got != want {
		t.Errorf("the callers are zoomed to node %d, not %d", got, want)
	}
	p.ZoomAround(a.Above, deep(a.Above, "it's leaf", "inner", "outer"))
	b.frame()
	b.click(arrow.Sub(f32.Pt(25, 0)), 0, pointer.ButtonPrimary)
	if p.ZoomedAround() {
		t.Error("the function's own name does not lead back to all of it")
	}
	p.ZoomAround(a.Above, deep(a.Above, "it's leaf", "inner"))
	b.frame()
	b.click(b.written("×"), 0, pointer.ButtonPrimary)
	if p.ZoomedAround() {
		t.Error("× does not lead back to all of it")
	}
}
