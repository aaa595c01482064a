package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/testdata/twins"
)

// twinDocs opens a generated pair of recordings.
func twinDocs(t *testing.T, notify func()) (a, b *Side) {
	t.Helper()
	dir := t.TempDir()
	docs := [2]*Side{}
	for i, name := range []string{"before.json", "after.json"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, twins.Trace(i == 1), 0o644); err != nil {
			t.Fatal(err)
		}
		docs[i] = Open(path, notify)
		t.Cleanup(docs[i].Close)
	}
	return docs[0], docs[1]
}

// ask repeats a question, as a window does in each frame, until holds is true for the answer.
func ask(t *testing.T, c *Comparing, docs [2]*Side, q CompareQuestion, holds func(*CompareAnswer) bool) *CompareAnswer {
	t.Helper()
	for range 6000 {
		c.Ask(q, [2]*recording.Recording{docs[0].Recording(), docs[1].Recording()})
		if a := c.Answer(); a != nil && holds(a) {
			return a
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no answer; the last is %+v", c.Answer())
	return nil
}

// TestComparing asks a series of questions and checks that results that still apply are
// reused.
func TestComparing(t *testing.T) {
	a, b := twinDocs(t, func() {})
	told := make(chan struct{}, 1000)
	docs := [2]*Side{a, b}
	c := Compare(func() { told <- struct{}{} })
	defer c.Close()
	whole := func(x *CompareAnswer) bool { return x.Recs[0].Done && x.Recs[1].Done && x.ConfidencesDone }
	q := CompareQuestion{Width: compare.WidthLarger}
	first := ask(t, c, docs, q, whole)
	if first.Err != nil || first.Functions == nil || len(first.Nodes) != len(first.Shape.Nodes) || first.Method != compare.FromDurations {
		t.Fatalf("the answer is %+v", first)
	}
	if len(told) == 0 {
		t.Error("nobody was told")
	}

	q.Width = compare.WidthA
	second := ask(t, c, docs, q, func(x *CompareAnswer) bool { return x.Width == compare.WidthA && x.ConfidencesDone })
	if second.Compared != first.Compared || second.Functions != first.Functions || second.Shape == first.Shape {
		t.Error("other widths made another comparison")
	}
	q.By, q.Of = compare.ByThread, &recording.FuncName{Name: "parse"}
	third := ask(t, c, docs, q, func(x *CompareAnswer) bool { return x.By == compare.ByThread && x.ConfidencesDone && x.Dist != nil })
	if third.Compared != first.Compared || third.Table == first.Table || third.Dist.A.N != twins.Frames || third.Dist.B.N != twins.Frames {
		t.Errorf("threads and a distribution: %+v", third.Dist)
	}
	q.Normalize = compare.Total
	fourth := ask(t, c, docs, q, func(x *CompareAnswer) bool { return x.Normalize == compare.Total && x.ConfidencesDone })
	if fourth.Compared == first.Compared || fourth.Compared.Matching != first.Compared.Matching || fourth.A.Total != fourth.B.Total {
		t.Error("another normalisation did not make another comparison with the same pairs")
	}

	// A question that cannot be answered gives an error and does not affect the next one.
	q.Metric = "no such metric"
	if x := ask(t, c, docs, q, func(x *CompareAnswer) bool { return x.Metric == q.Metric }); x.Err == nil {
		t.Error("a metric that neither has was compared")
	}
	q.Metric = "count"
	if x := ask(t, c, docs, q, func(x *CompareAnswer) bool { return x.Metric == q.Metric }); x.Err != nil || x.Compared.Metric.Common.Name != "count" {
		t.Errorf("comparing counts: %v", x.Err)
	}
}

// Again opens another side on the same loading.
func (d *Side) Again(notify func()) *Side {
	again := newSide(d.Name, notify)
	l := d.load.Load()
	again.load.Store(l)
	l.mu.Lock()
	l.looks = append(l.looks, again)
	l.mu.Unlock()
	return again
}

// TestAgain opens two sides on one recording, asks each a different question, and closes one
// after the other.
func TestAgain(t *testing.T) {
	a, _ := twinDocs(t, func() {})
	again := a.Again(func() {})
	if err := again.Wait(); err != nil {
		t.Fatal(err)
	}
	if again.Recording() != a.Recording() {
		t.Error("the second look is at another recording")
	}
	q := Question{}
	q.Scope = recording.Between(0, 5e9)
	if err := again.Finish(q); err != nil {
		t.Fatal(err)
	}
	if err := a.Finish(Question{}); err != nil {
		t.Fatal(err)
	}
	if x, y := a.Answer().Tree.Nodes[0].Total, again.Answer().Tree.Nodes[0].Total; y <= 0 || y >= x {
		t.Errorf("the whole takes %d, a part of it %d", x, y)
	}
	again.Close()
	if err := a.Finish(Question{}); err != nil || a.Recording().Counts.Spans == 0 {
		t.Errorf("after the second look was closed: %v", err)
	}
}
