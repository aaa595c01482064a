package shell

import "testing"

// TestSwapInPlace: A becomes B and B becomes A, with their totals.
func TestSwapInPlace(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	p.SelectRange(p.Rec.Start+60e6, p.Rec.Start+380e6)
	b.Run("Compare selection with rest")
	b.until("compared", func() bool { return p.ScopeComparison != nil && p.ScopeComparison.Answer() != nil })
	was, rest := p.Scope, *p.Against
	total := p.ScopeComparison.Answer().A.Total
	b.Run("Swap A and B")
	b.until("swapped", func() bool { a := p.ScopeComparison.Answer(); return a != nil && a.B.Total == total })
	if !p.Scope.Equal(rest) || !p.Against.Equal(was) {
		t.Errorf("A is %+v and B %+v, want %+v and %+v", p.Scope, p.Against, rest, was)
	}
}
