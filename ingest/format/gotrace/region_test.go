package gotrace

import (
	"bytes"
	"context"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// TestCrossingRegions checks that a region that ends before an inner one ends both, that the end
// of another goroutine's region is left out, with warnings that name them, and that reading
// continues.
func TestCrossingRegions(t *testing.T) {
	var out bytes.Buffer
	if trace.IsEnabled() {
		t.Fatal("another trace is being made")
	}
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	outer := trace.StartRegion(ctx, "outer")
	inner := trace.StartRegion(ctx, "inner")
	time.Sleep(time.Millisecond)
	outer.End()
	time.Sleep(time.Millisecond)
	inner.End()
	lent := trace.StartRegion(ctx, "lent")
	done := make(chan bool)
	go func() { // a misuse: another goroutine ends the region
		defer close(done)
		trace.WithRegion(ctx, "borrower", func() { time.Sleep(time.Millisecond); lent.End() })
	}()
	<-done
	trace.WithRegion(ctx, "later", func() { time.Sleep(time.Millisecond) })
	trace.Stop()
	rec, err := decodeBytes(t, out.Bytes(), 0)
	if err != nil {
		t.Fatal(err)
	}
	took := map[string]int64{}
	for _, track := range rec.Tracks {
		for row := range track.Lanes {
			for i := range track.Lanes[row].Len() {
				took[rec.FuncName(track.Lanes[row].Call(i))] += track.Lanes[row].Duration(i)
			}
		}
	}
	for _, name := range []string{"outer", "inner", "lent", "borrower", "later"} {
		if took[name] < 1e9 { // 1 ms
			t.Errorf("region %s takes %d ps", name, took[name])
		}
	}
	var texts []string
	for _, w := range rec.Warnings {
		if w.Code == "damaged" {
			t.Errorf("the trace is cut: %s", w.Text)
		}
		if w.Code == "crossing-regions" && w.Count == 1 && strings.Contains(w.Text, `"outer"`) && strings.Contains(w.Text, `"inner"`) ||
			w.Code == "unbegun-region" && w.Count == 1 && strings.Contains(w.Text, `"lent"`) && strings.Contains(w.Text, `"borrower"`) {
			texts = append(texts, w.Text)
		}
	}
	if len(texts) != 2 {
		t.Errorf("the warnings are %+v", rec.Warnings)
	}
}
