package synth

import (
	"math/rand/v2"
	"slices"

	"github.com/google/pprof/profile"
)

// A pprofBuilder makes a gzipped pprof CPU profile: a sample for each stack, in
// no order, with the thread as a label; inlined functions are in the location of
// the function that they were put into.
type pprofBuilder struct {
	prog      *program
	sum       *Summary
	profile   *profile.Profile
	functions []*profile.Function
	locations []*profile.Location // by call, which it is the innermost of
	up        []int32             // by call: the innermost call of the location that called it
	path      []*profile.Location
	seen      []bool
}

const (
	pprofPeriod      = 10_000_000 // ns of a sample
	pprofSampleBytes = 25         // about, in the file
	pprofStart       = 1_700_000_000_000_000_000
)

func writePprof(out *output, o Options) (*Summary, error) {
	want := min(o.Records, max(o.Bytes/pprofSampleBytes, 1))
	p := programWithStacks(o, want)
	b := &pprofBuilder{prog: p, sum: newSummary(p), seen: make([]bool, len(p.calls))}
	b.start()
	labels := make([]map[string][]string, len(p.threads))
	for i, t := range p.threads {
		labels[i] = map[string][]string{"thread": {t.name}}
	}
	total := int64(0)
	p.eachStack(o.chance(), want, func(s weighedStack) {
		b.profile.Sample = append(b.profile.Sample, &profile.Sample{
			Location: b.stack(s.call),
			Value:    []int64{s.count, s.count * pprofPeriod},
			Label:    labels[s.thread],
		})
		total += s.count
		b.sum.Threads[s.thread].Samples += s.count
	})
	samples := b.profile.Sample
	rand.New(rand.NewPCG(o.Seed, streamShuffle)).Shuffle(len(samples), func(i, j int) {
		samples[i], samples[j] = samples[j], samples[i]
	})
	b.sum.Samples = total
	b.sum.Records = int64(len(b.profile.Sample))
	b.sum.Stacks = b.sum.Records
	b.sum.Weights = []Weight{
		{Metric: "samples", Unit: "count", Total: total},
		{Metric: "cpu", Unit: "nanoseconds", Primary: true, Total: total * pprofPeriod},
	}
	b.sum.Start = pprofStart
	b.sum.End = pprofStart + total*pprofPeriod/int64(len(p.threads))
	b.profile.DurationNanos = b.sum.End - b.sum.Start
	b.sum.count(p, b.seen)
	return b.sum, b.profile.Write(out)
}

// start makes the profile and its mappings, functions and locations.
func (b *pprofBuilder) start() {
	b.profile = &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		DefaultSampleType: "cpu",
		PeriodType:        &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period:            pprofPeriod,
		TimeNanos:         pprofStart,
	}
	for i, m := range modules {
		b.profile.Mapping = append(b.profile.Mapping, &profile.Mapping{
			ID: uint64(i + 1), Start: m.base, Limit: m.base + 1<<24, File: m.name,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
		})
	}
	for i, f := range b.prog.funcs {
		b.functions = append(b.functions, &profile.Function{
			ID: uint64(i + 1), Name: f.name, SystemName: f.name, Filename: f.file, StartLine: int64(f.line),
		})
	}
	b.profile.Function = b.functions
	b.makeLocations()
}

// makeLocations gives each call the location that it is the innermost call of;
// calls with the same functions at the same address share one.
func (b *pprofBuilder) makeLocations() {
	frames := newFrameTable(b.prog)
	type key struct{ frame, outer uint32 } // the location of the call it is inlined in; 0 is none
	known := make(map[key]*profile.Location)
	b.locations = make([]*profile.Location, len(b.prog.calls))
	b.up = make([]int32, len(b.prog.calls))
	for i := range b.prog.calls {
		c := &b.prog.calls[i]
		k := key{frame: frames.of[i]}
		b.up[i] = c.parent
		var outer []profile.Line
		if c.inlined {
			within := b.locations[c.parent] // parents come before their children
			b.up[i] = b.up[c.parent]
			k.outer = uint32(within.ID)
			outer = within.Line
		}
		if known[k] == nil {
			f := &b.prog.funcs[c.fn]
			line := profile.Line{Function: b.functions[c.fn], Line: int64(f.line) + int64(c.site)*7}
			loc := &profile.Location{
				ID:      uint64(len(b.profile.Location) + 1),
				Mapping: b.profile.Mapping[f.module],
				Address: frames.list[k.frame].ip,
				Line:    append([]profile.Line{line}, outer...),
			}
			known[k] = loc
			b.profile.Location = append(b.profile.Location, loc)
		}
		b.locations[i] = known[k]
	}
}

// stack returns the locations of a call path, leaf first.
func (b *pprofBuilder) stack(call uint32) []*profile.Location {
	b.path = b.path[:0]
	for at := int32(call); at >= 0; at = b.up[at] {
		b.path = append(b.path, b.locations[at])
	}
	for at := int32(call); at >= 0; at = b.prog.calls[at].parent {
		b.seen[at] = true
	}
	b.sum.MaxDepth = max(b.sum.MaxDepth, int(b.prog.calls[call].depth)+1)
	return slices.Clone(b.path)
}
