package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// contents are of many kinds: nothing, one byte, what repeats near and far, texts, noise.
func contents() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	few := make([]byte, 200_000)
	for i := range few {
		few[i] = "abcd"[r.IntN(4)]
	}
	var lines strings.Builder
	for i := 0; lines.Len() < 500_000; i++ {
		fmt.Fprintf(&lines, `{"name":"work %d","ph":"X","ts":%d,"dur":%d},`+"\n", r.IntN(100), i*17, r.IntN(1000))
	}
	// Symbols of all frequencies have codes of all lengths.
	var skewed []byte
	for i := range 250 {
		skewed = append(skewed, bytes.Repeat([]byte{byte(i)}, 1+int(r.ExpFloat64()*float64(i*i)/40))...)
	}
	r.Shuffle(len(skewed), func(i, k int) { skewed[i], skewed[k] = skewed[k], skewed[i] })
	return map[string][]byte{
		"nothing": nil, "byte": {7}, "same": bytes.Repeat([]byte{'x'}, 400_000), "pairs": bytes.Repeat([]byte("ab"), 70_000), "sevens": bytes.Repeat([]byte("1234567"), 30_000),
		"noise": noise, "few": few, "lines": []byte(lines.String()), "skewed": skewed,
		"far": bytes.Repeat(noise[:32<<10], 5), "farther": bytes.Repeat(noise[:32<<10+1], 4),
	}
}

func packed(t testing.TB, content []byte, level int) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for rest := content; len(rest) > 0; { // with blocks that end within
		n := min(len(rest), 100_000)
		_, err = w.Write(rest[:n])
		if rest = rest[n:]; err != nil || w.Flush() != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLikeTheLibrary(t *testing.T) {
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "late errors": iotest.DataErrReader,
	}
	levels := []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression, gzip.BestCompression, gzip.HuffmanOnly}
	if testing.Short() {
		levels = []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression}
		delete(readers, "late errors")
	}
	for name, content := range contents() {
		if testing.Short() {
			content = content[:min(len(content), 180_000)]
		}
		for _, level := range levels {
			z := packed(t, content, level)
			for how, through := range readers {
				if how == "bytes" && (testing.Short() || len(z) > 100_000) {
					continue
				}
				// Two members, of which the second does not reach into the first.
				r, err := NewGzip(through(io.MultiReader(bytes.NewReader(z), bytes.NewReader(z))))
				if err != nil {
					t.Fatal(name, err)
				}
				got, err := io.ReadAll(r)
				if want := append(bytes.Clone(content), content...); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s, level %d, %s: %d bytes of %d, %v", name, level, how, len(got), len(want), err)
				}
			}
		}
	}
}

// TestDamaged: a flipped bit, or an end that comes too soon, is always noticed, and what
// is before it is what was packed.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	content := contents()["lines"][:60_000]
	z := packed(t, content, gzip.DefaultCompression)
	unpack := func(b []byte) ([]byte, error) {
		x, err := NewGzip(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(x)
	}
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		b := bytes.Clone(z)
		b[10+r.IntN(len(b)-10)] ^= 1 << r.IntN(8)
		if got, err := unpack(b); err == nil {
			t.Errorf("%d bytes, and no error", len(got))
		}
		cut := r.IntN(len(z)-1) + 1
		got, err := unpack(z[:cut])
		if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(content, got) {
			t.Errorf("cut at %d of %d: %d bytes, %v", cut, len(z), len(got), err)
		}
	}
	if _, err := unpack(append(bytes.Clone(z), "no member"...)); err != gzip.ErrHeader {
		t.Errorf("something behind: %v", err)
	}
	other := bytes.Clone(z)
	other[len(other)-5] ^= 1
	if _, err := unpack(other); err != gzip.ErrChecksum {
		t.Errorf("another sum: %v", err)
	}
}

func TestHeaders(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name, w.Comment, w.Extra = strings.Repeat("n", 400), "c", make([]byte, 70_000)[:60_000]
	w.Write([]byte("text"))
	w.Close()
	r, err := NewGzip(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, s := range []string{"\x1f\x8b\x07\x00aaaaaaaaaaaa", "no gzip at all", "\x1f\x8b\x08\x02aaaaaabb"} {
		if _, err := NewGzip(strings.NewReader(s)); err != gzip.ErrHeader {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestFlushed: what a writer has flushed is there before more is waited for.
func TestFlushed(t *testing.T) {
	in, out := io.Pipe()
	go func() {
		w := gzip.NewWriter(out)
		for range 3 {
			w.Write([]byte("some text"))
			w.Flush()
			<-t.Context().Done() // or until the rest was asked for: see below
		}
	}()
	r, err := NewGzip(in)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 9)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "some text" {
		t.Errorf("%q, %v", got, err)
	}
	in.Close()
}

// FuzzInflate: the library takes what this takes, and makes the same of it.
func FuzzInflate(f *testing.F) {
	for _, content := range contents() {
		f.Add(packed(f, content[:min(len(content), 2000)], gzip.DefaultCompression)[10:])
	}
	f.Add([]byte{0x05, 0xe0, 0x81, 0x08, 0, 0, 0, 0, 0x20, 0x7f, 0xeb, 0x0b})
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 1 << 20
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), most))
		got, err := io.ReadAll(io.LimitReader(New(bytes.NewReader(b)), most))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%x: %v, the library says %v", b, err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) || !bytes.HasPrefix(want, got) && !bytes.HasPrefix(got, want) {
			t.Fatalf("%x: %d bytes, the library has %d", b, len(got), len(want))
		}
		slow, slowErr := io.ReadAll(io.LimitReader(New(iotest.OneByteReader(bytes.NewReader(b))), most))
		if (slowErr == nil) != (err == nil) || err == nil && !bytes.Equal(got, slow) {
			t.Fatalf("%x: byte by byte %d bytes, %v; else %d, %v", b, len(slow), slowErr, len(got), err)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	for _, name := range []string{"lines", "few", "skewed"} {
		content := bytes.Repeat(contents()[name], 8)
		z := packed(b, content, gzip.DefaultCompression)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				r, err := NewGzip(bytes.NewReader(z))
				if err == nil {
					_, err = io.Copy(io.Discard, r)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
