package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/rounds"
)

// costs returns the self weight and count of each stack, by its function names, for a
// query.
func costs(t *testing.T, r *recording.Recording, q analyze.Query) map[string][2]int64 {
	t.Helper()
	w, err := analyze.Weigh(context.Background(), r, q)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][2]int64{}
	for c := range w.Self {
		if w.Self[c] == 0 && w.Count[c] == 0 {
			continue
		}
		var names []string
		for _, p := range r.Calls.Path(nil, recording.CallID(c)) {
			names = append(names, r.FuncName(p))
		}
		key := strings.Join(names, ";")
		all[key] = [2]int64{all[key][0] + w.Self[c], all[key][1] + w.Count[c]}
	}
	return all
}

// A part of a recording gives exactly the answers that the whole recording gives for that
// part, and takes less memory.
func TestPart(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	for name, content := range made(t, 10_000) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		whole, _, err := ReadAll(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !whole.HasTime || len(whole.Tracks) < 3 {
			continue // profiles have no time or few tracks
		}
		d := whole.Duration()
		track := len(whole.Tracks) / 2
		tid := fmt.Sprint(whole.Tracks[track].TID)
		for _, p := range []recording.Part{
			{Range: recording.Offsets(d/3, d/2)},
			{Range: recording.Range{From: d / 2, HasFrom: true}},
			{Range: recording.Range{To: d / 4, HasTo: true}},
			{Threads: []string{tid}},
			{Range: recording.Offsets(d/3, d/2), Threads: []string{tid}},
		} {
			part, _, err := ReadAll(context.Background(), path, Options{Part: p})
			if err != nil {
				t.Fatal(err)
			}
			q := analyze.Query{Scope: recording.Scope{Ranged: p.HasFrom || p.HasTo, From: whole.Start, To: whole.End}}
			if p.HasFrom {
				q.Scope.From += p.From
			}
			if p.HasTo {
				q.Scope.To = whole.Start + p.To
			}
			got := costs(t, part, q)
			if p.Threads != nil {
				q.Scope.Tracks = []int{track}
			}
			want := costs(t, whole, q)
			if len(want) == 0 || len(got) != len(want) {
				t.Errorf("%s, %s: %d stacks, want %d", name, p.String(), len(got), len(want))
			}
			for stack, v := range want {
				if got[stack] != v {
					t.Errorf("%s, %s: %s costs %v, want %v", name, p.String(), stack, got[stack], v)
					break
				}
			}
			a, b := part.Counts, whole.Counts
			if part.Start != whole.Start || part.End != whole.End || a.Spans+a.Samples >= b.Spans+b.Samples || warning(part, "part") == "" {
				t.Errorf("%s, %s: %d..%d of %d..%d, %+v of %+v", name, p.String(), part.Start, part.End, whole.Start, whole.End, a, b)
			}
			if own := spansOf(part); own != a.Spans {
				t.Errorf("%s, %s: %d spans on tracks, %d counted", name, p.String(), own, a.Spans)
			}
		}
	}
}

func spansOf(r *recording.Recording) (n int64) {
	for _, t := range r.Tracks {
		n += int64(t.Spans())
	}
	return n
}

// A thread can be selected by a part of its name, even if its name comes late in the file.
func TestPartByName(t *testing.T) {
	const trace = `[
{"name":"a","ph":"X","ts":1,"dur":5,"pid":1,"tid":10},
{"name":"b","ph":"X","ts":2,"dur":5,"pid":1,"tid":11},
{"name":"c","ph":"X","ts":3,"dur":5,"pid":1,"tid":12},
{"name":"i","ph":"i","ts":3,"pid":1,"tid":10},
{"name":"thread_name","ph":"M","pid":1,"tid":10,"args":{"name":"main"}},
{"name":"thread_name","ph":"M","pid":1,"tid":11,"args":{"name":"worker 1"}},
{"name":"d","ph":"X","ts":30,"dur":5,"pid":1,"tid":10},
{"name":"e","ph":"X","ts":31,"dur":5,"pid":1,"tid":11}]`
	r, _, err := ReadAll(context.Background(), write(t, "x.json", []byte(trace)), Options{Part: recording.Part{Threads: []string{"work"}}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tr := range r.Tracks {
		for i := range tr.Lanes {
			for k := range tr.Lanes[i].Len() {
				names = append(names, r.FuncName(tr.Lanes[i].Call(k)))
			}
		}
	}
	if fmt.Sprint(names) != "[b e]" || r.Counts.Spans != 2 || r.Counts.Instants != 0 || r.Events[0].Metrics[recording.SpanTime].Total != 10e6 {
		t.Errorf("%v %+v %+v", names, r.Counts, r.Events[0].Metrics)
	}
}
