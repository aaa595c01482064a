// Package demo opens the built-in recording.
package demo

import (
	"github.com/klauspost/compress/zstd"

	"ashlar/assets"
	"ashlar/ingest/input/source"
)

// Name stands for the built-in recording where a file is named.
const Name = "demo.spaa.zst"

// Input is the built-in recording's content.
func Input() *source.Input {
	// It is part of the program: only a mistake in building can damage it.
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("the built-in recording cannot be read: " + err.Error())
	}
	defer z.Close()
	content, err := z.DecodeAll(assets.Demo(), nil)
	if err != nil {
		panic("the built-in recording cannot be read: " + err.Error())
	}
	in := source.FromBytes(Name, content)
	in.Bytes, in.Compression = int64(len(assets.Demo())), "zstd"
	return in
}
