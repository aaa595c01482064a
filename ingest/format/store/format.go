package store

import (
	"bytes"
	"context"
	"errors"
	"io"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the format of stored recordings outside the cache.
var Format = codec.Format{
	Name:       "ashlar",
	Title:      "stored recording",
	Plural:     "stored recordings",
	Holds:      "everything read from another format",
	Extensions: []string{".ashlar"},
	Sniff:      sniff,
	Decode:     decodeStored,
	Encode:     &codec.Encoder{Extensions: []string{".ashlar"}, Whole: true, Write: write},
}

func sniff(head []byte, whole bool) (decode.Confidence, error) {
	if bytes.HasPrefix(head, []byte(magic)) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// decodeStored reads a copy of the file, because others may write to it meanwhile, and
// verifies all of it, because anyone may have written it.
func decodeStored(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error {
	content, err := copied(ctx, in, b)
	if err != nil {
		return err
	}
	f, err := Read(content, nil)
	if err != nil {
		return err
	}
	if f.Recording.ArgState != nil {
		return errors.New("this cached recording lacks the arguments of spans; open the original file")
	}
	if err := f.Verify(ctx); err != nil {
		return err
	}
	return b.Adopt(f.Recording)
}

// copied reads a file into memory of our own.
func copied(ctx context.Context, in *source.Input, b *recording.Builder) ([]byte, error) {
	size := int64(len(in.Mapped()))
	if err := memory.Need(size, "the stored recording"); err != nil {
		return nil, err
	}
	content := make([]byte, 0, size)
	for {
		chunk, _, err := in.Next(0)
		if len(content)+len(chunk) > cap(content) && size == 0 {
			if short := memory.Need(2*int64(len(content)), "the stored recording"); short != nil {
				return nil, short
			}
		}
		content = append(content, chunk...)
		b.Progress()
		switch {
		case err == io.EOF:
			return content, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
	}
}

func write(j *encode.Job) error {
	c := &j.Rec.Counts
	j.Records = c.Spans + c.Samples + c.Stacks + c.Windows + c.Instants
	return Write(j.W, j.Rec, nil, false)
}
