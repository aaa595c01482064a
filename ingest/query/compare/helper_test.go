package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/samples"
)

// program builds recordings of an invented program.
type program struct {
	b      *recording.Builder
	r      *rand.Rand
	frames map[string]recording.FrameID
}

func newProgram(seed uint64) *program {
	return &program{b: recording.NewBuilder(), r: rand.New(rand.NewPCG(seed, 7)), frames: map[string]recording.FrameID{}}
}

// stack interns a stack of functions written name@module.
func (p *program) stack(names ...string) recording.CallID {
	ids := make([]recording.FrameID, len(names))
	for i, n := range names {
		ids[i] = p.frame(n)
	}
	return p.b.Stack(ids)
}

func (p *program) frame(n string) recording.FrameID {
	id, ok := p.frames[n]
	if !ok {
		f := recording.Function{Name: n}
		for i := range n {
			if n[i] == '@' && i > 0 {
				f.Name, f.Module = n[:i], n[i+1:]
				break
			}
		}
		f.File = f.Module + ".c"
		id = p.b.FunctionFrame(p.b.Function(f))
		p.frames[n] = id
	}
	return id
}

// Functions of random recordings. Some have other names in B.
var (
	poolA = []string{"main@app", "f@app", "f@lib", "g@/old/lib", "v<int>::push@app", "h.constprop.0@app", "only_a@lib", "r::h0123456789abcdef@app", "m.run.func1@app"}
	poolB = []string{"main@app", "f@app", "f@lib2", "g@/new/lib", "v<long>::push@app", "h@app", "only_b@lib", "r::hfedcba9876543210@app", "m.run.func2@app"}
)

// random makes a recording with spans, stack records and threads.
func random(seed uint64, pool []string) *recording.Recording {
	p := newProgram(seed)
	p.b.Source().Path = fmt.Sprintf("random-%d", seed)
	p.b.AddEvent(recording.SpanEvent())
	p.b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne},
		{Name: "period", Unit: "events", PerSample: recording.SampleColumn},
		{Name: "time", Unit: []string{"us", "ns"}[seed%2], Decimals: int(seed % 3)},
	}})
	var tracks []*recording.TrackBuilder
	for i := range 4 {
		t := p.b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
		t.SetName([]string{"main", "worker 1", "worker 2", ""}[i])
		tracks = append(tracks, t)
	}
	for _, t := range tracks {
		at, depth := int64(p.r.IntN(100)), 0
		for range p.r.IntN(200) {
			at += int64(p.r.IntN(500))
			if depth > 0 && p.r.IntN(2) == 0 {
				t.End(at)
				depth--
			} else {
				t.Begin(at, p.frame(pool[p.r.IntN(len(pool))]), 0)
				depth++
			}
		}
	}
	for range p.r.IntN(200) {
		var names []string
		for range p.r.IntN(7) {
			names = append(names, pool[p.r.IntN(len(pool))])
		}
		n := int64(1 + p.r.IntN(5))
		values := []int64{n, n * int64(1000+p.r.IntN(50)), int64(p.r.IntN(100000))}
		if p.r.IntN(9) == 0 {
			values[2] = recording.Missing
		}
		p.b.AddStack(1, p.stack(names...), p.r.IntN(5)-1, 0, values)
	}
	return p.b.Finish()
}

func sides(a, b *recording.Recording) (x, y []Input) { return []Input{{Rec: a}}, []Input{{Rec: b}} }

func mustCompare(t *testing.T, a, b *recording.Recording, o Options) *Comparison {
	t.Helper()
	x, y := sides(a, b)
	c, err := Compare(context.Background(), x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustTable(t *testing.T, c *Comparison, by By) *Table {
	t.Helper()
	table, err := c.Table(context.Background(), by, true)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// mustTables returns the tables in every grouping, with confidences if sure is set.
func mustTables(t *testing.T, c *Comparison, sure bool) map[By]*Table {
	t.Helper()
	out := map[By]*Table{}
	for _, by := range allBy {
		table, err := c.Table(context.Background(), by, sure)
		if err != nil {
			t.Fatal(err)
		}
		out[by] = table
	}
	return out
}

var allBy = []By{ByFunction, ByModule, ByFile, ByThread, ByStack}

// needSamples returns the smaller samples by name; it reads them only once.
func needSamples(t *testing.T) map[string]*recording.Recording {
	t.Helper()
	samples.Need(t)
	readOnce.Do(func() {
		for _, path := range samples.Small(1<<20, samples.Files(t)) {
			if rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{}); err == nil && len(rec.Events) > 0 {
				allRead[samples.Name(path)] = rec
			}
		}
	})
	return allRead
}

var (
	readOnce sync.Once
	allRead  = map[string]*recording.Recording{}
)

// naiveTable returns the table of one recording by function, without the row for missing
// stacks.
func naiveTable(t *testing.T, rec *recording.Recording, q analyze.Query) map[recording.FuncID]analyze.Row {
	t.Helper()
	w, err := analyze.Weigh(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	out := map[recording.FuncID]analyze.Row{}
	for _, r := range analyze.Table(rec, analyze.NewTree(rec, w), analyze.ByFunction) {
		if r.Name != "[no stack]" {
			out[r.Func] = r
		}
	}
	return out
}
