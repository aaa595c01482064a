package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/format/appletext"
	"ashlar/ingest/format/bcc"
	"ashlar/ingest/format/bpftrace"
	"ashlar/ingest/format/callgrind"
	"ashlar/ingest/format/chrome"
	"ashlar/ingest/format/cloudtrace"
	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/dhat"
	"ashlar/ingest/format/dtrace"
	"ashlar/ingest/format/firefox"
	"ashlar/ingest/format/folded"
	"ashlar/ingest/format/ftrace"
	"ashlar/ingest/format/fuchsia"
	"ashlar/ingest/format/gotrace"
	"ashlar/ingest/format/heapprofile"
	"ashlar/ingest/format/heaptrack"
	"ashlar/ingest/format/jaeger"
	"ashlar/ingest/format/jemalloc"
	"ashlar/ingest/format/jfr"
	"ashlar/ingest/format/nettrace"
	"ashlar/ingest/format/otlp"
	"ashlar/ingest/format/parquet"
	"ashlar/ingest/format/perfdata"
	"ashlar/ingest/format/perfetto"
	"ashlar/ingest/format/perfscript"
	"ashlar/ingest/format/pprof"
	"ashlar/ingest/format/spaa"
	"ashlar/ingest/format/spall"
	"ashlar/ingest/format/speedscope"
	"ashlar/ingest/format/store"
	"ashlar/ingest/format/zipkin"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
)

// Formats are the formats that can be read. To add one, add its line.
var Formats = []codec.Format{
	spaa.Format,
	spall.Format,
	chrome.Format,
	chrome.Profiles,
	pprof.Format,
	otlp.Format,
	otlp.Traces,
	jaeger.Format,
	zipkin.Format,
	cloudtrace.Format,
	speedscope.Format,
	firefox.Format,
	perfetto.Format,
	fuchsia.Format,
	gotrace.Format,
	jfr.Format,
	nettrace.Format,
	ftrace.Format,
	perfdata.Format,
	perfscript.Format,
	dtrace.Format,
	bpftrace.Format,
	bcc.Format,
	appletext.Sample,
	appletext.Spindump,
	appletext.Instruments,
	jemalloc.Format,
	heapprofile.Format,
	dhat.Format,
	heaptrack.Format,
	callgrind.Format,
	parquet.Format,
	folded.Format,
	store.Format,
}

// sniffLen is the number of bytes at the start of a file that are used to recognise its
// format. If the file is a JSON object, up to sniffFar bytes are used, because keys may
// be in any order, with the distinctive ones last; likewise if its first line is longer.
const (
	sniffLen = 64 << 10
	sniffFar = 16 << 20
)

// Sniff recognises the format of a recording from its first bytes, decompressed. whole
// means that head is all there is. The name only decides between formats that are equally
// likely. The error is one sentence that does not name the file.
func Sniff(name string, head []byte, whole bool) (*codec.Format, error) {
	return sniff(Formats, name, head, whole)
}

// Recognise returns the format of a regular file, judging by its first bytes. Other files
// are errors, because reading them may block.
func Recognise(path string) (format *codec.Format, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New("not a regular file"))
	}
	in, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	err = source.Protect(path, func() error {
		format, err = recognise(in)
		return err
	})
	return format, err
}

// FormatOf returns the format of an input without consuming it. The input must be used
// under [source.Protect]. If its first bytes cannot be read, read is false; other errors
// are like those of [Sniff].
func FormatOf(in *source.Input) (format *codec.Format, read bool, err error) {
	format, err = recognise(in)
	if failed, ok := err.(unread); ok {
		return nil, false, failed.error
	}
	return format, true, err
}

// unread is the error for an input whose first bytes cannot be read.
type unread struct{ error }

// recognise returns the format of an input.
func recognise(in *source.Input) (*codec.Format, error) {
	for n, had := sniffLen, 0; ; n = sniffFar {
		head, whole, err := in.Head(n)
		if err != nil {
			return nil, unread{err}
		}
		format, err := Sniff(in.Name, head, whole)
		var strange *noFormat
		if !errors.As(err, &strange) || whole || n == sniffFar || len(head) == had || !opensObject(head) && !inFirstLine(head) {
			return format, err
		}
		had = len(head)
	}
}

// inFirstLine reports whether head is text that ends within its first line.
func inFirstLine(head []byte) bool { return !bytes.ContainsAny(head, "\n\x00") }

// opensObject reports whether head begins like a JSON object.
func opensObject(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) > 1 && head[0] == '{' && bytes.IndexByte([]byte("\" \t\r\n"), head[1]) >= 0
}

// noFormat is the error for a file in an unknown format.
type noFormat struct{ begins, formats string }

func (e *noFormat) Error() string {
	return "unknown format (starts with " + e.begins + "). Supported: " + e.formats
}

func sniff(formats []codec.Format, name string, head []byte, whole bool) (*codec.Format, error) {
	if len(head) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	var best *codec.Format
	var refusal error
	sure, byName := decode.No, false
	for i := range formats {
		f := &formats[i]
		c, err := f.Sniff(head, whole)
		ext := codec.HasExtension(name, f.Extensions)
		if c > sure || c == sure && c > decode.No && ext && !byName {
			best, sure, byName, refusal = f, c, ext, err
		}
	}
	if err := refused(head, whole, sure); err != nil {
		return nil, err
	}
	if refusal != nil {
		return nil, refusal
	}
	if best == nil {
		return nil, &noFormat{describe(head), list(formats)}
	}
	return best, nil
}

// describe formats the first bytes of a file for a message: as text if possible, else in
// hex.
func describe(head []byte) string {
	const most = 60
	text := head[:min(len(head), most)]
	for len(head) > most && len(text) > most-utf8.UTFMax && !utf8.Valid(text) {
		text = text[:len(text)-1] // the last character is incomplete
	}
	printable := utf8.Valid(text)
	for _, r := range string(text) {
		printable = printable && (r >= ' ' && r != 0x7f || r == '\n' || r == '\r' || r == '\t')
	}
	if printable {
		s := fmt.Sprintf("%q", strings.Join(strings.Fields(string(text)), " "))
		if len(head) > len(text) {
			s += " …"
		}
		return s
	}
	if n := countZero(head); n == len(head) || n >= 16 {
		return safetext.Plural(n, "zero byte")
	}
	few := head[:min(len(head), 16)]
	letters := bytes.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return '.'
	}, few)
	return fmt.Sprintf("the bytes % x, %q", few, letters)
}

func countZero(b []byte) int {
	n := 0
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// List returns the names of all supported formats, as a list for a sentence.
func List() string { return list(Formats) }

// Title returns the title of a format, for use in sentences.
func Title(name string) string {
	for i := range Formats {
		if Formats[i].Name == name {
			return Formats[i].Title
		}
	}
	return name
}

func list(formats []codec.Format) string {
	var s strings.Builder
	for i := range formats {
		switch {
		case i == 0:
		case i == len(formats)-1:
			s.WriteString(" and ")
		default:
			s.WriteString(", ")
		}
		s.WriteString(cmp.Or(formats[i].Plural, formats[i].Title))
	}
	return s.String()
}
