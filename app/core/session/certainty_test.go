package session

import (
	"context"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/testdata/rounds"
)

// manySpans returns a recording with n pairs of nested spans, enough for a slow search.
func manySpans(n int, slow int64) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	tr := b.Track(recording.TrackKey{PID: 1, TID: 1})
	outer, inner := b.FunctionFrame(b.Function(recording.Function{Name: "outer"})), b.FunctionFrame(b.Function(recording.Function{Name: "inner"}))
	at := int64(0)
	for i := range n {
		tr.Begin(at, outer, 0)
		tr.Begin(at+1, inner, 0)
		tr.End(at + 100 + slow*int64(i%7))
		tr.End(at + 200)
		at += 200
	}
	return b.Finish()
}

// TestClicksLeaveCertainty asks for many details while confidences are computed. The
// computation must neither restart nor be lost.
func TestClicksLeaveCertainty(t *testing.T) {
	spans := 2_000_000
	if testing.Short() {
		spans = rounds.Size(400_000, 60_000)
	}
	a, b := Of("a", manySpans(spans, 1), func() {}), Of("b", manySpans(spans, 2), func() {})
	defer a.Close()
	defer b.Close()
	docs, recs := [2]*Side{a, b}, [2]*recording.Recording{a.Recording(), b.Recording()}
	c := Compare(func() {})
	defer c.Close()
	begun, find := make(chan struct{}), c.ascertain
	c.confidences.asks.do = func(ctx context.Context, a *CompareAnswer) time.Duration {
		select {
		case <-begun: // wait for an answer without confidences
		case <-ctx.Done():
		}
		return find(ctx, a)
	}
	names := []*recording.FuncName{nil, {Name: "outer"}, {Name: "inner"}}
	var q CompareQuestion
	first := ask(t, c, docs, q, func(a *CompareAnswer) bool { return a.Err == nil })
	if first.ConfidencesDone {
		t.Fatal("what has not been looked for is known")
	}
	close(begun)
	c.confidences.mu.Lock()
	looked := c.confidences.of
	c.confidences.mu.Unlock()
	for i := 0; ; i++ {
		q.Of = names[i%len(names)]
		q.Call = &compare.Occurrence{Span: i % 1000}
		c.Ask(q, recs)
		time.Sleep(time.Millisecond)
		if a := c.Answer(); a.Compared != first.Compared {
			t.Fatal("a click made another comparison")
		} else if a.ConfidencesDone {
			break
		}
		c.confidences.mu.Lock()
		now := c.confidences.of
		c.confidences.mu.Unlock()
		if looked != nil && now != looked {
			t.Fatal("a click ended the search for confidences")
		}
		looked = now
		if i > 20_000 {
			t.Fatal("the confidences never come")
		}
	}
	// The last click is answered, too. Another normalization changes the numbers, so it needs a
	// new comparison.
	last := ask(t, c, docs, q, func(a *CompareAnswer) bool { return a.Twin != nil && a.Twin.Span == q.Call.Span && a.ConfidencesDone })
	if first := last.Functions.Rows[0]; !last.Functions.Judged || first.Self == nil {
		t.Errorf("%s has no confidence", first.Name)
	}
	q.Normalize = compare.Total
	if a := ask(t, c, docs, q, func(a *CompareAnswer) bool { return a.Normalize == compare.Total && a.ConfidencesDone }); a.Compared == first.Compared {
		t.Error("other numbers are the same comparison")
	}
}
