package roundtrip

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/spaa"
)

// canonical normalizes the text of arguments: JSON with sorted keys. An object with only
// the text member "args" becomes that text.
func canonical(text string) string {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	if d.UseNumber(); text == "" || d.Decode(&m) != nil {
		return text
	}
	if plain, ok := m["args"].(string); ok && len(m) == 1 {
		return plain
	}
	if len(m) == 0 {
		return ""
	}
	out, _ := json.Marshal(m)
	return string(out)
}

func foldedFileFacts(t *testing.T, out []byte) facts {
	f := facts{}
	for line := range strings.Lines(string(out)) {
		for name := range strings.SplitSeq(line[:strings.LastIndexByte(line, ' ')], ";") {
			f.once("names", "%s", name)
		}
	}
	return f
}

func pprofFileFacts(t *testing.T, out []byte) facts {
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	f := facts{}
	for _, s := range p.SampleType {
		f.add("metrics", "%s %s", s.Type, s.Unit)
	}
	for _, s := range p.Sample {
		name := ""
		if v := s.Label["thread"]; len(v) > 0 {
			name = v[0]
		}
		pid, tid := int64(0), int64(0)
		if v := s.NumLabel["pid"]; len(v) > 0 {
			pid = v[0]
		}
		if v := s.NumLabel["tid"]; len(v) > 0 {
			tid = v[0]
		}
		f.once("threads", "%d %d %s", pid, tid, name)
		for k, vs := range s.Label {
			f.once("contexts", "%s %s", k, strings.Fields(vs[0] + " .")[0])
		}
		for k, vs := range s.NumLabel {
			f.once("contexts", "%s %d", k, vs[0])
		}
		for _, l := range s.Location {
			file := ""
			if l.Mapping != nil {
				file = l.Mapping.File
			}
			if len(l.Line) == 0 {
				f.once("modules of frames", "%s of %x", file, l.Address)
			}
			for _, n := range l.Line {
				f.once("modules of frames", "%s of %x", file, l.Address)
				f.once("modules of frames", "%s of %x %s %s %s:%d:%d from %d %v", file, l.Address, n.Function.Name, n.Function.SystemName, n.Function.Filename, n.Line, n.Column, n.Function.StartLine, l.IsFolded)
			}
		}
	}
	return f
}

// spaaFileFacts reads SPAA with encoding/json.
func spaaFileFacts(t *testing.T, out []byte) facts {
	text, _, err := spaa.Decompress(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	type dso struct{ name, build string }
	f, dsos, frames, stacks := facts{}, map[int64]dso{}, map[int64][2]string{}, map[string]string{}
	in := bufio.NewScanner(text)
	in.Buffer(nil, 1<<30)
	for in.Scan() {
		var r map[string]any
		d := json.NewDecoder(bytes.NewReader(in.Bytes()))
		if d.UseNumber(); d.Decode(&r) != nil {
			t.Fatalf("no JSON: %.200s", in.Bytes())
		}
		str := func(k string) string {
			if r[k] == nil {
				return ""
			}
			return fmt.Sprint(r[k])
		}
		num := func(k string) int64 {
			n, _ := r[k].(json.Number)
			v, _ := n.Int64()
			return v
		}
		switch r["type"] {
		case "header":
			if notes, ok := r["x_ashlar_notes"].([]any); ok {
				for _, n := range notes {
					f.add("file notes", "%s %s", n.([]any)[0], n.([]any)[1])
				}
			}
			if all, ok := r["x_ashlar_mappings"].([]any); ok {
				for _, one := range all {
					m := one.(map[string]any)
					text := func(k string) string {
						if m[k] == nil {
							return ""
						}
						return m[k].(string)
					}
					f.add("binary mappings", "%s %s %s %s", text("start"), text("limit"), text("file"), text("build_id"))
				}
			}
		case "dso":
			dsos[num("id")] = dso{str("name"), str("build_id")}
		case "frame":
			d := dsos[num("dso")]
			text := fmt.Sprintf("%s %s %s %s %s %v", str("ip"), str("symoff"), str("func"), d.name, str("srcline"), r["inlined"] == true)
			frames[num("id")] = [2]string{str("func"), text}
			f.once("kinds", "%s %s", str("kind"), text)
			if d.build != "" {
				f.once("build ids", "%s of %s", d.build, text)
			}
			if x, ok := r["x_ashlar_frame"].(map[string]any); ok {
				typ, line := "", "0"
				if x["type"] != nil {
					typ = fmt.Sprint(x["type"])
				}
				if x["start_line"] != nil {
					line = fmt.Sprint(x["start_line"])
				}
				f.once("frame types", "%s %s %v %s", typ, line, x["folded"] == true, text)
			}
		case "thread":
			f.once("thread ids", "%d %d", num("pid"), num("tid"))
			f.once("names of threads", "%s", str("comm"))
			f.once("names of processes", "%d %s", num("pid"), str("comm"))
		case "stack":
			leaf := ""
			if fs := r["frames"].([]any); len(fs) > 0 {
				n, _ := fs[0].(json.Number).Int64()
				leaf = frames[n][0]
			}
			stacks[str("id")] = leaf
			for k, v := range r["context"].(map[string]any) {
				key := k
				if strings.HasPrefix(k, "x_") {
					key = k[strings.IndexByte(k[2:], '_')+3:]
				}
				f.once("contexts", "%s %v", key, v)
			}
			for _, w := range r["weights"].([]any) {
				f.once("metrics", "%v", w.(map[string]any)["metric"])
			}
		case "sample":
			at, _ := new(big.Rat).SetString(str("timestamp"))
			cpu := int64(-1)
			if r["cpu"] != nil {
				cpu = num("cpu")
			}
			f.add("samples", "%s cpu %d %s", at.RatString(), cpu, stacks[str("stack_id")])
			if p, ok := new(big.Rat).SetString(str("period")); ok {
				f.add("values of single samples", "%s %s", at.RatString(), p.RatString())
			}
		case "window":
			from, _ := new(big.Rat).SetString(str("start"))
			to, _ := new(big.Rat).SetString(str("end"))
			f.add("windows", "%s %s %s", str("id"), from.RatString(), to.RatString())
		}
	}
	return f
}

// chromeFileFacts reads a trace with encoding/json.
func chromeFileFacts(t *testing.T, out []byte) facts {
	var trace struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			Pid, Tid      json.Number
			Ts, Dur       json.Number
			ID            any
			Args          json.RawMessage
		}
		StackFrames map[string]struct{ Name string }
		Samples     []struct {
			CPU                      *int64
			Pid, Tid, Ts, Sf, Weight json.Number
		}
		Metadata map[string]any
	}
	if err := json.Unmarshal(out, &trace); err != nil {
		t.Fatal(err)
	}
	rat := func(n json.Number) *big.Rat {
		if v, ok := new(big.Rat).SetString(string(n)); ok {
			return v
		}
		return new(big.Rat)
	}
	type open struct {
		thread, name string
		at           *big.Rat
	}
	f, stacks, flows := facts{}, map[string][]open{}, map[string]string{}
	for _, e := range trace.TraceEvents {
		at, key := rat(e.Ts), fmt.Sprintf("%s/%s", e.Pid, e.Tid)
		thread := key
		if strings.HasPrefix(string(e.Tid), "-") {
			thread = string(e.Pid) + "/made"
		}
		if e.Ph == "b" || e.Ph == "e" || e.Ph == "n" {
			thread = string(e.Pid) + " async"
			key = fmt.Sprint(thread, e.ID)
		}
		var args map[string]any
		_ = json.Unmarshal(e.Args, &args)
		switch e.Ph {
		case "X", "B", "b":
			f.add("spans", "%s %s %s %s", thread, e.Name, at.RatString(), e.Cat)
			if text := canonical(string(e.Args)); text != "" {
				f.add("arguments", "%s", text)
			}
			if e.Ph == "X" {
				f.add("lengths of spans", "%s %s", thread, rat(e.Dur).RatString())
			} else {
				if e.Ph == "b" && len(stacks[key]) == 0 {
					f.once("names of async rows", "%s %s", e.Pid, strings.TrimPrefix(e.Cat+"/"+e.Name, "/"))
				}
				stacks[key] = append(stacks[key], open{thread, e.Name, at})
			}
		case "E", "e":
			n := len(stacks[key]) - 1
			for e.Ph == "e" && stacks[key][n].name != e.Name {
				n-- // find the innermost span of the same name
			}
			f.add("lengths of spans", "%s %s", thread, at.Sub(at, stacks[key][n].at).RatString())
			stacks[key] = slices.Delete(stacks[key], n, n+1)
		case "i", "n":
			f.add("instants", "%s %s %s", thread, e.Name, at.RatString())
		case "C":
			for series, v := range args {
				f.add("counter points", "%s %s %s %s %g", e.Pid, e.Name, series, at.RatString(), v)
			}
		case "s":
			flows[fmt.Sprint(e.ID)] = e.Name + " " + at.RatString()
		case "t", "f":
			if flows[fmt.Sprint(e.ID)] += " " + at.RatString(); e.Ph == "f" {
				f.add("flows", "%s", flows[fmt.Sprint(e.ID)])
			}
		case "M":
			switch e.Name {
			case "process_name":
				f.add("names of processes", "%s %s", e.Pid, args["name"])
			case "process_labels":
				f.add("process labels", "%s %s", e.Pid, args["labels"])
			case "thread_name":
				f.add("names of threads", "%s %s", thread, args["name"])
			}
		}
	}
	for _, left := range stacks {
		for _, o := range left {
			f.add("marks of unfinished spans", "%s %s %s", o.thread, o.name, o.at.RatString())
		}
	}
	for _, s := range trace.Samples {
		cpu := int64(-1)
		if s.CPU != nil {
			cpu = *s.CPU
		}
		if strings.HasPrefix(string(s.Tid), "-") {
			s.Tid = "made"
		}
		f.add("samples", "%s/%s %s %s cpu %d", s.Pid, s.Tid, rat(s.Ts).RatString(), trace.StackFrames[string(s.Sf)].Name, cpu)
		if s.Weight != "" {
			f.add("sample values", "%s %s", rat(s.Ts).RatString(), rat(s.Weight).RatString())
		}
	}
	for k, v := range trace.Metadata {
		if all, ok := v.([]any); ok {
			for _, one := range all {
				f.add("file notes", "%s %v", k, one)
			}
		} else {
			f.add("file notes", "%s %v", k, v)
		}
	}
	return f
}
