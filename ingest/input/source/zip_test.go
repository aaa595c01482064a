package source

import (
	"archive/zip"
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// zipped returns an archive of files, given as pairs of name and content.
func zipped(t testing.TB, method uint16, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = io.WriteString(f, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The only file of an archive is read as if it were not in an archive.
func TestZip(t *testing.T) {
	want := content(300_000)
	for name, b := range map[string][]byte{
		"deflated": zipped(t, zip.Deflate, "a/b.json", string(want)),
		"stored":   zipped(t, zip.Store, "b.json", string(want)),
		"beside":   zipped(t, zip.Deflate, "a/", "", "__MACOSX/a/._b.json", "x", "a/.DS_Store", "y", "a/b.json", string(want)),
		"gzip":     zipped(t, zip.Store, "b.json.gz", string(gz(t, want))),
	} {
		in, err := Open(write(t, "x.zip", b))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := in.All(1 << 20)
		compression := map[bool]string{true: "zip+gzip", false: "zip"}[name == "gzip"]
		if err != nil || !bytes.Equal(got, want) || in.Compression != compression {
			t.Errorf("%s: %d bytes, want %d, %s (%v)", name, len(got), len(want), in.Compression, err)
		}
		if n := in.Consumed(); n <= 0 || n > int64(len(b)) {
			t.Errorf("%s: %d bytes of %d were read", name, n, len(b))
		}
		if err := in.Close(); err != nil {
			t.Error(name, err)
		}
	}
}

func TestZipSentences(t *testing.T) {
	good := zipped(t, zip.Deflate, "b.json", strings.Repeat("x", 5000))
	locked := bytes.Clone(good)
	locked[bytes.Index(locked, []byte("PK\x01\x02"))+8] |= 1
	for _, x := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"two", zipped(t, zip.Deflate, "a.json", "1", "d/b.json", "2"), `is a zip archive of 2 files ("a.json", "b.json" …); unpack it and open one of them`},
		{"none", zipped(t, zip.Deflate, ".a", "1"), "is an empty zip archive"},
		{"locked", locked, "is a zip archive with a password; unpack it and open the recording in it"},
		{"cut", good[:len(good)/2], "looks like a zip archive but cannot be unpacked: zip: not a valid zip file"},
		{"another method", bytes.ReplaceAll(good, []byte("\x08\x00\x08\x00"), []byte("\x08\x00\x63\x00")), `is a zip archive, but its file "b.json" cannot be unpacked: zip: unsupported compression algorithm`},
	} {
		path := write(t, "x.zip", x.content)
		in, err := Open(path)
		if err == nil {
			_, err = in.All(1 << 20)
			in.Close()
		}
		if err == nil || err.Error() != path+" "+x.want {
			t.Errorf("%s: %v, want %s", x.name, err, x.want)
		}
	}
}

// Opening an archive that unpacks to far more than its size does not load all of it.
func TestZipBomb(t *testing.T) {
	rounds.Unraced(t)
	const size = 1 << 26
	path := write(t, "x.zip", zipped(t, zip.Deflate, "b", strings.Repeat("\x00", size)))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	in, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.All(1 << 20); err == nil {
		t.Error("all of it is held")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size/4 {
		t.Errorf("%d MB were made", n>>20)
	}
}
