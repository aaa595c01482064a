package roundtrip

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/extract"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/samples"
)

// FuzzQuestions runs every analysis on mutated files and writes the recordings in every
// format. It mutates the structure of a file rather than its bytes, so that decoders accept
// most of them.
func FuzzQuestions(f *testing.F) {
	seeds := questionSeeds(f)
	for i := range seeds {
		f.Add(uint8(i), []byte(nil))
		steps := 40
		switch {
		case seeds[i].found && testing.Short():
			steps = 1
		case seeds[i].found:
			steps = 12
		case testing.Short():
			steps = 8
		}
		for step := range steps {
			f.Add(uint8(i), []byte{byte(step * 7), byte(step), byte(step * 3), byte(step * 11), byte(step + 3), byte(step * 5)})
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, how []byte) {
		s := seeds[int(which)%len(seeds)]
		rec := decoded(t, s.name, s.mutated(how[:min(len(how), 60)]))
		if rec != nil {
			ask(t, rec)
		}
	})
}

// decoded reads content. It returns nil if reading fails, and fails the test if that is
// because of a bug.
func decoded(t *testing.T, name string, content []byte) *recording.Recording {
	l := ingest.OpenInput(context.Background(), source.FromBytes(name, content), ingest.Options{})
	defer l.Close()
	err := l.Wait()
	var bug *source.Bug
	if errors.As(err, &bug) {
		t.Fatalf("%v\n%s", bug, bug.Stack)
	}
	for _, w := range l.Snapshot().Warnings {
		if strings.Contains(w.Text, ": reading failed because of a bug in Ashlar:") {
			t.Fatal(w.Text)
		}
	}
	if err != nil {
		return nil
	}
	return l.Snapshot()
}

// ask runs every analysis and conversion of a recording.
func ask(t *testing.T, rec *recording.Recording) {
	ctx := context.Background()
	middle := rec.Start + (rec.End-rec.Start)/2
	scopes := []recording.Scope{{}, recording.Between(rec.Start, middle), recording.Between(middle, rec.End), {Tracks: []int{}}}
	if n := len(rec.Tracks); n > 0 {
		scopes = append(scopes, recording.Scope{Tracks: []int{n - 1}})
	}
	var funcs []recording.FuncID
	first := "f"
	if rec.Functions.Len() > 0 {
		funcs, first = []recording.FuncID{0}, rec.Functions.At(0).Name
	}
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			for i, in := range scopes {
				q := analyze.Query{Event: e, Metric: m, Scope: in, First: i == 0, Apart: i%2 == 1, Depth: i % 3}
				weighed(t, rec, q, first)
				checked(analyze.ByTrack(ctx, rec, q))
				checked(spans.DensityOf(ctx, rec, q, rec.Start, max(1, (middle-rec.Start)/8), 20, funcs))
				checked(spans.PresenceOf(ctx, rec, q, funcs))
				for _, key := range analyze.ContextKeys(rec) {
					checked(analyze.ByContext(ctx, rec, q, key))
				}
			}
		}
	}
	for _, in := range scopes {
		checked(spans.Stats(ctx, rec, in))
		checked(spans.DurationsOf(ctx, rec, in, funcs))
		if part, _, err := extract.Recording(ctx, rec, in, nil); err == nil && len(part.Events) > 0 && len(part.Events[0].Metrics) == 0 {
			t.Error("an extract has an event without a metric")
		}
		compared(t, rec, in, compare.Options{})
	}
	for i, n := range []compare.Normalize{compare.Total, compare.Duration, compare.Samples} {
		ref := analyze.Named(first)
		ts := [][]analyze.Transform{{analyze.Transform{Op: analyze.OpInvert}}, {analyze.Transform{Op: analyze.OpDrop, Ref: ref}, analyze.Transform{Op: analyze.OpMergeByModule}}, {analyze.CalleesOf(ref), analyze.Transform{Op: analyze.OpCollapseRecursion}}}[i]
		compared(t, rec, scopes[len(scopes)-1-i], compare.Options{Normalize: n, Transforms: ts})
	}
	for e := range rec.Events {
		if ms := rec.Events[e].Metrics; len(ms) > 1 {
			compared(t, rec, recording.Scope{}, compare.Options{Event: rec.Events[e].Name, Metric: ms[0].Name, MetricB: ms[1].Name})
		}
	}
	if funcs != nil {
		_, _, err := spans.RankOf(ctx, rec, 0, 1)
		checked(0, err)
	}
	for _, text := range []string{"", first, "a|b", "/("} {
		if p, err := search.Parse(text); err == nil {
			checked(search.Find(ctx, rec, p))
		}
	}
	analyze.AllContexts(rec)
	checked(analyze.ThreadOf(ctx, rec))
	for i := range ingest.Formats {
		if f := &ingest.Formats[i]; f.Encode != nil {
			for e := range min(2, max(1, len(rec.Events))) {
				o := encode.Options{Window: int64(e) * max(1, rec.Duration()/3)}
				if len(rec.Events) > 0 {
					o.Event = rec.Events[e].Name
				}
				f.Write(ctx, io.Discard, "x"+f.Encode.Extensions[0], rec, o)
			}
		}
	}
}

// compared compares a part of a recording with the whole, and runs all analyses of the
// comparison.
func compared(t *testing.T, rec *recording.Recording, in recording.Scope, o compare.Options) {
	ctx := context.Background()
	c, err := compare.Compare(ctx, []compare.Input{{Rec: rec, Scope: in}}, []compare.Input{{Rec: rec}}, o)
	if err != nil {
		return
	}
	for _, w := range []compare.Width{compare.WidthA, compare.WidthB, compare.WidthLarger} {
		s := c.Tree.Shape(w)
		for i := range s.Widths {
			if p := s.Nodes[i].Parent; i > 0 && s.Widths[i] > s.Widths[p] {
				t.Errorf("node %d is wider than its parent", i)
			}
		}
	}
	for _, by := range []compare.By{compare.ByFunction, compare.ByModule, compare.ByFile, compare.ByThread, compare.ByStack} {
		if table, err := c.Table(ctx, by, true); err == nil {
			table.Matched()
		}
	}
	if rec.Functions.Len() > 0 {
		name := rec.Functions.At(0).FuncName()
		if i := c.Find(&name); i >= 0 {
			checked(c.Distribution(ctx, i, true, 60))
		}
	}
}

// checked discards a result: the analysis only has to return.
func checked[T any](T, error) {}

// weighed runs the analyses of weights and checks their sums.
func weighed(t *testing.T, rec *recording.Recording, q analyze.Query, function string) {
	w, err := analyze.Weigh(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	exact := fits(w.Self)
	plain := analyze.NewTree(rec, w)
	if got := plain.Nodes[0].Total; exact && got != w.Sum {
		t.Errorf("a tree comes to %d, its weights to %d", got, w.Sum)
	}
	for i := range plain.Nodes {
		if nd := &plain.Nodes[i]; i > 0 && nd.Gross > plain.Nodes[nd.Parent].Gross {
			t.Errorf("node %d is wider than its parent", i)
		}
	}
	for _, by := range []analyze.By{analyze.ByFunction, analyze.ByModule, analyze.ByFile, analyze.ByLine} {
		var sum int64
		for _, r := range analyze.Table(rec, plain, by) {
			recording.Add(&sum, r.Self)
		}
		if exact && sum != w.Sum {
			t.Errorf("by %s the rows come to %d, not %d", by, sum, w.Sum)
		}
	}
	ref := analyze.Named(function)
	for _, ts := range [][]analyze.Transform{
		{analyze.Transform{Op: analyze.OpInvert}}, {analyze.ByTime()}, {analyze.Focus(ref)}, {analyze.Transform{Op: analyze.OpHide, Ref: ref}}, {analyze.Transform{Op: analyze.OpDrop, Ref: ref}, analyze.Transform{Op: analyze.OpInvert}}, {analyze.Transform{Op: analyze.OpCollapseRecursion}},
		{analyze.Transform{Op: analyze.OpMergeByFile}}, {analyze.Transform{Op: analyze.OpMergeByModule}, analyze.Transform{Op: analyze.OpCollapseRecursion, Ref: ref}}, {analyze.Transform{Op: analyze.OpFoldInlined}, analyze.Transform{Op: analyze.OpHideKernel}},
		{analyze.CallersOf(ref)}, {analyze.CalleesOf(ref)}, {analyze.Only(function)},
	} {
		tree := analyze.NewTree(rec, w, ts...)
		analyze.Around(rec, tree, ref)
		analyze.Table(rec, tree, analyze.ByFunction)
	}
	if rec.Functions.Len() > 0 {
		analyze.SourceOf(rec, w, rec.Functions.At(0).File)
	}
}

// fits reports whether the sum of any of the values fits in 64 bits.
func fits(values []int64) bool {
	var sum float64
	for _, v := range values {
		sum += math.Abs(float64(v))
	}
	return sum < 1<<62
}

// seed is a small file in a form whose structure can be mutated.
type seed struct {
	name    string
	content []byte
	values  []any // for JSON: one value, or one per line
	proto   bool
	binary  bool
	found   bool // from foundSeeds, which returns many
}

// mutated returns the content with one mutation for every three bytes of how.
func (s *seed) mutated(how []byte) []byte {
	if s.proto {
		b := s.content
		for ; len(how) >= 3; how = how[3:] {
			b = mutatedProto(b, how[0], how[1], how[2])
		}
		return b
	}
	if s.binary {
		b := slices.Clone(s.content)
		for ; len(how) >= 3 && len(b) > 8; how = how[3:] {
			b = mutatedBinary(b, how[0], how[1], how[2])
		}
		return b
	}
	if s.values == nil {
		b := slices.Clone(s.content)
		for ; len(how) >= 3 && len(b) > 0; how = how[3:] {
			lines := bytes.Split(b, []byte("\n"))
			i, k := int(how[0])%len(lines), int(how[1])%len(lines)
			switch how[2] % 3 {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines[i], lines[k] = lines[k], lines[i]
			default:
				lines = slices.Insert(lines, k, lines[i])
			}
			b = bytes.Join(lines, []byte("\n"))
		}
		return b
	}
	var out []byte
	values := make([]any, len(s.values))
	for i, v := range s.values {
		b, _ := json.Marshal(v)
		values[i] = readJSON(b)
	}
	for ; len(how) >= 3; how = how[3:] {
		i := int(how[0]) % len(values)
		at := int(how[1]) | int(how[0])/len(values)<<8
		values[i] = mutatedJSON(values[i], &at, how[2])
	}
	for _, v := range values {
		b, _ := json.Marshal(v)
		out = append(append(out, b...), '\n')
	}
	return out
}

func readJSON(b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// odd lists values to put in place of others.
var odd = []any{nil, 0, -1, json.Number("1e300"), json.Number("9223372036854775807"), json.Number("-9223372036854775808"), json.Number("0.1234567890123"), "", "x", "0x10", true, []any{}, map[string]any{}, []any{1, "a", nil}}

// mutatedJSON mutates the value number *at, counted depth first.
func mutatedJSON(v any, at *int, how byte) any {
	if *at == 0 {
		*at = -1
		if int(how) < len(odd)*8 {
			return odd[int(how)%len(odd)]
		}
		if list, ok := v.([]any); ok && len(list) > 0 {
			switch i := int(how) % len(list); how % 3 {
			case 0:
				return slices.Delete(slices.Clone(list), i, i+1)
			case 1:
				return append(slices.Clone(list), list[i])
			default:
				list = slices.Clone(list)
				slices.Reverse(list)
				return list
			}
		}
		return v
	}
	*at--
	switch x := v.(type) {
	case []any:
		for i := range x {
			if *at >= 0 {
				x[i] = mutatedJSON(x[i], at, how)
			}
		}
	case map[string]any:
		var keys []string
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if *at < 0 {
				break
			}
			if *at == 0 && how%16 == 15 {
				*at = -1
				delete(x, k)
				break
			}
			x[k] = mutatedJSON(x[k], at, how)
		}
	}
	return v
}

// mutatedProto mutates a field of a message or of a nested message.
func mutatedProto(b []byte, which, within, how byte) []byte {
	var fields [][]byte
	for rest := b; len(rest) > 0; {
		_, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return b
		}
		fields, rest = append(fields, rest[:n]), rest[n:]
	}
	if len(fields) == 0 {
		return b
	}
	i := int(which) % len(fields)
	num, typ, n := protowire.ConsumeTag(fields[i])
	tag := protowire.AppendTag(nil, num, typ)
	switch body := fields[i][n:]; {
	case how%8 == 0:
		fields = slices.Delete(fields, i, i+1)
	case how%8 == 1:
		fields = append(fields, fields[i])
	case typ == protowire.VarintType:
		fields[i] = protowire.AppendVarint(tag, []uint64{0, 1, 1 << 31, math.MaxUint64, 1 << 63, 7}[int(how/8)%6])
	case typ == protowire.BytesType && how%8 == 2:
		fields[i] = protowire.AppendBytes(tag, nil)
	case typ == protowire.BytesType:
		inner, _ := protowire.ConsumeBytes(body)
		fields[i] = protowire.AppendBytes(tag, mutatedProto(inner, within, how/2, how/8*8+how%5))
	}
	return bytes.Join(fields, nil)
}

// mutatedBinary changes a word, deletes, repeats or swaps pieces, or truncates.
func mutatedBinary(b []byte, where, other, how byte) []byte {
	at := func(p byte) int { return int(p) * (len(b) - 8) / 256 &^ 3 }
	i, k := at(where), at(other)
	n := min(8+int(how/16)*8, len(b)-i, len(b)-k)
	switch how % 6 {
	case 0:
		return slices.Delete(b, i, i+n)
	case 1:
		return slices.Insert(b, k, bytes.Clone(b[i:i+n])...)
	case 2:
		piece := bytes.Clone(b[i : i+n])
		copy(b[i:i+n], b[k:k+n])
		copy(b[k:k+n], piece)
	case 3:
		binary.LittleEndian.PutUint32(b[i:], []uint32{0, 1, math.MaxUint32, 1 << 31, 0xffff, 0x7fffffff}[how/6%6])
	case 4:
		b[i] ^= 1 << (how / 32)
	default:
		return b[:max(8, i)]
	}
	return b
}

// Maximum number of sample files per format that become seeds, and their maximum size in
// bytes.
const (
	mostFound     = 2
	mostFoundSize = 24 << 10
)

// foundSeeds returns a synthetic recording of each kind, and small sample files of other
// programs.
func foundSeeds(f *testing.F) (all []seed) {
	add := func(name string, content []byte) {
		s := seed{name: name, content: content, found: true}
		format, err := ingest.Sniff(name, content, true)
		switch {
		case err != nil:
			return
		case readJSON(content) != nil && json.Valid(content):
			s.values = []any{readJSON(content)}
		case slices.Contains([]string{"pprof", "otlp", "perfetto"}, format.Name):
			s.proto = true
		default:
			s.binary = bytes.IndexByte(content, 0) >= 0
		}
		all = append(all, s)
	}
	for _, kind := range synth.Kinds() {
		var b bytes.Buffer
		if _, err := synth.Write(&b, synth.Options{Kind: kind, Records: 30, Seed: 5}); err != nil {
			f.Fatal(err)
		}
		add("made "+kind, b.Bytes())
	}
	of := map[string]int{}
	for _, path := range samples.Files(f) {
		info, err := os.Stat(path)
		if err != nil || info.Size() > mostFoundSize {
			continue
		}
		packed, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		content := samples.Unpack(f, packed)
		format, err := ingest.Sniff(filepath.Base(path), content, true)
		if err != nil || len(content) > mostFoundSize || of[format.Name] >= mostFound {
			continue
		}
		of[format.Name]++
		add(filepath.Base(path), content)
	}
	return all
}

// questionSeeds returns recordings with every kind of content, in every format that can be
// written and in some that can only be read.
func questionSeeds(f *testing.F) (all []seed) {
	jsonOf := func(name, text string, lines bool) seed {
		s := seed{name: name, content: []byte(text)}
		if !lines {
			s.values = []any{readJSON(s.content)}
			return s
		}
		for line := range strings.Lines(text) {
			s.values = append(s.values, readJSON([]byte(line)))
		}
		return s
	}
	all = append(all, jsonOf("seed.spaa", spaaSeed, true), jsonOf("seed.json", chromeSeed, false), jsonOf("seed.cpuprofile", cpuprofileSeed, false))
	for _, from := range []seed{all[0], all[1]} {
		l := ingest.OpenInput(context.Background(), source.FromBytes(from.name, from.content), ingest.Options{})
		if err := l.Wait(); err != nil {
			f.Fatal(err)
		}
		for i := range ingest.Formats {
			format := &ingest.Formats[i]
			if format.Encode == nil {
				continue
			}
			var out bytes.Buffer
			name := "seed" + format.Encode.Extensions[0]
			if len(format.Encode.Packed) > 0 && slices.Contains(format.Encode.Packed, format.Encode.Extensions[0]) {
				f.Fatal(name + " is compressed")
			}
			if _, err := format.Write(context.Background(), &out, name, l.Snapshot(), encode.Options{}); err != nil {
				continue // the format holds nothing of this recording
			}
			s := seed{name: name, content: out.Bytes()}
			switch text := out.String(); {
			case strings.HasPrefix(text, "{"):
				s = jsonOf(name, text, readJSON(out.Bytes()) != nil && strings.Count(text, "\n{") > 0)
			case format.Name == "pprof" || format.Name == "otlp":
				s.proto = true
			}
			all = append(all, s)
		}
		l.Close()
	}
	all = append(all, foundSeeds(f)...)
	if len(all) < 10 {
		f.Fatal(fmt.Sprint("only ", len(all), " seeds"))
	}
	return all
}

const spaaSeed = `{"type":"header","format":"spaa","version":"1.0","source_tool":"t","frame_order":"leaf_to_root","stack_id_mode":"local","time_range":{"start":0,"end":20,"unit":"seconds"},"events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}},{"name":"malloc","kind":"allocation","sampling":{"mode":"event","primary_metric":"alloc_bytes"}}]}
{"type":"dso","id":1,"name":"/bin/app"}
{"type":"thread","id":1,"pid":1,"tid":2,"name":"worker"}
{"type":"frame","id":1,"func":"main","dso":1,"kind":"user","file":"m.c","line":7}
{"type":"frame","id":2,"func":"work","dso":1,"kind":"user","inlined":true}
{"type":"frame","id":3,"func":"vfs_read","kind":"kernel"}
{"type":"stack","id":"a","frames":[2,1],"context":{"event":"cycles","tid":2,"pid":1,"cpu":0},"weights":[{"metric":"period","value":10},{"metric":"samples","value":2}]}
{"type":"stack","id":"b","frames":[3,2,1],"context":{"event":"cycles","tid":2,"pid":1},"weights":[{"metric":"period","value":-4}],"related_stacks":["a"]}
{"type":"stack","id":"c","frames":[2,2,1],"context":{"event":"malloc","tid":3,"pid":1},"weights":[{"metric":"alloc_bytes","value":1.5},{"metric":"live_bytes","value":1}]}
{"type":"sample","timestamp":1.5,"stack_id":"a","context":{"event":"cycles","tid":2,"pid":1,"cpu":1}}
{"type":"sample","timestamp":2.5,"stack_id":"b","context":{"event":"cycles","tid":2,"pid":1}}
{"type":"window","id":"w0","start":0,"end":10,"unit":"seconds","by_stack":[{"stack_id":"a","weights":[{"metric":"period","value":10}]},{"stack_id":"c","weights":[{"metric":"alloc_bytes","value":1}]}]}
`

const chromeSeed = `{"traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"main"}},
{"ph":"X","pid":1,"tid":1,"name":"outer","cat":"c","ts":1,"dur":100,"args":{"a":1}},
{"ph":"X","pid":1,"tid":1,"name":"inner","ts":5,"dur":20,"tdur":10},
{"ph":"B","pid":1,"tid":2,"name":"begun","ts":2},
{"ph":"B","pid":1,"tid":2,"name":"in it","ts":3},
{"ph":"E","pid":1,"tid":2,"ts":9},
{"ph":"i","pid":1,"tid":1,"name":"now","ts":7,"s":"t"},
{"ph":"C","pid":1,"name":"load","ts":8,"args":{"x":1,"y":2.5}},
{"ph":"b","pid":1,"tid":1,"cat":"a","id":"0x1","name":"op","ts":10},
{"ph":"n","pid":1,"tid":1,"cat":"a","id":"0x1","name":"step","ts":11},
{"ph":"e","pid":1,"tid":2,"cat":"a","id":"0x1","name":"op","ts":30},
{"ph":"s","pid":1,"tid":1,"cat":"a","id":5,"name":"flow","ts":6},
{"ph":"f","pid":1,"tid":2,"cat":"a","id":5,"name":"flow","ts":8,"bp":"e"},
{"ph":"P","pid":1,"tid":1,"name":"tick","ts":12,"sf":"2"}],
"stackFrames":{"1":{"name":"main","category":"c"},"2":{"name":"leaf","category":"c","parent":"1"}},
"samples":[{"cpu":0,"tid":1,"ts":13.5,"name":"cycles:HG","sf":"2","weight":3}],"otherData":{"host":"h"}}`

const cpuprofileSeed = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2],"hitCount":0},
{"id":2,"callFrame":{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":3,"columnNumber":1},"children":[3],"hitCount":1},
{"id":3,"callFrame":{"functionName":"g","scriptId":"1","url":"a.js","lineNumber":9,"columnNumber":1},"hitCount":2}],
"startTime":1000,"endTime":4000,"samples":[2,3,3],"timeDeltas":[500,1000,-200]}`
