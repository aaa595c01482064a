package chrome

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestAheadIsTaken checks that on a file with one event per line no part is refused and
// every scanner reads events.
func TestAheadIsTaken(t *testing.T) {
	data := synthetic(1<<20, true)
	for _, workers := range []int{2, 3, 8} {
		a := newAhead("x", workers, nil)
		events := make([]int, workers)
		for p := 0; p < len(data); {
			end := min(p+100_000, len(data))
			used, out, err := a.scan(data[p:end], int64(p), end == len(data))
			if err != nil {
				t.Fatal(err)
			}
			p += used
			for _, bt := range out {
				events[bt.worker] += len(bt.events)
			}
		}
		if a.refused > 0 {
			t.Errorf("%d workers: %d parts did not hold", workers, a.refused)
		}
		for w, n := range events {
			if n < 500 {
				t.Errorf("%d workers: number %d has %d events", workers, w, n)
			}
		}
	}
}

// tricky returns a damaged trace: many lines only look like the start of an event, commas
// are missing, and some ids are texts.
func tricky(r *rand.Rand, events int) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	var s strings.Builder
	s.WriteString(pick("[\n", "{\"traceEvents\":[\n", "{\"x\":1,\n\"traceEvents\":\n[\n"))
	for i := range events {
		id := pick("1", "2", `"main"`, fmt.Sprintf("%q", fmt.Sprint("t", r.IntN(30))))
		args := pick("", `,"args":{"a":1}`, ",\"args\":{\"text\":\"over\n{\\\"name\\\":\\\"no\\\"},\n{two lines\"}", ",\"args\":\n{\"list\":[\n{\"name\":\"no event\",\"ph\":\"B\"},\n{\"x\":2}\n]}")
		fmt.Fprintf(&s, `{"name":"f%d","ph":%q,"ts":%d,"dur":%d,"pid":%s,"tid":%s%s}`, r.IntN(40), pick("B", "E", "X", "i", "C"), i*10, r.IntN(50), id, id, args)
		s.WriteString(pick(",\n", ",\n", ",\n", ",", ",\n\n", "\n", ",\n{\"name\":\"cut\n", ",\n}],\n", ",\n7,\n"))
	}
	s.WriteString(pick("]", "]}", "", "],\"stackFrames\":{\n}}"))
	return s.String()
}

// TestAheadIsTheSame checks that the recording does not depend on the number of scanners,
// even if many parts are refused.
func TestAheadIsTheSame(t *testing.T) {
	refused, seeds := 0, rounds.Size(60, 12)
	for seed := range uint64(seeds) {
		text := tricky(rand.New(rand.NewPCG(seed, 3)), 120)
		read := func(workers, chunk int) string {
			in := source.FromBytes("x", []byte(text))
			in.ChunkSize = chunk
			b := recording.NewBuilder()
			err := run(context.Background(), in, b, decode.Options{Workers: workers})
			return fmt.Sprint(err, dumped(b.Finish()))
		}
		want := read(1, 0)
		for _, workers := range []int{2, 3, 8} {
			for _, chunk := range []int{50, 300, 2000, 0} {
				if got := read(workers, chunk); got != want {
					t.Fatalf("seed %d: %d workers and chunks of %d give another recording: %s", seed, workers, chunk, firstDifference(got, want))
				}
			}
		}
		a := newAhead("x", 4, nil)
		for p, b := 0, []byte(text); p < len(b); {
			used, _, err := a.scan(b[p:min(len(b), p+5000)], int64(p), p+5000 >= len(b))
			if err != nil {
				t.Fatal(err)
			}
			if p += used; used == 0 {
				break
			}
		}
		refused += a.refused
	}
	if refused < seeds/3 {
		t.Errorf("only %d parts did not hold: the test tests nothing", refused)
	}
}
