package shell

import "testing"

// TestPickSelf checks that choosing a function by self selects the node with the largest
// self, not the one with the largest total.
func TestPickSelf(t *testing.T) {
	b := newBench(t, "main;helper;work 50\nmain;idle;helper 10\n")
	if b.total() != "60" {
		t.Fatalf("the total is %s", b.total())
	}
	p := b.Pane
	a := p.Doc.Answer()
	for _, row := range a.Rows {
		if row.Name != "helper" {
			continue
		}
		p.PickFunction(a, row.Func)
		if n := a.Tree.Nodes[p.Pick.Node]; n.Total != 50 || n.Self != 0 {
			t.Errorf("by total: total %d, self %d", n.Total, n.Self)
		}
		p.PickSelf(a, row.Func)
		if n := a.Tree.Nodes[p.Pick.Node]; n.Total != 10 || n.Self != 10 {
			t.Errorf("by self: total %d, self %d", n.Total, n.Self)
		}
		return
	}
	t.Error("there is no helper")
}
