package verdict_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestRenamedWithChangedCallees checks that a renamed function is matched although its total
// changed, because a function that it calls became slower or is new.
func TestRenamedWithChangedCallees(t *testing.T) {
	stacks := func(draw string, blend int, more string) []byte {
		text := fmt.Sprintf("main;serve;%[1]s 20100\nmain;serve;%[1]s;blend %[2]d\nmain;serve;%[1]s;fill 10050\nmain;serve;hash 40000\nmain;serve;parse 15000\n", draw, blend)
		for i := range 20 {
			text += fmt.Sprintf("main;serve;parse;lib%d %d\n", i, 300+i)
			if more != "" {
				text += fmt.Sprintf("main;serve;%s;%s;lib%d %d\n", draw, more, i, 290+i)
			}
		}
		return []byte(text)
	}
	for _, c := range []struct {
		blend       int
		more, first string
	}{
		{50000, "", "blend +20\u2009000 ("},
		{30000, "Sprintf", "draw → paintAll total +"},
	} {
		a, b := input(t, "a.folded", stacks("draw", 30000, "")), input(t, "b.folded", stacks("paintAll", c.blend, c.more))
		got := said(t, a, b)
		first, _, _ := strings.Cut(got, " (")
		if !strings.Contains(first+" (", c.first) || !strings.Contains(got, "Matched as renamed: draw → paintAll (") {
			t.Errorf("%q, want %q first and the renamed function", got, c.first)
		}
	}
}
