package chrome

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

// synthetic returns about n bytes of a trace like those of tracing libraries: one event per
// line, alternating threads, nested spans, a third of them with arguments. If pairs is
// true, spans are B and E, else X in order of start.
func synthetic(n int, pairs bool) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	names := make([]string, 400)
	for i := range names {
		names[i] = fmt.Sprintf("engine::subsystem_%d::Operation%d", i%17, i)
	}
	cats := []string{"render", "physics", "io,disk", "script"}
	var b bytes.Buffer
	b.WriteString("{\"traceEvents\":[\n")
	// Each function calls one of only three others, so stacks repeat as in real programs.
	type frame struct{ name, cat int }
	callee := func(f frame) frame {
		k := (f.name*7 + r.IntN(3) + 1) % len(names)
		return frame{k, k % len(cats)}
	}
	const threads = 8
	var stacks [threads][]frame
	ns := int64(1_000_000_000)
	first := true
	line := func(format string, args ...any) {
		if !first {
			b.WriteString(",\n")
		}
		first = false
		fmt.Fprintf(&b, format, args...)
	}
	for b.Len() < n {
		t := r.IntN(threads)
		for range 20 {
			ns += int64(r.IntN(3000)) + 1
			s := &stacks[t]
			if !pairs {
				f := callee(frame{name: r.IntN(len(names))})
				line(`{"name":"%s","cat":"%s","ph":"X","ts":%d.%03d,"dur":%d.%03d,"pid":4242,"tid":%d,"args":{%s}}`,
					names[f.name], cats[f.cat], ns/1000, ns%1000, r.IntN(5), r.IntN(1000), 100+t, someArgs(r))
				continue
			}
			if len(*s) > 0 && (len(*s) > 8 || r.IntN(2) == 0) {
				f := (*s)[len(*s)-1]
				*s = (*s)[:len(*s)-1]
				line(`{"name":"%s","cat":"%s","ph":"E","ts":%d.%03d,"pid":4242,"tid":%d}`, names[f.name], cats[f.cat], ns/1000, ns%1000, 100+t)
				continue
			}
			f := frame{name: t, cat: t % len(cats)}
			if len(*s) > 0 {
				f = callee((*s)[len(*s)-1])
			}
			*s = append(*s, f)
			line(`{"name":"%s","cat":"%s","ph":"B","ts":%d.%03d,"pid":4242,"tid":%d,"args":{%s}}`, names[f.name], cats[f.cat], ns/1000, ns%1000, 100+t, someArgs(r))
		}
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func someArgs(r *rand.Rand) string {
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf(`"frame":%d,"file":"src/world/chunk_%d.cc"`, r.IntN(1e6), r.IntN(100))
	}
	return ""
}

func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"BE", "X"} {
		data := synthetic(64<<20, kind == "BE")
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var spans int64
			for b.Loop() {
				rec := recording.NewBuilder()
				if err := run(context.Background(), source.FromBytes("bench", data), rec, decode.Options{}); err != nil {
					b.Fatal(err)
				}
				spans += rec.Finish().Counts.Spans
			}
			b.ReportMetric(float64(spans)/b.Elapsed().Seconds(), "spans/s")
		})
	}
}

// BenchmarkScan measures scanning alone, without the builder.
func BenchmarkScan(b *testing.B) {
	data := synthetic(64<<20, true)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	bt := new(batch)
	for b.Loop() {
		s := newScanner()
		for p := 0; p < len(data); {
			bt.events = bt.events[:0]
			end := min(p+chunkBytes, len(data))
			p += s.scan(data[p:end], int64(p), end == len(data), bt)
		}
	}
}
