package cli

import (
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"ashlar/assets"
	"ashlar/ingest"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// demoName is how the built-in recording is called.
const demoName = "demo.spaa.zst"

// read loads a recording, or a part of it; path is "" for the built-in one.
func (c *call) read(path string, part recording.Part) (*recording.Recording, ingest.Stats, error) {
	switch {
	case path == "":
		in, err := demoInput()
		if err != nil {
			return nil, ingest.Stats{}, err
		}
		return c.readInput(in, part)
	case path == "-" && c.stdin != io.Reader(os.Stdin):
		return c.readInput(source.FromReader("-", c.stdin), part)
	}
	return ingest.ReadAll(c.ctx, path, options(part))
}

// demoInput is the built-in recording's content.
func demoInput() (*source.Input, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	content, err := z.DecodeAll(assets.Demo(), nil)
	if err != nil {
		return nil, &source.Error{Path: demoName, What: "the built-in recording is damaged", Err: err}
	}
	in := source.FromBytes(demoName, content)
	in.Bytes, in.Compression = int64(len(assets.Demo())), "zstd"
	return in, nil
}

func (c *call) readInput(in *source.Input, part recording.Part) (*recording.Recording, ingest.Stats, error) {
	l := ingest.OpenInput(c.ctx, in, options(part))
	defer l.Close()
	err := l.Wait()
	return l.Snapshot(), l.Stats(), err
}

// stopped is the error of a recording of which only a part could be read: the
// answer is printed all the same.
func stopped(rec *recording.Recording) error {
	for i := range rec.Warnings {
		if rec.Warnings[i].Code == "failed" {
			return errors.New(rec.Warnings[i].Text)
		}
	}
	return nil
}
