package pprof

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// synthetic returns a CPU profile with n samples of 10 to 40 frames, half of them with
// labels.
func synthetic(n int) *profile.Profile {
	rng := rand.New(rand.NewPCG(3, 4))
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x4000000, File: "/usr/bin/server"}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		Mapping: []*profile.Mapping{m},
	}
	for i := range 5000 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("pkg%d.(*Type%d).Method%d", i%70, i%500, i), Filename: fmt.Sprintf("/src/pkg%d/file%d.go", i%70, i%9)}
		p.Function = append(p.Function, f)
		for k := range 4 {
			l := &profile.Location{ID: uint64(4*i + k + 1), Mapping: m, Address: uint64(0x400000 + 256*i + 16*k), Line: []profile.Line{{Function: f, Line: int64(10*k + 1)}}}
			p.Location = append(p.Location, l)
		}
	}
	for i := range n {
		at := 0
		stack := make([]*profile.Location, 10+rng.IntN(31))
		for d := len(stack) - 1; d >= 0; d-- {
			stack[d] = p.Location[at]
			at = (at*5 + 4*rng.IntN(3) + 4) % len(p.Location)
		}
		s := &profile.Sample{Location: stack, Value: []int64{1, 10_000_000}}
		if i%2 == 0 {
			s.Label = map[string][]string{"request": {fmt.Sprint("kind ", i%20)}}
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func content(b *testing.B, n int) []byte {
	out := raw(b, synthetic(n))
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestSpeed)
	w.Write(out)
	w.Close()
	b.ReportMetric(float64(z.Len())/1e6, "MB-gzip")
	b.SetBytes(int64(len(out)))
	return out
}

const benchSamples = 200_000

// BenchmarkDecode measures decoding to a recording. For comparison, BenchmarkLibrary
// measures only parsing by pprof's library.
func BenchmarkDecode(b *testing.B) {
	out := content(b, benchSamples)
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(context.Background(), source.FromBytes("x", out), recording.NewBuilder(), decode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchSamples*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}

func BenchmarkLibrary(b *testing.B) {
	out := content(b, benchSamples)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.ParseUncompressed(out); err != nil {
			b.Fatal(err)
		}
	}
}
