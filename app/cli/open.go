package cli

import (
	"errors"
	"io"
	"os"

	"ashlar/app/demo"
	"ashlar/ingest"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// read loads a recording, or a part of it; path is "" for the built-in one.
func (c *call) read(path string, part recording.Part) (*recording.Recording, ingest.Stats, error) {
	switch {
	case path == "":
		return c.readInput(demo.Input(), part)
	case path == "-" && c.stdin != io.Reader(os.Stdin):
		return c.readInput(source.FromReader("-", c.stdin), part)
	}
	return ingest.ReadAll(c.ctx, path, c.reading(part))
}

// reading is how recordings are read.
func (c *call) reading(part recording.Part) ingest.Options {
	return ingest.Options{Options: decode.Options{Exe: c.exe}, Part: part}
}

func (c *call) readInput(in *source.Input, part recording.Part) (*recording.Recording, ingest.Stats, error) {
	l := ingest.OpenInput(c.ctx, in, c.reading(part))
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
