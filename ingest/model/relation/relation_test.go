package relation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// naiveSpan is a span as it was added to the recording.
type naiveSpan struct {
	track, depth     int
	start, end, self int64
	name             string
	parent           *naiveSpan
}

// nest adds random nested spans from..to, some of no length.
func nest(r *rand.Rand, b *recording.Builder, t *recording.TrackBuilder, all *[]*naiveSpan, parent *naiveSpan, depth int, from, to int64) {
	for at := from; at < to && len(*all) < 4000; {
		start := at + r.Int64N(3)
		end := min(to, start+r.Int64N(1+(to-from)/2))
		if start > end {
			return
		}
		s := &naiveSpan{track: t.Index(), depth: depth, start: start, end: end, self: end - start, name: fmt.Sprintf("f%d", r.IntN(5)), parent: parent}
		*all = append(*all, s)
		if parent != nil {
			parent.self -= end - start
		}
		frame := b.FunctionFrame(b.Function(recording.Function{Name: s.name}))
		t.Begin(start, frame, 0)
		if depth < 6 && r.IntN(3) > 0 {
			nest(r, b, t, all, s, depth+1, start, end)
		}
		t.End(end)
		at = end + r.Int64N(2)
	}
}

func TestSpans(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		var all []*naiveSpan
		for tid := range int64(3) {
			nest(r, b, b.Track(recording.TrackKey{PID: 1, TID: tid + 1}), &all, nil, 1, tid*10, 4000)
		}
		rec := b.Finish()
		set := New(rec)
		rows := set.Open(spansTable)
		if rows.Len() != int64(len(all)) {
			t.Fatalf("seed %d: %d rows for %d spans", seed, rows.Len(), len(all))
		}
		get := func(name string) Value { return rows.Value(spansTable.Column(name)) }
		line := func(track, depth int, start, end, self int64, name, parent string) string {
			return fmt.Sprintf("%d %d %d..%d self %d %s in %s", track, depth, start, end, self, name, parent)
		}
		var want, got []string
		for _, s := range all {
			parent := "-"
			if p := s.parent; p != nil {
				parent = within(p.start-rec.Start, p.end-rec.Start, p.name, s.start == s.end)
			}
			want = append(want, line(s.track, s.depth, s.start-rec.Start, s.end-rec.Start, s.self, s.name, parent))
		}
		order := make([]int64, rows.Len())
		for i := range order {
			order[i] = int64(i)
		}
		if seed%2 == 1 { // read in any order
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, i := range order {
			rows.Move(i)
			if id := get("span_id").Int; id != i {
				t.Fatalf("row %d has the ID %d", i, id)
			}
			parent, p := "-", get("parent_id")
			track, depth, start, end, self, name := get("thread_id").Int, get("depth").Int, get("start_ps").Int, get("end_ps").Int, get("self_ps").Int, get("function").Text
			if get("duration_ps").Int != end-start {
				t.Errorf("row %d: wrong duration", i)
			}
			if !p.Null {
				other := set.Open(spansTable)
				other.Move(p.Int)
				parent = within(other.Value(spansTable.Column("start_ps")).Int, other.Value(spansTable.Column("end_ps")).Int, other.Value(spansTable.Column("function")).Text, start == end)
			}
			got = append(got, line(int(track), int(depth), start, end, self, name, parent))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			for i := range want {
				if want[i] != got[i] {
					t.Fatalf("seed %d: got %s, want %s", seed, got[i], want[i])
				}
			}
		}
	}
}

// within describes the span around another. For a span of no length it is the name only:
// at the common edge of two equal calls, either may be the caller.
func within(start, end int64, name string, edge bool) string {
	if edge {
		return name
	}
	return fmt.Sprintf("%d..%d %s", start, end, name)
}

// TestDescriptions checks that the description of each table fits its rows.
func TestDescriptions(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range Tables {
		if seen[x.Name] || x.Doc == "" || Named(x.Name) != x {
			t.Errorf("table %s", x.Name)
		}
		seen[x.Name] = true
		for _, name := range x.Sorted {
			if x.Column(name) < 0 {
				t.Errorf("%s is sorted by %s, which it lacks", x.Name, name)
			}
		}
		columns := map[string]bool{Partition: true}
		for _, c := range x.Columns {
			if columns[c.Name] || c.Doc == "" {
				t.Errorf("%s.%s: twice or without a description", x.Name, c.Name)
			}
			columns[c.Name] = true
			var table, column string
			if n, _ := fmt.Sscanf(c.Doc, "refers to %s", &table); n == 1 {
				for i, r := range table {
					if r == '.' {
						table, column = table[:i], table[i+1:]
						break
					}
				}
				for len(column) > 0 && (column[len(column)-1] < 'a' || column[len(column)-1] > 'z') {
					column = column[:len(column)-1]
				}
				if to := Named(table); to == nil || to.Column(column) < 0 {
					t.Errorf("%s.%s refers to %s.%s", x.Name, c.Name, table, column)
				}
			}
		}
	}
}
