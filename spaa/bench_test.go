package spaa

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchLines returns lines as real writers produce them, with keys sorted or in the order
// of the spec's examples.
func benchLines(kind string, sorted bool) []string {
	r := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for range 2000 {
		var s string
		switch kind {
		case "stack":
			n := 4 + r.IntN(60)
			var f strings.Builder
			leaf := r.IntN(30000)
			fmt.Fprint(&f, leaf)
			for range n {
				fmt.Fprintf(&f, ",%d", r.IntN(30000))
			}
			id, period, tid := r.Uint64(), r.IntN(1e9), 4000+r.IntN(16)
			if sorted {
				s = fmt.Sprintf(`{"context":{"comm":"worker","event":"cycles","pid":4242,"tid":%d},"exclusive":{"frame":%d,"weights":[{"metric":"period","unit":"events","value":%d}]},"frames":[%s],"id":"0x%016x","stack_type":"unified","type":"stack","weights":[{"metric":"samples","value":%d},{"metric":"period","unit":"events","value":%d}]}`,
					tid, leaf, period, f.String(), id, r.IntN(1000), period)
			} else {
				s = fmt.Sprintf(`{"type":"stack","id":"0x%016x","frames":[%s],"stack_type":"unified","context":{"event":"cycles","pid":4242,"tid":%d,"comm":"worker"},"weights":[{"metric":"samples","value":%d},{"metric":"period","value":%d,"unit":"events"}],"exclusive":{"frame":%d,"weights":[{"metric":"period","value":%d,"unit":"events"}]}}`,
					id, f.String(), tid, r.IntN(1000), period, leaf, period)
			}
		case "sample":
			id, period, tid := r.Uint64(), r.IntN(1e9), 4000+r.IntN(16)
			if sorted {
				s = fmt.Sprintf(`{"context":{},"cpu":%d,"event":"cycles","period":%d,"pid":4242,"stack_id":"0x%016x","tid":%d,"timestamp":%d.%06d,"type":"sample"}`,
					r.IntN(64), period, id, tid, 12345+r.IntN(60), r.IntN(1e6))
			} else {
				s = fmt.Sprintf(`{"type":"sample","timestamp":%d.%06d,"pid":4242,"tid":%d,"cpu":%d,"event":"cycles","period":%d,"stack_id":"0x%016x","context":{}}`,
					12345+r.IntN(60), r.IntN(1e6), tid, r.IntN(64), period, id)
			}
		case "frame":
			s = fmt.Sprintf(`{"dso":%d,"func":"mycrate::parse::parse_file_%d","func_resolved":true,"id":%d,"inlined":false,"ip":"0xffffffff%08x","kind":"user","srcline":"src/parse.rs:%d","symoff":"0x1b7","type":"frame"}`,
				r.IntN(30), r.IntN(3000), r.IntN(30000), r.Uint32(), r.IntN(2000))
		}
		lines = append(lines, s+"\n")
	}
	return lines
}

func BenchmarkParse(b *testing.B) {
	for _, kind := range []string{"stack", "sample", "frame"} {
		for _, order := range []string{"sorted", "spec"} {
			lines := benchLines(kind, order == "sorted")
			b.Run(kind+"/"+order, func(b *testing.B) {
				var size int64
				for _, l := range lines {
					size += int64(len(l))
				}
				b.SetBytes(size)
				b.ReportAllocs()
				var p Parser
				for b.Loop() {
					for _, line := range lines {
						if _, err := p.Parse(line); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/line")
			})
		}
	}
}

// benchText returns a whole file with 2,000 stacks and 2,000 samples.
func benchText() []byte {
	var b strings.Builder
	b.WriteString(like(1) + "\n" + like(2) + "\n")
	for i := range 30000 {
		fmt.Fprintf(&b, "{\"type\":\"frame\",\"id\":%d,\"func\":\"f%d\",\"dso\":12,\"kind\":\"user\"}\n", i, i)
	}
	for _, kind := range []string{"stack", "sample"} {
		for _, l := range benchLines(kind, true) {
			b.WriteString(l)
		}
	}
	return []byte(b.String())
}

func BenchmarkReader(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if n := len(readAll(b, text)); n != 34002 {
			b.Fatal(n)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Validate(bytes.NewReader(text), ValidateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	text := benchText()
	recs := readAll(b, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard)
		for _, r := range recs {
			if err := w.Write(r); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkContentID(b *testing.B) {
	frames := make([]FrameIdentity, 40)
	for i := range frames {
		frames[i] = FrameIdentity{fmt.Sprintf("mycrate::module::function_%d", i), "/usr/bin/myapp", "abcd1234567890abcdef", "0x54"}
	}
	b.ReportAllocs()
	for b.Loop() {
		ContentID(frames)
	}
}
