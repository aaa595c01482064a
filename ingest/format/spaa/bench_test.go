package spaa

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// synthetic returns a recording with n records of the given kind, all dictionaries, and a
// call tree of some ten thousand calls on 8 threads. If sorted is true, keys are in
// alphabetical order, as in files of the reference converters.
func synthetic(kind string, n int, sorted bool) string {
	r := rand.New(rand.NewPCG(7, 9))
	var s strings.Builder
	s.WriteString(`{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period","sample_period":100000}}],"time_range":{"start":12345.0,"end":12405.0,"unit":"seconds"},"stack_id_mode":"content_addressable"}` + "\n")
	const dsos, frames, threads, nodes = 12, 3000, 8, 30000
	for i := range dsos {
		fmt.Fprintf(&s, `{"type":"dso","id":%d,"name":"/usr/lib/lib%d.so","is_kernel":%v}`+"\n", i, i, i == 0)
	}
	for i := range frames {
		fmt.Fprintf(&s, `{"type":"frame","id":%d,"func":"ns::module_%d::function_%d","dso":%d,"ip":"0x%x","srcline":"src/file_%d.rs:%d","kind":"user"}`+"\n",
			i, i%40, i/3, i%dsos, 0x400000+i*16, i%100, 1+i%700)
	}
	for i := range threads {
		fmt.Fprintf(&s, `{"type":"thread","pid":4242,"tid":%d,"comm":"worker %d"}`+"\n", 4242+i, i)
	}
	parent, frame, depth := make([]int, nodes), make([]int, nodes), make([]int, nodes)
	for i := 1; i < nodes; i++ {
		p := r.IntN(i)
		if q := max(0, i-1-r.IntN(40)); depth[q] < 60 {
			p = q // make the tree deep rather than wide
		}
		parent[i], frame[i], depth[i] = p, r.IntN(frames), depth[p]+1
	}
	frameList := func(node int) string {
		var f []byte
		for ; node != 0; node = parent[node] {
			if len(f) > 0 {
				f = append(f, ',')
			}
			f = fmt.Append(f, frame[node])
		}
		return string(f)
	}
	stack := func(node, tid, weight int) {
		id := uint64(node) * 0x9E3779B97F4A7C15
		if sorted {
			fmt.Fprintf(&s, `{"context":{"comm":"worker","event":"cycles","pid":4242,"tid":%d},"exclusive":{"frame":%d,"weights":[{"metric":"period","unit":"events","value":%d}]},"frames":[%s],"id":"0x%016x","stack_type":"unified","type":"stack","weights":[{"metric":"samples","value":%d},{"metric":"period","unit":"events","value":%d}]}`+"\n",
				tid, frame[node], weight*1000, frameList(node), id, weight, weight*1000)
			return
		}
		fmt.Fprintf(&s, `{"type":"stack","id":"0x%016x","frames":[%s],"stack_type":"unified","context":{"event":"cycles","pid":4242,"tid":%d,"comm":"worker"},"weights":[{"metric":"samples","value":%d},{"metric":"period","value":%d,"unit":"events"}],"exclusive":{"frame":%d,"weights":[{"metric":"period","value":%d,"unit":"events"}]}}`+"\n",
			id, frameList(node), tid, weight, weight*1000, frame[node], weight*1000)
	}
	sample := func(i, node, tid int) {
		at := 12345 + 60*float64(i)/float64(n)
		id := uint64(node) * 0x9E3779B97F4A7C15
		if sorted {
			fmt.Fprintf(&s, `{"context":{},"cpu":%d,"event":"cycles","period":%d,"pid":4242,"stack_id":"0x%016x","tid":%d,"timestamp":%.6f,"type":"sample"}`+"\n", tid%4, 100000, id, tid, at)
			return
		}
		fmt.Fprintf(&s, `{"type":"sample","timestamp":%.6f,"pid":4242,"tid":%d,"cpu":%d,"event":"cycles","period":%d,"stack_id":"0x%016x"}`+"\n", at, tid, tid%4, 100000, id)
	}
	if kind == "samples" {
		for node := 1; node < nodes; node++ {
			stack(node, 4242+node%threads, 1+r.IntN(100))
		}
	}
	for i := range n {
		node := 1 + r.IntN(nodes-1)
		switch kind {
		case "stacks":
			stack(node, 4242+r.IntN(threads), 1+r.IntN(100))
		case "samples":
			sample(i, node, 4242+node%threads)
		}
	}
	return s.String()
}

func BenchmarkDecode(b *testing.B) {
	for _, kind := range []string{"samples", "stacks"} {
		for _, order := range []string{"spec", "sorted"} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/%d", kind, order, workers), func(b *testing.B) {
					n := 1_000_000
					if kind == "stacks" {
						n = 300_000
					}
					data := []byte(synthetic(kind, n, order == "sorted"))
					b.SetBytes(int64(len(data)))
					b.ReportAllocs()
					b.ResetTimer()
					for b.Loop() {
						in := source.FromBytes("x.spaa", data)
						rb := recording.NewBuilder()
						if err := Decode(context.Background(), in, rb, decode.Options{Workers: workers}); err != nil {
							b.Fatal(err)
						}
						if rec := rb.Snapshot(); rec.Counts.Stacks == 0 || len(rec.Warnings) > 0 {
							b.Fatal(codes(rec))
						}
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
				})
			}
		}
	}
}
