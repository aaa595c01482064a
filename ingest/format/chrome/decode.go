// Package chrome reads and writes Chrome's JSON trace event format ("Trace Event Format",
// Google): an array of events, or an object with the array in traceEvents. It also reads
// V8's .cpuprofile files, because traces contain the same profiles.
//
// Parsing is lenient, because many writers are careless: it accepts unclosed brackets,
// surplus and missing commas, any order of keys, and numbers in quotes. Text that cannot
// be read is skipped up to the next event and counted.
//
// A scanner turns chunks of bytes into batches of compact events with interned names,
// while other scanners work ahead of it (see ahead). The builder, in its own goroutine,
// takes the batches in order. Batches hold no text of the file except names: arguments
// are read from the mapped file again on demand.
//
// An event's category (cat) becomes the module of its function, because it names a part
// of the program, as a library does in a profile.
package chrome

import (
	"context"
	"errors"
	"io"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format reads Chrome traces.
var Format = codec.Format{
	Name:       "chrome",
	Title:      "Chrome trace",
	Plural:     "Chrome traces",
	Holds:      "spans, async spans, instants, counters, flows, names, sampled stacks",
	Extensions: []string{".json", ".trace"},
	Sniff:      sniff,
	Decode:     run,
	Args:       argsOf,
	Encode:     &codec.Encoder{Extensions: []string{".json"}, Write: write},
}

// Profiles reads V8's CPU profiles in files of their own. Trace events contain the same
// profiles in chunks.
var Profiles = codec.Format{
	Name:       "cpuprofile",
	Title:      "V8 CPU profile",
	Plural:     "V8 CPU profiles",
	Holds:      "JavaScript samples with times, from Node.js, Chrome's DevTools and Deno",
	Extensions: []string{".cpuprofile"},
	Sniff:      sniffProfile,
	Decode:     runProfile,
	Args:       argsOf,
}

// chunkBytes is the size of a chunk to scan: small enough for a batch's events to stay in
// the processor's cache until they are built.
const chunkBytes = 1 << 20

// batches is the maximum number of batches between the scanner and the builder.
const batches = 8

// run decodes a file.
func run(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error {
	args := newArgStore(in)
	b.SetArgs(args.text)
	if args.size >= 0 {
		b.SetArgState(args.state)
	}
	d := newDecoder(b, args)

	free := make(chan *batch, batches)
	var found bool
	read := func(ctx context.Context, out chan<- *batch) error {
		return scanAll(ctx, in, opt.Workers, out, free, &found)
	}
	err := decode.Beside(ctx, in, b, batches, read, func(bt *batch) error {
		if d.take(bt) {
			select {
			case free <- bt:
			default:
			}
		}
		return nil
	})
	if ferr := source.Guard(in.Path, func() error { d.finish(); return nil }); err == nil {
		err = ferr
	}
	if err == nil && !d.any && !found {
		return errors.New("no trace found: expected an array of events, or an object that contains one")
	}
	return err
}

// scanAll scans the input from beginning to end. It sets found if the input has a list of
// events, even an empty one.
func scanAll(ctx context.Context, in *source.Input, workers int, pipe chan<- *batch, free <-chan *batch, found *bool) error {
	size := in.ChunkSize
	if size <= 0 {
		size = chunkBytes
	}
	a := newAhead(in.Path, workers, free)
	defer func() { *found = a.main.found }()
	for rest := 0; ; {
		// The unused rest is read again with at least as many bytes after it, so that
		// long events take at most twice their time.
		in.ChunkSize = max(size*a.parts(), rest)
		chunk, base, err := in.Next(rest)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		used, batches, serr := a.scan(chunk, base, err != nil)
		if serr != nil {
			return serr
		}
		rest = len(chunk) - used
		for _, bt := range batches {
			select {
			case pipe <- bt:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
