package shell

import (
	"strings"
	"testing"

	"ashlar/ingest/query/analyze"
)

// TestSwapInPlace checks that a swap exchanges A and B of a comparison in place, with
// their totals.
func TestSwapInPlace(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	p.SelectRange(p.Rec.Start+60e6, p.Rec.Start+200e6)
	b.Run("Compare selection with next window")
	b.until("compared", func() bool { return p.ScopeComparison != nil && p.ScopeComparison.Answer() != nil })
	was, next := p.Scope, *p.Against
	if next.From != was.To || next.To-next.From != was.To-was.From {
		t.Errorf("the next window of %+v is %+v", was, next)
	}
	total := p.ScopeComparison.Answer().A.RawTotal
	b.Run("Swap A and B")
	b.until("swapped", func() bool { a := p.ScopeComparison.Answer(); return a != nil && a.B.RawTotal == total })
	if !p.Scope.Equal(next) || !p.Against.Equal(was) {
		t.Errorf("A is %+v and B %+v, want %+v and %+v", p.Scope, p.Against, next, was)
	}
}

// TestSelectedAgainstRest compares the selection (B) with the rest of the recording (A).
// A swap exchanges the sides but keeps the selection, and the address holds both.
func TestSelectedAgainstRest(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	p.SelectRange(p.Rec.Start+60e6, p.Rec.Start+200e6)
	selected := p.Scope
	whole, err := analyze.Weigh(t.Context(), p.Rec, analyze.Query{})
	if err != nil {
		t.Fatal(err)
	}
	inside, err := analyze.Weigh(t.Context(), p.Rec, analyze.Query{Scope: selected})
	if err != nil {
		t.Fatal(err)
	}
	b.Run("Compare selection with rest")
	b.until("compared", func() bool { return p.ScopeComparison != nil && p.ScopeComparison.Answer() != nil })
	a := p.ScopeComparison.Answer()
	unit := int64(1) // scaled totals have more decimals
	for range a.Compared.Metric.Guard {
		unit *= 10
	}
	if a.B.RawTotal != unit*inside.Sum || a.A.RawTotal != unit*(whole.Sum-inside.Sum) || inside.Sum == 0 || a.A.RawTotal == 0 {
		t.Errorf("A is %d and B %d; the whole is %d and the selection %d", a.A.RawTotal, a.B.RawTotal, whole.Sum, inside.Sum)
	}
	if a.A.Length+a.B.Length != p.Rec.Duration() {
		t.Errorf("the sides are %d and %d long, the recording %d", a.A.Length, a.B.Length, p.Rec.Duration())
	}
	address := b.ViewState().String()
	rest := a.A.RawTotal
	b.Run("Swap A and B")
	b.until("swapped", func() bool { a := p.ScopeComparison.Answer(); return a != nil && a.B.RawTotal == rest })
	if !p.Scope.Equal(selected) {
		t.Errorf("after a swap %+v is selected, not %+v", p.Scope, selected)
	}
	b.Run("Swap A and B")
	if again := b.ViewState().String(); again != address {
		t.Errorf("swapped twice, the address is\n%s\nnot\n%s", again, address)
	}
	b.Open(address)
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	if a := b.Pane.ScopeComparison.Answer(); a.A.RawTotal != rest || !b.Pane.Scope.Equal(selected) {
		t.Errorf("reopened, A is %d of %+v", a.A.RawTotal, b.Pane.Scope)
	}
}

// TestSetAsSides sets A and B one at a time, as ranges and threads.
func TestSetAsSides(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	at := func(us int64) int64 { return p.Rec.Start + us*1e6 }
	p.SelectRange(at(60), at(200))
	p.SetRangeAs(1, at(210), at(300))
	if p.Against == nil || p.Scope.From != at(60) || p.Against.From != at(210) {
		t.Fatalf("A is %+v, B %+v", p.Scope, p.Against)
	}
	p.SetRangeAs(0, at(10), at(50))
	p.SetTracksAs(1, []int{0})
	if p.Scope.From != at(10) || p.Scope.Tracks != nil || p.Against.From != at(210) || len(p.Against.Tracks) != 1 {
		t.Errorf("A is %+v, B %+v", p.Scope, p.Against)
	}
	p.Against, p.AgainstIsA = nil, false
	p.SelectRange(at(60), at(200))
	b.Run("Set selection as B")
	if !p.Scope.IsWhole() || p.Against == nil || p.Against.From != at(60) {
		t.Errorf("with only B set, A is %+v, B %+v", p.Scope, p.Against)
	}
	p.Against, p.AgainstIsA = nil, false
	p.SelectRange(at(10), at(50))
	b.Run("Set selection as A")
	p.SelectRange(at(60), at(200))
	b.Run("Set selection as B")
	if p.Scope.From != at(10) || p.Scope.To != at(50) || p.Against == nil || p.Against.From != at(60) {
		t.Errorf("with A set before B was selected, A is %+v, B %+v", p.Scope, p.Against)
	}
	b.settled()
	for _, letters := range []string{"AB", "BA"} {
		shapes := b.shapes()
		for i, length := range []string{"40.00 µs", "140.0 µs"} {
			if pill := letters[i:i+1] + "  " + length; !strings.Contains(shapes, ">"+pill+"<") {
				t.Errorf("no range on the ruler is named %q", pill)
			}
		}
		b.Run("Swap A and B")
		b.settled()
	}
}
