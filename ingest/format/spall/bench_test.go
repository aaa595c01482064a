package spall

import (
	"bytes"
	"context"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/gen/synth"
)

func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"spall0", "spall1", "spall3"} {
		b.Run(kind, func(b *testing.B) {
			var w bytes.Buffer
			sum, err := synth.Write(&w, synth.Options{Kind: kind, Records: 2_000_000})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(w.Len()))
			b.ReportAllocs()
			for b.Loop() {
				rb := recording.NewBuilder()
				if err := decodeAll(context.Background(), source.FromBytes("x.spall", w.Bytes()), rb, decode.Options{}); err != nil {
					b.Fatal(err)
				}
				if n := rb.Finish().Counts.Spans; n != sum.Spans {
					b.Fatalf("%d spans of %d", n, sum.Spans)
				}
			}
			b.ReportMetric(float64(sum.Spans)*float64(b.N)/b.Elapsed().Seconds(), "spans/s")
		})
	}
}
