package calltree

import (
	"fmt"
	"runtime"
	"testing"

	"ashlar/ingest/model/recording"
)

// chain is a tree in which every node but the last has one child; each tenth has a lighter
// second one without children.
type chain int32

func (c chain) Children(node int) []int32 {
	switch n := int32(node); {
	case n%2 == 1 || n+2 > int32(c):
		return nil
	case n%10 == 0:
		return []int32{n + 1, n + 2}
	default:
		return []int32{n + 2}
	}
}

func (c chain) function(n int32) recording.FuncName {
	return recording.FuncName{Name: fmt.Sprintf("function %d", n)}
}
func (c chain) heavy(n int32) int64  { return int64(1 - n%2) }
func (c chain) parent(n int32) int32 { return n - 2 + n%2 }
func (c chain) depth(n int32) int32  { return (n + 1) / 2 }
func (c chain) cells(n int32) []cell { return nil }

// TestDeepTreesAreListed checks the order and the depths of the rows of a deep tree, and that the
// memory for its paths grows with its depth, not with the square of its depth.
func TestDeepTreesAreListed(t *testing.T) {
	const depth = 10_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rows := list(nil, chain(2*depth), func(path, bool) bool { return true })
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("%d rows took %d bytes", len(rows), used)
	}
	if len(rows) != depth+depth/5 {
		t.Fatalf("%d rows", len(rows))
	}
	seen := map[path]bool{}
	for i, w := range rows {
		if want := chain(0).depth(w.node); w.depth != want {
			t.Errorf("node %d is at depth %d instead of %d", w.node, w.depth, want)
		}
		if i < depth && w.node != int32(2*i+2) {
			t.Errorf("row %d is node %d", i, w.node)
		}
		seen[w.path] = true
	}
	if len(seen) != len(rows) {
		t.Errorf("%d paths of %d rows", len(seen), len(rows))
	}
	folded := list(nil, chain(2*depth), func(_ path, alone bool) bool { return alone })
	if len(folded) != 2 || folded[0].node != 2 || folded[1].node != 1 || !folded[0].kids || folded[1].kids {
		t.Errorf("folded: %v", folded)
	}
}
