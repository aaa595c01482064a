package roundtrip

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/spaa"
)

// load reads a recording from content.
func load(t testing.TB, name string, content []byte) *recording.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

func open(t testing.TB, path string) *recording.Recording {
	t.Helper()
	rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func target(t testing.TB, name string) *codec.Format {
	t.Helper()
	f, err := ingest.FormatFor(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// write converts a recording and returns the file, nil if the format holds nothing of it,
// and the report.
func write(t testing.TB, rec *recording.Recording, name string, opt encode.Options) ([]byte, *encode.Report) {
	t.Helper()
	var out bytes.Buffer
	rep, err := target(t, name).Write(context.Background(), &out, name, rec, opt)
	if err == encode.ErrNothing {
		return nil, rep
	}
	if err != nil {
		t.Fatalf("to %s: %v", name, err)
	}
	return out.Bytes(), rep
}

// rat returns a metric's value as a number.
func rat(v int64, m *recording.Metric) *big.Rat { return ratOf(big.NewInt(v), m) }

func ratOf(v *big.Int, m *recording.Metric) *big.Rat {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(m.Decimals)), nil)
	return new(big.Rat).SetFrac(v, scale)
}

// totals holds the self value of functions by name, and the total under "".
type totals map[string]*big.Rat

func (s totals) add(name string, v *big.Rat) {
	for _, n := range []string{name, ""} {
		if s[n] == nil {
			s[n] = new(big.Rat)
		}
		s[n].Add(s[n], v)
	}
}

func (s totals) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%q %s\n", k, s[k].RatString())
	}
	return b.String()
}

// selfByCall sums a metric of an event by call, naively, from records of any kind.
func selfByCall(rec *recording.Recording, event, metric int) []big.Int {
	own := make([]big.Int, rec.Calls.Len())
	var x big.Int
	add := func(c recording.CallID, v int64) { own[c].Add(&own[c], x.SetInt64(v)) }
	m := &rec.Events[event].Metrics[metric]
	for _, t := range rec.Tracks {
		switch rec.Events[event].Basis {
		case recording.FromSpans:
			for i := range t.Lanes {
				l := &t.Lanes[i]
				for k := range l.Len() {
					if metric == recording.SpanCount {
						add(l.Call(k), 1)
						continue
					}
					d := l.End(k) - l.Start(k)
					add(l.Call(k), d)
					if up := rec.Calls.Parent(l.Call(k)); up != recording.NoCall {
						add(up, -d)
					}
				}
			}
		case recording.FromStates:
			for i := range t.States.Len() {
				if c := t.States.Call(i); rec.State(c).Weighs(metric) {
					add(c, t.States.End(i)-t.States.Start(i))
				}
			}
		case recording.FromSamples:
			if s := t.SamplesOf(event); s != nil {
				for i := range s.Len() {
					if v := s.Value(i, m, metric); v != recording.Missing {
						add(s.Call(i), v)
					}
				}
			}
		}
	}
	if s := rec.Stacks[event]; rec.Events[event].Basis == recording.FromStacks && s != nil {
		for i := range s.Len() {
			if v := s.Value(i, metric); v != recording.Missing {
				add(s.Call(i), v)
			}
		}
	}
	return own
}

// selfOf sums a metric of an event by function.
func selfOf(rec *recording.Recording, event, metric int, rename func(*recording.Frame, *recording.Function) string) totals {
	out := totals{"": new(big.Rat)}
	own := selfByCall(rec, event, metric)
	for c := range own {
		if own[c].Sign() == 0 {
			continue
		}
		name := "[no stack]"
		if c := recording.CallID(c); c != recording.NoCall {
			f := rec.Frames.At(int(rec.Calls.Frame(c)))
			fn := rec.Functions.At(int(f.Func))
			name = rename(&f, &fn)
		}
		out.add(name, ratOf(&own[c], &rec.Events[event].Metrics[metric]))
	}
	maps.DeleteFunc(out, func(k string, v *big.Rat) bool { return k != "" && v.Sign() == 0 })
	return out
}

// plainName returns a function's name, or only the address if the name is derived from it.
func plainName(f *recording.Frame, fn *recording.Function) string {
	if i := strings.LastIndex(fn.Name, "0x"); fn.Unresolved && f.Addr != 0 && i >= 0 && fn.Name[i:] == encode.HexText(f.Addr) {
		return encode.HexText(f.Addr)
	}
	return fn.Name
}

// near reports whether sums are equal or, unless whole, whether their totals differ by at
// most half a unit, the limit for rounding.
func near(a, b totals, whole bool) bool {
	if whole {
		return a.String() == b.String()
	}
	// Functions may differ by more, since each of their rows is rounded.
	d := new(big.Rat).Sub(a[""], b[""])
	return d.Abs(d).Cmp(big.NewRat(1, 2)) <= 0
}

// checkSPAA fails the test if SPAA text is invalid.
func checkSPAA(t testing.TB, content []byte) spaa.Report {
	t.Helper()
	text, _, err := spaa.Decompress(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r, err := spaa.Validate(text, spaa.ValidateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Severity == spaa.Error {
			t.Errorf("the written SPAA breaks a rule: %v", f)
		}
	}
	return r
}
