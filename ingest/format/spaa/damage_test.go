package spaa

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestDamage reads files with one fault per case and checks that everything else is shown.
func TestDamage(t *testing.T) {
	good := stackLine(`"g"`, "2,1", "", period("1"))
	tests := []struct {
		name, data string
		code       string
		count      int64
		first      string
		text       string
		stacks     int64
	}{
		{"bad line", dict4 + lines(good, `{"type":"stack","id":`, good), "bad-line", 1, "line 9",
			"the line is not a SPAA record and was left out: byte 22: the line ends in the middle of a record", 2},
		{"no object", dict4 + lines("hello", good, "[1]"), "bad-line", 2, "line 8",
			"the line is not a SPAA record and was left out: the line is not a JSON object", 1},
		{"cut last line", dict4 + lines(good) + good[:40], "cut-line", 1, "line 9",
			"the file ends in the middle of this record; everything before it is shown", 1},
		{"missing dso", dict4 + lines(`{"type":"frame","id":9,"func":"f","dso":77,"kind":"user"}`, stackLine(`"a"`, "9,1", "", period("1"))), "missing-dso", 1, "line 8",
			"a frame refers to dso 77, which is not in the file; shown as [missing dso]", 1},
		{"missing frame", dict4 + lines(stackLine(`"a"`, "99,1", "", period("1")), stackLine(`"b"`, "99", "", period("1"))), "missing-frame", 1, "line 8",
			"a stack refers to frame 99, which is not in the file; shown as [missing frame]", 2},
		{"late frame", dict4 + lines(stackLine(`"a"`, "9,1", "", period("1")), `{"type":"frame","id":9,"func":"f","dso":1,"kind":"user"}`, stackLine(`"a"`, "9,1", "", period("1"))), "late-frame", 1, "line 9",
			"frame 9 is defined after a stack that refers to it; it is used anyway", 2},
		{"duplicate dso", dict4 + lines(dso1, good), "duplicate-dso", 1, "line 8", "dso 1 is defined twice; the first one counts", 1},
		{"duplicate frame", dict4 + lines(`{"type":"frame","id":1,"func":"other","dso":1,"kind":"user"}`, good), "duplicate-frame", 1, "line 8", "frame 1 is defined twice; the first one counts", 1},
		{"duplicate thread", dict4 + lines(`{"type":"thread","pid":1,"tid":2}`, `{"type":"thread","pid":1,"tid":2}`, good), "duplicate-thread", 1, "line 9", "thread 2 is defined twice; the first one counts", 1},
		{"duplicate header", dict4 + lines(head, good), "duplicate-header", 1, "line 8", "there is a second header; the first one counts", 1},
		{"header in the middle", lines(dso1, head, fMain, fRun, good), "header-not-first", 1, "line 2", "the header is not the first line", 1},
		{"no header", lines(dso1, fMain, fRun, good), "no-header", 1, "",
			"the file has no SPAA header: leaf-first frames are assumed, and events and times are taken from the records", 1},
		{"unknown record", dict4 + lines(`{"type":"gc","x":1}`, good, `{"type":"gc"}`), "unknown-record", 2, "line 8", `unknown record type "gc"; such records are not shown`, 1},
		{"unknown key", dict4 + lines(strings.Replace(good, `"id"`, `"color":"red","id"`, 1)), "unknown-key", 1, "line 8", `unknown key "color" in this kind of record; it is not shown`, 1},
		{"mistyped key", dict4 + lines(`{"type":"frame","id":9,"func":"f","dso":1,"ip":4198400,"kind":"user"}`, good), "mistyped-key", 1, "line 8", `the value of "ip" has the wrong JSON type and is not used`, 1},
		{"frame without id", dict4 + lines(`{"type":"frame","func":"f","dso":1,"kind":"user"}`, good), "missing-key", 1, "line 8", `the frame record has no usable "id"`, 1},
		{"stack without frames", dict4 + lines(`{"type":"stack","id":1,"context":{"event":"cycles"},"weights":[`+period("3")+`]}`), "missing-key", 1, "line 8", `the stack record has no usable "frames"`, 1},
		{"bad address", dict4 + lines(`{"type":"frame","id":9,"func":"f","dso":1,"ip":"main","kind":"user"}`, good), "bad-address", 1, "line 8", `"main" is not a hexadecimal address`, 1},
		{"undeclared event", dict4 + lines(strings.Replace(good, "cycles", "faults", 1), strings.Replace(good, "cycles", "faults", 1)), "event-undeclared", 1, "line 8", `event "faults" is not in the header; it is shown anyway`, 2},
		{"no event", dict4 + lines(strings.Replace(good, `"event":"cycles"`, "", 1)), "event-missing", 1, "line 8", `the record names no event; it is added to event "cycles"`, 1},
		{"no primary metric", dict4 + lines(good, strings.Replace(good, `"period"`, `"samples"`, 1)), "primary-missing", 1, "line 9", `a stack of event "cycles" has no value of its primary metric; it is missing from that metric's totals`, 2},
		{"metric twice", dict4 + lines(stackLine(`1`, "1", "", period("1")+","+period("2"))), "duplicate-metric", 1, "line 8", `metric "period" occurs twice in one list of weights; the first one counts`, 1},
		{"two units", dict4 + lines(good, strings.Replace(good, `"unit":"events"`, `"unit":"ticks"`, 1)), "unit-differs", 1, "line 9", `metric "period" has two units; the first one is used`, 2},
		{"weight without value", dict4 + lines(stackLine(`1`, "1", "", period("1")+`,{"metric":"x"}`)), "bad-weight", 1, "line 8", "a weight has no metric or no numeric value and is left out", 1},
		{"exclusive elsewhere", dict4 + lines(strings.Replace(good, `"context"`, `"exclusive":{"frame":9,"weights":[]},"context"`, 1)), "exclusive-frame", 1, "line 8", "the exclusive frame of a stack is not its leaf; self weight is counted at the leaf", 1},
		{"exclusive at the other end", dict4 + lines(strings.Replace(good, `"context"`, `"exclusive":{"frame":1,"weights":[]},"context"`, 1)), "wrong-end", 1, "line 8", "the exclusive frame is the outermost frame of its stack, not the leaf; frame_order in the header may be wrong, but stacks are read by it", 1},
		{"exclusive differs", dict4 + lines(strings.Replace(good, `"context"`, `"exclusive":{"frame":2,"weights":[`+period("0.5")+`]},"context"`, 1)), "exclusive-differs", 1, "line 8", `the exclusive "period" of a stack differs from the stack's weight; the stack's weight counts as self of its leaf`, 1},
		{"related to nothing", dict4 + lines(strings.Replace(good, `"context"`, `"related_stacks":["0x1f","g","h"],"context"`, 1), strings.Replace(good, `"g"`, `"h"`, 1)), "related-missing", 1, "line 8", `related_stacks refers to stack "0x1f", which is not in the file`, 2},
		{"sample of no stack", dict4 + lines(good, sampleLine("101", `"zz"`, `,"tid":1,"event":"cycles"`), sampleLine("101", `12`, `,"tid":1,"event":"cycles"`)), "sample-stack-missing", 2, "line 9", `a sample refers to a stack that is not in the file ("zz"); it is shown without a stack`, 1},
		{"window of no stack", dict4 + lines(good, `{"type":"window","start":1,"end":2,"by_stack":[{"stack_id":12,"weights":[`+period("1")+`]}]}`), "window-stack-missing", 1, "line 9", `a window refers to a stack that is not in the file (12); its weight is shown without a stack`, 1},
		{"sample without time", dict4 + lines(good, `{"type":"sample","stack_id":"g"}`), "missing-key", 1, "line 9", `the sample record has no usable "timestamp"`, 1},
		{"version", strings.Replace(dict4, `"1.0"`, `"2.0"`, 1) + lines(good), "version", 1, "line 1", `the file says version "2.0"; it is read as version 1.0`, 1},
		{"frame order", strings.Replace(dict4, `leaf_to_root`, `sideways`, 1) + lines(good), "frame-order", 1, "line 1", `the header's frame_order is "sideways"; stacks are read as leaf_to_root`, 1},
		{"key twice", dict4 + lines(strings.Replace(good, `"id"`, `"id":"q","id"`, 1)), "duplicate-key", 1, "line 8", "a key occurs twice in one record; the last one counts", 1},
	}
	mended := []string{"header-not-first", "late-frame", "duplicate-thread", "related-missing", "exclusive-frame"}
	usual := []string{"version", "unknown-record", "duplicate-key", "bad-address", "unit-differs", "exclusive-differs"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := read(t, tt.data)
			equal(t, "warning", warning(rec, tt.code), recording.Warning{Code: tt.code, Text: tt.text, Count: tt.count, First: tt.first, Minor: tt.code == "unknown-key" || slices.Contains(mended, tt.code), Error: tt.code != "unknown-key" && !slices.Contains(usual, tt.code)})
			equal(t, "stacks", rec.Counts.Stacks, tt.stacks)
			if n := len(rec.Warnings); n != 1 && tt.code != "no-header" {
				t.Errorf("%d warnings: %s", n, codes(rec))
			}
			var read int64
			for _, l := range rec.Ledger {
				read += l.Read
			}
			equal(t, "records in the ledger", read, int64(len(strings.Split(strings.TrimSuffix(tt.data, "\n"), "\n"))))
			sameHoweverCut(t, tt.data, []int{3}, []int{1, 100})
		})
	}
}

// TestLateHeader reads a file whose header comes after more bytes of stacks than the search
// for it covers.
func TestLateHeader(t *testing.T) {
	good := stackLine(`1`, "2,1", "", period("1")) + "\n"
	n := headerWithin/len(good) + 1
	data := lines(dso1, fMain, fRun) + strings.Repeat(good, n) + lines(strings.Replace(head, "leaf_to_root", "root_to_leaf", 1)) + good
	rec := read(t, data)
	equal(t, "warnings", codes(rec), fmt.Sprintf("event-undeclared×1@line 4 late-header×1@line %d frame-order×1@line %d", n+4, n+4))
	e := rec.Events[0]
	equal(t, "event", []any{e.Kind, e.Primary, e.Metrics[0].Total}, []any{"hardware", 0, int64(n + 1)})
	equal(t, "extent", rec.End, int64(10e12))
	sameHoweverCut(t, data, []int{1, 3}, []int{100_000})
}

// TestMissingIsShown checks that frames with missing definitions keep their weight and get
// a placeholder name.
func TestMissingIsShown(t *testing.T) {
	rec := read(t, dict4+lines(
		`{"type":"frame","id":9,"func":"f","dso":77,"kind":"user"}`,
		stackLine(`1`, "9,1", "", period("5")),
		stackLine(`2`, "12,1", "", period("7"))))
	self, _ := tables(rec, 0)
	equal(t, "self", self, map[string]int64{"f|[missing dso]": 5, "[missing frame 12]|": 7})
	equal(t, "total", rec.Events[0].Metrics[0].Total, int64(12))
}

func TestNothingToShow(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"empty", "", "x.spaa is empty"},
		{"only line ends", "\n\r\n", `x.spaa has no SPAA header (a first line like {"type":"header","format":"spaa",…}) and no valid stack or sample record in 2 lines`},
		{"dictionaries only", lines(dso1, fMain), `x.spaa has no SPAA header (a first line like {"type":"header","format":"spaa",…}) and no valid stack or sample record in 2 lines`},
		{"text", "hello\nworld\n", `x.spaa has no SPAA header (a first line like {"type":"header","format":"spaa",…}) and no valid stack or sample record in 2 lines; first problem: line 1: the line is not a JSON object`},
		{"heap-diff", lines(strings.Replace(head, `"spaa"`, `"heap-diff"`, 1)), `x.spaa: this "heap-diff" file is a report of differences, not a SPAA recording`},
	}
	for _, tt := range tests {
		for _, chunk := range []int{0, 1} {
			_, err := tryRead(tt.data, 2, chunk)
			equal(t, tt.name, fmt.Sprint(err), tt.want)
		}
	}
	rec := read(t, lines(head))
	equal(t, "events of a header alone", len(rec.Events), 1)
	equal(t, "warnings of a header alone", codes(rec), "")
}

func TestSniff(t *testing.T) {
	sorted := `{"events":[],"format":"spaa","frame_order":"leaf_to_root","type":"header","version":"1.0"}`
	long := strings.Replace(head, `"cycles"`, `"`+strings.Repeat("x", 1<<16)+`"`, 1)
	tests := []struct {
		name, data string
		whole      bool
		want       decode.Confidence
		err        string
	}{
		{"header", dict4, true, decode.Certain, ""},
		{"sorted keys", lines(sorted), true, decode.Certain, ""},
		{"byte order mark", "\xef\xbb\xbf" + sorted, true, decode.Certain, ""},
		{"blank lines", "\r\n\n" + sorted, true, decode.Certain, ""},
		{"no header", lines(dso1, fMain), true, decode.Likely, ""},
		{"damaged first line", lines(`{"type":`, head), true, decode.Certain, ""},
		{"a header that goes on", long[:1<<16], false, decode.Likely, ""},
		{"heap-diff", `{"format":"heap-diff","type":"header"}`, true, decode.Certain, "heap-diff"},
		{"heap-diff without a type", "{\n \"format\" : \"heap-diff\",\n \"rows\":[]}", true, decode.Certain, "heap-diff"},
		{"another format", `{"format":"other","type":"header"}`, true, decode.No, ""},
		{"a trace", `{"traceEvents":[{"ph":"X"}]}`, true, decode.No, ""},
		{"json lines", `{"resourceProfiles":[]}`, true, decode.No, ""},
		{"records of something else", `{"type":"sample","value":3}`, true, decode.No, ""},
		{"array", `[{"type":"stack"}]`, true, decode.No, ""},
		{"zeros", string(make([]byte, 100)), true, decode.No, ""},
		{"empty", "", true, decode.No, ""},
	}
	for _, tt := range tests {
		got, err := Format.Sniff([]byte(tt.data), tt.whole)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %v, %v", tt.name, got, err)
		}
	}
}

func TestLongLine(t *testing.T) {
	defer func(n int) { maxLine = n }(maxLine)
	maxLine = 1000
	long := `{"type":"stack","x":"` + strings.Repeat("x", 5000) + `"}`
	good := stackLine(`1`, "1", "", period("1"))
	for _, data := range []string{
		dict4 + lines(good, long, good),
		dict4 + lines(good, long) + good,
		dict4 + lines(good, good) + long,
	} {
		for _, chunk := range []int{1, 7, 900, 1100, 0} {
			if chunk == 0 {
				continue // within one chunk, a long line is read
			}
			rec, err := tryRead(data, 2, chunk)
			equal(t, "error", err, nil)
			equal(t, "stacks", rec.Counts.Stacks, int64(2))
			equal(t, "bad lines", tally(rec, "bad line").LeftOut, int64(1))
			balanced(t, rec)
		}
	}
}

// TestLineEnds reads carriage returns, blank lines and a byte order mark.
func TestLineEnds(t *testing.T) {
	data := dict4 + lines(stackLine(`1`, "1", "", period("1")), stackLine(`2`, "2,1", "", period("1")))
	want := dump(read(t, data))
	for _, other := range []string{
		strings.ReplaceAll(data, "\n", "\r\n"),
		"\xef\xbb\xbf" + data,
		strings.TrimSuffix(data, "\n"),
	} {
		equal(t, "recording", dump(read(t, other)), want)
		sameHoweverCut(t, other, []int{1}, []int{1, 2, 3, 4})
	}
	rec := read(t, "\n \r\n"+data)
	equal(t, "warnings after blank lines", codes(rec), "")
}

// TestShrunkFile truncates a mapped file before it is read.
func TestShrunkFile(t *testing.T) {
	rounds.Unraced(t)
	path := filepath.Join(t.TempDir(), "x.spaa")
	data := synthetic("samples", 20000, false)
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if in.Mapped() == nil {
		t.Skip("files are not mapped here")
	}
	const kept = 1 << 20
	if err := os.Truncate(path, kept); err != nil {
		t.Skip("a mapped file cannot be cut here")
	}
	b := recording.NewBuilder()
	err = Decode(context.Background(), in, b, decode.Options{})
	if err == nil || !strings.Contains(err.Error(), "the file was truncated while it was read") {
		t.Errorf("got %v", err)
	}
	rec := b.Finish()
	whole, _ := tryRead(data[:strings.LastIndexByte(data[:kept], '\n')+1], 0, 0)
	if rec.Counts.Stacks == 0 || rec.Counts.Stacks > whole.Counts.Stacks {
		t.Errorf("%d stacks are shown of the %d that were left", rec.Counts.Stacks, whole.Counts.Stacks)
	}
	balanced(t, rec)
}

// TestCancel cancels decoding at different moments and checks that it ends and leaves no
// goroutine behind.
func TestCancel(t *testing.T) {
	data := []byte(synthetic("samples", rounds.Size(100_000, 20_000), false))
	before := runtime.NumGoroutine()
	for i := range rounds.Size(12, 6) {
		ctx, cancel := context.WithCancel(context.Background())
		in := source.FromBytes("x.spaa", data)
		in.ChunkSize = 1 << 16
		b := recording.NewBuilder()
		published := 0
		b.OnPublish = func(*recording.Recording) { published++ }
		time.AfterFunc(time.Duration(i*i)*200*time.Microsecond, cancel)
		if err := Decode(ctx, in, b, decode.Options{Workers: 4}); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		in.Close()
	}
	settled(t, before)
}

// TestCancelPipe cancels decoding while it waits for a pipe.
func TestCancelPipe(t *testing.T) {
	before := runtime.NumGoroutine()
	r, w := io.Pipe()
	in := source.FromReader("-", r)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	b := recording.NewBuilder()
	go func() { done <- Decode(ctx, in, b, decode.Options{}) }()
	if _, err := io.WriteString(w, dict4+stackLine(`1`, "1", "", period("1"))+"\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	w.Close()
	in.Close()
	settled(t, before)
}

// settled waits until there are no more goroutines than before.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
}

// TestReadError checks that the part before a read error is shown.
func TestReadError(t *testing.T) {
	r := io.MultiReader(strings.NewReader(dict4+lines(stackLine(`1`, "1", "", period("1")))), brokenReader{})
	in := source.FromReader("p", r)
	defer in.Close()
	b := recording.NewBuilder()
	err := Decode(context.Background(), in, b, decode.Options{})
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v", err)
	}
	equal(t, "stacks", b.Finish().Counts.Stacks, int64(1))
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }
