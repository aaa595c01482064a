package firefox

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// naive lists the content of a profile as lines of text, read with encoding/json: the
// weight and CPU time of each stack of each thread, and each marker.
type naive struct {
	t     testing.TB
	sums  map[string]*big.Rat
	lines []string
	first *big.Rat
}

// placed matches the location of code outside any function.
var placed = regexp.MustCompile(`^(?:.* -> )?(.+\.js):[0-9]+(?::[0-9]+)?$`)

type object = map[string]any

func (n *naive) number(v any) *big.Rat {
	s, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, ok := new(big.Rat).SetString(s.String())
	if !ok {
		n.t.Fatalf("%v is no number", v)
	}
	return r
}

func index(v any) int {
	s, ok := v.(json.Number)
	if !ok {
		return -1
	}
	i, err := s.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

// col returns a column of a table, in the layout of processed or of raw profiles.
func col(table any, name string) []any {
	t, _ := table.(object)
	if schema, ok := t["schema"].(object); ok {
		at, ok := schema[name]
		if !ok {
			return nil
		}
		out := []any{}
		for _, row := range t["data"].([]any) {
			var v any
			if i, r := index(at), row.([]any); i < len(r) {
				v = r[i]
			}
			out = append(out, v)
		}
		return out
	}
	c, _ := t[name].([]any)
	return c
}

func at(c []any, i int) any {
	if i < 0 || i >= len(c) {
		return nil
	}
	return c[i]
}

func parse(t testing.TB, content []byte) object {
	dec := json.NewDecoder(strings.NewReader(string(content)))
	dec.UseNumber()
	var o object
	if err := dec.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// read reads a profile. base is the start time of the parent process's profile.
func (n *naive) read(o object, base *big.Rat) {
	if within, ok := o["profile"].(object); ok {
		defer n.devtools(o)
		o = within
		for _, t := range within["threads"].([]any) {
			delete(t.(object), "markers") // their clock has no known relation to that of the samples
		}
	}
	meta, _ := o["meta"].(object)
	start := n.number(meta["startTime"])
	shift := new(big.Rat)
	if base != nil && start != nil {
		shift.Sub(start, base)
	} else {
		base = start
	}
	shared, _ := o["shared"].(object)
	threads, _ := o["threads"].([]any)
	var nested []object
	for _, v := range threads {
		if text, ok := v.(string); ok {
			nested = append(nested, parse(n.t, []byte(text)))
			continue
		}
		n.thread(o, shared, v.(object), shift)
	}
	subs, _ := o["processes"].([]any)
	for _, v := range subs {
		nested = append(nested, v.(object))
	}
	for _, v := range nested {
		n.read(v, base)
	}
}

// devtools reads the rows that the old DevTools recorded in addition to a raw profile.
func (n *naive) devtools(o object) {
	zero := new(big.Rat)
	for _, v := range o["markers"].([]any) {
		m := v.(object)
		n.lines = append(n.lines, fmt.Sprintf("span DevTools timeline %s %s to %s", m["name"], n.ms(n.number(m["start"]), zero), n.ms(n.number(m["end"]), zero)))
	}
	for _, v := range o["ticks"].([]any) {
		n.lines = append(n.lines, fmt.Sprintf("instant DevTools timeline tick of the refresh driver %s", n.ms(n.number(v), zero)))
	}
}

func (n *naive) thread(o, shared, t object, shift *big.Rat) {
	pick := func(key string) any {
		if v, ok := t[key]; ok {
			return v
		}
		if v, ok := shared[key]; ok {
			return v
		}
		return o[key]
	}
	strs, _ := pick("stringArray").([]any)
	if strs == nil {
		strs, _ = pick("stringTable").([]any)
	}
	text := func(v any) string { s, _ := at(strs, index(v)).(string); return s }
	name := func(frame int) string {
		ft := pick("frameTable")
		if loc := col(ft, "location"); loc != nil {
			s := text(at(loc, frame))
			name, _, ok := strings.Cut(s, " (")
			if m := placed.FindStringSubmatch(s); !ok && m != nil {
				return "(root scope) " + m[1] // code of a file outside any function
			}
			return name
		}
		return text(at(col(pick("funcTable"), "name"), index(at(col(ft, "func"), frame))))
	}
	st := pick("stackTable")
	prefixes, offsets, frames := col(st, "prefix"), col(st, "prefixOffset"), col(st, "frame")
	path := func(v any) string {
		s := ""
		for i := index(v); i >= 0; {
			s = ";" + name(index(frames[i])) + s
			switch {
			case offsets != nil && index(offsets[i]) == 0:
				i = -1
			case offsets != nil:
				i -= index(offsets[i])
			default:
				i = index(prefixes[i])
			}
		}
		return s
	}
	tn, _ := t["name"].(string)
	n.samples(tn, t["samples"], path, shift)
	n.markers(tn, t["markers"], text, shift)
}

func (n *naive) add(key string, v *big.Rat) {
	if n.sums[key] == nil {
		n.sums[key] = new(big.Rat)
	}
	n.sums[key].Add(n.sums[key], v)
}

func (n *naive) samples(thread string, s any, path func(any) string, shift *big.Rat) {
	stack := col(s, "stack")
	deltas := col(s, "timeDeltas")
	now := new(big.Rat)
	for i, v := range stack {
		if deltas != nil {
			now = new(big.Rat).Add(now, n.number(deltas[i]))
		} else {
			now = n.number(col(s, "time")[i])
		}
		w := n.number(at(col(s, "weight"), i))
		if w == nil {
			w = big.NewRat(1, 1)
		}
		n.add(fmt.Sprintf("weight %s%s", thread, path(v)), w)
		if c := n.number(at(col(s, "threadCPUDelta"), i)); c != nil {
			n.add(fmt.Sprintf("cpu %s%s", thread, path(v)), c)
		}
		n.lines = append(n.lines, fmt.Sprintf("sample %s %s %s", thread, n.ms(now, shift), path(v)))
	}
}

// ms formats a time like the recording: exact to the picosecond relative to the first time.
func (n *naive) ms(t, shift *big.Rat) string {
	if n.first == nil {
		n.first = t
	}
	whole, _ := new(big.Rat).SetString(new(big.Rat).Sub(t, n.first).FloatString(9))
	return whole.Add(whole, n.first).Add(whole, shift).FloatString(9)
}

func (n *naive) markers(thread string, m any, text func(any) string, shift *big.Rat) {
	type opened struct{ at *big.Rat }
	open := map[string][]opened{}
	var first *big.Rat // the thread's first time, where markers without a begin start
	for i, v := range col(m, "name") {
		name := text(v)
		data, _ := at(col(m, "data"), i).(object)
		var a, b *big.Rat
		phase := 0
		if p := col(m, "phase"); p != nil {
			phase, a, b = index(p[i]), n.number(at(col(m, "startTime"), i)), n.number(at(col(m, "endTime"), i))
		} else {
			a = n.number(at(col(m, "time"), i))
			b = a
			x, y := n.number(data["startTime"]), n.number(data["endTime"])
			switch {
			case data["interval"] == "start":
				phase = 2
			case data["interval"] == "end":
				phase = 3
			case x != nil && y != nil:
				phase, a, b = 1, x, y
			}
		}
		begin := a
		if phase == 3 {
			begin = b
		}
		if first == nil || begin.Cmp(first) < 0 {
			first = begin
		}
		switch phase {
		case 0:
			n.lines = append(n.lines, fmt.Sprintf("instant %s %s %s", thread, name, n.ms(a, shift)))
		case 1:
			n.lines = append(n.lines, fmt.Sprintf("span %s %s %s to %s", thread, name, n.ms(a, shift), n.ms(b, shift)))
		case 2:
			open[name] = append(open[name], opened{a})
		case 3:
			o := open[name]
			if len(o) == 0 {
				n.lines = append(n.lines, fmt.Sprintf("span %s %s %s to %s", thread, name, n.ms(first, shift), n.ms(b, shift)))
				continue
			}
			n.lines = append(n.lines, fmt.Sprintf("span %s %s %s to %s", thread, name, n.ms(o[len(o)-1].at, shift), n.ms(b, shift)))
			open[name] = o[:len(o)-1]
		}
	}
	for name, o := range open {
		for _, s := range o {
			n.lines = append(n.lines, fmt.Sprintf("open %s %s %s", thread, name, n.ms(s.at, shift)))
		}
	}
}

func (n *naive) text() []string {
	for k, v := range n.sums {
		n.lines = append(n.lines, k+" "+v.FloatString(6))
	}
	slices.Sort(n.lines)
	return n.lines
}

// told lists the content of a recording in the same form as naive.
func told(r *recording.Recording) []string {
	origin, ok := new(big.Rat).SetString(r.Clock.Origin.String())
	if !ok {
		panic(r.Clock)
	}
	ms := func(ps int64) string { return new(big.Rat).Add(big.NewRat(ps, 1e9), origin).FloatString(9) }
	var lines []string
	sums := map[string]*big.Rat{}
	add := func(k string, v *big.Rat) {
		if sums[k] == nil {
			sums[k] = new(big.Rat)
		}
		sums[k].Add(sums[k], v)
	}
	path := func(c recording.CallID) string {
		s := ""
		for ; c != recording.NoCall; c = r.Calls.Parent(c) {
			f := r.Functions.At(int(r.Func(c)))
			name := f.Name
			if f.Unresolved && f.Module != "" { // named by offset; the file has the address in memory
				name = "0x" + fmt.Sprintf("%x", 0x100000000+r.Frames.At(int(r.Calls.Frame(c))).Addr&0xffffffff)
			}
			s = ";" + name + s
		}
		return s
	}
	for _, tr := range r.Tracks {
		thread := strings.TrimSuffix(tr.Name, " markers")
		thread, _, _ = strings.Cut(thread, " (")
		for _, s := range tr.Samples {
			e := &r.Events[s.Event]
			for i := range s.Len() {
				per := big.NewRat(1, 1)
				for range e.Metrics[0].Decimals {
					per.Mul(per, big.NewRat(10, 1))
				}
				if e.Metrics[0].Name == "time" {
					per.SetInt64(1e9) // picoseconds in a millisecond
				}
				p := path(s.Call(i))
				add("weight "+thread+p, new(big.Rat).Quo(big.NewRat(s.Value(i, &e.Metrics[0], 0), 1), per))
				if len(e.Metrics) > 1 && s.Value(i, &e.Metrics[1], 1) != recording.Missing {
					add("cpu "+thread+p, big.NewRat(s.Value(i, &e.Metrics[1], 1), 1e6))
				}
				lines = append(lines, fmt.Sprintf("sample %s %s %s", thread, ms(s.Time(i)), p))
			}
		}
		for _, in := range tr.Instants {
			lines = append(lines, fmt.Sprintf("instant %s %s %s", thread, in.Name, ms(in.Time)))
		}
		for d := range tr.Lanes {
			for l, i := &tr.Lanes[d], 0; i < l.Len(); i++ {
				name := r.FuncName(l.Call(i))
				if name == recording.Overlapping {
					continue
				}
				line := fmt.Sprintf("span %s %s %s to %s", thread, name, ms(l.Start(i)), ms(l.End(i)))
				if l.Unfinished(i) {
					line = fmt.Sprintf("open %s %s %s", thread, name, ms(l.Start(i)))
				}
				lines = append(lines, line)
			}
		}
	}
	for k, v := range sums {
		lines = append(lines, k+" "+v.FloatString(6))
	}
	slices.Sort(lines)
	return lines
}

// compare compares the recording of a file with naive, decoded whole and in small chunks.
func compare(t *testing.T, name string, content []byte, chunks ...int) {
	t.Helper()
	n := &naive{t: t, sums: map[string]*big.Rat{}}
	n.read(parse(t, content), nil)
	want := n.text()
	for _, chunk := range chunks {
		r, err := decodeBytes(t, content, chunk)
		if err != nil {
			t.Fatal(name, err)
		}
		got := told(r)
		if !slices.Equal(got, want) {
			for i := range max(len(got), len(want)) {
				g, w := "", ""
				if i < len(got) {
					g = got[i]
				}
				if i < len(want) {
					w = want[i]
				}
				if g != w {
					t.Fatalf("%s in chunks of %d, line %d:\n got %s\nwant %s", name, chunk, i, g, w)
				}
			}
		}
		for _, w := range r.Warnings {
			if !w.Minor && w.Code != recording.WarnFilled {
				t.Errorf("%s: %v", name, w)
			}
		}
	}
}

func TestSampleFiles(t *testing.T) {
	samples.Need(t)
	// Numbers of samples according to INDEX.md. It omits the third process of raw profiles,
	// which is a text.
	for name, want := range map[string]int64{"fx_argument-values.json": 32, "fx_gecko-1.json": 21, "fx_processed-1.json": 21, "fx_processed-2.json": 21,
		"59_simple-firefox.json": 38, "61_recursion.json": 15, "63_simple-firefox.json": 39, "firefox-79-webpack.json": 483} {
		content := samples.Read(t, "firefox/"+name)
		if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
			t.Errorf("%s: %v %v", name, sure, err)
		}
		compare(t, name, content, 0, 7, 100)
		r, err := decodeBytes(t, content, 0)
		if err != nil || r.Counts.Samples != want {
			t.Errorf("%s: %d samples, want %d (%v)", name, r.Counts.Samples, want, err)
		}
	}
}
