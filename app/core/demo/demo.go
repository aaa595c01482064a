// Package demo opens the built-in recording.
package demo

import (
	"github.com/klauspost/compress/zstd"

	"ashlar/assets"
	"ashlar/ingest/input/source"
)

// Name is the file name that stands for the built-in recording.
const Name = "demo.spaa.zst"

// Input returns the built-in recording as input.
func Input() *source.Input {
	// The data is part of the program, so only a faulty build can damage it.
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
