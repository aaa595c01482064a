package relation

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestRead compares rows read in batches with rows read one by one, in random stretches.
func TestRead(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	b.SetArgs(func(ref uint64) string { return fmt.Sprint("n=", ref) })
	b.SetCPU(func(ref uint64) (int64, bool) { return int64(ref), ref%2 == 0 })
	var all []*naiveSpan
	for tid := range int64(3) {
		track := b.Track(recording.TrackKey{PID: 1, TID: tid + 1})
		nest(r, b, track, &all, nil, 1, 0, 3000*(tid+1))
		for i := range uint64(1500) {
			at := 100_000 + int64(i)*10
			track.Begin(at, b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint("g", i%9)})), i%4*uint64(tid))
			track.End(at + int64(i%10))
		}
		track.Begin(200_000, b.FunctionFrame(b.Function(recording.Function{Name: "open"})), 0)
	}
	c := b.AddCounter(0, "memory", "rss", "bytes")
	b.CounterPoint(c, 10, 1.5)
	b.Warn("odd", "line 3", "it is odd")
	set := New(b.Finish())
	compared := 0
	for _, table := range Tables {
		rows, single := set.Open(table), set.Open(table)
		for range 40 {
			from := r.Int64N(rows.Len() + 1)
			n := int(r.Int64N(min(2000, rows.Len()-from) + 1))
			columns := r.Perm(len(table.Columns))[:1+r.IntN(len(table.Columns))]
			batches := make([]Batch, len(columns))
			for k, c := range columns {
				batches[k] = table.NewBatch(c, n)
			}
			rows.Read(from, n, columns, batches)
			for k, c := range columns {
				for i := range n {
					single.Move(from + int64(i))
					want := single.Value(c)
					got := Value{Type: table.Columns[c].Type}
					switch b := &batches[k]; {
					case b.Null != nil && b.Null[i]:
						got.Null = true
					case b.Text != nil:
						got.Text = b.Text(b.Ints[i])
					case b.Texts != nil:
						got.Text = b.Texts[i]
					case b.Reals != nil:
						got.Real = b.Reals[i]
					default:
						got.Int = b.Ints[i]
					}
					if want.Null {
						want = Value{Type: got.Type, Null: true}
					}
					if got != want {
						t.Fatalf("%s.%s of row %d is %+v, one by one %+v", table.Name, table.Columns[c].Name, from+int64(i), got, want)
					}
					compared++
				}
			}
		}
	}
	if compared < 100_000 {
		t.Errorf("only %d values were compared", compared)
	}
}
