package roundtrip

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// spallFile is the content of a spall trace of version 3, read naively.
type spallFile struct {
	spans     []spallSpan
	processes map[uint32]string
	threads   map[[2]uint32]string // names by process and thread
}

type spallSpan struct {
	thread     [2]uint32
	path       string // names from the outermost span, each after a NUL
	name, args string
	start, end int64 // picoseconds
	open       bool  // the file has no end of it
}

// readSpall reads a trace record by record: a header of 32 bytes (magic, version,
// microseconds per tick, 0), then buffers (bytes, thread, process, first time) with begins,
// ends and names.
func readSpall(t *testing.T, out []byte) *spallFile {
	t.Helper()
	take := func(n int) []byte {
		if n > len(out) {
			t.Fatalf("%d bytes are wanted of %d", n, len(out))
		}
		b := out[:n]
		out = out[n:]
		return b
	}
	u32 := func() uint32 { return binary.LittleEndian.Uint32(take(4)) }
	u64 := func() uint64 { return binary.LittleEndian.Uint64(take(8)) }
	text := func() string { return string(take(int(take(1)[0]))) }
	magic, version, unit, zero := u64(), u64(), u64(), u64()
	if magic != 0x0BADF00D || version != 3 || zero != 0 {
		t.Fatalf("the header is %x %d %d", magic, version, zero)
	}
	per := int64(math.Float64frombits(unit) * 1000)
	f := &spallFile{processes: map[uint32]string{}, threads: map[[2]uint32]string{}}
	open, latest := map[[2]uint32][]int{}, int64(0)
	for len(out) > 0 {
		size, tid, pid := u32(), u32(), u32()
		first := u64()
		thread := [2]uint32{pid, tid}
		f.threads[thread] += ""
		for after := len(out) - int(size); len(out) > after; {
			switch kind := take(1)[0]; kind {
			case 3:
				at, lens := u64(), take(2)
				if at < first {
					t.Errorf("a buffer from %d begins a span at %d", first, at)
				}
				s := spallSpan{thread: thread, start: int64(at) * per, open: true}
				s.name = string(take(int(lens[0])))
				s.args = string(take(int(lens[1])))
				if stack := open[thread]; len(stack) > 0 {
					s.path = f.spans[stack[len(stack)-1]].path
				}
				s.path += "\x00" + s.name
				open[thread] = append(open[thread], len(f.spans))
				f.spans = append(f.spans, s)
				latest = max(latest, s.start)
			case 4:
				n := len(open[thread]) - 1
				s := &f.spans[open[thread][n]]
				s.end, s.open = int64(u64())*per, false
				open[thread] = open[thread][:n]
				latest = max(latest, s.end)
			case 8:
				f.processes[pid] = text()
			case 9:
				f.threads[thread] = text()
			default:
				t.Fatalf("no kind of record: %d", kind)
			}
		}
	}
	for i := range f.spans {
		if f.spans[i].open {
			f.spans[i].end = latest
		}
	}
	return f
}

func spallFileFacts(t *testing.T, out []byte) facts {
	f, file := facts{}, readSpall(t, out)
	for thread, name := range file.threads {
		f.once("thread ids", "%d %d", thread[0], thread[1])
		if name != "" {
			f.once("names of threads", "%s", name)
		}
	}
	for _, name := range file.processes {
		f.once("names of processes", "%s", name)
	}
	for i := range file.spans {
		s := &file.spans[i]
		f.once("names", "%s", s.name)
		if s.args != "" {
			f.add("arguments", "%s", canonical(s.args))
		}
		f.add("lengths", "%.254s %d", s.name, s.end-s.start)
		f.add("positions of spans on their threads", "%d/%d %.254s %d", s.thread[0], s.thread[1], s.name, s.end-s.start)
		if s.open {
			f.add("marks of unfinished spans", "%.254s", s.name)
		}
	}
	return f
}

// cutText returns what spall keeps of a text: 255 bytes, without part of a character.
func cutText(s string) string {
	if len(s) <= 255 {
		return s
	}
	n := 255
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// writtenArgs returns the text written for arguments: that of the only member "args", or
// the arguments as they are.
func writtenArgs(args string) string {
	var only map[string]string
	if strings.HasPrefix(args, `{"args":"`) && json.Unmarshal([]byte(args), &only) == nil && len(only) == 1 {
		return only["args"]
	}
	return args
}

// spallIsKept compares every field of every span in the file with the recording: start,
// end, name, callers, arguments, and the names of its thread and process. Only what the
// report names may differ: callers, where spans are on threads of their own; and names of
// threads, where threads have new ids.
func spallIsKept(t *testing.T, rec *recording.Recording, out []byte, rep *encode.Report) {
	t.Helper()
	file := readSpall(t, out)
	apart := slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == "positions of spans on their threads" })
	moved := apart || slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == "thread ids" })
	first := [2]int64{math.MaxInt64, math.MaxInt64}
	eachSpan(rec, func(_ *recording.Track, s *encode.Span) { first[0] = min(first[0], s.Start) })
	for i := range file.spans {
		first[1] = min(first[1], file.spans[i].start)
	}
	n := map[string]int{}
	add := func(by int, start, end int64, name, path, args, process, thread string) {
		if apart {
			path = ""
		}
		if moved {
			thread = ""
		}
		n[fmt.Sprintf("%d..%d %q in %q (%q) on %q of %q", start, end, name, path, args, thread, process)] += by
	}
	paths := map[recording.CallID]string{recording.NoCall: ""}
	var path func(recording.CallID) string
	path = func(c recording.CallID) string {
		p, ok := paths[c]
		if !ok {
			p = path(rec.Calls.Parent(c)) + "\x00" + cutText(rec.NameInFile(rec.Func(c)))
			paths[c] = p
		}
		return p
	}
	eachSpan(rec, func(t *recording.Track, s *encode.Span) {
		args := writtenArgs(argsOf(rec, s.Args))
		if len(args) > 255 {
			args = cutText(args)
		} else {
			args = canonical(args)
		}
		add(1, s.Start-first[0], s.End-first[0], cutText(rec.NameInFile(rec.Func(s.Call))), path(s.Call), args, cutText(rec.Processes[t.Process].Name), cutText(t.Name))
	})
	for i := range file.spans {
		s := &file.spans[i]
		add(-1, s.start-first[1], s.end-first[1], s.name, s.path, canonical(s.args), file.processes[s.thread[0]], file.threads[s.thread])
	}
	shown := 0
	for _, k := range slices.Sorted(maps.Keys(n)) {
		if n[k] != 0 && shown < 4 {
			shown++
			t.Errorf("out.spall: %d more (or fewer, below 0) in the recording: %.600s; losses %v", n[k], k, rep.Lost)
		}
	}
}
