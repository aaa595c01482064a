// Package codec defines a file format: how to recognise, read and write it. Each format
// has a folder next to this one that exports one [Format]; package ingest lists them.
package codec

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is one file format.
type Format struct {
	// Name is the name that info prints: "spaa", "spall".
	Name string
	// Title is the usual name of such a file: "SPAA", "Chrome trace". Plural is for
	// lists of formats: "Chrome traces"; "" if that is the Title too.
	Title, Plural string
	// Holds describes in a few words, for tables, the content read from such a file.
	Holds string
	// Extensions are the file's usual extensions, with the dot, the most common one
	// first. They are used only to break ties.
	Extensions []string
	// Sniff examines the first bytes (decompressed, up to 64 KiB); whole reports whether
	// they are the whole file. A format that recognises a file but cannot read it returns
	// an error that says so, with a Confidence above No.
	Sniff func(head []byte, whole bool) (decode.Confidence, error)
	// Decode reads everything into the builder and returns at the end of the input or
	// when ctx ends. It calls b.Progress at least every few milliseconds of work. An
	// error means that nothing, or nothing more, could be read; the content of the
	// builder is shown anyway. Damage that can be skipped is a warning in the builder,
	// not an error.
	Decode func(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error
	// Args returns functions that read arguments again from a file that was decoded
	// earlier. They use the references and the state of that decoding (see
	// recording.Recording.ArgState). cpu is nil if no event has a CPU time. Args is nil
	// for formats whose references are not positions in the file.
	Args func(in *source.Input, state []byte) (text func(ref uint64) string, cpu func(ref uint64) (ps int64, known bool))
	// Encode writes the format, nil for formats that are only read.
	Encode *Encoder
}

// Encoder describes how a format is written.
type Encoder struct {
	// Extensions are the extensions of written files, with the dot. .gz or .zst may
	// follow them, except those in Packed, which are always compressed.
	Extensions, Packed []string
	// OneEvent reports whether a file holds only one event, Windows whether it can hold
	// time windows.
	OneEvent, Windows bool
	// Whole reports whether a file holds the whole recording unchanged.
	Whole bool
	// Write writes the job's recording. The same recording gives the same
	// bytes.
	Write func(*encode.Job) error
	// Copy, if not nil, writes a file of the format record by record, so that nothing is
	// lost; the job has no recording.
	Copy func(j *encode.Job, r io.Reader) error
}

// Write writes a whole recording to w. The extension of name determines the compression.
// The report lists the losses; it is not nil even with an error.
func (f *Format) Write(ctx context.Context, w io.Writer, name string, rec *recording.Recording, opt encode.Options) (*encode.Report, error) {
	rep := new(encode.Report)
	if plain := rec.Plain(); plain != rec && !f.Encode.Whole {
		if err := loseCPU(ctx, rep, rec, f.Title); err != nil {
			return rep, err
		}
		rec = plain
	}
	rep.Lose(rec.SharedSymbols(), "mangled names", "functions with the same readable name were merged")
	for _, t := range rec.Ledger {
		if t.Kind == recording.TallyFrames {
			rep.Lose(t.LeftOut, "stack frames", "left out while reading: %s", t.FirstLeftOut)
		}
	}
	rep.Lose(rec.Pairs(), "links between user and kernel stacks", "%s has none; each pair is written as one stack", f.Title)
	ctx, stop := memory.Watch(ctx, "writing "+f.Title, nil)
	defer stop()
	err := f.Encode.compressed(w, name, func(w *bufio.Writer) error {
		return f.Encode.Write(&encode.Job{Ctx: ctx, Rec: rec, Opt: opt, W: w, Report: rep})
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return rep, err
}

// loseCPU reports the spans whose CPU time is lost.
func loseCPU(ctx context.Context, rep *encode.Report, rec *recording.Recording, title string) error {
	var n int64
	for _, t := range rec.Tracks {
		for d := range t.Lanes {
			l := &t.Lanes[d]
			for i := 0; i < l.Len() && l.HasArgs(); i++ {
				if _, known := rec.SpanCPU(l, i); known {
					n++
				}
				if i%1024 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
			}
		}
	}
	rep.Lose(n, "span CPU times", "%s has none", title)
	return nil
}

// Copy copies the records of r, uncompressed, to w; see Encoder.Copy.
func (f *Format) Copy(ctx context.Context, w io.Writer, name string, r io.Reader, opt encode.Options) (*encode.Report, error) {
	rep := new(encode.Report)
	err := f.Encode.compressed(w, name, func(w *bufio.Writer) error {
		return f.Encode.Copy(&encode.Job{Ctx: ctx, Opt: opt, W: w, Report: rep}, r)
	})
	return rep, err
}

// Compresses reports whether a file of the given name is written compressed.
func (e *Encoder) Compresses(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".zst") || strings.HasSuffix(name, ".gz") || HasExtension(name, e.Packed)
}

// compressed calls write with a writer that compresses according to the extension of
// name.
func (e *Encoder) compressed(w io.Writer, name string, write func(*bufio.Writer) error) error {
	lower := strings.ToLower(name)
	var z io.WriteCloser
	switch {
	case strings.HasSuffix(lower, ".zst"):
		var err error
		if z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	case strings.HasSuffix(lower, ".gz"), HasExtension(lower, e.Packed):
		z = gzip.NewWriter(w)
	}
	out := w
	if z != nil {
		out = z
	}
	b := bufio.NewWriterSize(out, 256<<10)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if z != nil {
		return z.Close()
	}
	return nil
}

// HasExtension reports whether a file's name has one of the extensions, perhaps followed
// by the extension of a compression format.
func HasExtension(name string, exts []string) bool {
	name = strings.ToLower(name)
	for _, z := range []string{".gz", ".zst", ".zstd"} {
		if s, ok := strings.CutSuffix(name, z); ok {
			name = s
			break
		}
	}
	for _, ext := range exts {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}
