//go:build !race

package ingest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest"
	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/group"
)

// Small files whose content needs more memory than available give a one-sentence error.
// This program, run again as a child with 2 GB of address space (see limitedChild), reads
// each file and writes some.
func TestSmallFilesOfLargeContent(t *testing.T) {
	if os.Getenv(limitedFile) != "" {
		limitedChild()
		return
	}
	if testing.Short() {
		t.Skip("SKIPPED: takes half a minute and 2 GB of memory")
	}
	if instrumented() {
		t.Skip("SKIPPED: the race detector needs more addresses than the limit gives")
	}
	const none, some = "not enough memory to show any of it", "fill all available memory ("
	const tooMuch = "of memory, but only"
	for _, tt := range []struct {
		name, as string // as is the extension of the format to write, "" for none
		want     []string
		make     func(w io.Writer)
	}{
		{"lines × references.pprof", "", []string{none}, linesTimesReferences},
		{"lines × references.otlp", "", []string{none}, linesTimesReferencesOTLP},
		{"objects of two bytes.pprof", "", []string{tooMuch}, func(w io.Writer) {
			w.Write([]byte{0x0a, 4, 8, 1, 16, 2})
			repeat(w, []byte{0x2a, 0}, 100_000_000)
		}},
		{"comments.pprof", "", []string{tooMuch, none}, func(w io.Writer) {
			w.Write([]byte{0x0a, 4, 8, 1, 16, 2})
			repeat(w, []byte{0x68, 1}, 800_000_000)
		}},
		{"deep.json", "", []string{some}, func(w io.Writer) {
			io.WriteString(w, "[")
			repeat(w, []byte(`{"ph":"B","pid":1,"tid":1,"name":"f","ts":1},`), 2_000_000)
		}},
		{"blanks.json", "", []string{"The outermost bracket is not closed"}, func(w io.Writer) {
			io.WriteString(w, `{"traceEvents":[`)
			repeat(w, bytes.Repeat([]byte(" "), 1<<20), 2_600)
		}},
		{"string.json", "", []string{none, tooMuch}, func(w io.Writer) {
			io.WriteString(w, `[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"`)
			repeat(w, bytes.Repeat([]byte("a"), 1<<20), 1_000)
			io.WriteString(w, `"}]`)
		}},
		{"functions.folded", "", []string{some}, func(w io.Writer) {
			var b []byte
			for i := range int64(5_000_000) {
				b = append(strconv.AppendInt(append(b, "main;function_number_"...), i, 10), " 1\n"...)
				if len(b) > 1<<20 || i+1 == 5_000_000 {
					w.Write(b)
					b = b[:0]
				}
			}
		}},
		{"deep.spall", ".folded", []string{"writing folded stacks needs more memory than is available", "writing folded stacks needs about"}, deepSpall},
		{"deep.spall", ".pb", []string{"written: <nil>", "writing pprof needs about"}, deepSpall},
	} {
		t.Run(tt.name+tt.as, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.name+".zst")
			compressed(t, path, tt.make)
			limited(t, path, tt.as, "", tt.want...)
		})
	}
}

// TestControlGroup does the same in a control group with limited memory, as in a container.
func TestControlGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: fills 600 MB of memory")
	}
	if instrumented() {
		t.Skip("SKIPPED: the race detector needs more memory than the limit gives")
	}
	tiny, small, larger := group.New(t, 250<<20), group.New(t, 600<<20), group.New(t, 1<<30)
	open := func(n int) func(w io.Writer) {
		return func(w io.Writer) {
			io.WriteString(w, "[")
			repeat(w, []byte(`{"ph":"B","pid":1,"tid":1,"name":"f","ts":1},`), n)
		}
	}
	const some = "fill all available memory ("
	for _, tt := range []struct {
		group, name, as string
		want            []string
		make            func(w io.Writer)
	}{
		// Open spans take the most memory per input byte. On a busy machine, a memory check
		// that runs only at intervals comes too late for them.
		{tiny, "deep.json", "", []string{some}, open(1_500_000)},
		{small, "deep.json", "", []string{some}, open(1_500_000)},
		{larger, "deep.json", "", []string{some}, open(4_000_000)},
		{small, "functions.folded", "", []string{some}, func(w io.Writer) {
			for i := range 3_000_000 {
				fmt.Fprintf(w, "main;function_number_%d 1\n", i)
			}
		}},
		{small, "lines × references.pprof", "", []string{"not enough memory to show any of it"}, linesTimesReferences},
		{small, "deep.spall", ".folded", []string{"writing folded stacks needs more memory", "writing folded stacks needs about"}, deepSpall},
	} {
		t.Run(tt.name+tt.as, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.name+".zst")
			compressed(t, path, tt.make)
			limited(t, path, tt.as, tt.group, tt.want...)
		})
	}
}

// limited reads a file, and writes it if as is set, in a child process that is limited by
// the control group or, without one, to 2 GB of address space. The child must print one of
// wants.
func limited(t *testing.T, path, as, group string, wants ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // in case it hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSmallFilesOfLargeContent$")
	cmd.Env = append(os.Environ(), limitedFile+"="+path, limitedTo+"="+as, limitedIn+"="+group, "GOMEMLIMIT=off", "GOGC=100")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	info, _ := os.Stat(path)
	t.Logf("%d bytes: %.1f s: %.300s", info.Size(), time.Since(began).Seconds(), out)
	if err != nil {
		t.Fatalf("it does not end in a sentence: %v", err)
	}
	for _, want := range wants {
		if strings.Contains(string(out), want) {
			return
		}
	}
	t.Errorf("it does not say %q", wants)
}

// Environment variables that tell the child which file to read, which format to write, and
// which limit to use.
const (
	limitedFile = "ASHLAR_TEST_LIMITED_FILE"
	limitedTo   = "ASHLAR_TEST_LIMITED_TO"
	limitedIn   = "ASHLAR_TEST_LIMITED_IN" // a control group; "" for limitedAt bytes of address space
	limitedAt   = 2 << 30
)

// limitedChild applies the limit, reads the file, writes it if requested, and prints the
// outcome.
func limitedChild() {
	var err error
	if folder := os.Getenv(limitedIn); folder != "" {
		err = group.Join(folder)
	} else {
		err = unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limitedAt, Max: limitedAt})
	}
	if err != nil {
		fmt.Println("there is no limit:", err)
		os.Exit(1)
	}
	rec, _, err := ingest.ReadAll(context.Background(), os.Getenv(limitedFile), ingest.Options{})
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	for _, w := range rec.Warnings {
		fmt.Println("warning:", w.Text)
	}
	if weights, err := analyze.Weigh(context.Background(), rec, analyze.Query{}); err != nil {
		fmt.Println("not answered:", err)
	} else {
		fmt.Println("answered:", len(analyze.Table(rec, analyze.NewTree(rec, weights), analyze.ByFunction)), "rows")
	}
	if as := os.Getenv(limitedTo); as != "" {
		var format *codec.Format
		if format, err = ingest.FormatFor("x" + as); err == nil {
			_, err = format.Write(context.Background(), io.Discard, "x"+as, rec, encode.Options{})
		}
		fmt.Println("written:", err)
	}
}

// instrumented reports whether this program is built with the race detector.
func instrumented() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(b)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmSize: %d kB", &kb); n == 1 {
			return kb<<10 > 1<<40
		}
	}
	return true
}

func compressed(t *testing.T, path string, write func(io.Writer)) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(min(2, runtime.GOMAXPROCS(0))))
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func repeat(w io.Writer, b []byte, n int) {
	many := max(1, 1<<20/len(b))
	block := bytes.Repeat(b, many)
	for ; n > many; n -= many {
		w.Write(block)
	}
	for range n {
		w.Write(b)
	}
}

func field(num protowire.Number, body ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), bytes.Join(body, nil))
}

func varint(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

// linesTimesReferences writes a pprof profile (profile.proto) with one location of 10,000
// lines and a stack that contains it 10,000 times.
func linesTimesReferences(w io.Writer) {
	w.Write(field(1, varint(1, 1), varint(2, 2)))
	w.Write(field(2, field(1, bytes.Repeat([]byte{1}, 10_000)), field(2, []byte{1})))
	var lines []byte
	for i := range uint64(10_000) {
		lines = append(lines, field(4, varint(1, 1), varint(2, i+1))...)
	}
	w.Write(field(4, varint(1, 1), lines))
	w.Write(field(5, varint(1, 1), varint(2, 3)))
	for _, s := range []string{"", "samples", "count", "f"} {
		w.Write(field(6, []byte(s)))
	}
}

// linesTimesReferencesOTLP writes the same profile in OTLP 1.10; see its profiles.proto.
func linesTimesReferencesOTLP(w io.Writer) {
	profile := field(2, field(1, varint(1, 1), varint(2, 2)), field(2, varint(1, 1), field(4, []byte{1})))
	var lines []byte
	for i := range uint64(10_000) {
		lines = append(lines, field(3, varint(1, 1), varint(2, i+1))...)
	}
	w.Write(field(1, field(2, profile)))
	w.Write(field(2, field(2), field(2, lines), field(3), field(3, varint(1, 3)), field(7), field(7, field(1, bytes.Repeat([]byte{1}, 10_000))),
		field(5), field(5, []byte("samples")), field(5, []byte("count")), field(5, []byte("f"))))
}

// deepSpall writes 6,000 nested spans with long names. Their stacks have 18 million frames
// in total.
func deepSpall(w io.Writer) {
	b := binary.LittleEndian.AppendUint64(nil, 0x0BADF00D)
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(1))
	b = binary.LittleEndian.AppendUint64(b, 0)
	for i := range 6_000 {
		b = append(b, 3, 1, 0, 0, 0, 1, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(i)))
		name := fmt.Sprintf("%0200d", i)
		b = append(append(b, byte(len(name))), name...)
	}
	w.Write(b)
}
