package spaa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// parserSeeds returns lines of every kind, valid and damaged.
func parserSeeds() []string {
	seeds := strings.Split(strings.TrimSpace(baseFile), "\n")
	return append(seeds,
		`{}`, ``, ` `, `null`, `[]`, `"x"`, `{"type":"stack"}`, `{"type":null}`, `{"type":5}`,
		`{"type":"stack","frames":[1, 2 ,3],"weights":[ { "metric" : "a" , "value" : -1.5e+3 } ] }`+"\r",
		`{"type":"stack","frames":[1,"2"],"weights":[5],"exclusive":[],"context":7,"related_stacks":[{}]}`,
		`{"type":"stack","frames":[01]}`, `{"type":"stack","frames":[1,]}`, `{"type":"stack","frames":[1 2]}`, `{"type":"stack","frames":[-]}`,
		`{"type":"stack","frames":[99999999999999999999,1.5,1e2]}`,
		`{"type":"thread","pid":1,"tid":2,"comm":"a\u00e9\ud83d\ude00\ud800\n\"\\\/"}`,
		`{"type":"thread","comm":"\u12"}`, `{"type":"thread","comm":"\x"}`, "{\"type\":\"thread\",\"comm\":\"a\tb\"}", `{"type":"thread","comm":"abc`,
		`{"ty\u0070e":"thr\u0065ad","pid":1,"tid":9223372036854775807}`,
		`{"type":"sample","timestamp":1e400,"period":-0,"stack_id":12345678901234567890,"tid":9223372036854775808}`,
		`{"type":"sample","period":1.}`, `{"type":"sample","period":.5}`, `{"type":"sample","period":+5}`, `{"type":"sample","period":1e}`,
		`{"type":"dso","id":"12","name":null,"build_id":"","is_kernel":0}`, `{"type":"dso","id":1,"is_kernel":tru}`,
		`{"type":"x","a":{"b":[{"c":[]}]},"a":true}`, `{"type":"window","by_stack":[{"stack_id":1,"weights":[{}],"y":2},{}],"id":3}`,
		`{"type":"thread","pid":1,"pid":"2"}`, `{"type":"thread","pid":"2","pid":1}`, `{"type":"stack","cpu":1,"comm":"x","cpu":2}`,
		`{"type":"header","format":"spaa","events":[{"name":"","sampling":5,"sampling":{"mode":"a"}}],"events":7}`,
		`{"type":"header","format":"spaa","events":[],"time_range":{"start":1,"x":[1,{"y": 2}]},"source":null}`,
		`{"type":"header","format":"spaa","version":"0","source":[],"source":{}}`,
		`{"type":"a"}{}`, `{"type":"a"},`, `{"type" "a"}`, `{"type":"a" "b":1}`, `{,}`, `{"a":1,}`, `{"a":[1,2`, `{"a":{"b":`, `{"a":tr`,
	)
}

// FuzzParse checks that no line panics, that exactly the lines that encoding/json accepts
// as objects are valid, and that the values agree with encoding/json.
func FuzzParse(f *testing.F) {
	for _, s := range parserSeeds() {
		f.Add([]byte(s))
	}
	kept := Parser{own: true, Extras: true}
	f.Fuzz(func(t *testing.T, line []byte) {
		rec, err := kept.Parse(string(line))
		isObject := json.Valid(line) && bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{"))
		if err != nil && strings.Contains(err.Error(), "nested more than") {
			return
		}
		if ok := err == nil || errors.Is(err, ErrNoType); ok != isObject {
			t.Fatalf("error %v, but encoding/json says %v", err, isObject)
		}
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		var name string
		if err := json.Unmarshal(want["type"], &name); err != nil || name != validText(rec.RecordType()) {
			t.Fatalf("type %q, want %q (%v)", rec.RecordType(), name, err)
		}
		if utf8.Valid(line) {
			compareValues(t, rec, want)
		}
	})
}

// compareValues compares some fields of each type of value with encoding/json.
func compareValues(t *testing.T, rec Record, want map[string]json.RawMessage) {
	t.Helper()
	same := func(key string, got, zero any) {
		t.Helper()
		dst := reflect.New(reflect.TypeOf(got))
		raw, ok := want[key]
		if !ok || string(raw) == "null" || json.Unmarshal(raw, dst.Interface()) != nil {
			dst.Elem().Set(reflect.ValueOf(zero)) // absent or of another type
		}
		if !reflect.DeepEqual(dst.Elem().Interface(), got) {
			t.Fatalf("%s is %#v, but encoding/json reads %#v from %s", key, got, dst.Elem().Interface(), raw)
		}
	}
	switch r := rec.(type) {
	case *Thread:
		same("pid", r.PID, int64(0))
		same("tid", r.TID, int64(0))
		same("comm", r.Comm, "")
	case *Stack:
		same("frames", r.Frames, []int64(nil))
		same("stack_type", r.StackType, "")
	case *Sample:
		same("event", r.Event, "")
		same("cpu", r.CPU.V, int64(0))
		if !bytes.HasPrefix(want["period"], []byte(`"`)) { // json.Number takes strings too
			same("period", json.Number(r.Period), json.Number(""))
		}
	case *Frame:
		same("func", r.Func, "")
		same("inlined", r.Inlined.V, false)
	}
}

// FuzzRoundTrip checks that records written and read back are the same and give the same
// bytes when written again, and that Validate never panics or fails.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(baseFile))
	for _, s := range parserSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkRoundTrip(t, text)
		if _, err := Validate(bytes.NewReader(text), ValidateOptions{MaxLine: 1 << 20}); err != nil {
			t.Fatal(err)
		}
	})
}

// Every proper prefix of a line is an error at its end, marked as cut.
func TestParsePrefixes(t *testing.T) {
	var p Parser
	for _, line := range strings.Split(strings.TrimSpace(baseFile), "\n") {
		for n := 1; n < len(line); n++ {
			_, err := p.Parse(line[:n])
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !syntax.AtEnd || syntax.Offset != n {
				t.Fatalf("%s: %v", line[:n], err)
			}
		}
	}
}

// Keys in any order give the same record.
func TestParseKeyOrder(t *testing.T) {
	a := `{"type":"stack","id":7,"frames":[1,2],"context":{"event":"e","tid":3},"weights":[{"metric":"m","value":1}],"x":1}`
	b := `{"x":1,"weights":[{"value":1,"metric":"m"}],"frames":[1,2],"context":{"tid":3,"event":"e"},"id":7,"type":"stack"}`
	if ra, rb := readAll(t, []byte(a)), readAll(t, []byte(b)); !reflect.DeepEqual(ra, rb) || len(ra) != 1 {
		t.Errorf("%+v\n%+v", ra, rb)
	}
}

// The result of parsing a line must not depend on the line before it.
func TestParseLeavesNothing(t *testing.T) {
	seeds := parserSeeds()
	for _, a := range seeds {
		for _, b := range seeds {
			for _, extras := range []bool{false, true} {
				used, fresh := Parser{Extras: extras}, Parser{Extras: extras}
				_, _ = used.Parse(a) // the outcome does not matter
				ru, errUsed := used.Parse(b)
				rf, errFresh := fresh.Parse(b)
				if !reflect.DeepEqual(errUsed, errFresh) {
					t.Fatalf("%v and %v", errUsed, errFresh)
				}
				if errUsed != nil {
					continue
				}
				if writeOr(ru) != writeOr(rf) || !slices.Equal(used.Missing(), fresh.Missing()) || !slices.Equal(used.Problems, fresh.Problems) || used.Duplicates != fresh.Duplicates {
					t.Fatalf("after %s\n%s gives\n%+v %v, alone\n%+v %v", a, b, ru, used.Problems, rf, fresh.Problems)
				}
			}
		}
	}
}

// writeOr returns the text of a record, followed by the error.
func writeOr(r Record) string {
	b, err := AppendRecord(nil, r)
	return fmt.Sprint(string(b), err)
}

func TestParseValues(t *testing.T) {
	var p Parser
	parse := func(s string) Record {
		t.Helper()
		rec, err := p.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	th := parse(`{"a":{"b": 1},"tid":5,"pid":"x","comm":"a\u00e9","type":"thread","cpu":null}`).(*Thread)
	if th.TID != 5 || th.PID != 0 || th.Comm != "aé" || th.Extra != nil {
		t.Errorf("%+v", th)
	}
	want := []Problem{{UnknownKey, "thread record", "a", `{"b": 1}`}, {MistypedKey, "thread record", "pid", `"x"`}, {UnknownKey, "thread record", "cpu", "null"}}
	if !reflect.DeepEqual(p.Problems, want) {
		t.Errorf("problems %v", p.Problems)
	}
	if m := p.Missing(); !reflect.DeepEqual(m, []string{"pid"}) {
		t.Errorf("missing %v", m)
	}
	s := parse(`{"type":"sample","stack_id":"0xa","timestamp":12345.6789,"period":9007199254740993}`).(*Sample)
	if v, exact := s.Period.Int64(); v != 9007199254740993 || !exact {
		t.Error("integers beyond 2^53 stay exact")
	}
	if m, d, exact := s.Timestamp.Decimal(); m != 123456789 || d != 4 || !exact {
		t.Error("decimals stay exact")
	}
	st := parse(`{"type":"stack","frames":[9223372036854775807,-1],"exclusive":{"weights":[{}]}}`).(*Stack)
	if !reflect.DeepEqual(st.Frames, []int64{9223372036854775807, -1}) {
		t.Error(st.Frames)
	}
	if !p.LacksIn("exclusive", "frame") || !p.LacksIn("weight", "value") || p.LacksIn("weight", "unit") {
		t.Error(p.Problems)
	}
	th = parse(`{"type":"thread","pid":1,"pid":2,"tid":"a","tid":3,"comm":"a","comm":5}`).(*Thread)
	if th.PID != 2 || th.TID != 3 || th.Comm != "" || p.Duplicates != 3 || len(p.Problems) != 1 {
		t.Errorf("the last of equal keys counts: %+v, %d %v", th, p.Duplicates, p.Problems)
	}
}

// Records with the same context text share one Context, and each reports its problems.
func TestParseContexts(t *testing.T) {
	var p Parser
	first := map[string]*Context{}
	for range 3 {
		for i, context := range []string{
			`{"event":"a","pid":1}`, `{"event":"a","pid":12}`, `{"event":"a}","x":1}`, `{"event":"a}"}`, `{}`,
			`{"probe":{"name":"n","y":2},"event":"b"}`, `{"probe":{"name":"n"},"event":"c"}`, `{"pid":"1","pid":1,"tid":"2"}`,
		} {
			for _, line := range []string{`{"type":"stack","context":` + context + `,"frames":[]}`, `{"context":` + context + `,"type":"sample"}`} {
				rec, err := p.Parse(line)
				alone, aloneErr := new(Parser).Parse(line)
				if err != nil || aloneErr != nil || writeOr(rec) != writeOr(alone) {
					t.Fatalf("%s: %v %s, alone %v %s", line, err, writeOr(rec), aloneErr, writeOr(alone))
				}
				if want := []int{0, 0, 1, 0, 0, 1, 0, 1}[i]; len(p.Problems) != want || p.Duplicates != i/7 {
					t.Errorf("%s: problems %v, %d duplicates", line, p.Problems, p.Duplicates)
				}
				var c *Context
				switch rec := rec.(type) {
				case *Stack:
					c = rec.Context
				case *Sample:
					c = rec.Context
				}
				if first[context] == nil {
					first[context] = c
				}
				if c != first[context] {
					t.Errorf("%s was read again", context)
				}
			}
		}
	}
}

func TestParseDepth(t *testing.T) {
	deep := `{"type":"x","a":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`
	_, err := new(Parser).Parse(deep)
	if err == nil || !strings.Contains(err.Error(), "nested more than 256") {
		t.Error(err)
	}
	ten := `{"type":"x","a":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + `}`
	if _, err := (&Parser{MaxDepth: 10}).Parse(ten); err != nil {
		t.Error(err)
	}
	if _, err := (&Parser{MaxDepth: 9}).Parse(ten); err == nil {
		t.Error("ten levels are more than nine")
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	var p Parser
	for _, kind := range []string{"stack", "sample", "frame"} {
		lines := benchLines(kind, true)
		for _, line := range lines { // let the parser's slices grow first
			_, _ = p.Parse(line)
		}
		if n := testing.AllocsPerRun(10, func() {
			for _, line := range lines {
				_, _ = p.Parse(line)
			}
		}); n != 0 {
			t.Errorf("%d %s lines: %v allocations", len(lines), kind, n)
		}
	}
}
