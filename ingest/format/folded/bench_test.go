package folded

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// synthetic returns the folded stacks of a program with a few thousand functions: n lines
// of about 370 bytes, in random order.
func synthetic(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var names []string
	for i := range 4000 {
		names = append(names, fmt.Sprintf("pkg%d.(*Type%d).Method%d", i%60, i%300, i))
	}
	var out bytes.Buffer
	for range n {
		f := 0
		depth := 8 + rng.IntN(16)
		for d := range depth {
			if d > 0 {
				out.WriteByte(';')
			}
			out.WriteString(names[f])
			f = (f*7 + 1 + rng.IntN(3)) % len(names)
		}
		fmt.Fprintf(&out, " %d\n", 1+rng.IntN(500))
	}
	return out.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	content := synthetic(300_000)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		in := source.FromBytes("bench", content)
		if err := Decode(context.Background(), in, recording.NewBuilder(), decode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(300_000*float64(b.N)/b.Elapsed().Seconds(), "stacks/s")
}
