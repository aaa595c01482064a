package shell

import (
	"image"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/window/panel"
	"ashlar/app/window/panel/calltree"
)

// TestCallTree compares the call tree with sums over the lines of the folded file, and
// unfolds rows with keys.
func TestCallTree(t *testing.T) {
	const text = "a;b;c 5\na;b 2\na;d 7\ne 1\na;b;c 3\n"
	total, self, lines := map[string]int{}, map[string]int{}, map[string]int{}
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		stack, n, _ := strings.Cut(l, " ")
		w, _ := strconv.Atoi(n)
		self[stack] += w
		fs := strings.Split(stack, ";")
		for i := range fs {
			total[strings.Join(fs[:i+1], ";")] += w
			lines[strings.Join(fs[:i+1], ";")]++
		}
	}
	b := newBench(t, text)
	p := b.Pane
	p.Tab = "calltree"
	b.frame()
	g := calltree.Grid(p.Doc.Answer())
	var stack, names []string
	for _, r := range g.Rows {
		depth, _ := strconv.Atoi(r[0])
		stack = append(slices.Clone(stack[:depth-1]), r[1])
		at := strings.Join(stack, ";")
		if r[3] != strconv.Itoa(self[at]) || r[4] != strconv.Itoa(total[at]) {
			t.Errorf("%s has self %s and total %s, want %d and %d", at, r[3], r[4], self[at], total[at])
		}
		if r[5] != strconv.Itoa(lines[at]) {
			t.Errorf("%s is in %s records, want %d", at, r[5], lines[at])
		}
		names = append(names, at)
	}
	if want := []string{"a", "a;b", "a;b;c", "a;d", "e"}; !slices.Equal(names, want) {
		t.Errorf("listed are %q, want %q", names, want)
	}
	x := panel.Find[*calltree.Panel](p.Deck.All)
	if n := len(x.Listed()); n != 2 {
		t.Fatalf("at first %d rows are listed, want the 2 outermost", n)
	}
	for _, k := range []key.Name{key.NameDownArrow, key.NameRightArrow, key.NameDownArrow} {
		if !x.Key(&p.Side, key.Event{Name: k}, 24) {
			t.Errorf("%s does nothing", k)
		}
		b.frame()
	}
	if f, _ := p.PickedFunction(); f.Name != "b" || len(x.Listed()) != 4 {
		t.Errorf("unfolded, %d rows are listed and %s is picked", len(x.Listed()), f.Name)
	}
	for range 2 {
		x.Key(&p.Side, key.Event{Name: key.NameLeftArrow}, 24)
		b.frame()
	}
	if f, _ := p.PickedFunction(); f.Name != "a" || len(x.Listed()) != 2 {
		t.Errorf("folded, %d rows are listed and %s is picked", len(x.Listed()), f.Name)
	}
}

// TestCallTreeOfTwo compares the table of two recordings with sums over the lines of each
// file.
func TestCallTreeOfTwo(t *testing.T) {
	s := compared(t, "before.folded", "after.folded")
	c := s.Versus
	sums := [2]map[string][3]int{{}, {}} // self, total and lines by stack
	for i, name := range []string{"before.folded", "after.folded"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			cut := strings.LastIndexByte(l, ' ')
			w, err := strconv.Atoi(l[cut+1:])
			if err != nil {
				t.Fatal(err)
			}
			// The comparison matches these names by similarity.
			stack := strings.Replace(l[:cut], "Cache<unsigned long>", "Cache<int>", 1)
			fs := strings.Split(stack, ";")
			for k := range fs {
				at := strings.Join(fs[:k+1], ";")
				x := sums[i][at]
				if x[1], x[2] = x[1]+w, x[2]+1; k == len(fs)-1 {
					x[0] += w
				}
				sums[i][at] = x
			}
		}
	}
	s.ShowPanel("calltree")
	if c.Tab != "calltree" {
		t.Fatalf("the tab is %s", c.Tab)
	}
	g := s.Grid()
	var stack []string
	seen := map[string]bool{}
	for _, r := range g.Rows {
		depth, _ := strconv.Atoi(r[0])
		stack = append(slices.Clone(stack[:depth-1]), r[1])
		at := strings.Join(stack, ";")
		seen[at] = true
		a, b := sums[0][at], sums[1][at]
		want := []int{a[0], b[0], b[0] - a[0], a[1], b[1], b[1] - a[1]}
		for i, n := range want {
			if got := r[3+i]; got != strconv.Itoa(n) {
				t.Errorf("%s: %s is %s, want %d", at, g.Head[3+i], got, n)
			}
		}
		if r[12] != strconv.Itoa(a[2]) || r[13] != strconv.Itoa(b[2]) || r[14] != strconv.Itoa(b[2]-a[2]) {
			t.Errorf("%s is in %s and %s lines, want %d and %d", at, r[12], r[13], a[2], b[2])
		}
	}
	for side := range sums {
		for at := range sums[side] {
			if !seen[at] {
				t.Errorf("%s is not listed", at)
			}
		}
	}
	x := panel.Find[*calltree.OfTwo](c.Deck.All)
	var router input.Router
	var ops op.Ops
	frame := func() {
		ops.Reset()
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1600, 800))})
		router.Frame(&ops)
	}
	frame()
	all := len(x.Listed()) // the outermost call is open because it has no siblings
	for i, want := range []int{all, 1, all, all} {
		k := []key.Name{key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow, key.NameDownArrow}[i]
		if !x.Key(&c.Comparison, key.Event{Name: k}, 24) {
			t.Errorf("%s does nothing", k)
		}
		if frame(); len(x.Listed()) != want {
			t.Errorf("%s lists %d rows, want %d", k, len(x.Listed()), want)
		}
	}
	if all < 3 || c.Node <= 0 || c.Chosen == nil || c.Answer().Shape.Nodes[c.Node].Depth != 2 {
		t.Errorf("of %d rows, node %d is marked", all, c.Node)
	}
}
