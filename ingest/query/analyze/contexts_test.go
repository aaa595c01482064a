package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// contextRun is a recording of stacks with random contexts, and the path, attributes and
// value of each record.
type contextRun struct {
	rec   *recording.Recording
	paths []string
	attrs []map[string]string
	value []int64
}

func newContextRun(rng *rand.Rand) *contextRun {
	r := &contextRun{}
	b := recording.NewBuilder()
	ev := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "count"}}})
	for range 200 {
		call, path := recording.NoCall, ""
		for range rng.IntN(5) {
			name := string(rune('a' + rng.IntN(3)))
			call = b.Call(call, b.FunctionFrame(b.Function(recording.Function{Name: name})))
			path += ";" + name
		}
		set := map[string]string{}
		if rng.IntN(3) > 0 {
			set["execname"] = fmt.Sprint("x", rng.IntN(3))
		}
		if rng.IntN(2) > 0 {
			set["probe.provider"], set["probe.function"] = "syscall", fmt.Sprint("f", rng.IntN(2))
			set["probe.module"], set["probe.name"] = "", "entry"
		}
		var attrs []recording.Attr
		for k, v := range set {
			attrs = append(attrs, recording.Attr{Key: k, Value: v})
		}
		v := rng.Int64N(100)
		b.AddStack(ev, call, recording.NoTrack, b.Context(attrs), []int64{v})
		if set["probe.provider"] != "" {
			set["probe"] = "syscall::" + set["probe.function"] + ":entry"
		}
		r.paths, r.attrs, r.value = append(r.paths, path), append(r.attrs, set), append(r.value, v)
	}
	r.rec = b.Finish()
	return r
}

// count returns the weight and number of records, by KEY=VALUE, of the records whose path
// satisfies keep.
func (r *contextRun) count(keep func(path string) bool) map[string][2]int64 {
	out := map[string][2]int64{}
	for i, attrs := range r.attrs {
		if keep(r.paths[i]) {
			for k, v := range attrs {
				n := out[k+"="+v]
				out[k+"="+v] = [2]int64{n[0] + r.value[i], n[1] + 1}
			}
		}
	}
	return out
}

func flat(keys []KeyValues) map[string][2]int64 {
	out := map[string][2]int64{}
	for _, k := range keys {
		for _, v := range k.Values {
			out[k.Key+"="+v.Value] = [2]int64{v.Weight, v.Count}
		}
	}
	return out
}

func TestContextsOfNodes(t *testing.T) {
	ctx := context.Background()
	r := newContextRun(rand.New(rand.NewPCG(5, 6)))
	w, err := Weigh(ctx, r.rec, Query{})
	if err != nil {
		t.Fatal(err)
	}
	reverse := func(s string) string {
		parts := strings.Split(strings.TrimPrefix(s, ";"), ";")
		out := ""
		for i := len(parts) - 1; i >= 0; i-- {
			out += ";" + parts[i]
		}
		return out
	}
	for _, inverted := range []bool{false, true} {
		tree := NewTree(r.rec, w)
		if inverted {
			tree = NewTree(r.rec, w, Transform{Op: OpInvert})
		}
		for node := range tree.Nodes {
			prefix := ""
			for _, n := range tree.Path(node) {
				prefix += ";" + tree.Function(r.rec, n).Name
			}
			got, err := ContextsOf(ctx, r.rec, Query{}, tree.Within(r.rec, node))
			if err != nil {
				t.Fatal(err)
			}
			want := r.count(func(path string) bool {
				if inverted {
					path = reverse(path)
				}
				return strings.HasPrefix(path+";", prefix+";")
			})
			if !reflect.DeepEqual(flat(got), want) {
				t.Fatalf("inverted %v, %s: got %v, want %v", inverted, prefix, flat(got), want)
			}
		}
	}
	all := r.count(func(string) bool { return true })
	for k, v := range flat(AllContexts(r.rec)) {
		if v[1] != all[k][1] {
			t.Errorf("%s: %d records, want %d", k, v[1], all[k][1])
		}
	}
	rows, err := ByContext(ctx, r.rec, Query{}, "probe")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, row := range rows {
		if want, ok := all["probe="+row.Name]; ok {
			named++
			if want != [2]int64{row.Self, row.Count} {
				t.Errorf("by probe: %s has %d in %d, want %v", row.Name, row.Self, row.Count, want)
			}
		}
	}
	if named != 2 {
		t.Errorf("by probe: %d probes, want 2: %v", named, rows)
	}
}
