package nettrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

// wide is a text in the encoding of versions 4 and 5.
type wide string

// short is a text after its length in 16 bits. sized and small are bytes after their length
// in 32 and 16 bits.
type (
	short string
	sized []byte
	small []byte
	// varint is encoded with seven bits per byte.
	varint uint64
)

// pack encodes values one after another.
func pack(values ...any) (b []byte) {
	le := binary.LittleEndian
	for _, v := range values {
		switch v := v.(type) {
		case byte:
			b = append(b, v)
		case uint16:
			b = le.AppendUint16(b, v)
		case int:
			b = le.AppendUint32(b, uint32(v))
		case uint32:
			b = le.AppendUint32(b, v)
		case uint64:
			b = le.AppendUint64(b, v)
		case varint:
			b = binary.AppendUvarint(b, uint64(v))
		case wide:
			for _, u := range append(utf16.Encode([]rune(v)), 0) {
				b = le.AppendUint16(b, u)
			}
		case string: // the encoding of version 6
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		case short:
			b = append(le.AppendUint16(b, uint16(len(v))), v...)
		case sized:
			b = append(le.AppendUint32(b, uint32(len(v))), v...)
		case small:
			b = append(le.AppendUint16(b, uint16(len(v))), v...)
		case []byte:
			b = append(b, v...)
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	return b
}

// writer writes a trace in version 4, 5 or 6 of the format.
type writer struct {
	b          []byte
	version    int
	compressed bool
	kinds      uint32
	sequence   map[uint64]uint32
}

const (
	began  = uint64(5_000_000) // ticks
	perSec = uint64(10_000_000)
	pid    = 4711
)

// date is 2024-02-29 (a Thursday) 12:30:15.250 UTC.
var date = pack(uint16(2024), uint16(2), uint16(4), uint16(29), uint16(12), uint16(30), uint16(15), uint16(250))

func newWriter(version int, compressed bool) *writer {
	w := &writer{version: version, compressed: compressed, sequence: map[uint64]uint32{}}
	w.b = []byte("Nettrace")
	if version == 6 {
		w.b = pack(w.b, 0, 6, 0)
		w.block("Trace", pack(date, began, perSec, 8, 2, "ProcessId", fmt.Sprint(pid), "HardwareThreadCount", "2"))
	} else {
		w.b = pack(w.b, sized("!FastSerialization.1"))
		w.block("Trace", pack(date, began, perSec, 8, pid, 2, 1_000_000))
	}
	return w
}

var kindsOfBlocks = map[string]int{"Trace": 1, "EventBlock": 2, "MetadataBlock": 3, "SPBlock": 4, "StackBlock": 5, "ThreadBlock": 6, "LabelListBlock": 8, "Tomorrow": 99}

func (w *writer) block(name string, content []byte) {
	if w.version == 6 {
		w.b = pack(w.b, len(content)|kindsOfBlocks[name]<<24, content)
		return
	}
	w.b = pack(w.b, byte(5), byte(5), byte(1), w.version, w.version, sized(name), byte(6))
	if name != "Trace" {
		w.b = pack(w.b, len(content))
		w.b = append(w.b, make([]byte, -len(w.b)&3)...)
	}
	w.b = pack(w.b, content, byte(6))
}

func (w *writer) end() []byte {
	if w.version == 6 {
		return pack(w.b, 0)
	}
	return pack(w.b, byte(1))
}

// told is an event to write.
type told struct {
	kind, stack uint32
	writer      uint64
	thread, at  uint64
	cpu         uint32
	payload     []byte
}

// events writes a block of events or, in versions 4 and 5, of event descriptions.
func (w *writer) events(name string, all ...told) {
	flags := uint16(0)
	if w.compressed {
		flags = 1
	}
	// The header is longer than that of this version, so readers must skip the rest.
	b := pack(uint16(24), flags, began, began+1, 0xabcd)
	var last told
	var sequence uint32
	for _, e := range all {
		if e.kind != 0 {
			w.sequence[e.writer]++
		}
		n := w.sequence[e.writer]
		if !w.compressed {
			row := pack(e.kind|1<<31, n, e.thread, e.writer, e.cpu, e.stack, e.at)
			if w.version == 6 {
				row = pack(row, 7)
			} else {
				row = append(row, make([]byte, 32)...)
			}
			row = pack(row, len(e.payload), e.payload)
			b = pack(b, len(row), row)
			if w.version < 6 {
				b = append(b, make([]byte, -len(b)&3)...)
			}
			continue
		}
		is := byte(64) // the events are sorted; readers ignore this flag
		var row []byte
		if e.kind != last.kind {
			is |= 1
			row = pack(row, varint(e.kind))
		}
		if e.kind == 0 {
			n = sequence
		}
		if e.writer != last.writer || e.kind != 0 && n != sequence+1 || e.cpu != last.cpu {
			is |= 2
			row = pack(row, varint(n-1-sequence), varint(e.writer), varint(e.cpu))
		}
		if sequence = n; e.thread != last.thread {
			is |= 4
			row = pack(row, varint(e.thread))
		}
		if e.stack != last.stack {
			is |= 8
			row = pack(row, varint(e.stack))
		}
		row = pack(row, varint(e.at-last.at))
		switch {
		case w.version == 6 && e.at%3 == 0:
			is |= 16
			row = pack(row, varint(300))
		case w.version < 6 && e.at%3 == 0:
			is |= 16 | 32
			row = append(row, make([]byte, 32)...)
		}
		if len(e.payload) != len(last.payload) {
			is |= 128
			row = pack(row, varint(len(e.payload)))
		}
		b = pack(b, is, row, e.payload)
		last = e
	}
	w.block(name, b)
}

// kind writes the description of a kind of events and returns its number.
func (w *writer) kind(provider string, id int, name string, fields ...[]byte) uint32 {
	w.kinds++
	all := bytes.Join(fields, nil)
	if w.version == 6 {
		row := pack(varint(w.kinds), provider, varint(id), name, uint16(len(fields)), all, uint16(3), byte(3), byte(1), byte(2))
		w.block("MetadataBlock", pack(small{9, 9}, small(row)))
		return w.kinds
	}
	w.events("MetadataBlock", told{payload: pack(int(w.kinds), wide(provider), id, wide(name), uint64(0), 1, 4, len(fields), all)})
	return w.kinds
}

// field encodes the description of a field with a plain type.
func (w *writer) field(name string, code int) []byte {
	if w.version == 6 {
		return pack(small(pack(name, byte(code))))
	}
	return pack(code, wide(name))
}

func (w *writer) stacks(first int, all ...[]uint64) {
	b := pack(first, len(all))
	for _, s := range all {
		var raw []byte
		for _, at := range s {
			raw = pack(raw, at)
		}
		b = pack(b, sized(raw))
	}
	w.block("StackBlock", b)
}

const (
	clr     = "Microsoft-Windows-DotNETRuntime"
	rundown = "Microsoft-Windows-DotNETRuntimeRundown"
	sampler = "Microsoft-DotNETCore-SampleProfiler"
)

// methodAt returns the payload of an event with the address range of a method.
func methodAt(from, size int, module uint64, class, name, signature string) []byte {
	return pack(uint64(from), module, uint64(from), size, 0, 0, wide(class), wide(name), wide(signature), uint16(9), uint64(0))
}

// example returns a trace in the given version: two threads, samples inside and outside
// .NET code, a runtime event, and an event with fields.
func example(version int, compressed bool) []byte {
	w := newWriter(version, compressed)
	sample := w.kind(sampler, 0, "")
	gc := w.kind(clr, 1, "")
	own := w.kind("My-Source", 3, "Order", w.field("id", shapeInt32), w.field("ok", shapeBool), w.field("what", shapeString), w.field("cost", shapeFloat64), w.field("b", shapeInt8), w.field("c", shapeUint64))
	load := w.kind(clr, 143, "")
	loaded := w.kind(rundown, 144, "MethodDCEndVerbose")
	module := w.kind(rundown, 154, "")
	init := w.kind(rundown, 148, "")
	threads := [2]uint64{100, 101}
	if version == 6 {
		threads = [2]uint64{1, 2}
		w.block("ThreadBlock", pack(small(pack(varint(1), byte(1), "main", byte(2), varint(pid), byte(3), varint(100))), small(pack(varint(2), byte(3), varint(101), byte(4), "k", "v", byte(2), varint(pid)))))
	}
	a, b := threads[0], threads[1]
	w.stacks(1, []uint64{0x2010, 0x1020}, []uint64{0x1010}, []uint64{0x9000, 0x2fff + 1, 0x1020})
	w.events("EventBlock",
		told{kind: load, writer: a, thread: a, at: began, payload: methodAt(0x1000, 0x100, 7, "App.Program", "Main", "void  (class System.String[])")},
		told{kind: sample, writer: 9, thread: a, at: began + 10, stack: 1, payload: pack(2)},
		told{kind: sample, writer: 9, thread: b, at: began + 11, stack: 2, payload: pack(1)},
		told{kind: gc, writer: a, thread: a, at: began + 12, payload: pack(1, 2)},
		told{kind: own, writer: b, thread: b, at: began + 13, cpu: 1, payload: pack(1<<32-5, 1, wide("a\"b"), math.Float64bits(1.5), byte(0xff), uint64(1<<63))},
		told{kind: sample, writer: 9, thread: a, at: began + 20, stack: 3, payload: pack(2)})
	w.block("LabelListBlock", pack(1, 0))
	if version == 6 {
		w.block("SPBlock", pack(began+21, 0, 0))
	} else {
		w.block("SPBlock", pack(began+21, 1, uint64(100), 3))
	}
	w.stacks(1, []uint64{0x1010})
	w.events("EventBlock",
		told{kind: sample, writer: 9, thread: a, at: began + 30, stack: 1, payload: pack(2)},
		told{kind: sample, writer: 9, thread: a, at: began + 40, payload: pack(0)},
		told{kind: init, writer: a, thread: a, at: began + 50, payload: pack(uint16(9))},
		told{kind: loaded, writer: a, thread: a, at: began + 50, payload: methodAt(0x2000, 0x1000, 7, "App.Program", "Work", "instance int32  (int32)")},
		told{kind: module, writer: a, thread: a, at: began + 51, payload: pack(uint64(7), uint64(1), 0, 0, wide(`C:\app\shop.dll`), wide(""), uint16(9))})
	return w.end()
}

const listing = ` / thread 100
  * GCStart 1200 {"provider":"Microsoft-Windows-DotNETRuntime"}
 / thread 101
  * Order 1300 {"provider":"My-Source","id":-5,"ok":true,"what":"a\"b","cost":1.5,"b":-1,"c":9223372036854775808}`

// stacksOf lists the samples of an event: time in ns, thread and stack.
func stacksOf(r *recording.Recording, event int) (out []string) {
	for _, t := range r.Tracks {
		s := t.SamplesOf(event)
		if s == nil {
			continue
		}
		for i := range s.Len() {
			var names []string
			for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
				f := r.Functions.At(int(r.Func(c)))
				names = append([]string{strings.TrimPrefix(f.Module+"!"+f.Name, "!")}, names...)
			}
			out = append(out, fmt.Sprintf("%d %d %s", t.TID, s.Time(i)/1000, strings.Join(names, ";")))
		}
	}
	return out
}

const stacked = `100 1000 shop.dll!App.Program.Main(class System.String[]);shop.dll!App.Program.Work(int32)
100 2000 shop.dll!App.Program.Main(class System.String[]);shop.dll!App.Program.Work(int32);0x9000
100 3000 shop.dll!App.Program.Main(class System.String[])
100 4000 
101 1100 shop.dll!App.Program.Main(class System.String[]);[native code or waiting]`

func TestExample(t *testing.T) {
	for version := 4; version <= 6; version++ {
		for _, compressed := range []bool{true, false} {
			content := example(version, compressed)
			if c, err := sniff(content[:16], false); c != decode.Certain || err != nil {
				t.Errorf("sniff = %v, %v", c, err)
			}
			for _, chunk := range []int{0, 1, 7, 100} {
				r, err := decodetest.Bytes(t, read, content, chunk)
				if err != nil || len(r.Warnings) > 0 {
					t.Fatalf("version %d: %v, %v", version, err, r.Warnings)
				}
				want := listing
				if version == 6 {
					want = strings.Replace(want, "thread 100", "main", 1)
				}
				if got := strings.Join(decodetest.Spans(r), "\n"); got != want {
					t.Fatalf("version %d in chunks of %d:\n%s\nwant\n%s", version, chunk, got, want)
				}
				if got := strings.Join(stacksOf(r, 0), "\n"); got != stacked {
					t.Fatalf("version %d in chunks of %d:\n%s\nwant\n%s", version, chunk, got, stacked)
				}
				if r.Processes[0].PID != pid || r.Events[0].Metrics[0].Total != 5 {
					t.Errorf("process %+v, event %+v", r.Processes[0], r.Events[0])
				}
			}
		}
	}
}

// TestUniversal reads events of the Linux kernel, with symbols of programs. Only version 6
// has them.
func TestUniversal(t *testing.T) {
	w := newWriter(6, true)
	create, mapped, symbol := w.kind("Universal.System", 0, "ProcessCreate"), w.kind("Universal.System", 0, "ProcessMapping"), w.kind("Universal.System", 0, "ProcessSymbol")
	cpu, cswitch := w.kind("Universal.Events", 0, "cpu"), w.kind("Universal.Events", 0, "cswitch")
	w.block("ThreadBlock", pack(small(pack(varint(1), byte(2), varint(50), byte(3), varint(51))), small(pack(varint(2), byte(2), varint(60), byte(3), varint(61)))))
	w.stacks(1, []uint64{0x1010, 0x5008})
	w.events("EventBlock",
		told{kind: create, thread: 1, at: began, payload: pack(varint(1), short("server"), short(""))},
		told{kind: mapped, thread: 1, at: began, payload: pack(varint(8), varint(50), varint(0x1000), varint(0x2000), varint(0), short("/usr/bin/server"), varint(0))},
		told{kind: mapped, thread: 1, at: began, payload: pack(varint(9), varint(50), varint(0x5000), varint(0x6000), varint(0x100), short("/lib/libc.so.6"), varint(0))},
		told{kind: symbol, thread: 1, at: began, payload: pack(varint(1), varint(8), varint(0x1000), varint(0x1100), short("serve"))},
		told{kind: cpu, thread: 1, at: began + 1, cpu: 1, stack: 1, payload: pack(varint(3))},
		told{kind: cpu, thread: 2, at: began + 2, cpu: 1, stack: 1, payload: pack(varint(1))},
		told{kind: cswitch, thread: 1, at: began + 3, stack: 1, payload: pack(varint(2000))})
	r, err := decodetest.Bytes(t, read, w.end(), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("%v, %v", err, r.Warnings)
	}
	got := strings.Join(stacksOf(r, 0), "\n")
	if want := "51 100 /lib/libc.so.6!libc.so.6+0x107;/usr/bin/server!serve\n61 200 0x5007;0x1010"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r.Events[0].Metrics[0].Total != 4 || r.Events[1].Name != "cswitch" || r.Events[1].Metrics[0].Total != 200_000 || r.Processes[0].Name != "server" || r.Tracks[0].Samples[0].CPU(0) != 1 {
		t.Errorf("%+v, %+v", r.Events, r.Processes)
	}
}

// TestShapes reads fields of all shapes, in the forms of versions 5 and 6.
func TestShapes(t *testing.T) {
	guid := pack(0x01020304, uint16(0x0506), uint16(0x0708), []byte{9, 10, 11, 12, 13, 14, 15, 16})
	sizedField := func(name string, codes ...any) []byte { return pack(sized(nil), wide(name), pack(codes...)) }
	whole := func(b []byte) []byte { binary.LittleEndian.PutUint32(b, uint32(len(b))); return b }
	for version, c := range map[int]struct {
		fields  func(w *writer) [][]byte
		payload []byte
		want    string
	}{
		4: {func(w *writer) [][]byte {
			return [][]byte{pack(shapeObject, 2, shapeInt16, wide("x"), shapeUint16, wide("y"), wide("o")), w.field("g", shapeGUID), w.field("d", shapeDate), w.field("f", shapeFloat32), w.field("c", shapeUTF16)}
		}, pack(uint16(0xfffe), uint16(7), guid, date, math.Float32bits(2.5), uint16('x')),
			`{"provider":"P","o":{"x":-2,"y":7},"g":"01020304-0506-0708-090a-0b0c0d0e0f10","d":"2024-02-29T12:30:15.250","f":2.5,"c":"x"}`},
		6: {func(w *writer) [][]byte {
			return [][]byte{
				newField("a", byte(shapeArray), byte(shapeUint8)), newField("o", byte(shapeObject), uint16(1), newField("v", byte(shapeVarint))), newField("u", byte(shapeUvarint)),
				newField("f", byte(shapeFixed), byte(shapeInt16), uint16(2)), newField("s", byte(shapeArray), byte(shapeUTF8)), newField("w", byte(shapeFixed), byte(shapeUTF16), uint16(2)),
				newField("r", byte(shapeRelLoc), byte(shapeUTF8)), newField("d", byte(shapeDataLoc), byte(shapeUint16)), newField("e", byte(shapeArray), byte(shapeObject), uint16(0)),
			}
		}, pack(uint16(2), byte(1), byte(200), varint(9), varint(300), uint16(1), uint16(0xffff), short("hé"), uint16('h'), uint16('i'),
			uint16(6), uint16(3), uint16(0), uint16(4), uint16(2), []byte("abc")),
			`{"provider":"P","a":[1,200],"o":{"v":-5},"u":300,"f":[1,-1],"s":"hé","w":"hi","r":"abc","d":[2,51201],"e":[{},{}]}`},
	} {
		w := newWriter(version, true)
		k := w.kind("P", 1, "e", c.fields(w)...)
		w.events("EventBlock", told{kind: k, writer: 1, thread: 1, at: began, payload: c.payload})
		r, err := decodetest.Bytes(t, read, w.end(), 0)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("version %d: %v, %v", version, err, r.Warnings)
		}
		if got := r.Args(r.Tracks[0].Instants[0].Args); got != c.want {
			t.Errorf("version %d:\n got %s\nwant %s", version, got, c.want)
		}
	}
	// Version 5 describes fields with arrays in a second list.
	w := newWriter(5, true)
	fields := pack(2, whole(sizedField("list", shapeArray, shapeInt32)), whole(sizedField("n", shapeUint8)))
	w.kinds++
	w.events("MetadataBlock", told{payload: pack(1, wide("P"), 1, wide("e"), uint64(0), 1, 4, 0, 1, byte(1), byte(5), len(fields), byte(2), fields)})
	w.events("EventBlock", told{kind: 1, writer: 1, thread: 1, at: began, payload: pack(uint16(2), 5, 6, byte(7))})
	r, err := decodetest.Bytes(t, read, w.end(), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("version 5: %v, %v", err, r.Warnings)
	}
	if got := r.Args(r.Tracks[0].Instants[0].Args); got != `{"provider":"P","list":[5,6],"n":7}` {
		t.Errorf("version 5: %s", got)
	}
}

// TestArrayWithoutElements reads a field whose description names an array. The form of version 4
// has no room for the type of its elements, so it and later fields are left out.
func TestArrayWithoutElements(t *testing.T) {
	for _, array := range []int{shapeArray, shapeFixed, shapeRelLoc, shapeDataLoc} {
		w := newWriter(4, true)
		k := w.kind("P", 1, "e", w.field("before", shapeUint8), w.field("list", array), w.field("after", shapeUint8))
		w.events("EventBlock", told{kind: k, writer: 1, thread: 1, at: began, payload: pack(byte(3), uint16(1), uint16(0), byte(7))})
		r, err := decodetest.Bytes(t, read, w.end(), 0)
		if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Code != "event-short" {
			t.Fatalf("%v, %v", err, r.Warnings)
		}
		if got := r.Args(r.Tracks[0].Instants[0].Args); got != `{"provider":"P","before":3}` {
			t.Error(got)
		}
	}
}

func newField(name string, shape ...any) []byte { return pack(small(pack(name, pack(shape...)))) }

// made returns a trace of random samples, and counts in want the samples of each thread and
// stack, with the names of the methods at their addresses.
func made(rng *rand.Rand, version int, want map[string]int) []byte {
	w := newWriter(version, rng.IntN(3) > 0)
	sample, loaded := w.kind(sampler, 0, ""), w.kind(rundown, 144, "")
	type planned struct{ from, size int }
	var methods []planned
	at := 0x10000
	for range 20 {
		size := 1 + rng.IntN(64)
		methods = append(methods, planned{at, size})
		at += size + rng.IntN(2)*rng.IntN(40)
	}
	now := began
	for range 5 {
		var stacks [][]uint64
		var names []string
		for range 1 + rng.IntN(20) {
			var stack []uint64
			name := ""
			for depth := range 1 + rng.IntN(6) {
				k := rng.IntN(len(methods))
				m := methods[k]
				ip := m.from + rng.IntN(m.size)
				if depth > 0 {
					ip++ // the return address, which is after the call
				}
				stack = append(stack, uint64(ip))
				name = fmt.Sprintf(";f%d()", k) + name
			}
			stacks, names = append(stacks, stack), append(names, name[1:])
		}
		w.stacks(1, stacks...)
		var events []told
		for range rng.IntN(60) {
			k, th := rng.IntN(len(stacks)), 1+rng.IntN(4)
			now += uint64(rng.IntN(1000))
			events = append(events, told{kind: sample, writer: 9, thread: uint64(th), at: now, stack: uint32(k + 1), payload: pack(2)})
			want[fmt.Sprintf("%d %s", th, names[k])]++
		}
		w.events("EventBlock", events...)
		if version == 6 {
			w.block("SPBlock", pack(now, 0, 0))
		} else {
			w.block("SPBlock", pack(now, 0))
		}
	}
	for _, k := range rng.Perm(len(methods)) {
		w.events("EventBlock", told{kind: loaded, writer: 3, thread: 3, at: now, payload: methodAt(methods[k].from, methods[k].size, 0, "", fmt.Sprintf("f%d", k), "void  ()")})
	}
	return w.end()
}

func TestAgainstPlan(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 4))
		want := map[string]int{}
		r, err := decodetest.Bytes(t, read, made(rng, 4+int(seed%3), want), 0)
		if len(want) == 0 {
			continue
		}
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("seed %d: %v, %v", seed, err, r.Warnings)
		}
		got := map[string]int{}
		for _, s := range stacksOf(r, 0) {
			var tid, at int
			var stack string
			fmt.Sscan(s, &tid, &at, &stack)
			got[fmt.Sprintf("%d %s", tid, stack)]++
		}
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d:\n got %v\nwant %v", seed, got, want)
		}
	}
}

func TestDamaged(t *testing.T) {
	one := func(more func(w *writer, sample uint32)) []byte {
		w := newWriter(6, true)
		sample := w.kind(sampler, 0, "")
		w.events("EventBlock", told{kind: sample, writer: 9, thread: 1, at: began + 1, payload: pack(2)})
		if more != nil {
			more(w, sample)
		}
		return w.end()
	}
	whole := one(nil)
	end := len(whole) - 4
	old := example(4, true)
	place := fmt.Sprintf("byte %d", end)
	for _, c := range []struct {
		name        string
		content     []byte
		place, want string
		samples     int64
	}{
		{"whole", whole, "", "", 1},
		{"cut", one(func(w *writer, k uint32) { w.stacks(1, []uint64{1}) })[:end+9], place, "The file is truncated at " + place + "; everything before is shown", 1},
		{"no end", whole[:end], place, "The file is truncated at " + place + "; everything before is shown", 1},
		{"a header alone", whole[:12], "", "the trace is truncated in its header", 0},
		{"nothing", newWriter(6, true).end(), "", "the trace has no events", 0},
		{"a version of tomorrow", pack([]byte("Nettrace"), 0, 7, 0), "", "version 7 of the format is not supported; versions 4, 5 and 6 are", 0},
		{"a block of tomorrow", one(func(w *writer, _ uint32) { w.block("Tomorrow", []byte{1, 2}) }), place, "Blocks of an unknown kind (first at " + place + ") were left out", 1},
		{"a short block", one(func(w *writer, _ uint32) { w.block("StackBlock", pack(1, 7, 900)) }), place, "The block at " + place + " is truncated; its first part is shown", 1},
		{"a kind that is not described", one(func(w *writer, _ uint32) { w.events("EventBlock", told{kind: 77, writer: 9, at: began}) }), fmt.Sprintf("byte %d", end+28),
			fmt.Sprintf("Events without a description, first at byte %d, were left out", end+28), 1},
		{"an event that is too short", one(func(w *writer, k uint32) {
			w.events("EventBlock", told{kind: k, writer: 9, at: began, payload: []byte{1}})
		}), fmt.Sprintf("byte %d", end+28), fmt.Sprintf("Events are shorter than described, first at byte %d, and were left out", end+28), 1},
		{"a stack that is not there", one(func(w *writer, k uint32) {
			w.events("EventBlock", told{kind: k, writer: 9, stack: 3, at: began, payload: pack(2)})
		}), "", "Some samples refer to missing stacks; they count toward totals, but without a stack", 2},
		{"far", one(func(w *writer, k uint32) {
			w.events("EventBlock", told{kind: k, writer: 9, at: 1 << 62, payload: pack(2)})
		}), fmt.Sprintf("byte %d", end+4), fmt.Sprintf("An event in the block at byte %d is too far from the start of the trace and was moved", end+4), 2},
		{"lost events", one(func(w *writer, k uint32) {
			w.sequence[9] += 5
			w.events("EventBlock", told{kind: k, writer: 9, at: began, payload: pack(2)})
		}), "", "Events are missing because buffers were full while recording", 2},
		{"an old one that is cut", old[:len(old)-1], fmt.Sprintf("byte %d", len(old)-1), fmt.Sprintf("The file is truncated at byte %d; everything before is shown", len(old)-1), 5},
		{"an old one with another tag", pack(old[:len(old)-1], byte(9)), fmt.Sprintf("byte %d", len(old)-1), fmt.Sprintf("The file is damaged at byte %d; everything before is shown", len(old)-1), 5},
	} {
		r, err := decodetest.Bytes(t, read, c.content, 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		if r.Counts.Samples != c.samples {
			t.Errorf("%s: %d samples, want %d", c.name, r.Counts.Samples, c.samples)
		}
		if c.name == "lost events" && (len(r.Warnings) == 0 || r.Warnings[0].Count != 5) {
			t.Errorf("%s: %+v", c.name, r.Warnings)
		}
	}
	// Arrays of objects without fields take no bytes, however many there are.
	w := newWriter(6, true)
	k := w.kind("P", 1, "e", newField("f", byte(shapeFixed), byte(shapeFixed), byte(shapeFixed), byte(shapeObject), uint16(0), uint16(60000), uint16(60000), uint16(60000)))
	w.events("EventBlock", told{kind: k, writer: 1, thread: 1, at: began})
	r, err := decodetest.Bytes(t, read, w.end(), 0)
	if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Code != "event-short" || r.Counts.Instants != 1 {
		t.Errorf("endless values: %v, %+v", err, r.Warnings)
	}
}

func FuzzDecode(f *testing.F) {
	for version := 4; version <= 6; version++ {
		f.Add(example(version, true))
		f.Add(made(rand.New(rand.NewPCG(1, uint64(version))), version, map[string]int{}))
	}
	f.Add(example(5, false))
	decodetest.Fuzz(f, read, sniff)
}
