// Package decode says what a decoder is. Each format has a folder of its own
// beside this one that exports one Format; package ingest lists them.
package decode

import (
	"context"

	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// Confidence says how sure a format is that a file is its own.
type Confidence int

const (
	// No: certainly something else.
	No Confidence = iota
	// Maybe: it could be read as this, for want of anything better.
	Maybe
	// Likely: the structure is right.
	Likely
	// Certain: a magic number or an unmistakable key.
	Certain
)

// Options are wishes that some decoders honour.
type Options struct {
	// Workers is how many goroutines may decode; 0 means one a core.
	Workers int
	// Exe is an executable to take symbols from instead of the recorded path.
	Exe string
}

// Format is one file format.
type Format struct {
	// Name is how info prints it: "spaa", "spall".
	Name string
	// Title is how people call it: "SPAA", "Chrome trace".
	Title string
	// Extensions it usually has, with the dot; used only to break ties.
	Extensions []string
	// Sniff looks at the first bytes (decompressed, up to 64 KiB; whole tells
	// whether that is all there is). A format that recognises a file it will
	// not read returns an error that says so, with a Confidence above No.
	Sniff func(head []byte, whole bool) (Confidence, error)
	// Decode reads everything into the builder and returns when it is done or
	// ctx is. It calls b.Progress at least every few milliseconds of work. An
	// error means that nothing, or nothing more, could be read; what the
	// builder holds is shown all the same. Damage that reading gets past is a
	// warning in the builder, not an error.
	Decode func(ctx context.Context, in *source.Input, b *recording.Builder, opt Options) error
}
