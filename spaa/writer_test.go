package spaa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func testHeader() *Header {
	return &Header{
		Format: "spaa", Version: "1.0", SourceTool: "perf", FrameOrder: LeafToRoot, StackIDMode: ContentAddressable,
		Events: []Event{{Name: "cycles", Kind: "hardware", Sampling: Sampling{Mode: "period", PrimaryMetric: "period"}}},
	}
}

func TestWriterOrder(t *testing.T) {
	dso := &DSO{ID: 1, Name: "app"}
	frame := &Frame{ID: 1, Func: "f", DSO: 1, Kind: "user"}
	thread := &Thread{PID: 1, TID: 1}
	stack := &Stack{ID: StringID("0x1"), Frames: []int64{1}, Context: &Context{Event: "cycles", TID: Some[int64](1)}}
	sample := &Sample{StackID: StringID("0x1"), TID: Some[int64](1)}
	window := &Window{ByStack: []StackWeights{{StackID: StringID("0x2")}}}
	for _, c := range []struct {
		name string
		recs []Record
		says string // text of the error, "" for none
	}{
		{"legal", []Record{testHeader(), dso, frame, thread, sample, stack}, ""},
		{"unknown record", []Record{testHeader(), &Unknown{Type: "note"}}, ""},
		{"no header", []Record{dso}, "record 1 (dso): record out of order: the header must be written first"},
		{"two headers", []Record{testHeader(), testHeader()}, "record 2 (header): record out of order: this is a second header"},
		{"nothing", nil, "no header"},
		{"other format", []Record{&Header{Format: "heap-diff"}}, "heap-diff"},
		{"dso twice", []Record{testHeader(), dso, dso}, "dso 1 was written before"},
		{"frame twice", []Record{testHeader(), dso, frame, frame}, "frame 1 was written before"},
		{"thread twice", []Record{testHeader(), thread, thread}, "thread 1 was written before"},
		{"no dso", []Record{testHeader(), frame}, "frame 1 names dso 1"},
		{"no frame", []Record{testHeader(), dso, stack}, `stack "0x1" names frame 1`},
		{"thread late", []Record{testHeader(), dso, frame, stack, thread}, "thread 1 must be written before"},
		{"sample without stack", []Record{testHeader(), sample}, `record 2 refers to stack "0x1"`},
		{"window without stack", []Record{testHeader(), window}, `record 2 refers to stack "0x2"`},
		{"bad number", []Record{testHeader(), &Sample{Period: "0x10"}}, `period: "0x10" is not a JSON number`},
		{"bad extra", []Record{testHeader(), &Unknown{Type: "n", Fields: Extra{"k": json.RawMessage(`{"a"`)}}}, "k: the extra value"},
		{"known as unknown", []Record{testHeader(), &Unknown{Type: "stack"}}, "known type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			w := NewWriter(&b)
			var err error
			for _, r := range c.recs {
				if err = w.Write(r); err != nil {
					break
				}
			}
			if err == nil {
				err = w.Close()
			}
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "out of order") != errors.Is(err, ErrOrder) {
				t.Errorf("ErrOrder and %v", err)
			}
		})
	}
}

// A refused record leaves no trace.
func TestWriterGoesOn(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	for i, r := range []Record{&DSO{ID: 1}, testHeader(), &Frame{ID: 1, DSO: 1}, &DSO{ID: 1, Name: "a"}, &Sample{Period: "x", StackID: IntID(9)}, &Frame{ID: 1, DSO: 1, Func: "f"}} {
		if err := w.Write(r); (err != nil) != (i == 0 || i == 2 || i == 4) {
			t.Errorf("record %d: %v", i, err)
		}
	}
	if err := w.Close(); err != nil || strings.Count(b.String(), "\n") != 3 || w.Count() != 3 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterPassesErrorsOn(t *testing.T) {
	w := NewWriter(failingWriter{})
	_ = w.Write(testHeader()) // buffered
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Error(err)
	}
	if err := w.Write(&DSO{}); err == nil {
		t.Error("the error must stay")
	}
}

// The canonical form of the base file does not depend on the order of keys or on white
// space, and loses nothing.
func TestCanonical(t *testing.T) {
	canonical := string(writeAll(t, readAll(t, []byte(baseFile))))
	var shuffled strings.Builder
	for line := range strings.Lines(canonical) {
		var v any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.MarshalIndent(v, "", "\t") // sorts the keys and adds white space
		if err != nil {
			t.Fatal(err)
		}
		shuffled.WriteString(strings.ReplaceAll(string(sorted), "\n", " ") + "\r\n")
	}
	if got := string(writeAll(t, readAll(t, []byte(shuffled.String())))); got != canonical {
		t.Errorf("got\n%s\nwant\n%s", got, canonical)
	}
	base, got := strings.Split(baseFile, "\n"), strings.Split(canonical, "\n")
	for i := range base {
		if base[i] != "" && !sameJSON(t, []byte(base[i]), []byte(got[i])) {
			t.Errorf("line %d lost something:\n%s\n%s", i+1, base[i], got[i])
		}
	}
	// Keys are in the documented order.
	if !strings.HasPrefix(got[3], `{"type":"frame","id":201,"func":"check_bounds","dso":12,"ip":"0x401234","symoff":"0x54","srcline":"src/parse.rs:89","inlined":true,"inline_depth":2,"kind":"user"}`) {
		t.Error(got[3])
	}
}

// Odd but legal values survive a round trip: nulls, empty values, other types, unknown keys
// at every level.
func TestRoundTripOddities(t *testing.T) {
	for _, line := range []string{
		`{"type":"dso","id":1,"name":"","build_id":"","is_kernel":null,"z":{"b":1,"a":[1.50,"\u00e9"]}}`,
		`{"type":"frame","id":1,"func":null,"dso":-1,"ip":"","inline_depth":"2","kind":""}`,
		`{"type":"thread","pid":1,"tid":2,"comm":""}`,
		`{"type":"stack","id":"","frames":[],"stack_type":"","context":{},"weights":[],"related_stacks":[]}`,
		`{"type":"stack","frames":[1],"context":{"event":"","comm":"","probe":{"provider":"a","module":"","function":"","name":"n","x":1},"trace_fields":{"prev_pid":1234},"x_a":null},"weights":[{"metric":"m","value":1e-7,"unit":"","k":[]},{"metric":"n"},{"metric":"","value":"5"}],"exclusive":{"weights":[]}}`,
		`{"type":"stack","id":18446744073709551616,"frames":[1],"context":{"probe":5,"uid":0},"weights":[],"exclusive":{"frame":1,"weights":[],"why":true},"related_stacks":["a",7]}`,
		`{"type":"sample","timestamp":"now","period":-0.0,"stack_id":1.0,"context":{},"frames":[1,"x"],"id":4}`,
		`{"type":"window","id":5,"start":0.10,"by_stack":[{"stack_id":null,"weights":[],"x":1}]}`,
		`{"type":"window","by_stack":7}`,
		`{"type":"header","format":"spaa","version":"","events":[],"time_range":{"start":0.0,"end":null,"unit":""},"source":{},"x":1}`,
		`{"type":"header","format":"spaa","events":[{"name":"","kind":5,"sampling":{"mode":"","sample_period":1e5,"y":2},"allocation_tracking":{"tracks_frees":false,"z":3}},{"sampling":null}],"time_range":[],"source":null}`,
		`{"type":"","b":2,"a":1}`,
	} {
		recs := readAll(t, []byte(line))
		if len(recs) != 1 {
			t.Errorf("not read: %s", line)
			continue
		}
		if out := writeAll(t, recs); !sameJSON(t, []byte(line), out) {
			t.Errorf("%s\nbecame\n%s", line, out)
		}
		checkRoundTrip(t, []byte(line))
	}
}

// randomRecords returns the records of a valid file, with random values and odd texts.
func randomRecords(r *rand.Rand) []Record {
	texts := []string{"", "main", "a b", "é😀", "quote\"back\\slash", "tab\tnew\nline", "\x00\x1f\x7f", "\u2028", "x_acme_key"}
	text := func() string { return texts[r.IntN(len(texts))] }
	number := func() Number {
		switch r.IntN(5) {
		case 0:
			return ""
		case 1:
			return Number(strconv.FormatUint(r.Uint64(), 10))
		case 2:
			return DecimalNumber(int64(r.Uint64()), r.IntN(19))
		case 3:
			return FloatNumber(r.NormFloat64() * 1e30)
		}
		return IntNumber(int64(r.Uint64()))
	}
	extra := func() Extra {
		if r.IntN(3) > 0 {
			return nil
		}
		x := Extra{}
		for i := range 1 + r.IntN(3) {
			raw, _ := json.Marshal(map[string]any{text(): text(), "n": r.IntN(9)}) // cannot fail
			x[fmt.Sprintf("x_%s%d", text(), i)] = raw
		}
		return x
	}
	optInt := func() Opt[int64] { return Opt[int64]{int64(r.IntN(100)), true} }
	optBool := func() Opt[bool] { return []Opt[bool]{{}, Some(false), Some(true)}[r.IntN(3)] }
	id := func() ID {
		if r.IntN(2) == 0 {
			return HexID(uint64(r.IntN(20)))
		}
		return IntID(int64(r.IntN(20)))
	}
	weights := func() []Weight {
		ws := make([]Weight, r.IntN(4))
		for i := range ws {
			ws[i] = Weight{Metric: text(), Value: number(), Unit: text(), Extra: extra()}
		}
		return ws
	}
	context := func() *Context {
		c := &Context{Event: text(), PID: optInt(), CPU: optInt(), Comm: text(), ExecName: text(), ZoneName: text(), Extra: extra()}
		if r.IntN(2) == 0 {
			c.Probe = &Probe{Provider: text(), Function: text(), Extra: extra()}
			c.TraceFields = json.RawMessage(`{"a":[1,2.50]}`)
		}
		return c
	}
	h := testHeader()
	h.Extra = extra()
	h.TimeRange = &TimeRange{Start: number(), End: number(), Unit: text(), Extra: extra()}
	h.Source = &Source{Tool: text(), Extra: extra()}
	h.Events[0].AllocationTracking = &AllocationTracking{TracksFrees: optBool(), Extra: extra()}
	recs := []Record{h}
	for i := range 5 {
		recs = append(recs, &DSO{ID: int64(i), Name: text(), BuildID: text(), IsKernel: optBool(), Extra: extra()},
			&Frame{ID: int64(i), Func: text(), FuncResolved: optBool(), DSO: int64(i), IP: text(), SrcLine: text(), Inlined: optBool(), InlineDepth: optInt(), Kind: text(), Extra: extra()},
			&Thread{PID: 1, TID: int64(i), Comm: text(), Extra: extra()})
	}
	for range 30 {
		switch r.IntN(4) {
		case 0:
			recs = append(recs, &Sample{Timestamp: number(), TID: optInt(), Event: text(), Period: number(), StackID: id(), Extra: extra()})
		case 1:
			recs = append(recs, &Window{ID: id(), Start: number(), Unit: text(), ByStack: []StackWeights{{id(), weights(), extra()}}, Extra: extra()})
		case 2:
			recs = append(recs, &Unknown{Type: "note" + text(), Fields: extra()})
		default:
			s := &Stack{ID: id(), Frames: []int64{}, StackType: text(), Context: context(), Weights: weights(), Extra: extra()}
			for range r.IntN(6) {
				s.Frames = append(s.Frames, int64(r.IntN(5)))
			}
			if r.IntN(2) == 0 {
				s.Exclusive = &Exclusive{Frame: 3, Weights: weights(), Extra: extra()}
				s.RelatedStacks = []ID{id(), id()}
			}
			recs = append(recs, s)
		}
	}
	return recs
}

// Records written and read back are the same, and give the same bytes when written again.
func TestWriteReadProperty(t *testing.T) {
	for seed := range uint64(300) {
		recs := randomRecords(rand.New(rand.NewPCG(seed, 9)))
		text := writeAll(t, recs)
		got := readAll(t, text)
		for i := range recs {
			if i >= len(got) || !reflect.DeepEqual(got[i], recs[i]) {
				t.Fatalf("seed %d, record %d:\nwrote %+v\nread  %+v", seed, i, recs[i], got[i])
			}
		}
		if again := writeAll(t, got); !bytes.Equal(text, again) {
			t.Fatalf("seed %d: other bytes", seed)
		}
		for line := range bytes.Lines(text) {
			if !json.Valid(line) {
				t.Fatalf("not JSON: %s", line)
			}
		}
	}
}

// Invalid UTF-8 is written as U+FFFD.
func TestWriterUTF8(t *testing.T) {
	got, err := AppendRecord(nil, &Unknown{Type: "a\xff\xfeb", Fields: Extra{"k\xff": json.RawMessage("\"\xff\"")}})
	if want := "{\"type\":\"a\uFFFD\uFFFDb\",\"k\uFFFD\":\"\uFFFD\"}"; err != nil || string(got) != want {
		t.Errorf("%s %v", got, err)
	}
}
