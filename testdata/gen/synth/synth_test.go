package synth

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
)

func generate(t *testing.T, o Options) ([]byte, *Summary) {
	t.Helper()
	var b bytes.Buffer
	sum, err := Write(&b, o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	if sum.Bytes != int64(b.Len()) {
		t.Errorf("%s: the summary says %d bytes, there are %d", o.Kind, sum.Bytes, b.Len())
	}
	return b.Bytes(), sum
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			o := Options{Kind: kind, Records: 3000, Threads: 5, Seed: 7}
			first, _ := generate(t, o)
			again, _ := generate(t, o)
			if sha256.Sum256(first) != sha256.Sum256(again) {
				t.Error("the same options gave other bytes")
			}
			o.Seed = 8
			if other, _ := generate(t, o); sha256.Sum256(first) == sha256.Sum256(other) {
				t.Error("another seed gave the same bytes")
			}
		})
	}
}

// TestAnotherRun checks that another run has other times but mostly the same functions.
func TestAnotherRun(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			o := Options{Kind: kind, Records: 30_000, Threads: 5, Seed: 7}
			var runs [2]*counted
			var data [2][]byte
			for i := range runs {
				o.Run = uint64(i)
				data[i], _ = generate(t, o)
				var err error
				if runs[i], err = readers[kind](data[i]); err != nil {
					t.Fatal(err)
				}
			}
			both := 0
			for f := range runs[0].functions {
				if runs[1].functions[f] {
					both++
				}
			}
			if n := len(runs[0].functions); bytes.Equal(data[0], data[1]) || both < n/2 {
				t.Errorf("%d of %d functions are in both runs, same bytes: %v", both, n, bytes.Equal(data[0], data[1]))
			}
		})
	}
}

// readers count the contents of a recording, independently of the generator.
var readers = map[string]func([]byte) (*counted, error){
	"spall0": readSpallFlat,
	"spall1": readSpallFlat,
	"spall3": readSpall3,
	"chrome": readChrome,
	"spaa":   readSPAA,
	"folded": readFolded,
	"pprof":  readPprof,

	"perfetto": readPerfetto,
}

// counted holds the counts of a reader, named as in Summary.
type counted struct {
	records, spans, samples, stacks, windows int64
	start, end, spanTime, rootTime           int64
	weights                                  map[string]int64 // by "event/metric"
	windowWeight                             int64
	functions                                map[string]bool
	depth                                    int
	threadSpans, threadSamples               map[string]int64 // by "pid/tid", or name
}

func newCounted() *counted {
	return &counted{
		weights: map[string]int64{}, functions: map[string]bool{},
		threadSpans: map[string]int64{}, threadSamples: map[string]int64{},
	}
}

func (c *counted) at(t int64) {
	if c.start == 0 || t < c.start {
		c.start = t
	}
	c.end = max(c.end, t)
}

func TestSummaryAgreesWithFile(t *testing.T) {
	for _, kind := range Kinds() {
		for _, o := range []Options{
			{Kind: kind, Records: 1, Threads: 1, Seed: 3},
			{Kind: kind, Records: 8_000, Seed: 1},
			{Kind: kind, Records: 9_001, Threads: 16, Seed: 2},
			{Kind: kind, Bytes: 900_000, Threads: 8, Seed: 4},
		} {
			t.Run(fmt.Sprintf("%s/%d records/%d bytes", kind, o.Records, o.Bytes), func(t *testing.T) {
				b, sum := generate(t, o)
				got, err := readers[kind](b)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, sum, got)
			})
		}
	}
}

// The summary of every shape agrees with the recording.
func TestShapes(t *testing.T) {
	records := int64(8000)
	if testing.Short() { // with the race detector
		records = 3000
	}
	for _, kind := range Kinds() {
		for _, shape := range Shapes(kind) {
			b, sum := generate(t, Options{Kind: kind, Shape: shape, Records: records, Seed: 5})
			got, err := readers[kind](b)
			if err != nil {
				t.Fatalf("%s %s: %v", kind, shape, err)
			}
			compare(t, sum, got)
			if ShapeIs(kind, shape) == "" && len(Shapes(kind)) > 1 {
				t.Errorf("shape %q of %s says nothing of itself", shape, kind)
			}
		}
	}
	for _, o := range []Options{{Kind: "chrome", Shape: "square"}, {Kind: "spall1", Shape: "args"}} {
		if _, err := Write(discard{}, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func compare(t *testing.T, sum *Summary, got *counted) {
	t.Helper()
	for _, row := range []struct {
		what       string
		told, read int64
	}{
		{"records", sum.Records, got.records},
		{"spans", sum.Spans, got.spans},
		{"samples", sum.Samples, got.samples},
		{"stacks", sum.Stacks, got.stacks},
		{"windows", sum.Windows, got.windows},
		{"start", sum.Start, got.start},
		{"end", sum.End, got.end},
		{"duration", sum.Duration, got.end - got.start},
		{"span time", sum.SpanTime, got.spanTime},
		{"root time", sum.RootTime, got.rootTime},
		{"window weight", sum.WindowWeight, got.windowWeight},
		{"functions", int64(sum.Functions), int64(len(got.functions))},
		{"depth", int64(sum.MaxDepth), int64(got.depth)},
	} {
		if row.told != row.read {
			t.Errorf("%s: the summary says %d, the file has %d", row.what, row.told, row.read)
		}
	}
	if len(sum.Weights) < len(got.weights) {
		t.Errorf("the summary has %d weights, the file %d: %v", len(sum.Weights), len(got.weights), got.weights)
	}
	for _, w := range sum.Weights {
		if is := got.weights[w.Event+"/"+w.Metric]; is != w.Total {
			t.Errorf("%s/%s: the summary says %d, the file has %d", w.Event, w.Metric, w.Total, is)
		}
	}
	for _, th := range sum.Threads {
		id := fmt.Sprintf("%d/%d", th.PID, th.TID)
		if is := got.threadSpans[id]; is != th.Spans {
			t.Errorf("thread %s: the summary says %d spans, the file has %d", id, th.Spans, is)
		}
		if is := got.threadSamples[id] + got.threadSamples[th.Name]; is != th.Samples {
			t.Errorf("thread %s: the summary says %d samples, the file has %d", th.Name, th.Samples, is)
		}
	}
}

func TestSizeAskedFor(t *testing.T) {
	for _, o := range []Options{
		{Kind: "spall0", Bytes: 5_000_000},
		{Kind: "spall1", Bytes: 5_000_000},
		{Kind: "spall3", Bytes: 5_000_000},
		{Kind: "chrome", Bytes: 10_000_000},
		{Kind: "perfetto", Bytes: 20_000_000},
		{Kind: "spaa", Bytes: 15_000_000},
		{Kind: "folded", Bytes: 15_000_000},
	} {
		if _, sum := generate(t, o); sum.Bytes < o.Bytes*90/100 || sum.Bytes > o.Bytes*110/100 {
			t.Errorf("%s: asked for %d bytes, got %d", o.Kind, o.Bytes, sum.Bytes)
		}
	}
	for _, kind := range []string{"spall0", "spall1", "spall3", "chrome"} {
		if _, sum := generate(t, Options{Kind: kind, Records: 50_000}); sum.Records > 50_000 || sum.Records < 49_998 {
			t.Errorf("%s: asked for 50000 records, got %d", kind, sum.Records)
		}
	}
	// This is more than the default program's call paths on this thread.
	if _, sum := generate(t, Options{Kind: "folded", Records: 15_001, Threads: 1}); sum.Stacks != 15_001 {
		t.Errorf("folded: asked for 15001 stacks, got %d", sum.Stacks)
	}
	if _, sum := generate(t, Options{Kind: "pprof", Records: 7001}); sum.Stacks != 7001 {
		t.Errorf("pprof: asked for 7001 stacks, got %d", sum.Stacks)
	}
	if _, sum := generate(t, Options{Kind: "spaa", Records: 12_345}); sum.Samples != 12_345 {
		t.Errorf("spaa: asked for 12345 samples, got %d", sum.Samples)
	}
}

// The recordings are similar enough to real ones to be worth measuring.
func TestShapeIsRealistic(t *testing.T) {
	_, sum := generate(t, Options{Kind: "spall1", Records: 1_000_000})
	if sum.Paths < 10_000 || sum.Functions < 1500 || sum.MaxDepth < 20 {
		t.Errorf("%d paths of %d functions, %d deep: a real program has more", sum.Paths, sum.Functions, sum.MaxDepth)
	}
	if deep := float64(sum.SpanTime) / float64(sum.RootTime); deep < 4 || deep > 15 {
		t.Errorf("there are %.1f spans open at a time", deep)
	}
	wall := sum.Duration * int64(len(sum.Threads))
	if busy := float64(sum.RootTime) / float64(wall); busy < 0.2 || busy > 0.95 {
		t.Errorf("threads are busy for %.2f of the time", busy)
	}
	for _, th := range sum.Threads {
		if th.Spans < 2000 {
			t.Errorf("thread %s has only %d spans", th.Name, th.Spans)
		}
	}
}

func TestProgramIsSound(t *testing.T) {
	p := newProgram(5, 12, 20_000)
	names := map[string]bool{}
	for _, f := range p.funcs {
		if names[f.name] {
			t.Errorf("two functions are called %s", f.name)
		}
		names[f.name] = true
	}
	for i := range p.calls {
		c := &p.calls[i]
		if c.parent >= 0 && int(c.parent) >= i {
			t.Fatalf("call %d comes before its parent %d", i, c.parent)
		}
		kids := p.kids[c.kids : c.kids+c.nkid]
		funcs := map[uint32]bool{}
		for _, k := range kids {
			if p.calls[k].parent != int32(i) || p.calls[k].depth != c.depth+1 || p.calls[k].role != c.role {
				t.Fatalf("call %d is not a child of %d as it should be", k, i)
			}
			if funcs[p.calls[k].fn] {
				t.Fatalf("call %d calls %s along two paths", i, p.name(k))
			}
			funcs[p.calls[k].fn] = true
		}
	}
	tids := map[int]bool{}
	for _, th := range p.threads {
		if tids[th.tid] {
			t.Errorf("two threads are numbered %d", th.tid)
		}
		tids[th.tid] = true
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{Kind: "spall2"}, {},
		{Kind: "spall1", Records: -1}, {Kind: "spall1", Bytes: -1},
		{Kind: "spall1", Threads: -1}, {Kind: "spall1", Threads: maxThreads + 1},
	} {
		var b bytes.Buffer
		if _, err := Write(&b, o); err == nil || b.Len() > 0 {
			t.Errorf("%+v: no error, or something was written", o)
		}
	}
}

type fullDisk struct{ left int }

var errFull = errors.New("the disk is full")

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrorIsReported(t *testing.T) {
	for _, kind := range Kinds() {
		if _, err := Write(&fullDisk{left: 1000}, Options{Kind: kind, Records: 5000}); !errors.Is(err, errFull) {
			t.Errorf("%s: the error is %v", kind, err)
		}
	}
}

func TestKindsAreSorted(t *testing.T) {
	if k := Kinds(); !slices.IsSorted(k) || len(k) != len(readers) {
		t.Errorf("kinds are %v", k)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, kind := range Kinds() {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sum, err := Write(discard{}, Options{Kind: kind, Records: 200_000})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(sum.Bytes)
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
