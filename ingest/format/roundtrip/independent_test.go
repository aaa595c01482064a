package roundtrip

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/spaa"
)

// fieldsAreKept compares the content of each file with the recording. It reads the files
// with pprof's own library and encoding/json, not with this project's decoders. A
// difference must be explained by a reported loss. tried counts the files by format.
func fieldsAreKept(t *testing.T, rec *recording.Recording, all map[string]converted, tried map[string]int) {
	plain := rec.Plain()
	for name, to := range all {
		out, rep := to.out, to.rep
		var want, got fields
		switch name {
		case "out.pb":
			want, got = stackFields(plain, 0, pprofFrame), pprofFields(t, out)
		case "out.spaa":
			want, got = fields{}, spaaFields(t, out)
			for e := range plain.Events {
				maps.Copy(want, stackFields(plain, e, spaaFrame).under(e))
			}
		case "out.json":
			want, got = spanFields(plain), chromeFields(t, out)
		case "out.folded":
			want, got = stackFields(plain, 0, foldedFrame).only(plain.Events[0].Primary, plain), foldedFields(t, out)
		case "out.spall":
			tried[name]++
			spallIsKept(t, plain, out, rep)
			continue
		default:
			continue
		}
		tried[name]++
		for what, n := range want.differ(got) {
			if !named(rep.Lost, what) {
				t.Errorf("%s: %d differ in %s and no loss is named: %v\n%s", name, n, what, rep.Lost, want.example(got))
			}
		}
	}
}

// named reports whether a reported loss explains a difference of the given kind.
func named(lost []encode.Loss, what string) bool {
	explains := map[string][]string{
		"values": {"fractions", "sums", "missing values", "windows", "links between", "mangled names", "events"},
		"stacks": {"mangled names", "build ids", "names", "links between", "stack frames", "inlined frames"},
		"spans":  {"thread ids", "marks of unfinished spans", "names of async rows", "parts of", "fractions"},
	}[what]
	return slices.ContainsFunc(lost, func(l encode.Loss) bool {
		return slices.ContainsFunc(explains, func(s string) bool { return strings.HasPrefix(l.What, s) })
	})
}

// fields holds sums by metric and stack: "metric 0\x00main|work".
type fields map[string]*big.Rat

func (f fields) add(metric int, place string, v *big.Rat) {
	k := fmt.Sprintf("metric %d\x00%s", metric, place)
	if f[k] == nil {
		f[k] = new(big.Rat)
	}
	f[k].Add(f[k], v)
}

// under returns the fields with the number of an event in the key.
func (f fields) under(event int) fields {
	out := fields{}
	for k, v := range f {
		out[fmt.Sprintf("event %d %s", event, k)] = v
	}
	return out
}

// only returns the fields of one metric, renumbered as the first.
func (f fields) only(metric int, rec *recording.Recording) fields {
	out, prefix := fields{}, fmt.Sprintf("metric %d\x00", metric)
	for k, v := range f {
		if place, ok := strings.CutPrefix(k, prefix); ok {
			out["metric 0\x00"+place] = v
		}
	}
	return out
}

// differ counts the stacks that are in only one of the two, and the values that differ. It
// ignores stacks whose value is 0.
func (f fields) differ(got fields) map[string]int {
	n := map[string]int{}
	for k, v := range f {
		if v.Sign() == 0 {
			continue
		}
		switch g := got[k]; {
		case g == nil:
			n["stacks"]++
		case g.Cmp(v) != 0:
			n["values"]++
		}
	}
	for k, v := range got {
		if v.Sign() != 0 && f[k] == nil {
			n["stacks"]++
		}
	}
	return n
}

// example formats the first difference.
func (f fields) example(got fields) string {
	var b strings.Builder
	for _, way := range []struct {
		name string
		a, b fields
	}{{"want", f, got}, {"got", got, f}} {
		shown := 0
		for _, k := range slices.Sorted(maps.Keys(way.a)) {
			if v := way.a[k]; v.Sign() != 0 && (way.b[k] == nil || way.b[k].Cmp(v) != 0) && shown < 2 {
				fmt.Fprintf(&b, "%s %.600q = %s\n", way.name, k, v.RatString())
				shown++
			}
		}
	}
	return b.String()
}

// stackFields sums an event naively by whole stack, leaf first.
func stackFields(rec *recording.Recording, event int, text func(*recording.Recording, recording.FrameID) string) fields {
	out, texts, places := fields{}, map[recording.FrameID]string{}, map[recording.CallID]string{recording.NoCall: ""}
	var place func(c recording.CallID) string
	place = func(c recording.CallID) string {
		p, ok := places[c]
		if !ok {
			frame := rec.Calls.Frame(c)
			if texts[frame] == "" {
				texts[frame] = text(rec, frame) + "\x01"
			}
			p = texts[frame] + place(rec.Calls.Parent(c))
			places[c] = p
		}
		return p
	}
	for m := range rec.Events[event].Metrics {
		own := selfByCall(rec, event, m)
		for c := range own {
			if own[c].Sign() != 0 {
				out.add(m, place(recording.CallID(c)), ratOf(&own[c], &rec.Events[event].Metrics[m]))
			}
		}
	}
	return out
}

// addressOnly reports whether a function has no name except its address.
func addressOnly(fn *recording.Function, f *recording.Frame) bool {
	i := strings.LastIndex(fn.Name, "0x")
	return fn.Unresolved && f.Addr != 0 && i >= 0
}

func pprofFrame(rec *recording.Recording, id recording.FrameID) string {
	f := rec.Frames.At(int(id))
	fn := rec.Functions.At(int(f.Func))
	if addressOnly(&fn, &f) {
		return fmt.Sprintf("%x", f.Addr)
	}
	file := f.File
	if file == "" {
		file = fn.File
	}
	return fmt.Sprintf("%x %s %s %s:%d:%d from %d %v", f.Addr, fn.Name, symbolOf(&fn), file, f.Line, f.Column, f.StartLine, f.Folded)
}

func symbolOf(fn *recording.Function) string {
	if fn.Symbol != "" {
		return fn.Symbol
	}
	return fn.Name
}

func pprofFields(t *testing.T, out []byte) fields {
	p, err := profile.ParseData(out)
	if err != nil {
		t.Error(err)
		return nil
	}
	texts := map[*profile.Location]string{}
	for _, l := range p.Location {
		var b strings.Builder
		if len(l.Line) == 0 {
			fmt.Fprintf(&b, "%x\x01", l.Address)
		}
		for _, n := range l.Line {
			if strings.Contains(n.Function.Name, "0x") && n.Line == 0 && n.Function.Filename == "" && strings.HasSuffix(n.Function.Name, strconv.FormatUint(l.Address, 16)) {
				fmt.Fprintf(&b, "%x\x01", l.Address)
				continue
			}
			fmt.Fprintf(&b, "%x %s %s %s:%d:%d from %d %v\x01", l.Address, n.Function.Name, n.Function.SystemName, n.Function.Filename, n.Line, n.Column, n.Function.StartLine, l.IsFolded)
		}
		texts[l] = b.String()
	}
	all := fields{}
	for _, s := range p.Sample {
		var b strings.Builder
		for _, l := range s.Location {
			b.WriteString(texts[l])
		}
		for m, v := range s.Value {
			all.add(m, b.String(), new(big.Rat).SetInt64(v))
		}
	}
	return all
}

func spaaFrame(rec *recording.Recording, id recording.FrameID) string {
	f := rec.Frames.At(int(id))
	fn := rec.Functions.At(int(f.Func))
	module := fn.Module
	if module == "" {
		module = "[unknown]"
	}
	file := f.File
	if file == "" {
		file = fn.File
	}
	if f.Line > 0 && file != "" {
		file += fmt.Sprintf(":%d", f.Line)
		if f.Column > 0 {
			file += fmt.Sprintf(":%d", f.Column)
		}
	}
	return fmt.Sprintf("%s %s %s %s %s %v", encode.HexText(f.Addr), encode.HexText(f.Offset), rec.NameInFile(f.Func), module, file, f.Inlined)
}

// spaaFields reads SPAA with encoding/json.
func spaaFields(t *testing.T, out []byte) fields {
	t.Helper()
	text, _, err := spaa.Decompress(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	all, dsos, frames := fields{}, map[int64]string{}, map[int64]string{}
	events, metrics := map[string]int{}, map[string]int{}
	s := bufio.NewScanner(text)
	s.Buffer(nil, 1<<30)
	for s.Scan() {
		var r struct {
			Type    string
			ID      any
			Name    string
			Func    string
			DSO     int64
			IP      string
			Symoff  string
			Srcline string
			Inlined bool
			Frames  []int64
			Events  []struct {
				Name     string
				Metrics  [][2]string `json:"x_ashlar_metrics"`
				Sampling struct {
					Primary string `json:"primary_metric"`
				}
			}
			Context struct{ Event string }
			Weights []struct {
				Metric string
				Value  json.Number
			}
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		id, _ := r.ID.(float64)
		switch r.Type {
		case "header":
			for i, e := range r.Events {
				events[e.Name] = i
				for m, pair := range e.Metrics {
					metrics[e.Name+"\x00"+pair[0]] = m
				}
			}
		case "dso":
			dsos[int64(id)] = r.Name
		case "frame":
			frames[int64(id)] = fmt.Sprintf("%s %s %s %s %s %v", r.IP, r.Symoff, r.Func, dsos[r.DSO], r.Srcline, r.Inlined)
		case "stack":
			var b strings.Builder
			for _, f := range r.Frames {
				b.WriteString(frames[f] + "\x01")
			}
			for _, w := range r.Weights {
				v, ok := new(big.Rat).SetString(string(w.Value))
				if !ok {
					t.Fatalf("the weight %s is no number", w.Value)
				}
				one := fields{}
				one.add(metrics[r.Context.Event+"\x00"+w.Metric], b.String(), v)
				for k, v := range one.under(events[r.Context.Event]) {
					if all[k] == nil {
						all[k] = new(big.Rat)
					}
					all[k].Add(all[k], v)
				}
			}
		}
	}
	return all
}

// spanFields sums the time of the spans of threads, by name and length.
func spanFields(rec *recording.Recording) fields {
	out := fields{}
	for _, t := range rec.Tracks {
		if t.Kind == recording.AsyncTrack {
			continue
		}
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := range l.Len() {
				if rec.FuncName(l.Call(k)) == recording.Overlapping { // not written: readers add it
					continue
				}
				out.add(0, fmt.Sprintf("%s %s", rec.FuncName(l.Call(k)), new(big.Rat).SetFrac64(l.End(k)-l.Start(k), 1e6).RatString()), big.NewRat(1, 1))
			}
		}
	}
	return out
}

// chromeFields reads a trace with encoding/json.
func chromeFields(t *testing.T, out []byte) fields {
	t.Helper()
	var trace struct {
		TraceEvents []struct {
			Ph, Name string
			Pid, Tid json.Number
			Ts, Dur  json.Number
		}
	}
	if err := json.Unmarshal(out, &trace); err != nil {
		t.Fatal(err)
	}
	type open struct {
		name string
		at   *big.Rat
	}
	all, stacks, latest := fields{}, map[string][]open{}, new(big.Rat)
	number := func(n json.Number) *big.Rat {
		v, ok := new(big.Rat).SetString(string(n))
		if !ok {
			return new(big.Rat)
		}
		return v
	}
	add := func(name string, d *big.Rat) {
		all.add(0, fmt.Sprintf("%s %s", name, d.RatString()), big.NewRat(1, 1))
	}
	for _, e := range trace.TraceEvents {
		ts, thread := number(e.Ts), string(e.Pid)+"/"+string(e.Tid)
		end := new(big.Rat).Add(ts, number(e.Dur))
		if e.Ph != "M" && e.Ph != "P" && end.Cmp(latest) > 0 {
			latest = end
		}
		switch e.Ph {
		case "X":
			add(e.Name, number(e.Dur))
		case "B":
			stacks[thread] = append(stacks[thread], open{e.Name, ts})
		case "E":
			if n := len(stacks[thread]); n > 0 {
				o := stacks[thread][n-1]
				stacks[thread] = stacks[thread][:n-1]
				add(o.name, ts.Sub(ts, o.at))
			}
		}
	}
	for _, left := range stacks {
		for _, o := range left {
			add(o.name, new(big.Rat).Sub(latest, o.at))
		}
	}
	return all
}

func foldedFrame(rec *recording.Recording, id recording.FrameID) string {
	f := rec.Frames.At(int(id))
	return strings.TrimSpace(strings.NewReplacer(";", ":", "\n", " ", "\r", " ", "\t", " ").Replace(rec.NameInFile(f.Func)))
}

// foldedFields reads folded stacks, which begin with the outermost frame.
func foldedFields(t *testing.T, out []byte) fields {
	t.Helper()
	all := fields{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		i := strings.LastIndexByte(line, ' ')
		v, ok := new(big.Rat).SetString(line[i+1:])
		if i < 0 || !ok {
			t.Fatalf("no line of folded stacks: %q", line)
		}
		names := strings.Split(line[:i], ";")
		slices.Reverse(names)
		place := strings.Join(names, "\x01") + "\x01"
		if line[:i] == "[no stack]" {
			place = ""
		}
		all.add(0, place, v)
	}
	return all
}
