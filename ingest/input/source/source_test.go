package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	stdgzip "compress/gzip"

	"github.com/klauspost/compress/zstd"

	"ashlar/testdata/rounds"
)

func content(n int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + rng.IntN(16))
	}
	return b
}

func gz(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		w := stdgzip.NewWriter(&b)
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func zst(t testing.TB, p []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(p, nil)
}

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// drain reads everything with Next, with rests of varying length, and checks the offsets.
func drain(t testing.TB, in *Input) ([]byte, error) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var out []byte
	rest := 0
	for {
		c, off, err := in.Next(rest)
		if int(off) != len(out)-rest {
			t.Fatalf("a chunk is at %d after %d bytes with a rest of %d", off, len(out), rest)
		}
		if !bytes.Equal(c[:rest], out[len(out)-rest:]) {
			t.Fatalf("the rest at %d is not what it was", off)
		}
		out = append(out, c[rest:]...)
		if err != nil {
			if len(c) != rest {
				t.Fatalf("the last chunk has %d bytes beyond the rest", len(c)-rest)
			}
			return out, err
		}
		if len(c) == rest {
			t.Fatal("a chunk has nothing new")
		}
		rest = rng.IntN(min(len(c), 100) + 1)
	}
}

func TestNext(t *testing.T) {
	want := content(100_000)
	dir := t.TempDir()
	for _, f := range []struct {
		name, compression string
		b                 []byte
	}{
		{"plain", "none", want},
		{"gzip", "gzip", gz(t, want)},
		{"members", "gzip", gz(t, want[:1000], want[1000:1001], nil, want[1001:])},
		{"zstd", "zstd", zst(t, want)},
		{"frames", "zstd", append(append([]byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9}, zst(t, want[:5000])...), zst(t, want[5000:])...)},
		{"gzip in zstd", "zstd+gzip", zst(t, gz(t, want))},
		{"gzip in gzip", "gzip+gzip", gz(t, gz(t, want))},
	} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 1000, 40_000, 1 << 20} {
			for _, head := range []int{0, 10, 64 << 10, 1 << 20}[:rounds.Size(4, 2)] {
				if size == 1 && (head != 10 || f.name != "plain" && f.name != "gzip in zstd") {
					continue // slow, and covered by the other files
				}
				in, err := Open(path)
				if err != nil {
					t.Fatal(err)
				}
				in.ChunkSize = size
				if head > 0 {
					h, whole, err := in.Head(head)
					if err != nil || !bytes.Equal(h, want[:min(head, len(want))]) || whole != (head > len(want)) {
						t.Fatalf("%s: head of %d: %d bytes, whole %v, %v", f.name, head, len(h), whole, err)
					}
				}
				got, err := drain(t, in)
				if err != io.EOF || !bytes.Equal(got, want) {
					t.Fatalf("%s in chunks of %d: %d bytes of %d, %v", f.name, size, len(got), len(want), err)
				}
				if in.Compression != f.compression || in.Bytes != int64(len(f.b)) || in.Consumed() != in.Bytes {
					t.Errorf("%s: %s, %d of %d bytes", f.name, in.Compression, in.Consumed(), in.Bytes)
				}
				if (in.Mapped() != nil) != (f.compression == "none") && runtime.GOOS != "windows" {
					t.Errorf("%s: mapped %v", f.name, in.Mapped() != nil)
				}
				for range 2 {
					if err := in.Close(); err != nil {
						t.Errorf("%s: %v", f.name, err)
					}
				}
			}
		}
	}
}

func TestAll(t *testing.T) {
	want := content(100_000)
	// The size at the end of a gzip file is wrong for the whole content if there are
	// several members or if the content is compressed again.
	for _, path := range []string{write(t, "a", want), write(t, "b", gz(t, want)), write(t, "c", gz(t, want[:70_000], want[70_000:])), write(t, "d", gz(t, want[:30_000], want[30_000:])),
		write(t, "e", gz(t, want, nil)), write(t, "f", gz(t, gz(t, want))), write(t, "g", gz(t, zst(t, want))), write(t, "h", zst(t, want))} {
		for _, size := range []int{0, 999} {
			in, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			in.ChunkSize = size
			got, err := in.All(1 << 20)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", path, len(got), err)
			}
			in.Close()
		}
		in, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.All(1 << 10); err == nil || !strings.HasPrefix(err.Error(), path+" has more than 0 MB") {
			t.Errorf("%s: too large: %v", path, err)
		}
		in.Close()
	}
}

// If the size stored in a gzip file is wrong, All returns the whole content, with an error.
func TestAllOfWrongSize(t *testing.T) {
	want := content(100_000)
	for _, size := range []uint32{0, 1, 99_999, 100_001, 1 << 20, 1<<32 - 1} {
		b := gz(t, want)
		binary.LittleEndian.PutUint32(b[len(b)-4:], size)
		in, err := Open(write(t, "x", b))
		if err != nil {
			t.Fatal(err)
		}
		in.ChunkSize = 999
		if got, err := in.All(1 << 30); err == nil || !bytes.Equal(got, want) {
			t.Errorf("said to be %d: %d bytes, %v", size, len(got), err)
		}
		in.Close()
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	l, err := net.Listen("unix", path("socket"))
	if err == nil {
		defer l.Close()
	} else if runtime.GOOS != "windows" { // Wine has no such sockets
		t.Fatal(err)
	}
	if err := os.WriteFile(path("bad.gz"), []byte("\x1f\x8bnonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := gz(t, gz(t, gz(t, []byte("deep"))))
	if err := os.WriteFile(path("deep.gz"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{path("missing"), ": there is no such file"},
		{dir, " is a folder. Open a file in it"},
		{"/dev/null", " is a device, not a recording"},
		{path("socket"), " is a socket, not a recording"},
		{path("bad.gz"), " looks like gzip but cannot be decompressed: gzip: invalid header"},
		{path("deep.gz"), " is compressed more than twice; decompress it first"},
	} {
		if c.name == path("socket") && l == nil {
			continue
		}
		in, err := Open(c.name)
		if err == nil {
			in.Close()
			t.Errorf("%s opens", c.name)
			continue
		}
		if want := c.name + c.want; err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if got := reason(&os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}); got != "permission denied; make it readable" {
		t.Errorf("no permission: %s", got)
	}
	if os.Getuid() > 0 { // -1 on Windows
		locked := write(t, "locked", []byte("x"))
		if err := os.Chmod(locked, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(locked); err == nil || err.Error() != locked+": permission denied; make it readable" {
			t.Errorf("no permission: %v", err)
		}
	}
}

// Data decompressed before the damage is returned before the error.
func TestDamagedCompression(t *testing.T) {
	want := content(500_000)
	for name, b := range map[string][]byte{"gzip": gz(t, want), "zstd": zst(t, want)} {
		for _, size := range []int{0, 5000} {
			path := write(t, name, b[:len(b)/2])
			in, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			in.ChunkSize = size
			got, err := drain(t, in)
			in.Close()
			if len(got) < len(want)/5 || !bytes.Equal(got, want[:len(got)]) {
				t.Errorf("%s: %d bytes before the cut", name, len(got))
			}
			prefix := fmt.Sprintf("%s: the %s data is damaged or truncated after %d bytes of content (", path, name, len(got))
			var e *Error
			if err == nil || !strings.HasPrefix(err.Error(), prefix) || !errors.As(err, &e) {
				t.Errorf("got  %v\nwant %s…", err, prefix)
			}
		}
	}
}

// Damage in the first bytes of compressed data gives an error with the input's name, both
// from a file and from a pipe.
func TestDamagedBeginning(t *testing.T) {
	for _, c := range []struct{ name, b, says string }{
		{"zstd", "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff", ": the zstd data is damaged or truncated after 0 bytes of content ("},
		// The frame header has no content size, so the byte after the descriptor is the
		// window size: 1 GB and 2 GB (RFC 8878, 3.1.1.1).
		{"zstd with a window of 1 GB", "\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00", ": the zstd data needs a window of more than 512 MB (zstd --long=30 or 31); decompress it with `zstd -d --long=31` first, or compress it without --long"},
		{"zstd with a window of 2 GB", "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", ": the zstd data needs a window of more than 512 MB (zstd --long=30 or 31); decompress it with `zstd -d --long=31` first, or compress it without --long"},
		{"zstd cut in its header", "\x28\xb5\x2f\xfd\x64", ": the zstd data is damaged or truncated after 0 bytes of content ("},
		{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", ": the gzip data is damaged or truncated after 0 bytes of content ("},
		{"gzip cut in its header", "\x1f\x8b\x08\x00", " looks like gzip but cannot be decompressed: unexpected EOF"},
	} {
		path := write(t, "x", []byte(c.b))
		_, err := Open(path)
		var e *Error
		if err == nil || !strings.HasPrefix(err.Error(), path+c.says) || !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
		}
		// A pipe returns the error only when it is read.
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		w.WriteString(c.b)
		w.Close()
		in, err := open(r, "-", stdin)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = in.Head(100)
		if err == nil || !strings.HasPrefix(err.Error(), "standard input"+c.says) || !errors.As(err, &e) {
			t.Errorf("%s from a pipe: got %v", c.name, err)
		}
		in.Close()
		r.Close()
	}
}

// If a chunk is larger than the buffer, the buffer grows and the reader, which waits for
// room, is woken.
func TestGrowingChunks(t *testing.T) {
	want := content(5000)
	s := newStream(bytes.NewReader(want), nil)
	done := make(chan []byte)
	go func() {
		var all []byte
		for _, size := range []int{10, 100, 50, 2000, 2840} {
			b, err := s.take(nil, size, time.Hour, 0, nil) // waiting longer would not help
			if err != nil || len(b) != size {
				t.Errorf("%d bytes of %d, %v", len(b), size, err)
			}
			all = append(all, b...)
		}
		done <- all
	}()
	select {
	case got := <-done:
		if !bytes.Equal(got, want) {
			t.Error("the content is another one")
		}
	case <-time.After(20 * time.Second):
		t.Error("it waits for a reader that waits for room")
	}
	s.stop()
}

// slow is a pipe that returns one part at a time and then blocks until it is closed.
type slow struct {
	parts chan string
}

func (s *slow) Read(p []byte) (int, error) {
	part, ok := <-s.parts
	if !ok {
		return 0, io.EOF
	}
	return copy(p, part), nil
}

// The first bytes of a pipe are returned without waiting for more.
func TestSlowPipe(t *testing.T) {
	s := &slow{parts: make(chan string, 10)}
	s.parts <- "one "
	s.parts <- "two "
	in := FromReader("pipe", s)
	got := ""
	for len(got) < 8 {
		c, _, err := in.Next(0)
		if err != nil {
			t.Fatal(err)
		}
		got += string(c)
	}
	s.parts <- "three"
	close(s.parts)
	rest, err := drain(t, FromReader("", io.MultiReader(strings.NewReader(got), readerOf{in})))
	if string(rest) != "one two three" || err != io.EOF {
		t.Errorf("%q %v", rest, err)
	}
	in.Close()
}

// readerOf makes an input an io.Reader, chunk by chunk.
type readerOf struct{ in *Input }

func (r readerOf) Read(p []byte) (int, error) {
	r.in.ChunkSize = len(p)
	c, _, err := r.in.Next(0)
	return copy(p, c), err
}

func TestStopWaiting(t *testing.T) {
	before := runtime.NumGoroutine()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin; r.Close() }()
	in, err := Open("-")
	if err != nil {
		t.Fatal(err)
	}
	if in.Name != "standard input" || in.Bytes != -1 {
		t.Errorf("%q %d", in.Name, in.Bytes)
	}
	failed := make(chan error)
	go func() {
		_, _, err := in.Next(0)
		failed <- err
	}()
	time.Sleep(10 * time.Millisecond)
	in.Stop()
	if err := <-failed; err != context.Canceled {
		t.Errorf("Next after Stop: %v", err)
	}
	in.Close()
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 1000 {
			t.Fatal("a goroutine is left")
		}
		time.Sleep(time.Millisecond)
	}
}

// Standard input is mapped if it is a regular file, and read as a stream if it is a pipe.
func TestStandardInput(t *testing.T) {
	want := content(10_000)
	f, err := os.Open(write(t, "x", want))
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = f
	defer func() { os.Stdin = stdin; f.Close() }()
	for _, skip := range []int64{0, 100} {
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		in, err := Open("-")
		if err != nil {
			t.Fatal(err)
		}
		if (in.Mapped() != nil) != (skip == 0) {
			t.Errorf("mapped: %v", in.Mapped() != nil)
		}
		got, err := drain(t, in)
		if err != io.EOF || !bytes.Equal(got, want[skip:]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		in.Close()
	}
}

// System files that look regular but block, such as /proc/kmsg, give an error.
func TestFileThatWaits(t *testing.T) {
	tried := 0
	for _, path := range []string{"/proc/kmsg", "/sys/kernel/tracing/trace_pipe", "/sys/kernel/debug/tracing/trace_pipe"} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		idle := waits(f)
		f.Close()
		if !idle {
			continue // there are unread messages
		}
		tried++
		in, err := Open(path)
		if err == nil {
			in.Close()
			t.Fatalf("%s opens", path)
		}
		if want := path + " has delivered no content yet"; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
	if tried == 0 {
		t.Skip("no file of the system waits here, or this user may not read it")
	}
}

func TestFilesWithoutSize(t *testing.T) {
	const proc = "/proc/self/status"
	if _, err := os.Stat(proc); err != nil {
		t.Skip("there is no /proc here")
	}
	in, err := Open(proc)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	got, err := drain(t, in)
	if err != io.EOF || !bytes.HasPrefix(got, []byte("Name:")) {
		t.Errorf("%.20q %v", got, err)
	}
}

// mapped writes content to a file and opens it; the test is skipped if the file is not
// mapped.
func mapped(t *testing.T, content []byte) (path string, in *Input) {
	t.Helper()
	path = write(t, "x", content)
	in, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	if in.Mapped() == nil {
		t.Skip("files are not mapped on this system; what is tested is there on Linux and Windows")
	}
	if in.mapping.inMemory {
		t.Skip("small files are copied into memory on this system")
	}
	return path, in
}

// TestOpenFileCanBeReplaced writes and removes a file that is open. Windows would refuse
// that if the file were mapped.
func TestOpenFileCanBeReplaced(t *testing.T) {
	b := content(100_000)
	path := write(t, "x", b)
	in, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := drain(t, in); err != io.EOF || !bytes.Equal(got, b) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if err := os.WriteFile(path, content(200_000), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

func TestFileBecomesShorter(t *testing.T) {
	b := content(1 << 20)
	path, in := mapped(t, b)
	if err := os.Truncate(path, 100_000); err != nil {
		t.Fatal(err)
	}
	sum := 0
	err := Guard(path, func() error {
		for _, x := range in.Mapped() {
			sum += int(x)
		}
		return nil
	})
	// The rest of the page that contains the new end is still readable.
	page := os.Getpagesize()
	want := fmt.Sprintf("%s: the file was truncated while it was read (byte %d)", path, (100_000+page-1)/page*page)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got := in.Text(10, 5); got != string(b[10:15]) {
		t.Errorf("text that is still there: %q", got)
	}
	if got := in.Text(900_000, 5); got != "" {
		t.Errorf("text that is gone: %q", got)
	}
}

func TestGuardLetsPanicsPass(t *testing.T) {
	for _, f := range []func(){
		func() { panic("mine") },
		func() { var p *int; *p = 1 },
		func() { var s []int; s[0]++ },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = Guard("x", func() error { f(); return nil })
		}()
		err := Protect("x", func() error { f(); return nil })
		var bug *Bug
		if !errors.As(err, &bug) || !strings.HasPrefix(err.Error(), "x: reading failed because of a bug in Ashlar: ") || !strings.Contains(err.Error(), "source_test.go:") {
			t.Errorf("got %v", err)
		}
	}
	if err := Protect("x", func() error { return io.EOF }); err != io.EOF {
		t.Errorf("got %v", err)
	}
}

func TestTextAfterClose(t *testing.T) {
	path := write(t, "x", []byte("some content"))
	in, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := in.Text(5, 7); got != "content" {
		t.Errorf("%q", got)
	}
	for _, n := range []int64{-1, 6, 1 << 40} {
		if got := in.Text(n, 7); got != "" {
			t.Errorf("text at %d: %q", n, got)
		}
	}
	in.Close()
	if got := in.Text(5, 7); got != "" {
		t.Errorf("after Close %q", got)
	}
}

// TestCopy checks that Copy returns the mapped bytes, before and after the end of the file
// was reached, and the remaining bytes with an error if the file has become shorter.
func TestCopy(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	path, in := mapped(t, want)
	in.ChunkSize = 10_000
	var room []byte
	rest := 0
	for {
		c, off, err := in.Next(rest)
		b, short := in.Copy(c, off, &room)
		if short != nil || !bytes.Equal(b, want[off:off+int64(len(b))]) || len(b) != len(c) {
			t.Fatalf("%d bytes at %d are %d others (%v)", len(c), off, len(b), short)
		}
		if err == io.EOF {
			break
		}
		if len(c) > 0 && &b[0] == &c[0] {
			t.Fatal("what is mapped is used in place")
		}
		rest = min(len(b), 333)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	c, off, err := again.Next(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	b, err := again.Copy(c, off, &room)
	if !bytes.Equal(b, want[:1000]) || err == nil || err.Error() != path+": the file was truncated while it was read (byte 1000)" {
		t.Errorf("%d bytes are left (%v)", len(b), err)
	}
	again.InPlace = true
	if b, err := again.Copy(c[:900], off, &room); err != nil || &b[0] != &c[0] {
		t.Errorf("what is to stay in place is copied (%v)", err)
	}
	if b, err := FromBytes("x", want).Copy(want, 0, &room); err != nil || &b[0] != &want[0] {
		t.Errorf("what lies in memory is copied (%v)", err)
	}
}

// TestAhead checks that Ahead returns the mapped bytes, for rests of any length, and the
// remaining bytes with an error if the file has become shorter.
func TestAhead(t *testing.T) {
	for seed := range rounds.Size(uint64(20), 5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want := content(1 + rng.IntN(2<<20))
		path, in := mapped(t, want)
		in.ChunkSize = 1 + rng.IntN(300_000)
		ahead, rest := Ahead{In: in}, 0
		for {
			c, off, err := in.Next(rest)
			b, short := ahead.Copy(c, off)
			if short != nil || len(b) != len(c) || !bytes.Equal(b, want[off:][:len(b)]) {
				t.Fatalf("seed %d: %d bytes at %d are %d others (%v)", seed, len(c), off, len(b), short)
			}
			if err == io.EOF {
				break
			}
			if rest = 0; rng.IntN(3) > 0 {
				rest = rng.IntN(1 + min(len(b), 1<<rng.IntN(19)))
			}
		}
		in.Close()

		in, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		in.ChunkSize = len(want)/10 + 1
		ahead = Ahead{In: in}
		left := len(want) / 2
		got := 0
		for err = nil; err == nil; {
			c, off, _ := in.Next(0)
			var b []byte
			if b, err = ahead.Copy(c, off); got == 0 {
				if err := os.Truncate(path, int64(left)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(b, want[off:][:len(b)]) {
				t.Fatalf("seed %d: what is left at %d is something else", seed, off)
			}
			if got += len(b); got == len(want) {
				break // everything was read before the file was truncated
			}
		}
		if got < left || got < len(want) && (err == nil || !strings.Contains(err.Error(), "the file was truncated while it was read (byte")) {
			t.Errorf("seed %d: %d of %d bytes that are left were read (%v)", seed, got, left, err)
		}
		in.Close()
	}
}

// TestDiskErrorInCompressedFile checks that a disk error within a compressed file is not
// taken for damage of its content.
func TestDiskErrorInCompressedFile(t *testing.T) {
	z := gz(t, content(20_000))
	failing := &fs.PathError{Op: "read", Path: "a.gz", Err: syscall.EIO}
	in := FromStream("a.gz", "a", io.NopCloser(io.MultiReader(bytes.NewReader(z[:5000]), iotest.ErrReader(failing))), nil)
	defer in.Close()
	var err error
	for err == nil {
		_, _, err = in.Next(0)
	}
	if !strings.HasPrefix(err.Error(), "a.gz: the disk cannot read the file after ") || !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// If the file still has its length, the error is a failing disk, not truncation.
func TestDiskErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]string{
		4096: path + ": the disk cannot read the file from byte 4096 on (input/output error)",
		5000: path + ": the file was truncated while it was read (byte 5000)",
		8192: path + ": the file was truncated while it was read (byte 8192)",
	} {
		if err := shorter(path, at, io.ErrUnexpectedEOF); err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
