package spaa

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// collect reads to the end and returns the type of each record and line@offset of each
// error.
func collect(r *Reader) (words []string, last error) {
	for range 1000 {
		rec, err := r.Next()
		var bad *LineError
		switch {
		case err == nil:
			words = append(words, rec.RecordType())
		case errors.As(err, &bad):
			words = append(words, fmt.Sprintf("%d@%d", bad.Line, bad.Offset))
			last = err
		default:
			return words, errors.Join(last, err)
		}
	}
	return words, errors.New("no end")
}

func TestReaderGoesOn(t *testing.T) {
	head := like(1) + "\n"
	n := len(head)
	for _, c := range []struct {
		name, text string
		words      []string
		is         error
		says       string
	}{
		{"whole", head + "{\"type\":\"thread\",\"pid\":1,\"tid\":2}\n", []string{"header", "thread"}, io.EOF, ""},
		{"no last line end", head + `{"type":"thread","pid":1,"tid":2}`, []string{"header", "thread"}, io.EOF, ""},
		{"mark, CR LF, blanks", "\xef\xbb\xbf" + strings.ReplaceAll(head, "\n", "\r\n\r\n \t\n\n") + "{\"type\":\"x\"}\r\n", []string{"header", "x"}, io.EOF, ""},
		{"bad line in the middle", head + "{\"type\":\"thread\" \"pid\"\n{\"type\":\"x\"}\n", []string{"header", fmt.Sprint("2@", n+17), "x"}, io.EOF, "line 2, byte 18: a comma"},
		{"cut", head + `{"type":"thread","pid"`, []string{"header", fmt.Sprint("2@", n+22)}, ErrCutLine, "line 2: the file ends in the middle"},
		{"cut line with an end is only bad", head + "{\"type\":\"thread\",\"pid\"\n", []string{"header", fmt.Sprint("2@", n+22)}, io.EOF, "line 2, byte 23: the line ends"},
		{"no object", head + "hello\n[]\n", []string{"header", fmt.Sprint("2@", n), fmt.Sprint("3@", n+6)}, ErrNotObject, ""},
		{"no type", head + "{\"typ\":1}\n", []string{"header", fmt.Sprint("2@", n)}, ErrNoType, ""},
		{"lacks keys", head + "{\"type\":\"frame\",\"id\":1}\n", []string{"header", fmt.Sprint("2@", n)}, io.EOF, `no usable "func, dso, kind"`},
		{"empty", "", nil, io.EOF, ""},
	} {
		for _, read := range []struct {
			name string
			wrap func(io.Reader) io.Reader
		}{{"", func(r io.Reader) io.Reader { return r }}, {" by bytes", iotest.OneByteReader}} {
			t.Run(c.name+read.name, func(t *testing.T) {
				words, err := collect(NewReader(read.wrap(strings.NewReader(c.text))))
				if !reflect.DeepEqual(words, c.words) {
					t.Errorf("got %v, want %v", words, c.words)
				}
				if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

func TestReaderRefusesOtherFormats(t *testing.T) {
	for _, c := range [][2]string{{`"heap-diff"`, `"heap-diff" file`}, {`"nettle"`, `format "nettle"`}, {`5`, `no "format"`}} {
		r := NewReader(strings.NewReader(sub(`"spaa"`, c[0])(t, baseFile)))
		for range 2 { // the error stays
			_, err := r.Next()
			var format *FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%s: %v", c[0], err)
			}
		}
	}
}

func TestReaderLongLines(t *testing.T) {
	long := `{"type":"x","a":"` + strings.Repeat("y", 700_000) + `"}`
	text := long + "\n" + `{"type":"z"}` + "\n" + strings.Repeat("\x00", 900_000) + "\n" + long + "\n" + `{"type":"z"}`
	words, err := collect(NewReader(strings.NewReader(text)))
	if want := []string{"x", "z", "3@700034", "x", "z"}; !reflect.DeepEqual(words[:2], want[:2]) || len(words) != 5 || !errors.Is(err, ErrNotObject) {
		t.Errorf("%v %v", words, err)
	}
	words, err = collect(NewReaderOptions(strings.NewReader(text), ReaderOptions{MaxLine: 600_000}))
	if len(words) != 5 || words[0] != "1@0" || words[1] != "z" || words[4] != "z" || !errors.Is(err, ErrLineTooLong) {
		t.Errorf("%v %v", words, err)
	}
	// A limit below the buffer's size applies too.
	words, err = collect(NewReaderOptions(strings.NewReader(`{"type":"a"}`+"\n"+`{"type":"abc"}`+"\n"), ReaderOptions{MaxLine: 12}))
	if !reflect.DeepEqual(words, []string{"a", "2@13"}) || !errors.Is(err, ErrLineTooLong) {
		t.Errorf("%v %v", words, err)
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("the disk is on fire")
	r := NewReader(io.MultiReader(strings.NewReader(like(1)+"\n{\"ty"), iotest.ErrReader(broken)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Next(); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	if _, err := Validate(iotest.ErrReader(broken), ValidateOptions{}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Records outlive the reader's buffers.
func TestReaderCopies(t *testing.T) {
	text := strings.Repeat(baseFile, 1)
	recs := readAll(t, []byte(text))
	again := readAll(t, []byte(text))
	if len(recs) != 15 || !reflect.DeepEqual(recs, again) {
		t.Error("records changed")
	}
	h := recs[0].(*Header)
	if h.Event("malloc").AllocationTracking.TracksFrees != Some(true) || h.TimeRange.End != "20.5" || h.Source.Command != "perf record -g" {
		t.Errorf("%+v", h)
	}
	f := recs[6].(*Frame)
	if f.FuncResolved.Or(true) || f.SrcLineResolved.Or(true) || !recs[3].(*Frame).FuncResolved.Or(true) || recs[3].(*Frame).FuncResolved.OK {
		t.Error("defaults and absent keys")
	}
	s := recs[10].(*Stack)
	if leaf, ok := s.Leaf(h.FrameOrder); leaf != 201 || !ok {
		t.Error("leaf first")
	}
	if leaf, _ := s.Leaf(RootToLeaf); leaf != 204 {
		t.Error("leaf last")
	}
}

func TestFiles(t *testing.T) {
	recs := readAll(t, []byte(baseFile))
	var sizes []int64
	for _, name := range []string{"a.spaa", "a.spaa.gz", "a.spaa.zst"} {
		var contents [2][]byte
		for i := range contents {
			path := filepath.Join(t.TempDir(), name)
			w, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range recs {
				if err := w.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if contents[i], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			r, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range recs {
				got, err := r.Next()
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: %v %v", name, got, err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(contents[0], contents[1]) {
			t.Errorf("%s: two writings differ", name)
		}
		sizes = append(sizes, int64(len(contents[0])))
	}
	if sizes[1] >= sizes[0] || sizes[2] >= sizes[0] {
		t.Errorf("sizes %v: the extension must choose the compression", sizes)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.spaa")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
