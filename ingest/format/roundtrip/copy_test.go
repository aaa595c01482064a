package roundtrip

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"ashlar/ingest/format/encode"
	"ashlar/spaa"
	"ashlar/testdata/samples"
)

// strange is a SPAA file with content that only a copy keeps: unknown records and keys,
// numbers that do not fit in a float64, ids of all kinds, a stack after the sample that
// names it, a sample without a stack, and an invalid frame.
const strange = `{"format":"spaa","version":"1.0","source_tool":"perf","frame_order":"root_to_leaf","stack_id_mode":"local","events":[{"name":"e","kind":"hardware","sampling":{"mode":"period","primary_metric":"period","x":1}}],"time_range":{"start":10.0,"end":12.50,"unit":"seconds"},"x_more":{"b":[1,2],"a":null},"type":"header"}
{"type":"dso","id":1,"name":"a","is_kernel":false,"x":9007199254740993}
{"type":"frame","id":1,"func":"f","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"g","dso":77,"kind":"nonsense"}
{"type":"wishes","anything":[{"z":1,"a":2}]}
{"type":"sample","timestamp":10.1,"tid":5,"event":"e","period":1.10,"stack_id":"late"}
{"type":"sample","timestamp":11.1000000000000000000001,"tid":5,"event":"e","period":9007199254740993,"stack_id":7}
{"type":"sample","timestamp":12.5,"tid":5,"event":"e","period":2,"stack_id":"late","context":{"x_y":true}}
{"type":"stack","id":7,"frames":[1,2],"context":{"event":"e","x_k":"v"},"weights":[{"metric":"period","value":9007199254740993,"unit":"events"},{"metric":"third","value":0.333333333333333333333}],"related_stacks":[7,"nobody"]}
{"type":"stack","id":"late","frames":[1],"context":{"event":"e"},"weights":[{"metric":"period","value":3.10}]}
`

func copySPAA(t *testing.T, text, name string, opt encode.Options) ([]byte, *encode.Report) {
	t.Helper()
	var out bytes.Buffer
	rep, err := target(t, name).Copy(context.Background(), &out, name, strings.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), rep
}

// sameLines compares SPAA texts line by line as JSON. Numbers must have the same spelling.
func sameLines(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(a) != len(b) {
		t.Fatalf("%d lines, want %d", len(a), len(b))
	}
	value := func(s string) (v any) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if err := d.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%v: %s", err, s)
		}
		return v
	}
	for i := range a {
		if !reflect.DeepEqual(value(a[i]), value(b[i])) {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, a[i], b[i])
		}
	}
}

func TestCopyKeepsAll(t *testing.T) {
	out, rep := copySPAA(t, strange, "out.spaa", encode.Options{})
	sameLines(t, string(out), strange)
	if rep.Records != 10 || len(rep.Lost) != 0 {
		t.Errorf("%+v", rep)
	}
	again, _ := copySPAA(t, string(out), "out.spaa", encode.Options{})
	if !bytes.Equal(again, out) {
		t.Errorf("a copy of the copy is\n%s\nwant\n%s", again, out)
	}
}

func TestCopySamples(t *testing.T) {
	samples.Need(t)
	for _, text := range samples.Each(t, "spaa/*.spaa") {
		for _, name := range []string{"out.spaa", "out.spaa.gz", "out.spaa.zst"} {
			out, _ := copySPAA(t, string(text), name, encode.Options{})
			r, _, err := spaa.Decompress(bytes.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			sameLines(t, string(plain), string(text))
		}
	}
}

func TestCopyWithWindows(t *testing.T) {
	out, _ := copySPAA(t, strange, "out.spaa", encode.Options{Window: encode.Second})
	_, windows, ok := strings.Cut(string(out), `{"type":"window"`)
	const want = `,"id":"w1","start":10,"end":11,"unit":"seconds","by_stack":[{"stack_id":"late","weights":[{"metric":"samples","value":1},{"metric":"period","value":1.1}]}]}
{"type":"window","id":"w2","start":11,"end":12,"unit":"seconds","by_stack":[{"stack_id":7,"weights":[{"metric":"samples","value":1},{"metric":"period","value":9007199254740993}]}]}
{"type":"window","id":"w3","start":12,"end":12.5,"unit":"seconds","by_stack":[{"stack_id":"late","weights":[{"metric":"samples","value":1},{"metric":"period","value":2}]}]}
`
	if !ok || windows != want {
		t.Errorf("the windows are\n%s\nwant\n%s", windows, want)
	}
	// A file that has windows keeps them.
	again, rep := copySPAA(t, string(out), "out.spaa", encode.Options{Window: encode.Second / 10})
	if !bytes.Equal(again, out) || len(rep.Lost) != 1 {
		t.Errorf("%v\n%s", rep.Lost, again)
	}
}

func TestCopyDamaged(t *testing.T) {
	text := strings.Replace(strange, `{"type":"wishes"`, `{"type":"wishes`, 1) + `{"type":"stack","id"`
	out, rep := copySPAA(t, text, "out.spaa", encode.Options{})
	if len(rep.Lost) != 1 || rep.Lost[0].Count != 2 || rep.Records != 9 || bytes.Contains(out, []byte("wishes")) {
		t.Errorf("%+v", rep)
	}
	for text, want := range map[string]string{
		"":          "the file has no SPAA records",
		"hello\n":   "the file has no SPAA records",
		strange:     "the windows are too short (more than 100000 windows); make them longer",
		"{\"x\":1}": "the file has no SPAA records",
	} {
		opt := encode.Options{}
		if text == strange {
			opt.Window = 1
			var b strings.Builder
			b.WriteString(text)
			for i := range 100_000 {
				b.WriteString(`{"type":"sample","timestamp":11.` + fmt.Sprintf("%06d", i) + `,"stack_id":7}` + "\n")
			}
			text = b.String()
		}
		if _, err := target(t, "out.spaa").Copy(context.Background(), io.Discard, "out.spaa", strings.NewReader(text), opt); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
