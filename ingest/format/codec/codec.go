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
	// Name is how info prints it: "spaa", "spall".
	Name string
	// Title is how people call a file of it: "SPAA", "Chrome trace"; Plural how
	// they call several, where that differs.
	Title, Plural string
	// Holds says what is read of it, in a few words, for tables.
	Holds string
	// Extensions it usually has, with the dot, the usual one first; they are
	// used only to break ties.
	Extensions []string
	// Sniff looks at the first bytes (decompressed, up to 64 KiB; whole says
	// whether that is all there is). A format that recognises a file it will
	// not read returns an error that says so, with a Confidence above No.
	Sniff func(head []byte, whole bool) (decode.Confidence, error)
	// Decode reads everything into the builder and returns when it is done or
	// ctx is. It calls b.Progress at least every few milliseconds of work. An
	// error means that nothing, or nothing more, could be read; what the
	// builder holds is shown anyway. Damage that reading gets past is a
	// warning in the builder, not an error.
	Decode func(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error
	// Args reads arguments from a file that was read before, by the references and the
	// state of that time (see recording.Recording.ArgState); cpu is nil if none of
	// them tells. It is nil for formats whose references are no places.
	Args func(in *source.Input, state []byte) (text func(ref uint64) string, cpu func(ref uint64) (ps int64, known bool))
	// Encode is how it is written, nil for formats that are only read.
	Encode *Encoder
}

// Encoder is how a format is written.
type Encoder struct {
	// Extensions are those of written files, with the dot. Behind them may
	// are .gz or .zst, except for those in Packed, which are compressed by
	// their nature.
	Extensions, Packed []string
	// OneEvent: a file holds one event, Windows: it can hold time windows.
	OneEvent, Windows bool
	// Whole: a file holds all that a recording has, as it has it.
	Whole bool
	// Write writes the job's recording. The same recording gives the same
	// bytes.
	Write func(*encode.Job) error
	// Copy, if there is one, writes a file of the format record by record,
	// so that nothing is lost; the job has no recording.
	Copy func(j *encode.Job, r io.Reader) error
}

// Write writes a whole recording to w; name is the file's, whose extension says
// how it is compressed. The report lists what could not be carried over; it is
// there also with an error.
func (f *Format) Write(ctx context.Context, w io.Writer, name string, rec *recording.Recording, opt encode.Options) (*encode.Report, error) {
	rep := new(encode.Report)
	if plain := rec.Plain(); plain != rec && !f.Encode.Whole {
		rep.Lose(rec.Counts.Spans, "processor times of spans", "%s has none", f.Title)
		rec = plain
	}
	rep.Lose(rec.SharedSymbols(), "mangled names", "several read the same and are one function")
	for _, t := range rec.Ledger {
		if t.Kind == recording.TallyFrames {
			rep.Lose(t.LeftOut, "frames of stacks", "they were left out when it was read: %s", t.FirstLeftOut)
		}
	}
	rep.Lose(rec.Pairs(), "links of user and kernel stacks", "%s has none; both halves are carried, and both count", f.Title)
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

// Copy writes the records that r has, uncompressed, to w as Encoder.Copy does.
func (f *Format) Copy(ctx context.Context, w io.Writer, name string, r io.Reader, opt encode.Options) (*encode.Report, error) {
	rep := new(encode.Report)
	err := f.Encode.compressed(w, name, func(w *bufio.Writer) error {
		return f.Encode.Copy(&encode.Job{Ctx: ctx, Opt: opt, W: w, Report: rep}, r)
	})
	return rep, err
}

// compressed calls write with a writer that compresses as the name says.
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

// HasExtension reports whether a file's name has one of the extensions, also
// before that of a compression.
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
