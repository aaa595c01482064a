package chrome

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// padded is an event list with n blanks at one place, as a reader that makes them when
// they are read.
func padded(before string, n int64, after string) io.Reader {
	return io.MultiReader(strings.NewReader(before), io.LimitReader(blankReader{}, n), strings.NewReader(after))
}

type blankReader struct{}

func (blankReader) Read(b []byte) (int, error) {
	return copy(b, bytes.Repeat([]byte{' '}, len(b))), nil
}

// TestBlanks checks that blanks between events and within one take no memory, however many
// a compressed file holds, and that the events around them are read.
func TestBlanks(t *testing.T) {
	rounds.Unraced(t)
	const event, n = `{"ph":"X","pid":1,"tid":1,"name":"a","ts":1,"dur":2}`, 200 << 20
	for _, c := range []struct {
		name, before, after string
		spans               int64
	}{
		{"before the first event", `{"traceEvents":[`, event + "]}", 1},
		{"between events", "[" + event + ",", event + "]", 2},
		{"after the last event", "[" + event, "]", 1},
		{"in an event", "[" + event + `,{"ph":"X",`, `"pid":1,"tid":1,"name":"b","ts":7,"dur":2},` + event + "]", 2},
		{"in the outermost object", `{"a":1,`, `"traceEvents":[` + event + "]}", 1},
		{"before a value", `{"traceEvents":`, "[" + event + "]}", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var most uint64
			watched := &heapWatcher{Reader: padded(c.before, n, c.after), most: &most}
			b := recording.NewBuilder()
			if err := Format.Decode(context.Background(), source.FromReader("blanks.json", watched), b, decode.Options{}); err != nil {
				t.Fatal(err)
			}
			if rec := b.Finish(); rec.Counts.Spans != c.spans {
				t.Errorf("%d spans, want %d", rec.Counts.Spans, c.spans)
			}
			if most > 120<<20 {
				t.Errorf("reading %d MB of blanks took %d MB of memory", n>>20, most>>20)
			}
		})
	}
}

// TestBlanksInChunks checks that the end of long blanks within an event does not depend on
// how the bytes arrive.
func TestBlanksInChunks(t *testing.T) {
	rounds.Unraced(t)
	const event = `{"ph":"X","pid":1,"tid":1,"name":"a","ts":1,"dur":2}`
	for _, n := range []int{mostBlanks - 1, mostBlanks, mostBlanks + 1, 2*mostBlanks + 100} {
		text := "[" + event + `,{"ph":"X",` + strings.Repeat(" ", n) + `"pid":1,"tid":1,"name":"b","ts":7,"dur":2},` + event + "]"
		want := int64(2)
		if n < mostBlanks {
			want = 3
		}
		for _, in := range []*source.Input{
			source.FromBytes("a.json", []byte(text)),
			source.FromReader("a.json", strings.NewReader(text)),
			source.FromReader("a.json", iotest.HalfReader(strings.NewReader(text))),
		} {
			in.ChunkSize = 300_000
			b := recording.NewBuilder()
			if err := Format.Decode(context.Background(), in, b, decode.Options{Workers: 1}); err != nil {
				t.Fatal(err)
			}
			if got := b.Finish().Counts.Spans; got != want {
				t.Errorf("%d blanks: %d spans, want %d", n, got, want)
			}
		}
	}
}

// heapWatcher notes the largest heap after collections while it is read.
type heapWatcher struct {
	io.Reader
	most *uint64
	read int
}

func (h *heapWatcher) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if h.read += n; h.read > 32<<20 {
		h.read = 0
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*h.most = max(*h.most, m.HeapAlloc)
	}
	return n, err
}
