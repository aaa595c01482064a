package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

func decodeBytes(t testing.TB, content []byte) (*recording.Recording, error) {
	t.Helper()
	b := recording.NewBuilder()
	err := Decode(context.Background(), source.FromBytes("test.otlp", content), b, decode.Options{})
	return b.Finish(), err
}

// Helpers that write protobuf fields.
func msg(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
func num64(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}
func blob(n protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
}
func text(n protowire.Number, s string) []byte { return blob(n, []byte(s)) }
func pack(n protowire.Number, vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = protowire.AppendVarint(b, v)
	}
	return blob(n, b)
}
func times(n protowire.Number, vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return blob(n, b)
}
func fixed64(n protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), v)
}

// table is the string table of the example.
var table = []string{
	"", "cpu", "nanoseconds", "main", "work", "inl", "/bin/app", "main.c", "thread.name", "thread.id", "profile.frame.type",
	"kernel", "cpython", "vfs_read", "native", "hello world", "py", "samples", "count", "cpu.logical_number",
}

func dict() []byte {
	var strs [][]byte
	for _, s := range table {
		strs = append(strs, text(5, s))
	}
	attr := func(key uint64, value ...[]byte) []byte { return blob(6, msg(num64(1, key), blob(2, msg(value...)))) }
	loc := func(parts ...[]byte) []byte { return blob(2, msg(parts...)) }
	return blob(2, msg(
		blob(1, nil), blob(1, msg(num64(1, 0x400000), num64(2, 0x500000), num64(4, 6))),
		loc(),
		loc(num64(1, 1), num64(2, 0x400100), blob(3, msg(num64(1, 1), num64(2, 7), num64(3, 2)))),                           // main
		loc(num64(1, 1), num64(2, 0x400200), blob(3, msg(num64(1, 3), num64(2, 1))), blob(3, msg(num64(1, 2))), pack(4, 3)), // inl in work
		loc(num64(1, 1), num64(2, 0x400300), pack(4, 3)),                                                                    // no name
		loc(num64(2, 0xffff800000000001), blob(3, num64(1, 4)), pack(4, 4)),                                                 // kernel
		loc(blob(3, msg(num64(1, 5), num64(2, 33))), pack(4, 5)),                                                            // python
		blob(3, nil), blob(3, msg(num64(1, 3), num64(3, 7))), blob(3, num64(1, 4)), blob(3, num64(1, 5)), blob(3, num64(1, 13)), blob(3, num64(2, 16)),
		blob(4, nil), blob(4, msg(blob(1, []byte{0xab, 1}), blob(2, []byte{0xcd}))),
		msg(strs...),
		attr(0), attr(8, text(1, "worker")), attr(9, num64(3, 42)), attr(10, num64(8, 14)), attr(10, text(1, "kernel")), attr(10, text(1, "cpython")), attr(19, num64(3, 3)),
		blob(7, nil), blob(7, pack(1, 2, 1)), blob(7, pack(1, 3, 1)), blob(7, pack(1, 4, 1)), blob(7, pack(1, 5)),
	))
}

// sampleIn writes a Sample in the layout of an era.
func sampleIn(e era, stack uint64, attrs []uint64, link uint64, values []uint64, at ...uint64) []byte {
	a, l, v := protowire.Number(2), protowire.Number(3), protowire.Number(4)
	if e == era18 {
		v, a, l = 2, 3, 4
	}
	out := num64(1, stack)
	if len(values) > 0 {
		out = append(out, pack(v, values...)...)
	}
	if len(attrs) > 0 {
		out = append(out, pack(a, attrs...)...)
	}
	if link != 0 {
		out = append(out, num64(l, link)...)
	}
	if len(at) > 0 {
		out = append(out, times(5, at...)...)
	}
	return blob(2, out)
}

const t0 = 1_700_000_000_000_000_000

// example returns a file with two resources, three profiles and two kinds of events.
func example(e era) []byte {
	profileTail := msg(blob(7, make([]byte, 16)), pack(11, 4))
	if e == era18 {
		profileTail = msg(pack(7, 15), blob(8, make([]byte, 16)), pack(12, 4))
	}
	cpu := msg(
		blob(1, msg(num64(1, 1), num64(2, 2))),
		sampleIn(e, 1, []uint64{1, 2, 6}, 1, []uint64{5, 7}, t0+100, t0+300),
		sampleIn(e, 2, []uint64{1, 2}, 0, []uint64{11}),
		fixed64(3, t0), num64(4, 1000), blob(5, msg(num64(1, 1), num64(2, 2))), num64(6, 10_000_000), profileTail,
	)
	counts := msg(
		blob(1, msg(num64(1, 17), num64(2, 18))),
		sampleIn(e, 3, []uint64{1}, 0, nil, t0, t0+500),
		sampleIn(e, 4, []uint64{6}, 0, nil, t0+200),
	)
	kv := func(key string, value []byte) []byte { return blob(1, msg(text(1, key), blob(2, value))) }
	return msg(
		blob(1, msg(
			blob(1, msg(kv("process.pid", num64(3, 77)), kv("process.executable.name", text(1, "app")), kv("service.name", text(1, "shop")))),
			blob(2, msg(blob(1, msg(text(1, "profiler"), text(2, "1.2"))), blob(2, cpu), blob(2, counts))),
		)),
		blob(1, msg(
			blob(1, kv("container.id", text(1, "0123456789abcdef"))),
			blob(2, blob(2, counts)),
		)),
		dict(),
	)
}

// dump writes the compared parts of a recording.
func dump(r *recording.Recording) string {
	var out strings.Builder
	for e, ev := range r.Events {
		fmt.Fprintf(&out, "event %s %s %s %g %d %+v\n", ev.Name, ev.Kind, ev.Mode, ev.Frequency, ev.Period, ev.Metrics)
		s := r.Stacks[e]
		for i := range s.Len() {
			fmt.Fprintf(&out, "%d track %d %v:", s.Value(i, 0), s.Track(i), r.Contexts.At(int(s.Context(i))))
			for _, c := range r.Calls.Path(nil, s.Call(i)) {
				f := r.Frames.At(int(r.Calls.Frame(c)))
				fn := r.Functions.At(int(f.Func))
				fmt.Fprintf(&out, " %s(%s %s:%d:%d %x %s %v%d)", fn.Name, fn.Module, f.File, f.Line, f.Column, f.Addr, f.Kind, f.Inlined, f.InlineDepth)
			}
			out.WriteByte('\n')
		}
	}
	for _, tr := range r.Tracks {
		p := r.Processes[tr.Process]
		fmt.Fprintf(&out, "track %d/%d %q of %d %q\n", tr.PID, tr.TID, tr.Name, p.PID, p.Name)
		for _, s := range tr.Samples {
			for i := range s.Len() {
				fmt.Fprintf(&out, "  event %d at %s cpu %d %s weighs %d\n", s.Event, r.Clock.Text(s.Time(i)), s.CPU(i), r.FuncName(s.Call(i)), s.Value(i, &r.Events[s.Event].Metrics[0], 0))
			}
		}
	}
	fmt.Fprintln(&out, r.Warnings)
	return out.String()
}

const wantExample = `event cpu timer frequency 100 10000000 [{Name:cpu Unit:nanoseconds Decimals:0 Kind:sum PerSample:2 Total:23}]
12 track 0 COMMON{process.executable.name app} {process.pid 77} {profile.frame.type kernel} {service.name shop} {span_id cd} {thread.id 42} {thread.name worker} {trace_id ab01}]: main(/bin/app main.c:7:2 400100 user false0) work(/bin/app :0:0 400200 user false0) inl(/bin/app :1:0 400200 user true1)
11 track 0 COMMON{process.executable.name app} {process.pid 77} {profile.frame.type kernel} {service.name shop} {thread.id 42} {thread.name worker}]: main(/bin/app main.c:7:2 400100 user false0) app+0x300(/bin/app :0:0 400300 user false0)
event samples  period 0 0 [{Name:samples Unit:count Decimals:0 Kind:sum PerSample:1 Total:6}]
2 track 1 [{process.executable.name app} {process.pid 77} {service.name shop} {thread.name worker}]: main(/bin/app main.c:7:2 400100 user false0) vfs_read(kernel :0:0 ffff800000000001 kernel false0)
1 track 2 [{cpu.logical_number 3} {process.executable.name app} {process.pid 77} {service.name shop}]: py(cpython :33:0 0 managed false0)
2 track 3 [{container.id 0123456789abcdef} {thread.name worker}]: main(/bin/app main.c:7:2 400100 user false0) vfs_read(kernel :0:0 ffff800000000001 kernel false0)
1 track 4 [{container.id 0123456789abcdef} {cpu.logical_number 3}]: py(cpython :33:0 0 managed false0)
track 77/42 "worker" of 77 "app"
  event 0 at 1700000000000000100 cpu 3 inl weighs 5
  event 0 at 1700000000000000300 cpu 3 inl weighs 7
track 77/0 "worker" of 77 "app"
  event 1 at 1700000000000000000 cpu -1 vfs_read weighs 1
  event 1 at 1700000000000000500 cpu -1 vfs_read weighs 1
track 77/0 "" of 77 "app"
  event 1 at 1700000000000000200 cpu 3 py weighs 1
track 0/0 "worker" of 0 "0123456789ab"
  event 1 at 1700000000000000000 cpu -1 vfs_read weighs 1
  event 1 at 1700000000000000500 cpu -1 vfs_read weighs 1
track 0/0 "" of 0 "0123456789ab"
  event 1 at 1700000000000000200 cpu 3 py weighs 1
[]
`

// want is the dump of the example. Only the first sample has a processor.
var want = strings.Replace(strings.Replace(wantExample, "COMMON", "[{cpu.logical_number 3} ", 1), "COMMON", "[", 1)

func TestEras(t *testing.T) {
	for _, e := range []era{era18, era110} {
		content := example(e)
		if c, err := Sniff(content, true); c != decode.Certain || err != nil {
			t.Errorf("%s: Sniff = %v, %v", e, c, err)
		}
		if c, _ := Sniff(content[:len(content)-200], false); c < decode.Likely {
			t.Errorf("%s: Sniff of the beginning = %v", e, c)
		}
		r, err := decodeBytes(t, content)
		if err != nil {
			t.Fatal(err)
		}
		decodetest.Balanced(t, r)
		if got := dump(r); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", e, got, want)
		}
		if r.Source.Version != e.String() || r.Source.Tool != "profiler 1.2" {
			t.Errorf("version %q, tool %q", r.Source.Version, r.Source.Tool)
		}
		// 1.8 has a field for comments; 1.10 writes them as an attribute.
		if got := r.Source.NotesOf(recording.NoteComment); e == era18 && !slices.Equal(got, []string{"hello world"}) {
			t.Errorf("%s: comments %q, notes %v", e, got, r.Source.Notes)
		}
		// The collector's files have length prefixes.
		framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...)
		if c, _ := Sniff(framed, true); c != decode.Certain {
			t.Errorf("framed: Sniff = %v", c)
		}
		one, err := decodeBytes(t, framed)
		if err != nil || dump(one) != dump(r) {
			t.Errorf("framed: %v\n%s", err, dump(one))
		}
		later := bytes.ReplaceAll(framed, fixed64(3, t0), fixed64(3, t0+1000))
		two, err := decodeBytes(t, append(bytes.Clone(framed), later...))
		if err != nil || two.Events[0].Metrics[0].Total != 46 || two.Counts.Samples != 16 {
			t.Errorf("two messages: %v, %+v", err, two.Events)
		}
	}
}

// TestJoinedMessages checks that messages without length prefixes, as cat joins them, keep
// their own dictionaries, whether these come first or last.
func TestJoinedMessages(t *testing.T) {
	tables := func(name string) []byte {
		return blob(2, msg(blob(2, nil), blob(2, msg(blob(3, num64(1, 1)))), blob(3, nil), blob(3, num64(1, 3)), text(5, ""), text(5, "cpu"), text(5, "nanoseconds"), text(5, name), blob(7, nil), blob(7, pack(1, 1))))
	}
	costs := func(at, value uint64) []byte {
		return blob(1, blob(2, blob(2, msg(blob(1, msg(num64(1, 1), num64(2, 2))), sampleIn(era110, 1, nil, 0, []uint64{value}), fixed64(3, at)))))
	}
	for name, parts := range map[string][2][]byte{
		"dictionary last":  {msg(costs(t0, 5), tables("f")), msg(costs(t0+9, 7), tables("g"))},
		"dictionary first": {msg(tables("f"), costs(t0, 5)), msg(tables("g"), costs(t0+9, 7))},
	} {
		r, err := decodeBytes(t, msg(parts[0], parts[1], parts[0]))
		if err != nil {
			t.Fatal(name, err)
		}
		got, codes := map[string]int64{}, ""
		for i := range r.Stacks[0].Len() {
			got[r.FuncName(r.Stacks[0].Call(i))] += r.Stacks[0].Value(i, 0)
		}
		for _, w := range r.Warnings {
			codes += fmt.Sprintf("%s %s:%d", w.Code, w.First, w.Count)
		}
		want := fmt.Sprintf("message-repeated byte %d:1", len(parts[0])+len(parts[1]))
		if len(got) != 2 || got["f"] != 5 || got["g"] != 7 || codes != want {
			t.Errorf("%s: %v, %q, want %q", name, got, codes, want)
		}
	}
}

// TestRepeatedMessages checks that a message that was exported twice is counted once, unless
// it has no time.
func TestRepeatedMessages(t *testing.T) {
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	timed := frame(example(era110))
	untimed := frame(msg(blob(1, blob(2, blob(2, msg(blob(1, msg(num64(1, 1), num64(2, 2))), sampleIn(era110, 2, []uint64{1, 2}, 0, []uint64{11}))))), dict()))
	json := func(profileTime string) []byte {
		return []byte(`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":{"typeStrindex":1,"unitStrindex":2},"samples":[{"stackIndex":1,"values":["7"]}]` + profileTime + `}]}]}],"dictionary":{"stringTable":["","cpu","ns","main"],"functionTable":[{},{"nameStrindex":3}],"locationTable":[{},{"lines":[{"functionIndex":1}]}],"stackTable":[{},{"locationIndices":[1]}]}}` + "\n")
	}
	for name, c := range map[string]struct {
		one  []byte
		want int // as a multiple of one message's total
	}{
		"proto":              {timed, 1},
		"proto without time": {untimed, 2},
		"JSON":               {json(`,"timeUnixNano":"1700000000000000000"`), 1},
		"JSON without time":  {json(""), 2},
	} {
		one, err := decodeBytes(t, c.one)
		if err != nil {
			t.Fatal(name, err)
		}
		two, err := decodeBytes(t, append(bytes.Clone(c.one), c.one...))
		if err != nil {
			t.Fatal(name, err)
		}
		total := func(r *recording.Recording) int64 { return r.Events[0].Metrics[0].Total }
		said := false
		for _, w := range two.Warnings {
			said = said || w.Code == "message-repeated" && w.Count == 1
		}
		if total(one) == 0 || total(two) != int64(c.want)*total(one) || said != (c.want == 1) {
			t.Errorf("%s: %d, twice %d (%+v)", name, total(one), total(two), two.Warnings)
		}
	}
}

// TestLaterProfilesInclude checks that of cumulative profiles, and of profiles of a level, only
// the latest of each source counts, and that other profiles are added up.
func TestLaterProfilesInclude(t *testing.T) {
	profile := func(typ, temporality, source string, at, value int) string {
		return fmt.Sprintf(`{"resourceProfiles":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"%s"}}]},"scopeProfiles":[{"profiles":[{"sampleType":{"typeStrindex":1,"unitStrindex":2%s},"samples":[{"stackIndex":1,"values":["%d"]}],"timeUnixNano":"%d"}]}]}],"dictionary":{"stringTable":["","%s","bytes","main"],"functionTable":[{},{"nameStrindex":3}],"locationTable":[{},{"lines":[{"functionIndex":1}]}],"stackTable":[{},{"locationIndices":[1]}]}}`+"\n", source, temporality, value, at, typ)
	}
	const cumulative = `,"aggregationTemporality":2`
	for name, c := range map[string]struct {
		text  string
		total int64
		codes string
	}{
		"cumulative":      {profile("alloc_space", cumulative, "a", 5e9, 100) + profile("alloc_space", cumulative, "a", 6e9, 250), 250, "superseded:1"},
		"out of order":    {profile("alloc_space", cumulative, "a", 6e9, 250) + profile("alloc_space", cumulative, "a", 5e9, 100), 250, "superseded:1"},
		"restarted":       {profile("alloc_space", cumulative, "a", 5e9, 100) + profile("alloc_space", cumulative, "a", 6e9, 30), 130, ""},
		"two sources":     {profile("alloc_space", cumulative, "a", 5e9, 100) + profile("alloc_space", cumulative, "b", 6e9, 250), 350, ""},
		"deltas":          {profile("alloc_space", `,"aggregationTemporality":1`, "a", 5e9, 100) + profile("alloc_space", "", "a", 6e9, 250), 350, ""},
		"levels":          {profile("inuse_space", "", "a", 5e9, 100) + profile("inuse_space", "", "a", 6e9, 40) + profile("inuse_space", "", "a", 7e9, 60), 60, "superseded:2"},
		"levels, no time": {profile("inuse_space", "", "a", 0, 100) + profile("inuse_space", "", "a", 0, 40), 140, ""},
	} {
		r, err := decodeBytes(t, []byte(c.text))
		if err != nil {
			t.Fatal(name, err)
		}
		codes := ""
		for _, w := range r.Warnings {
			codes += fmt.Sprintf("%s:%d", w.Code, w.Count)
		}
		if got := r.Events[0].Metrics[0].Total; got != c.total || codes != c.codes {
			t.Errorf("%s: %d (%s), want %d (%s)", name, got, codes, c.total, c.codes)
		}
		decodetest.Balanced(t, r)
	}
	// The wire form has the same field.
	of := func(at, value uint64) []byte {
		p := msg(blob(1, msg(num64(1, 1), num64(2, 2), num64(3, 2))), sampleIn(era18, 2, []uint64{1, 2}, 0, []uint64{value}), fixed64(3, at))
		b := msg(blob(1, blob(2, blob(2, p))), dict())
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	r, err := decodeBytes(t, append(of(t0, 7), of(t0+1000, 11)...))
	if err != nil || r.Events[0].Metrics[0].Total != 11 {
		t.Errorf("the wire form gives %+v, %v", r.Events, err)
	}
}

// TestSniffOldEra checks that files of 1.7 and older, in their three layouts, are rejected
// with an error of their own, not as an unknown format.
func TestSniffOldEra(t *testing.T) {
	typ := blob(1, msg(num64(1, 1), num64(2, 2)))
	smp := blob(2, msg(num64(1, 0), num64(2, 3), pack(3, 1), num64(5, 1)))
	tables := msg(blob(3, nil), blob(4, num64(2, 9)), pack(5, 1, 2), blob(6, num64(1, 3)), blob(9, nil), text(10, ""), text(10, "main"))
	in := func(profile []byte) []byte {
		return blob(1, msg(blob(1, nil), blob(2, msg(blob(1, nil), blob(2, profile)))))
	}
	for name, content := range map[string][]byte{
		"1.7":              msg(in(msg(typ, smp, pack(3, 1, 2), num64(4, t0), num64(5, 1e9), blob(6, num64(1, 1)), num64(7, 100), text(10, "0123456789abcdef"))), dict()),
		"own tables":       in(msg(typ, smp, tables, num64(11, t0), num64(12, 1e9), blob(13, num64(1, 1)))),
		"in a container":   in(msg(text(1, "0123456789abcdef"), fixed64(2, t0), fixed64(3, t0+5), blob(8, msg(typ, smp, tables)))),
		"1.7, no duration": msg(in(msg(typ, smp, pack(3, 1, 2), num64(4, t0), blob(6, num64(1, 1)), num64(7, 100))), dict()),
	} {
		for _, cut := range []int{0, 10} {
			head := content[:len(content)-cut]
			if c, err := Sniff(head, cut == 0); c < decode.Likely || err != errOld {
				t.Errorf("%s: Sniff = %v, %v", name, c, err)
			}
			framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), head...)
			if c, err := Sniff(framed, cut == 0); c < decode.Likely || err != errOld {
				t.Errorf("%s, framed: Sniff = %v, %v", name, c, err)
			}
		}
	}
}

func TestOldEra(t *testing.T) {
	old := msg(blob(1, blob(2, blob(2, blob(2, msg(num64(1, 0), num64(2, 3), pack(3, 1)))))), dict())
	if _, err := decodeBytes(t, old); err == nil || !strings.Contains(err.Error(), "1.7 or older") {
		t.Errorf("got %v", err)
	}
	if _, err := decodeBytes(t, []byte(`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sample":[{"locationsLength":3}]}]}]}]}`)); err != errOld {
		t.Errorf("JSON: got %v", err)
	}
}

// TestUndecided checks samples whose fields exist in both eras, with different meanings: the
// numbers in field 2 are taken for values.
func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		two  uint64
		want int64
	}{{1, 1}, {999, 999}} {
		s := blob(2, msg(num64(1, 2), pack(2, c.two), times(5, t0)))
		r, err := decodeBytes(t, msg(blob(1, blob(2, blob(2, s))), dict()))
		if err != nil || r.Events[0].Metrics[0].Total != c.want {
			t.Errorf("%d: %v, %+v", c.two, err, r.Events)
		}
	}
}

const jsonExample = `{"resourceProfiles":[{"resource":{"attributes":[{"key":"process.pid","value":{"intValue":"77"}},{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"boolValue":true},{"doubleValue":1.5}]}}}]},` +
	`"scopeProfiles":[{"scope":{"name":"p"},"profiles":[{"sampleType":{"typeStrindex":1,"unitStrindex":2},"samples":[{"stackIndex":1,"attributeIndices":[1],"linkIndex":1,"values":["9007199254740993"],"timestampsUnixNano":["1700000000000000005"]},{"stackIndex":1,"values":[2]}],"timeUnixNano":"1700000000000000000","period":"1"}]}]}],` +
	`"dictionary":{"mappingTable":[{},{"memoryStart":"4194304","filenameStrindex":4}],"locationTable":[{},{"mappingIndex":1,"address":"18446744073709551615","lines":[{"functionIndex":1,"line":"12"}]}],"functionTable":[{},{"nameStrindex":3}],"linkTable":[{},{"traceId":"00ff","spanId":"01"}],"stringTable":["","cpu","nanoseconds","main","/bin/a","thread.name"],"attributeTable":[{},{"keyStrindex":5,"value":{"stringValue":"w"}}],"stackTable":[{},{"locationIndices":[1]}]}}`

const wantJSON = `event cpu  period 0 1 [{Name:cpu Unit:nanoseconds Decimals:0 Kind:sum PerSample:2 Total:9007199254740995}]
9007199254740993 track 0 [{list a, true, 1.5} {process.pid 77} {span_id 01} {thread.name w} {trace_id 00ff}]: main(/bin/a :12:0 ffffffffffffffff user false0)
2 track -1 [{list a, true, 1.5} {process.pid 77}]: main(/bin/a :12:0 ffffffffffffffff user false0)
track 77/0 "w" of 77 ""
  event 0 at 1700000000000000005 cpu -1 main weighs 9007199254740993
track 77/0 "" of 77 ""
[]
`

func TestJSON(t *testing.T) {
	if c, err := Sniff([]byte(jsonExample), true); c != decode.Certain || err != nil {
		t.Errorf("Sniff = %v, %v", c, err)
	}
	r, err := decodeBytes(t, []byte(jsonExample+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	decodetest.Balanced(t, r)
	if got := dump(r); got != wantJSON {
		t.Errorf("got\n%s\nwant\n%s", got, wantJSON)
	}
	pretty, err := decodeBytes(t, []byte("\n"+strings.ReplaceAll(jsonExample, "{", "{\n")))
	if err != nil || dump(pretty) != wantJSON {
		t.Errorf("over many lines: %v\n%s", err, dump(pretty))
	}
	later := strings.ReplaceAll(jsonExample, "1700000000000000000", "1700000000000001000")
	r, err = decodeBytes(t, []byte(jsonExample+"\n\n"+later+"\n"+jsonExample[:300]))
	if err != nil || r.Counts.Stacks != 4 || len(r.Warnings) != 1 || r.Warnings[0].First != "line 4" {
		t.Errorf("%v, %+v, %v", err, r.Counts, r.Warnings)
	}
	decodetest.Balanced(t, r)
}

// TestSniffJSONOrder checks that a file is recognised even if the dictionary comes first
// and is longer than the head.
func TestSniffJSONOrder(t *testing.T) {
	i := strings.Index(jsonExample, `,"dictionary":`)
	turned := "{" + jsonExample[i+1:len(jsonExample)-1] + "," + jsonExample[1:i] + "}"
	for _, table := range []string{"mapping", "location", "function", "link", "string", "attribute", "stack"} {
		head := `{"dictionary" : {"` + table + `Table":[` + strings.Repeat(" ", 1<<16)
		if c, err := Sniff([]byte(head), false); c != decode.Certain || err != nil {
			t.Errorf("%s: Sniff = %v, %v", table, c, err)
		}
	}
	if c, err := Sniff([]byte(turned), true); c != decode.Certain || err != nil {
		t.Errorf("Sniff = %v, %v", c, err)
	}
	r, err := decodeBytes(t, []byte(turned+"\n"))
	if err != nil || dump(r) != wantJSON {
		t.Errorf("%v\n%s", err, dump(r))
	}
	for _, other := range []string{`{"dictionary":{"a":1}}`, `{"stringTable":[]}`, `{"meta":{},"shared":{"stringArray":[]}}`} {
		if c, _ := Sniff([]byte(other), true); c != decode.No {
			t.Errorf("Sniff(%s) = %v", other, c)
		}
	}
}

func TestSampleFile(t *testing.T) {
	content := samples.Read(t, "otlp/profile.otlp")
	if c, err := Sniff(content, true); c != decode.Certain || err != nil {
		t.Errorf("Sniff = %v, %v", c, err)
	}
	if c, _ := Sniff(content[:1000], false); c < decode.Likely {
		t.Errorf("Sniff of the beginning = %v", c)
	}
	r, err := decodeBytes(t, content)
	if err != nil {
		t.Fatal(err)
	}
	decodetest.Balanced(t, r)
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
	if r.Source.Version != "proto 1.8 or 1.9" || r.Counts.Stacks != 49 || r.Counts.Samples != 189 {
		t.Errorf("%q, %+v", r.Source.Version, r.Counts)
	}
	var total int64
	leaves := map[string]int64{}
	for e, s := range r.Stacks {
		total += r.Events[e].Metrics[0].Total
		for i := range s.Len() {
			leaves[r.FuncName(s.Call(i))] += s.Value(i, 0)
		}
	}
	if total != 189 || leaves["int java.util.Random.next(int)"] != 116 {
		t.Errorf("total %d, leaf %d", total, leaves["int java.util.Random.next(int)"])
	}
	bare := map[uint64]bool{}
	for i := range r.Frames.Len() {
		f := r.Frames.At(i)
		if fn := r.Functions.At(int(f.Func)); fn.Unresolved {
			bare[f.Addr] = true
			if f.BuildID == "" && f.Addr != 0 {
				t.Errorf("%s has no build id", fn.Name)
			}
		}
	}
	if len(bare) == 0 || len(bare) > 92 {
		t.Errorf("%d locations without lines", len(bare))
	}
	var names []string
	for _, p := range r.Processes {
		names = append(names, p.Name)
	}
	sort.Strings(names)
	if got := strings.Join(names, " "); got != "PerformanceTest agent java node node process-agent system-probe" {
		t.Errorf("processes %s", got)
	}
}

func TestDamaged(t *testing.T) {
	good := example(era110)
	for _, c := range []struct {
		name    string
		content []byte
		err     string
		warning string
	}{
		{"empty", nil, "the file is empty", ""},
		{"nothing in it", []byte{0x12, 0}, "the file has no profiles", ""},
		{"cut", good[:len(good)-10], "", "cut"},
		{"garbage at the end", append(good[:len(good):len(good)], 0xff), "", "damaged"},
		{"framed, cut", append([]byte{0, 0, 0xff, 0xff}, good...), "", "cut"},
		{"framed, length cut", append(append(binary.BigEndian.AppendUint32(nil, uint32(len(good))), good...), 0, 0), "", "cut"},
		{"JSON cut", []byte(jsonExample[:200]), "no line of the JSON could be read", ""},
		{"other JSON", []byte(`{"a":1}`), "the file has no profiles", ""},
		{"wrong type", []byte(`{"resourceProfiles":5}`), "no line of the JSON could be read", ""},
		{"no stack", msg(blob(1, blob(2, blob(2, blob(2, msg(num64(1, 99), pack(4, 3)))))), dict()), "", "stack-missing"},
		{"no values", msg(blob(1, blob(2, blob(2, msg(blob(2, num64(1, 1)), blob(2, msg(num64(1, 1), pack(4, 3))))))), dict()), "", "sample-empty"},
		{"far times", msg(blob(1, blob(2, blob(2, blob(2, msg(num64(1, 1), times(5, t0, 5)))))), dict()), "", "time-too-far"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := decodeBytes(t, c.content)
			if c.err == "" != (err == nil) || err != nil && err.Error() != c.err {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			decodetest.Balanced(t, r)
			var codes []string
			for _, w := range r.Warnings {
				codes = append(codes, w.Code)
			}
			sort.Strings(codes)
			if c.warning != "" && (len(codes) == 0 || codes[0] != c.warning) {
				t.Errorf("warnings %v, want %s", codes, c.warning)
			}
		})
	}
}

// TestSniffAnyLength reads a protobuf file whose first field has 123 bytes: tag and length
// then look like a line break and a brace, the beginning of JSON.
func TestSniffAnyLength(t *testing.T) {
	field := func(to []byte, num protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, num, protowire.BytesType), body)
	}
	profile := field(nil, 7, make([]byte, 16))
	scopes := field(nil, 2, field(nil, 2, profile))
	for n := range 127 - len(scopes) - 2 {
		content := field(field(nil, 1, append(field(nil, 1, make([]byte, n)), scopes...)), 2, field(nil, 1, nil))
		if c, err := Sniff(content, true); c != decode.Certain || err != nil {
			t.Errorf("a first field of %d bytes: %v, %v", content[1], c, err)
		}
	}
}

func TestSniffRefuses(t *testing.T) {
	kv := blob(1, msg(text(1, "service.name"), blob(2, text(1, "x"))))
	span := msg(blob(1, make([]byte, 16)), blob(2, make([]byte, 8)), text(5, "GET /"), num64(6, 2), fixed64(7, t0))
	for name, content := range map[string][]byte{
		"empty":        nil,
		"metrics":      blob(1, msg(blob(1, kv), blob(2, blob(2, msg(text(1, "requests"), text(2, "so many"), text(3, "1"), blob(9, blob(1, num64(4, 3)))))))),
		"logs":         blob(1, msg(blob(1, kv), blob(2, blob(2, msg(fixed64(1, t0), num64(2, 9), text(3, "INFO"), blob(5, text(1, "hello"))))))),
		"text":         []byte("hello\nworld\n"),
		"JSON":         []byte(`{"traceEvents":[]}`),
		"traces":       blob(1, msg(blob(1, kv), blob(2, blob(2, span)))),
		"pprof":        msg(blob(1, msg(num64(1, 1), num64(2, 2))), blob(2, msg(pack(1, 1), pack(2, 3))), text(6, "")),
		"trace packet": msg(blob(1, msg(num64(8, 5), num64(10, 1)))),
		"random":       {0x0a, 0x03, 0xff, 0xff, 0xff},
	} {
		if c, err := Sniff(content, true); c != decode.No || err != nil {
			t.Errorf("%s: Sniff = %v, %v", name, c, err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Decode(ctx, source.FromBytes("x", example(era110)), recording.NewBuilder(), decode.Options{})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(example(era18))
	f.Add(example(era110))
	f.Add(append(binary.BigEndian.AppendUint32(nil, 20), example(era110)[:20]...))
	f.Add([]byte(jsonExample))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 {
			return
		}
		Sniff(content, true)
		r, _ := decodeBytes(t, content)
		decodetest.Balanced(t, r)
		for e, s := range r.Stacks {
			var sum int64
			for i := 0; s != nil && i < s.Len(); i++ {
				sum += s.Value(i, 0)
			}
			if sum != r.Events[e].Metrics[0].Total {
				t.Fatalf("event %d: total %d, sum %d", e, r.Events[e].Metrics[0].Total, sum)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var samples []byte
	for i := range 100_000 {
		samples = append(samples, sampleIn(era110, uint64(1+i%4), []uint64{1, 2}, 0, []uint64{5}, uint64(t0+i*1000))...)
	}
	content := msg(blob(1, blob(2, blob(2, samples))), dict())
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(context.Background(), source.FromBytes("x", content), recording.NewBuilder(), decode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}
