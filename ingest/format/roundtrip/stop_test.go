package roundtrip

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/extract"
	"ashlar/ingest/query/spans"
	"ashlar/render/timeline"
)

// overflowing returns recordings with non-negative values whose sum overflows: nested and
// loose spans, stacks, samples and windows.
func overflowing() map[string]string {
	files := map[string]string{}
	var nested, loose strings.Builder
	const days = 53 * 86400 * 1e6 // µs
	for tid := range 12 {
		for i := range 3 {
			fmt.Fprintf(&nested, `{"ph":"X","pid":1,"tid":%d,"name":"f%d","ts":%d,"dur":%.0f},`, tid, i, i, days-float64(i))
			fmt.Fprintf(&loose, `{"ph":"X","pid":1,"tid":%d,"name":"f","ts":%d,"dur":%.0f},`, tid, i, days)
		}
	}
	files["nested.json"] = "[" + nested.String() + "{}]"
	files["loose.json"] = "[" + loose.String() + "{}]"
	spaa := `{"type":"header","format":"spaa","version":"1.0","source_tool":"t","frame_order":"leaf_to_root","stack_id_mode":"local","time_range":{"start":0,"end":20,"unit":"seconds"},"events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}}]}
{"type":"frame","id":1,"func":"main","kind":"user","srcline":"m.c:7"}
{"type":"frame","id":2,"func":"work","kind":"user","srcline":"m.c:9"}
`
	var stacks, samples, windows strings.Builder
	for i := range 4 {
		fmt.Fprintf(&stacks, `{"type":"stack","id":"s%d","frames":[2,1],"context":{"event":"cycles","tid":%d,"pid":1},"weights":[{"metric":"period","value":9000000000000000000}]}`+"\n", i, i%2)
		fmt.Fprintf(&samples, `{"type":"sample","timestamp":%d.5,"stack_id":"s%d","event":"cycles","tid":%d,"pid":1,"period":9000000000000000000}`+"\n", i, i, i%2)
		fmt.Fprintf(&windows, `{"type":"window","id":"w%d","start":%d,"end":%d,"unit":"seconds","by_stack":[{"stack_id":"s0","weights":[{"metric":"period","value":9000000000000000000}]},{"stack_id":"s1","weights":[{"metric":"period","value":9000000000000000000}]}]}`+"\n", i, i*2, i*2+2)
	}
	files["stacks.spaa"] = spaa + stacks.String()
	files["samples.spaa"] = spaa + stacks.String() + samples.String()
	files["windows.spaa"] = spaa + stacks.String() + windows.String()
	files["jeprof.heap"] = "heap_v2/1\n  t*: 4: 40 [0: 0]\n" + strings.Repeat("@ 0x100 0x200\n  t*: 9000000000000000000: 9000000000000000000 [0: 0]\n  t0: 9000000000000000000: 9000000000000000000 [0: 0]\n", 3)
	return files
}

// TestSumsStop checks that a sum that overflows stops at the largest value in every
// analysis and format: it is never negative, nor less than a summand.
func TestSumsStop(t *testing.T) {
	ctx := context.Background()
	for name, text := range overflowing() {
		rec := decoded(t, name, []byte(text))
		if rec == nil {
			t.Fatalf("%s is refused", name)
		}
		said := false
		for _, w := range rec.Warnings {
			said = said || strings.Contains(w.Text, "exceeds 2^63 of its smallest unit") || strings.Contains(w.Text, "beyond ±(2^63 − 1)") || strings.Contains(w.Text, "exceeds 64 bits") || strings.Contains(w.Text, "exceed 64 bits and was left out")
		}
		if !said {
			t.Errorf("%s says nothing: %+v", name, rec.Warnings)
		}
		whole := recording.Scope{}
		scopes := []recording.Scope{whole}
		if rec.HasTime {
			scopes = append(scopes, recording.Between(rec.Start, rec.End), recording.Between(rec.Start+1, rec.End-1), recording.Between(rec.Start, rec.Start+10))
		}
		never := func(what string, values ...int64) {
			for _, v := range values {
				if v < 0 && v != recording.Missing {
					t.Errorf("%s: %s has %d", name, what, v)
				}
			}
		}
		for e := range rec.Events {
			for m := range rec.Events[e].Metrics {
				never("a metric", rec.Events[e].Metrics[m].Total)
				for i, in := range scopes {
					q := analyze.Query{Event: e, Metric: m, Scope: in}
					w, err := analyze.Weigh(ctx, rec, q)
					if err != nil {
						t.Fatal(err)
					}
					if m == 0 && i < 3 && w.Sum < 9e18 && (w.Ranged || i == 0) {
						t.Errorf("%s: the sum of %+v is %d", name, in, w.Sum)
					}
					never("a weight", append(w.Self, w.Sum, -w.Negative())...)
					for _, ts := range [][]analyze.Transform{nil, {analyze.Transform{Op: analyze.OpInvert}}, {analyze.ByTime()}, {analyze.Transform{Op: analyze.OpMergeByModule}}} {
						tree := analyze.NewTree(rec, w, ts...)
						for k := range tree.Nodes {
							never("a node", tree.Nodes[k].Self, tree.Nodes[k].Total, tree.Nodes[k].Gross)
						}
						for _, r := range analyze.Table(rec, tree, analyze.ByFunction) {
							never("a row", r.Self, r.Total)
						}
					}
					if rows, err := analyze.ByTrack(ctx, rec, q); err != nil {
						t.Fatal(err)
					} else {
						for _, r := range rows {
							never("a thread", r.Self, r.Total)
						}
					}
					for _, key := range analyze.ContextKeys(rec) {
						rows, _ := analyze.ByContext(ctx, rec, q, key)
						for _, r := range rows {
							never("a context", r.Self, r.Total)
						}
					}
					src := analyze.SourceOf(rec, w, "m.c")
					never("a file", src.Self, src.Total)
					for _, l := range src.Lines {
						never("a line", l.Self, l.Total)
					}
					if d, err := spans.DensityOf(ctx, rec, q, rec.Start, max(1, rec.Duration()/4), 5, nil); err == nil {
						never("the heatmap", append(d.Cells, d.Sum, d.Most)...)
					}
					if p, err := spans.PresenceOf(ctx, rec, q, []recording.FuncID{0}); err == nil {
						never("presence", p.Total, p.Self, p.OfWeight)
					}
					part, _, err := extract.Recording(ctx, rec, in, nil)
					if err != nil {
						t.Fatal(err)
					}
					for k := range part.Events {
						for _, x := range part.Events[k].Metrics {
							never("a part", x.Total)
						}
					}
				}
			}
		}
		for _, ws := range rec.Windows {
			for i := range ws.Windows {
				never("a window", timeline.WindowWeight(ws, i, 0))
			}
		}
		stats, err := spans.Stats(ctx, rec, whole)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stats {
			if a := s.Average(); a < s.Min || a > s.Max {
				t.Errorf("%s: the average %d is not between %d and %d", name, a, s.Min, s.Max)
			}
		}
		side := []compare.Input{{Rec: rec}}
		if _, err := compare.Compare(ctx, side, side, compare.Options{}); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s is compared: %v", name, err)
		}
		written(t, name, rec, never)
	}
}

// written writes a recording in every format, reads the files back, and checks their values
// with never.
func written(t *testing.T, name string, rec *recording.Recording, never func(string, ...int64)) {
	for i := range ingest.Formats {
		f := &ingest.Formats[i]
		if f.Encode == nil {
			continue
		}
		var out bytes.Buffer
		ext := "x" + f.Encode.Extensions[0]
		if _, err := f.Write(context.Background(), &out, ext, rec, encode.Options{}); err != nil {
			continue
		}
		again := decoded(t, ext, out.Bytes())
		if again == nil {
			t.Errorf("%s as %s is not read again: %.300s", name, ext, out.Bytes())
			continue
		}
		for e := range again.Events {
			for _, m := range again.Events[e].Metrics {
				never("written as "+ext, m.Total)
			}
			rows := again.Stacks[e]
			for k := 0; rows != nil && k < rows.Len(); k++ {
				for m := range again.Events[e].Metrics {
					never("a stack of "+ext, rows.Value(k, m))
				}
			}
		}
	}
}

// TestDeepStacks checks that spans so deep that writing out their stacks would fill a disk
// are rejected by formats with stacks, and written by formats with spans.
func TestDeepStacks(t *testing.T) {
	rec := decoded(t, "deep.json", []byte("["+strings.Repeat(`{"ph":"B","pid":1,"tid":1,"name":"f","ts":1},`, 70_000)+"{}]"))
	for i := range ingest.Formats {
		f := &ingest.Formats[i]
		if f.Encode == nil {
			continue
		}
		_, err := f.Write(context.Background(), io.Discard, "x"+f.Encode.Extensions[0], rec, encode.Options{})
		if spans := f.Name == "chrome" || f.Name == "spall" || f.Name == "ashlar"; spans != (err == nil) || !spans && !strings.Contains(err.Error(), "have 2450035000 frames in total") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestLongWindows checks that a recording of nearly the maximum length gets the requested
// number of windows, although the end of the last one overflows.
func TestLongWindows(t *testing.T) {
	const end = 9_200_000 // s
	text := overflowing()["samples.spaa"]
	text = strings.Replace(text, `"end":20,`, fmt.Sprintf(`"end":%d,`, end), 1) + fmt.Sprintf(`{"type":"sample","timestamp":%d,"stack_id":"s0","event":"cycles","tid":0,"pid":1,"period":1}`+"\n", end)
	rec := decoded(t, "long.spaa", []byte(text))
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	f, err := ingest.FormatFor("x.spaa")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(ctx, &out, "x.spaa", rec, encode.Options{Window: rec.Duration() / 3}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"type":"window"`); n < 3 || n > 4 {
		t.Errorf("%d windows: %.500s", n, out.String())
	}
}
