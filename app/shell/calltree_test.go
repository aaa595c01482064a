package shell

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"gioui.org/io/key"

	"ashlar/app/panel"
	"ashlar/app/panel/calltree"
)

// The call tree's numbers are those of the folded file, summed line by line; keys
// unfold it.
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
