package perfdata

import (
	"bytes"
	"context"
	"fmt"
	stdmaps "maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// told lists the samples of a recording: event, thread, time, processor, period and stack.
func told(r *recording.Recording) (lines []string) {
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			e := &r.Events[s.Event]
			for i := range s.Len() {
				path := ""
				for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
					f := r.Functions.At(int(r.Func(c)))
					path = ";" + placed(f.Name, r.Frames.At(int(r.Calls.Frame(c))).Addr) + "@" + f.Module + path
				}
				lines = append(lines, fmt.Sprintf("%s %s %d/%d %s %d %d %s", e.Name, tr.Name, tr.PID, tr.TID, r.Clock.Text(s.Time(i)), s.CPU(i), s.Value(i, &e.Metrics[1], 1), path))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// placed returns a function's name, with the address if the function is unknown.
func placed(name string, addr uint64) string {
	if name == unknown && addr != 0 {
		return fmt.Sprintf("%s+0x%x", name, addr)
	}
	return name
}

// The sample fields that `perf record -a -g` requests.
const sampleType = hasIP | hasTID | hasTime | hasID | hasCPU | hasPeriod | hasCallchain | hasIdentifier

func put64(b []byte, v ...uint64) []byte {
	for _, v := range v {
		b = le.AppendUint64(b, v)
	}
	return b
}

func put32(b []byte, v ...uint32) []byte {
	for _, v := range v {
		b = le.AppendUint32(b, v)
	}
	return b
}

// rec encodes a record.
func rec(kind uint32, misc uint16, body []byte) []byte {
	b := put32(nil, kind)
	b = le.AppendUint16(b, misc)
	b = le.AppendUint16(b, uint16(len(body)+recordHead))
	return append(b, body...)
}

// stamped encodes a kernel record other than a sample, with the fields (thread, time, id,
// CPU) that end such records.
func stamped(kind uint32, misc uint16, time uint64, body []byte) []byte {
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	return rec(kind, misc, put64(body, 7<<32|7, time, 11, 0, 11))
}

func attrOf(kind uint32, config uint64, freq bool) []byte {
	b := put32(nil, kind, 96)
	flags := uint64(flagIDsAll)
	if freq {
		flags |= flagFreq
	}
	b = put64(b, config, 99, sampleType, readID, flags)
	return append(b, make([]byte, 96-len(b))...)
}

// made collects the records of a recording, and the expected samples.
type made struct {
	records []timed
	want    []string
}

type timed struct {
	time uint64
	b    []byte
}

func (m *made) add(kind uint32, misc uint16, time uint64, body []byte) {
	m.records = append(m.records, timed{time, stamped(kind, misc, time, body)})
}

func (m *made) mmap(time uint64, pid uint32, start, size, offset uint64, name string) {
	misc := uint16(miscUser)
	if pid == 1<<32-1 {
		misc = miscKernel
	}
	b := put64(put32(nil, pid, pid), start, size, offset, 0, 0, 0, 0)
	m.add(recordMmap2, misc, time, append(b, name+"\x00"...))
}

func (m *made) sample(time, id uint64, misc uint16, pid, tid, cpu uint32, period uint64, ips []uint64, line string) {
	b := put64(nil, id, ips[len(ips)-1])
	b = put32(b, pid, tid)
	b = put64(b, time, id, uint64(cpu), period, uint64(len(ips)))
	b = put64(b, ips...)
	m.records = append(m.records, timed{time, rec(recordSample, misc, b)})
	m.want = append(m.want, line)
}

const nobody = 1<<32 - 1

// random returns a recording of processes that map binaries over each other, fork, and
// execute programs.
func random(r *rand.Rand, n int) *made {
	m := &made{}
	type area struct {
		start, end, offset uint64
		name               string
		data               bool // not executable
	}
	spaces := map[uint32][]area{}
	comms := map[uint32]string{}
	names := []string{"/no/such/a", "/no/such/b.so", "//anon", "[vdso]"}
	now := uint64(5_000_000_000)
	m.mmap(0, nobody, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text")
	comm := func(pid uint32, name string, exec bool) {
		misc := uint16(0)
		if exec {
			misc = miscExec
			spaces[pid] = nil
		}
		comms[pid] = name
		m.add(recordComm, misc, now, append(put32(nil, pid, pid), name+"\x00"...))
	}
	comm(100, "first", true)
	pids := []uint32{100}
	var late []func()
	for range n {
		now += 1 + r.Uint64N(1e6)
		pid := pids[r.IntN(len(pids))]
		switch r.IntN(9) {
		case 0, 1:
			a := area{start: 0x1000 * (1 + r.Uint64N(40)), offset: 0x1000 * r.Uint64N(4), name: names[r.IntN(4)], data: r.IntN(5) == 0}
			a.end = a.start + 0x1000*(1+r.Uint64N(9))
			m.mmap(now, pid, a.start, a.end-a.start, a.offset, a.name)
			if a.data {
				le.PutUint16(m.records[len(m.records)-1].b[4:], miscUser|miscData)
			}
			spaces[pid] = append(slices.Clip(spaces[pid]), a)
		case 2:
			child := uint32(100 + len(pids))
			m.add(recordFork, 0, now, put64(put32(nil, child, pid, child, pid), now))
			spaces[child], comms[child] = spaces[pid], comms[pid]
			pids = append(pids, child)
		case 3:
			comm(pid, fmt.Sprintf("run%d", r.IntN(3)), r.IntN(2) == 0)
		default:
			ips := []uint64{}
			path := ""
			if r.IntN(2) == 0 {
				ips = append(ips, contextKernel, 0xffffffff81000000+r.Uint64N(0x1000))
				path = fmt.Sprintf(";%s@[kernel.kallsyms]", funcname.OfAddress("[kernel.kallsyms]", ips[1], ips[1]-0xffffffff81000000))
			}
			ips = append(ips, contextUser)
			before := "" // the module of the previous address if that is outside known code
			for k := range 1 + r.IntN(4) {
				ip := 1 + r.Uint64N(0x32000)
				ips = append(ips, ip)
				at, module, stray := ip, unknown, unknown
				for _, a := range spaces[pid] { // later mappings replace earlier ones
					if ip >= a.start && ip < a.end {
						at, module, stray = ip-a.start+a.offset, a.name, ""
						if a.data {
							stray = a.name
						}
					}
				}
				if k > 0 && stray != "" {
					at = 0
					if stray == before {
						continue
					}
				}
				before = stray
				name := placed(unknown, at)
				if at != 0 && module != unknown && !strings.HasPrefix(module, "//") {
					name = funcname.OfAddress(module, at, at)
				}
				path = ";" + name + "@" + module + path
			}
			event, id := "cycles", uint64(11)
			if r.IntN(3) == 0 {
				event, id = "my:event", 22
			}
			cpu, period, at := uint32(r.IntN(4)), r.Uint64N(1e9), now
			p := path
			late = append(late, func() {
				m.want = append(m.want, fmt.Sprintf("%s %s %d/%d %d.%09d %d %d %s", event, comms[pid], pid, pid, at/1e9, at%1e9, cpu, period, p))
			})
			m.sample(now, id, miscUser, pid, pid, cpu, period, ips, "")
		}
	}
	m.want = nil
	for _, f := range late { // threads have their last name
		f()
	}
	for i, w := range m.want {
		f := strings.Fields(w)
		f[3] = strings.TrimSuffix(strings.TrimRight(f[3], "0"), ".")
		m.want[i] = strings.Join(f, " ")
	}
	slices.Sort(m.want)
	return m
}

// body writes the records in rounds. Within a round they are in random order.
func (m *made) body(r *rand.Rand, packed bool) []byte {
	var out, plain []byte
	list := slices.Clone(m.records)
	for len(list) > 0 {
		n := min(1+r.IntN(12), len(list))
		r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, t := range list[:n] {
			plain = append(plain, t.b...)
		}
		list = list[n:]
		if !packed {
			out = append(append(out, plain...), rec(recordRound, 0, nil)...)
			plain = nil
		}
	}
	if !packed {
		return out
	}
	var z bytes.Buffer
	enc, err := zstd.NewWriter(&z)
	if err != nil {
		panic(err)
	}
	for len(plain) > 0 {
		n := min(1+r.IntN(5000), len(plain)) // records may be split between two compressed records
		enc.Write(plain[:n])
		enc.Flush() // like perf, never end the stream
		plain = plain[n:]
		out = append(out, rec(recordCompressed, 0, bytes.Clone(z.Bytes()))...)
		out = append(out, rec(recordRound, 0, nil)...)
		z.Reset()
	}
	return out
}

func str(s string) []byte {
	for s += "\x00"; len(s)%8 != 0; s += "\x00" {
	}
	return append(put32(nil, uint32(len(s))), s...)
}

// eventDesc returns the header feature with the names of events.
func eventDesc() []byte {
	b := put32(nil, 2, 96)
	for i, name := range []string{"cycles", "my:event"} {
		b = append(append(b, attrOf(0, uint64(i), true)...), put32(nil, 1)...)
		b = put64(append(b, str(name)...), []uint64{11, 22}[i])
	}
	return b
}

// file returns a perf.data file with the given records.
func file(records []byte) []byte {
	const attrs = fileHeader + 16
	ids := put64(nil, 11, 22)
	var table []byte
	for i := range 2 {
		table = append(table, attrOf(0, uint64(i), true)...)
		table = put64(table, fileHeader+uint64(i)*8, 8)
	}
	data := uint64(attrs + len(table))
	b := put64([]byte(magic), fileHeader, 112, attrs, uint64(len(table)), data, uint64(len(records)), 0, 0)
	b = put64(b, 1<<featureHost|1<<featureCommand|1<<featureEventDesc, 0, 0, 0)
	b = append(append(append(b, ids...), table...), records...)
	at := uint64(len(b)) + 3*16
	var features []byte
	for _, f := range [][]byte{str("box"), append(put32(nil, 2), append(str("perf"), str("record")...)...), eventDesc()} {
		b = put64(b, at+uint64(len(features)), uint64(len(f)))
		features = append(features, f...)
	}
	return append(b, features...)
}

// pipe returns the same recording as written to a pipe.
func pipe(records []byte) []byte {
	b := put64([]byte(magic), pipeHeader)
	for i, id := range []uint64{11, 22} {
		b = append(b, rec(recordAttr, 0, put64(attrOf(0, uint64(i), true), id))...)
	}
	b = append(b, rec(recordUpdate, 0, append(put64(nil, 2, 22), "my:event\x00\x00\x00\x00\x00\x00\x00\x00"...))...)
	b = append(b, rec(recordFeature, 0, append(put64(nil, featureHost), str("box")...))...)
	b = append(b, rec(recordFeature, 0, append(put64(nil, featureCommand), append(put32(nil, 2), append(str("perf"), str("record")...)...)...))...)
	return append(b, records...)
}

func TestRandomFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds.Size(40, 8) {
		m := random(r, 1+r.IntN(200))
		if len(m.want) == 0 {
			continue
		}
		for kind, content := range map[string][]byte{
			"file": file(m.body(r, false)), "pipe": pipe(m.body(r, false)), "compressed": file(m.body(r, true)), "compressed pipe": pipe(m.body(r, true)),
		} {
			if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
				t.Fatal(sure, err)
			}
			for _, chunk := range []int{0, 7} {
				got, err := decodeBytes(t, content, chunk)
				if err != nil {
					t.Fatal(kind, err)
				}
				for _, w := range got.Warnings {
					if w.Code != "binary-missing" && w.Code != "strays" {
						t.Fatal(kind, w)
					}
				}
				if lines := told(got); !slices.Equal(lines, m.want) {
					for i := range max(len(lines), len(m.want)) {
						if i >= len(lines) || i >= len(m.want) || lines[i] != m.want[i] {
							t.Fatalf("%s, %d of %d lines:\n got %s\nwant %s", kind, len(lines), len(m.want), lines[min(i, len(lines)-1)], m.want[min(i, len(m.want)-1)])
						}
					}
				}
				if got.Source.Command != "perf record" || len(got.Source.NotesOf(recording.NoteHost)) != 1 {
					t.Fatalf("%s: %+v", kind, got.Source)
				}
			}
		}
	}
}

var (
	sampleLine = regexp.MustCompile(`^(\S+)\s+(\d+)\s+(\d+\.\d+):\s+(\d+)\s+(\S+):\s*$`)
	frameLine  = regexp.MustCompile(`^\s+([0-9a-f]+) (.*) \((.*)\)$`)
)

// TestSampleFiles compares the samples with the output of `perf script`: times to the
// microsecond, and stacks by address and binary.
func TestSampleFiles(t *testing.T) {
	text := samples.Read(t, "generated/go_vet.perf-script.txt")
	want := map[string]int{}
	head, path, before := "", "", ""
	for _, l := range append(strings.Split(string(text), "\n"), "") {
		if m := sampleLine.FindStringSubmatch(l); m != nil {
			head, path, before = strings.Join(m[1:], " "), "", ""
		} else if m := frameLine.FindStringSubmatch(l); m != nil {
			if m[3] == unknown && path != "" { // such callers share one frame, without an address
				m[1] = "0"
			}
			if m[1] != "0" || before != unknown {
				path += fmt.Sprintf(" %s@%s", m[1], m[3])
			}
			before = m[3]
		} else if l == "" && head != "" {
			want[head+path]++
			head = ""
		}
	}
	r, err := decodeBytes(t, samples.Read(t, "generated/go_vet.perf.data"), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			e := &r.Events[s.Event]
			for i := range s.Len() {
				path := ""
				for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
					f := r.Frames.At(int(r.Calls.Frame(c)))
					if f.Inlined { // perf prints inlined functions only if built with a library for them
						continue
					}
					path += fmt.Sprintf(" %x@%s", f.Addr, r.Functions.At(int(f.Func)).Module)
				}
				sec, frac, _ := strings.Cut(r.Clock.Text(s.Time(i)), ".")
				got[fmt.Sprintf("%s %d %s.%s %d %s%s", tr.Name, tr.TID, sec, (frac + "000000")[:6], s.Value(i, &e.Metrics[1], 1), e.Name, path)]++
			}
		}
	}
	if len(want) != 168 || !stdmaps.Equal(got, want) {
		t.Errorf("%d samples, want %d", len(got), len(want))
		for k := range want {
			if got[k] == 0 {
				t.Fatalf("there is no %s", k)
			}
		}
	}
	if p := r.Events[0].Metrics[1].Total; p != 844221000 {
		t.Errorf("a period of %d in all", p)
	}
}

// TestPerfReport compares sums by thread and binary with those of `perf report`.
func TestPerfReport(t *testing.T) {
	samePerfReport(t, samples.Path(t, "generated/go_vet.perf.data"))
}

// samePerfReport compares the sums by thread and binary with those of perf's own report.
func samePerfReport(t *testing.T, name string) {
	t.Helper()
	out := perf(t, "report", "-f", "-i", name, "--stdio", "--no-children", "-g", "none", "-F", "period,sample,pid,dso", "-t", ";")
	want := map[string][2]int64{}
	for _, l := range strings.Split(out, "\n") {
		var period, samples int64
		cells := strings.Split(l, ";")
		if len(cells) != 4 {
			continue
		}
		if _, err := fmt.Sscan(cells[0]+cells[1], &period, &samples); err == nil {
			tid, _, _ := strings.Cut(strings.TrimSpace(cells[2]), ":") // the name after the id may change between samples
			k := tid + " " + strings.TrimSpace(cells[3])
			want[k] = [2]int64{want[k][0] + period, want[k][1] + samples}
		}
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeBytes(t, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]int64{}
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				module := r.Functions.At(int(r.Func(s.Call(i)))).Module
				k := fmt.Sprint(tr.TID, " ", module[strings.LastIndexByte(module, '/')+1:])
				sum := got[k]
				got[k] = [2]int64{sum[0] + s.Value(i, &r.Events[s.Event].Metrics[1], 1), sum[1] + 1}
			}
		}
	}
	if len(want) == 0 || !stdmaps.Equal(got, want) {
		t.Errorf("by thread and binary\n got %v\nwant %v", got, want)
	}
}

// TestSymbols checks that symbols are taken from a binary only if it is the one that ran.
func TestSymbols(t *testing.T) {
	exe := decodetest.GoBuild(t, "package main\n\nfunc main() {}\n", "linux/amd64", "-ldflags=-B gobuildid")
	for _, changed := range []bool{false, true} {
		m := &made{}
		d := &decoder{ids: map[string][]byte{}}
		p := d.open(&mapping{name: exe})
		if p == nil || len(p.BuildID) != 20 {
			t.Fatalf("the program has no symbols or no build id: %v", p)
		}
		id := bytes.Clone(p.BuildID)
		p.Close()
		if changed {
			id[0]++
		}
		b := put64(put32(nil, 7, 7), 0x400000, 1<<30, 0)
		b = append(append(b, 20, 0, 0, 0), id...)
		m.add(recordMmap2, miscUser|miscBuildID, 1, append(put64(b, 0), exe+"\x00"...))
		found := false
		for off := uint64(0x1000); off < 0x40000; off += 0x100 {
			m.sample(2+off, 11, miscUser, 7, 7, 0, 1, []uint64{contextUser, 0x400000 + off}, "")
		}
		r, err := decodeBytes(t, file(m.inOrder()), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range told(r) {
			found = found || strings.Contains(l, ";runtime.") || strings.Contains(l, ";internal/")
		}
		if found == changed {
			t.Errorf("changed %v: names are there: %v", changed, found)
		}
		if changed != strings.Contains(fmt.Sprint(r.Warnings), "binary-changed") {
			t.Errorf("changed %v: %v", changed, r.Warnings)
		}
	}
}

// TestFeaturesOfMappedFile reads a file that is mapped into memory.
func TestFeaturesOfMappedFile(t *testing.T) {
	m := random(rand.New(rand.NewPCG(8, 9)), 60)
	name := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(name, file(m.body(rand.New(rand.NewPCG(1, 1)), false)), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := source.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := recording.NewBuilder()
	if err := Decode(context.Background(), in, b, decode.Options{}); err != nil {
		t.Fatal(err)
	}
	if lines := told(b.Finish()); !slices.Equal(lines, m.want) {
		t.Errorf("got %d lines, want %d", len(lines), len(m.want))
	}
}

func TestSentences(t *testing.T) {
	m := &made{}
	m.sample(5, 11, miscUser, 7, 7, 0, 1, []uint64{contextUser, 64}, "")
	one := m.records[0].b
	good := file(one)
	patched := func(at int, v uint64) []byte {
		b := bytes.Clone(good)
		le.PutUint64(b[at:], v)
		return b
	}
	lost := stamped(recordLost, 0, 1, put64(nil, 11, 9))
	bad := rec(recordSample, miscUser, put64(nil, 11, 5))
	stranger := bytes.Clone(one)
	le.PutUint64(stranger[8:], 99)
	for _, x := range []struct {
		name        string
		content     []byte
		place, want string
	}{
		{"only a magic", []byte(magic + "x"), "", "the file is truncated in its header"},
		{"a header of no size", patched(8, 17), "", "the header has an invalid size, 17 bytes"},
		{"a cut header", good[:90], "", "the file is truncated in its header"},
		{"cut before records", good[:200], "", "the file is truncated before its records"},
		{"no events", patched(32, 0), "", "the file does not list its events"},
		{"records nowhere", patched(40, 1<<40), "", "the header has an invalid position of the records, byte 1099511627776"},
		{"no samples", file(lost), "", "the recording has no samples"},
		{"cut in a record", pipe(append(bytes.Clone(one), one[:40]...)), "byte 480", "The file is truncated at byte 480; everything before is shown"},
		{"no record", file(append(bytes.Clone(one), make([]byte, 16)...)), "byte 432", "The file is damaged before byte 432: a record has an invalid size, 0 bytes; everything before is shown"},
		{"a cut feature", good[:len(good)-5], "", "The data after the records is truncated; event names or build ids may be missing"},
		{"lost", file(append(lost, one...)), "", "The kernel lost 9 records that perf did not read in time; totals do not include them"},
		{"a short sample", file(append(bad, one...)), "", "A sample has no event or is too short for its event and was left out"},
		{"a sample of no event", file(append(stranger, one...)), "", "A sample has no event or is too short for its event and was left out"},
		{"not finished", patched(48, 0)[:len(good)-0], "", "perf did not finish this file; it is read to its end"},
		{"compressed noise", file(rec(recordCompressed, 0, []byte("no such thing as zstd"))), "", "the recording has no samples"},
	} {
		r, err := decodeBytes(t, x.content, 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func TestSniff(t *testing.T) {
	for content, want := range map[string]string{"PERFILE2": "", "2ELIFREP": "this perf.data file has the wrong byte order;", "PERFFILE": "before 2012"} {
		sure, err := Sniff([]byte(content), true)
		if sure != decode.Certain || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", content, sure, err)
		}
	}
	if sure, err := Sniff([]byte("PERF"), true); sure != decode.No || err != nil {
		t.Error(sure, err)
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		m := random(r, 20)
		for _, content := range [][]byte{file(m.body(r, false)), pipe(m.body(r, false)), file(m.body(r, true)), pipe(m.body(r, true))} {
			f.Add(content, 11)
		}
	}
	decodetest.FuzzParts(f, Decode, Sniff, told)
}
