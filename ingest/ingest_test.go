package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// bell returns a function for Options.Notify and a channel that receives once for several
// calls in a row.
func bell() (ring func(), heard <-chan struct{}) {
	c := make(chan struct{}, 1)
	return func() {
		select {
		case c <- struct{}{}:
		default:
		}
	}, c
}

// spallFile returns a Spall trace, version 1, of n spans of a microsecond each.
func spallFile(n int) []byte {
	var b []byte
	le := binary.LittleEndian
	b = le.AppendUint64(b, 0x0BADF00D)
	b = le.AppendUint64(b, 1)
	b = le.AppendUint64(b, math.Float64bits(1))
	b = le.AppendUint64(b, 0)
	for i := range n {
		b = append(b, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0)
		b = le.AppendUint64(b, math.Float64bits(float64(2*i)))
		b = append(b, 4, 1)
		b = append(b, "work!"...)
		b = append(b, 4, 1, 0, 0, 0, 1, 0, 0, 0)
		b = le.AppendUint64(b, math.Float64bits(float64(2*i+1)))
	}
	return b
}

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestLoad(t *testing.T) {
	const n = 50_000
	plain := spallFile(n)
	for name, b := range map[string][]byte{"x.spall": plain, "x.spall.gz": gz(t, plain)} {
		path := write(t, name, b)
		ring, heard := bell()
		l := Open(context.Background(), path, Options{Notify: ring})
		if l.Snapshot() == nil {
			t.Fatal("no snapshot at first")
		}
		<-heard
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		r := l.Snapshot()
		want := recording.Source{Path: path, Name: name, Format: "spall", Version: "1", Compression: "none", Bytes: int64(len(b))}
		if strings.HasSuffix(name, ".gz") {
			want.Compression = "gzip"
		}
		if !reflect.DeepEqual(r.Source, want) {
			t.Errorf("source %+v, want %+v", r.Source, want)
		}
		if !r.Done || r.Counts.Spans != n || r.Events[0].Metrics[recording.SpanTime].Total != n*1e6 {
			t.Errorf("%v %+v %+v", r.Done, r.Counts, r.Events)
		}
		p := l.Progress()
		if !p.Done || p.Bytes != int64(len(b)) || p.Total != p.Bytes || p.Records != 2*n || p.Left != 0 {
			t.Errorf("progress %+v", p)
		}
		s := l.Stats()
		if s.Bytes != int64(len(b)) || s.Events != n || s.Elapsed <= 0 || s.EventsPerSecond() <= 0 || runtime.GOOS == "linux" && s.PeakRSS < 1<<20 {
			t.Errorf("stats %+v", s)
		}
		ref := r.Tracks[0].Lanes[0].Args(7)
		if r.Args(ref) != "!" {
			t.Errorf("args %q", r.Args(ref))
		}
		for range 3 {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		if l.Err() != nil || l.Snapshot() != r || r.Tracks[0].Lanes[0].Start(10) != 20e6 {
			t.Error("the snapshot did not outlive Close")
		}
		if got := r.Args(ref); got != "" && want.Compression == "none" {
			t.Errorf("args after Close %q", got)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	cut := spallFile(3)
	for _, c := range []struct {
		name, content, want string
	}{
		{"empty.spall", "", " is empty"},
		{"empty.gz", string(gz(t, nil)), " is empty"},
		{"text", "hello there\nsecond line", `: unknown format (starts with "hello there second line"). Supported: SPAA`},
		{"long", "\n\n" + strings.Repeat("x", 100), `: unknown format (starts with "xxxxx`},
		{"binary", "\x7fELG\x01\x02", `: unknown format (starts with the bytes 7f 45 4c 47 01 02, ".ELG.."). Supported: SPAA`},
		{"zeros", strings.Repeat("\x00", 100), ": unknown format (starts with 100 zero bytes). Supported: SPAA"},
		{"future.spall", string(cut[:8]) + "\x09" + string(cut[9:]), " is a spall trace of version 9, whose layout is unpublished; versions 0, 1 and 3 are supported"},
		{"header.spall", string(cut[:30]), " is a spall trace truncated in its header, at byte 30"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		r, _, err := ReadAll(context.Background(), path, Options{})
		if err == nil || r != nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.name, err, c.want)
		}
		if err != nil && strings.Count(err.Error(), path) != 1 {
			t.Errorf("the file is named more than once: %v", err)
		}
		if strings.Contains(c.want, "unknown format") && !strings.Contains(err.Error(), "; spall") && !strings.Contains(err.Error(), " spall") {
			t.Errorf("the formats are not named: %v", err)
		}
	}
	for path, want := range map[string]string{
		dir:                          " is a folder. Open a file in it",
		filepath.Join(dir, "nobody"): ": there is no such file",
	} {
		_, _, err := ReadAll(context.Background(), path, Options{})
		if err == nil || err.Error() != path+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A sparse file of 2 GB of zeros is rejected without being read.
func TestSparseZeros(t *testing.T) {
	path := write(t, "zeros.spall", nil)
	if err := os.Truncate(path, 2<<30); err != nil {
		t.Skip(err)
	}
	l := Open(context.Background(), path, Options{})
	defer l.Close()
	if err := l.Wait(); err == nil || !strings.Contains(err.Error(), "unknown format (starts with 65536 zero bytes). Supported: SPAA") {
		t.Errorf("got %v", err)
	}
	if p := l.Progress(); p.Bytes > 1<<20 || p.Total != 2<<30 {
		t.Errorf("%+v", p)
	}
}

// Data before the damaged part of a file is shown, with a warning.
func TestFailsPartWay(t *testing.T) {
	b := gz(t, spallFile(50_000))
	path := write(t, "x.gz", b[:len(b)/2])
	r, _, err := ReadAll(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var failed *recording.Warning
	for i := range r.Warnings {
		if r.Warnings[i].Code == "failed" {
			failed = &r.Warnings[i]
		}
	}
	if failed == nil || !strings.Contains(failed.Text, path+": the gzip data is damaged or truncated after ") {
		t.Errorf("warnings %v", r.Warnings)
	}
	if !r.Done || r.Counts.Spans < 1000 || r.Counts.Spans >= 50_000 {
		t.Errorf("%+v", r.Counts)
	}
}

func fake(name, ext string, sure decode.Confidence) codec.Format {
	return codec.Format{Name: name, Title: name, Extensions: []string{ext},
		Sniff: func([]byte, bool) (decode.Confidence, error) { return sure, nil }}
}

func TestSniff(t *testing.T) {
	formats := []codec.Format{
		fake("never", ".n", decode.No), fake("a", ".a", decode.Likely), fake("b", ".b", decode.Likely), fake("c", ".c", decode.Maybe),
	}
	for name, want := range map[string]string{"x.a": "a", "x.b": "b", "x.B.gz": "b", "x.c": "a", "x.n": "a", "x": "a"} {
		f, err := sniff(formats, name, []byte("x"), true)
		if err != nil || f.Name != want {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	refused := errors.New("is a heap diff")
	formats = append(formats, codec.Format{Name: "d", Sniff: func([]byte, bool) (decode.Confidence, error) { return decode.Certain, refused }})
	if _, err := sniff(formats, "x.a", []byte("x"), true); err != refused {
		t.Errorf("got %v", err)
	}
	_, err := sniff(formats[:1], "x", []byte("x"), true)
	if want := `unknown format (starts with "x"). Supported: never`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// use makes the given decoder the only format for the rest of the test.
func use(t *testing.T, decoder func(ctx context.Context, in *source.Input, b *recording.Builder) error) {
	t.Helper()
	old := Formats
	t.Cleanup(func() { Formats = old })
	f := fake("fake", ".fake", decode.Certain)
	f.Decode = func(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
		return decoder(ctx, in, b)
	}
	Formats = []codec.Format{f}
}

func TestDecoderPanics(t *testing.T) {
	span := false
	use(t, func(_ context.Context, _ *source.Input, b *recording.Builder) error {
		if span {
			b.AddEvent(recording.SpanEvent())
			b.Track(recording.TrackKey{}).Begin(1, b.FunctionFrame(b.Function(recording.Function{Name: "f"})), 0)
		}
		var none []int
		return fmt.Errorf("%d", none[3])
	})
	path := write(t, "x", []byte("x"))
	r, _, err := ReadAll(context.Background(), path, Options{})
	if err == nil || r != nil || !strings.HasPrefix(err.Error(), path+": reading failed because of a bug in Ashlar: runtime error: index out of range [3] with length 0 at ingest_test.go:") {
		t.Errorf("got %v", err)
	}
	span = true
	r, _, err = ReadAll(context.Background(), path, Options{})
	if err != nil || r.Counts.Unfinished != 1 || len(r.Warnings) != 1 || r.Warnings[0].Code != "failed" {
		t.Errorf("got %v", err)
	}
}

func TestFileBecomesShorterWhileRead(t *testing.T) {
	path := write(t, "x", make([]byte, 1<<20))
	use(t, func(_ context.Context, in *source.Input, b *recording.Builder) error {
		if in.Mapped() == nil {
			t.Skip("files are not mapped here")
		}
		sum := 0
		for n := 0; ; n++ {
			c, _, err := in.Next(0)
			if err != nil {
				return fmt.Errorf("read to the end: %v %d", err, sum)
			}
			for _, x := range c {
				sum += int(x)
			}
			if n == 1 {
				if err := os.Truncate(path, 0); err != nil {
					return err
				}
			}
		}
	})
	_, _, err := ReadAll(context.Background(), path, Options{ChunkSize: 1 << 16})
	if err == nil || !strings.HasPrefix(err.Error(), path+": the file was truncated while it was read (byte ") {
		t.Errorf("got %v", err)
	}
}

func TestCancelAndClose(t *testing.T) {
	before := runtime.NumGoroutine()
	path := write(t, "x.spall", spallFile(300_000))
	for i := range 20 {
		l := Open(context.Background(), path, Options{ChunkSize: 10_000})
		time.Sleep(time.Duration(i) * 300 * time.Microsecond)
		if i%2 == 0 {
			l.Cancel()
			if err := l.Wait(); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		l.Close()
		if l.Snapshot() == nil {
			t.Error("no snapshot")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ReadAll(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("already cancelled: %v", err)
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 2000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// A recording returned by ReadAll can show arguments for as long as it is referenced.
func TestReadAllKeepsArgs(t *testing.T) {
	path := write(t, "x.spall", spallFile(10))
	r, _, err := ReadAll(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		runtime.GC()
	}
	if got := r.Args(r.Tracks[0].Lanes[0].Args(3)); got != "!" {
		t.Errorf("args %q", got)
	}
}

// JSON keys may be in any order, so the key that identifies the format may come long after
// the first 64 KB.
func TestTellingKeysLast(t *testing.T) {
	rounds.Unraced(t)
	long := strings.Repeat("x", 100_000)
	v8 := `{"functionName":"f","scriptId":"0","url":"","lineNumber":1,"columnNumber":1}`
	for name, body := range map[string]string{
		"chrome":      `"traceEvents":[{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":2}]}`,
		"speedscope":  `"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"f"}]},"profiles":[{"type":"sampled","name":"a","unit":"none","startValue":0,"endValue":1,"samples":[[0]],"weights":[1]}]}`,
		"cpuprofile":  `"head":{"functionName":"f","id":1,"hitCount":1,"children":[]},"startTime":1,"endTime":2,"samples":[1]}`,
		"heapprofile": `"head":{"callFrame":` + v8 + `,"selfSize":5,"id":1,"children":[]}}`,
		"otlp":        `"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":{},"samples":[{"stackIndex":0,"values":["1"]}]}]}]}],"dictionary":{"stackTable":[{}],"stringTable":[""]}}`,
	} {
		for _, first := range []string{`{"comment":"`, "{\n  \"comment\": \""} {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(first+long+`",`+body), 0o600); err != nil {
				t.Fatal(err)
			}
			rec, _, err := ReadAll(context.Background(), path, Options{})
			if err != nil || rec.Source.Format != name {
				t.Errorf("%s: %v", name, err)
			}
			if f, err := Recognise(path); err != nil || f.Name != name {
				t.Errorf("%s: %v %v", name, f, err)
			}
		}
	}
	_, err := sniff(Formats, "x", []byte(`{"comment":"`+long+`"}`), true)
	if err == nil || !strings.HasPrefix(err.Error(), `unknown format (starts with "{`) {
		t.Errorf("got %v", err)
	}
}

// TestLongFirstLine checks folded stacks whose first line is longer than sniffLen.
func TestLongFirstLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep.txt")
	text := strings.Repeat("frame;", 30_000) + "leaf 3\nmain;f 4\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	rec, _, err := ReadAll(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := rec.Events[0].Metrics[0].Total; n != 7 || rec.Source.Format != "folded" {
		t.Errorf("%s: %d", rec.Source.Format, n)
	}
}
