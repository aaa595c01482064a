package synth

import (
	"bytes"
	"math/rand/v2"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"
)

// A pprofBuilder makes a gzipped pprof CPU profile: a sample for each stack, in no order,
// with the thread as a label. Inlined functions are part of the location of the function
// into which they were inlined.
//
// The library writes everything except the samples, because it would need objects a
// hundred times as large for them; samples are written one by one.
type pprofBuilder struct {
	prog      *program
	sum       *Summary
	profile   *profile.Profile
	functions []*profile.Function
	locations []*profile.Location // by call: the location whose innermost call it is
	up        []int32             // by call: the innermost call of the calling location
	path      []uint64            // ids of locations, leaf first
	calls     []uint32            // scratch memory of stack and see
	seen      []bool
	shape     string
}

// pprofStack is a sample to be written.
type pprofStack struct {
	call, count uint32
	thread      uint16
}

const (
	pprofPeriod      = 10_000_000 // ns of a sample
	pprofSampleBytes = 25         // approximate, in the file
	pprofStart       = 1_700_000_000_000_000_000
)

func writePprof(out *output, o Options) (*Summary, error) {
	want := min(o.Records, max(o.Bytes/pprofSampleBytes/int64(turns(o.Shape)), 1))
	p := programWithStacks(o, want)
	b := &pprofBuilder{prog: p, sum: newSummary(p), seen: make([]bool, len(p.calls)), shape: o.Shape}
	b.start()
	var samples []pprofStack
	total := int64(0)
	p.eachStack(o.chance(), want, func(s weighedStack) {
		samples = append(samples, pprofStack{s.call, uint32(s.count), uint16(s.thread)})
		b.see(s.call)
		total += s.count
		b.sum.Threads[s.thread].Samples += s.count
	})
	rand.New(rand.NewPCG(o.Seed, streamShuffle)).Shuffle(len(samples), func(i, j int) {
		samples[i], samples[j] = samples[j], samples[i]
	})
	b.sum.Samples = total
	b.sum.Records = int64(len(samples))
	b.sum.Stacks = b.sum.Records
	b.sum.Weights = []Weight{
		{Metric: "samples", Unit: "count", Total: total},
		{Metric: "cpu", Unit: "nanoseconds", Primary: true, Total: total * pprofPeriod},
	}
	b.sum.Start = pprofStart
	b.sum.End = pprofStart + total*pprofPeriod/int64(len(p.threads))
	b.profile.DurationNanos = b.sum.End - b.sum.Start
	b.sum.count(p, b.seen)
	return b.sum, b.write(out, samples)
}

// Fields of profile.proto.
const (
	profileSample      = 2
	profileStringTable = 6
	sampleLocationID   = 1
	sampleValue        = 2
	sampleLabel        = 3
	labelKey           = 1
	labelStr           = 2
	labelNum           = 3
)

func (b *pprofBuilder) write(out *output, samples []pprofStack) error {
	z := gzip.NewWriter(out)
	var rest bytes.Buffer
	if err := b.profile.WriteUncompressed(&rest); err != nil {
		return err
	}
	if _, err := z.Write(rest.Bytes()); err != nil {
		return err
	}
	// The strings of labels come after the strings that the library wrote.
	next := stringsIn(rest.Bytes())
	message := protowire.AppendString(protowire.AppendTag(nil, profileStringTable, protowire.BytesType), "thread")
	labels := make([][]byte, len(b.prog.threads))
	for i, t := range b.prog.threads {
		message = protowire.AppendString(protowire.AppendTag(message, profileStringTable, protowire.BytesType), t.name)
		labels[i] = appendNumber(appendNumber(nil, labelKey, next), labelStr, next+1+uint64(i))
	}
	for _, key := range labelKeys {
		message = protowire.AppendString(protowire.AppendTag(message, profileStringTable, protowire.BytesType), key)
	}
	var sample, packed []byte
	for i, s := range samples {
		packed = packed[:0]
		stack := b.stack(s.call)
		for range turns(b.shape) {
			for _, id := range stack {
				packed = protowire.AppendVarint(packed, id)
			}
		}
		sample = protowire.AppendBytes(protowire.AppendTag(sample[:0], sampleLocationID, protowire.BytesType), packed)
		packed = protowire.AppendVarint(protowire.AppendVarint(packed[:0], uint64(s.count)), uint64(s.count)*pprofPeriod)
		sample = protowire.AppendBytes(protowire.AppendTag(sample, sampleValue, protowire.BytesType), packed)
		sample = protowire.AppendBytes(protowire.AppendTag(sample, sampleLabel, protowire.BytesType), labels[s.thread])
		if b.shape == manyLabels {
			sample = appendLabels(sample, next+1+uint64(len(labels)), i)
		}
		message = protowire.AppendBytes(protowire.AppendTag(message, profileSample, protowire.BytesType), sample)
		if len(message) >= 1<<20 {
			if _, err := z.Write(message); err != nil {
				return err
			}
			message = message[:0]
		}
	}
	if _, err := z.Write(message); err != nil {
		return err
	}
	return z.Close()
}

// labelKeys lists the keys of the labels. The values are numbers, except that the last
// label's value is its own key as text.
var labelKeys = []string{"span id", "trace id", "bytes", "shard", "route"}

// appendLabels appends the labels of sample n; first is the string of their first key.
func appendLabels(sample []byte, first uint64, n int) []byte {
	mix := uint64(n) * 0x9E3779B97F4A7C15
	for i := range labelKeys {
		key := first + uint64(i)
		label := appendNumber(nil, labelKey, key)
		if i == len(labelKeys)-1 {
			label = appendNumber(label, labelStr, key)
		} else {
			label = appendNumber(label, labelNum, mix>>(15*i)&0x7fff+1)
		}
		sample = protowire.AppendBytes(protowire.AppendTag(sample, sampleLabel, protowire.BytesType), label)
	}
	return sample
}

func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

// stringsIn counts the strings of a profile's table.
func stringsIn(b []byte) (count uint64) {
	for len(b) > 0 {
		num, _, n := protowire.ConsumeField(b)
		if num == profileStringTable {
			count++
		}
		b = b[n:]
	}
	return count
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

// makeLocations gives each call a location of which it is the innermost call. Calls with
// the same functions at the same address share a location.
func (b *pprofBuilder) makeLocations() {
	frames := newFrameTable(b.prog)
	type key struct{ frame, outer uint32 } // outer is the location of the call it is inlined into, 0 for none
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
func (b *pprofBuilder) stack(call uint32) []uint64 {
	b.path = b.path[:0]
	if b.prog.wander != nil {
		b.calls = b.prog.path(b.calls[:0], call)
		for _, c := range b.calls {
			b.path = append(b.path, b.locations[c].ID)
		}
		return b.path
	}
	for at := int32(call); at >= 0; at = b.up[at] {
		b.path = append(b.path, b.locations[at].ID)
	}
	return b.path
}

// see notes that a call path is in the profile.
func (b *pprofBuilder) see(call uint32) {
	b.calls = b.prog.path(b.calls[:0], call)
	for _, c := range b.calls {
		b.seen[c] = true
	}
	b.sum.MaxDepth = max(b.sum.MaxDepth, turns(b.shape)*len(b.calls))
}
