package ingest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// made returns a small recording of every kind that the generator knows, by name.
func made(t testing.TB, records int64) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, kind := range synth.Kinds() {
		all["generated "+kind] = synthesized(t, synth.Options{Kind: kind, Records: records, Seed: 7})
	}
	return all
}

func synthesized(t testing.TB, o synth.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// variant is a way to decode: the number of workers, the chunk size (0 is the default),
// from memory or from a stream, with or without snapshots of the growing recording.
type variant struct {
	workers, chunk  int
	stream, growing bool
}

// decoded reads content and returns the recording's fingerprint and the error text, "" for
// none.
func decoded(name string, content []byte, v variant) (fingerprint, string) {
	l := newLoadOf(name, content, v)
	defer l.Close()
	if err := l.Wait(); err != nil {
		return nil, err.Error()
	}
	f := fingerprintOf(l.Snapshot())
	if v.growing {
		for _, part := range callParts {
			delete(f, part)
		}
	}
	return f, ""
}

// newLoadOf starts to load content.
func newLoadOf(name string, content []byte, v variant) *Load {
	in := source.FromBytes(name, content)
	if v.stream {
		in = source.FromReader(name, bytes.NewReader(content))
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := newLoad(ctx, name, Options{Options: decode.Options{Workers: v.workers}, ChunkSize: v.chunk}, cancel)
	l.quiet = !v.growing
	go l.run(ctx, l.from(func() (*source.Input, error) { return in, nil }))
	return l
}

// TestSameHoweverDecoded checks that one, two and eight workers, chunks of any size, memory
// and streams all give identical recordings. Chunks of a few bytes are slow, so they are
// tried only with the beginning of a large recording that contains every kind of record.
func TestSameHoweverDecoded(t *testing.T) {
	apart := []variant{{workers: 8, chunk: 1 << 16, growing: true}, {workers: 2}, {workers: 8, stream: true}, {workers: 2, chunk: 4099}}
	try := func(name string, content []byte, whole ...variant) {
		t.Run(name, func(t *testing.T) {
			content := unpacked(t, content)
			same(t, name, content, whole...)
			if testing.Short() {
				return
			}
			content = beginning(name, content, 512<<10, 512<<10)
			same(t, name, content, variant{workers: 1, chunk: 257, stream: true, growing: true}, variant{workers: 8, chunk: 1021})
			content = beginning(name, content, 6<<10, 64<<10)
			same(t, name, content, variant{workers: 1, chunk: 1}, variant{workers: 8, chunk: 1, stream: true}, variant{workers: 2, chunk: 7})
		})
	}
	if testing.Short() {
		apart = apart[:3] // small chunks add no concurrency
	}
	records := rounds.Of(int64(3000))
	for name, content := range made(t, records) {
		try(name, content, apart...)
	}
	for _, kind := range synth.Kinds() {
		shapes := synth.Shapes(kind)
		for i, shape := range shapes[:rounds.Size(len(shapes), min(len(shapes), 3))] {
			apart := apart
			if testing.Short() { // concurrency is the same in each shape, so one variant per shape is enough
				apart = apart[i%3 : i%3+1]
			}
			try(kind+" "+shape, synthesized(t, synth.Options{Kind: kind, Shape: shape, Records: records, Seed: 7}), apart...)
		}
	}
	// Samples are large, so all of each sample is decoded in only two variants, which cover
	// everything.
	for name, content := range samples.Each(t) {
		try(name, content, variant{workers: 8, chunk: 1 << 16, growing: true, stream: true}, variant{workers: 2, chunk: 4099})
	}
}

// beginning returns the shortest beginning of a recording that has as many kinds of records
// as its first limit bytes. It tries lengths from least on, doubling each time.
func beginning(name string, content []byte, least, limit int) []byte {
	content = content[:min(len(content), limit)]
	kinds := func(content []byte) (n int) {
		l := newLoadOf(name, content, variant{workers: 2})
		defer l.Close()
		l.Wait() // an unreadable beginning has no records
		for _, t := range l.Snapshot().Ledger {
			if t.Read > 0 {
				n++
			}
		}
		return n
	}
	all := kinds(content)
	n := min(least, len(content))
	for n < len(content) && kinds(content[:n]) < all {
		n = min(2*n, len(content))
	}
	return content[:n]
}

func same(t *testing.T, name string, content []byte, variants ...variant) {
	t.Helper()
	all, failed := decoded(name, content, variant{workers: 1})
	for _, v := range variants {
		want := maps.Clone(all)
		if v.growing {
			for _, part := range callParts {
				delete(want, part)
			}
		}
		got, err := decoded(name, content, v)
		if err != failed {
			t.Errorf("%+v of %d bytes: error %q, else %q", v, len(content), err, failed)
		} else if d := want.difference(got); d != "" {
			t.Errorf("%+v of %d bytes: different %s", v, len(content), d)
		}
	}
}

// unpacked decompresses content, because chunks are cut from the decompressed bytes.
func unpacked(t testing.TB, content []byte) []byte {
	t.Helper()
	path := write(t, "packed", content)
	in, err := source.Open(path)
	if err != nil || in.Compression == "none" {
		return content
	}
	defer in.Close()
	var all []byte
	for {
		c, _, err := in.Next(0)
		all = append(all, c...)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
