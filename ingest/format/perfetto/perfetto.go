// Package perfetto reads Perfetto traces (.pftrace, .perfetto-trace): protobuf packets of
// several sequences that refer to names by number. See protos/perfetto/trace in
// https://github.com/google/perfetto.
//
// It reads track events (slices, instants, counters, flows) and their interned data,
// including the legacy events that Chrome writes; the scheduler's ftrace events; what
// threads write to trace_marker, as Android's atrace does; samples with stacks, V8's
// JavaScript samples in legacy track events, and stacks of other track events; and heap
// profiles, of which the last one of a process counts. Packets of other kinds are counted
// and skipped.
//
// Workers parse packets in parallel, one chunk of the file each, without context (see
// pipeline). Packets refer to earlier ones, so one goroutine, the reader, takes their
// results in file order. A trace stores its sequences one after another, so the reader also
// sorts events by time. From time to time it passes the earlier half of them (see window)
// to the maker, which alone uses the builder. Only names are kept of a mapped file's text:
// arguments are read from the file again on demand.
package perfetto

import (
	"context"
	"errors"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the Perfetto trace format.
var Format = codec.Format{
	Name:       "perfetto",
	Title:      "Perfetto trace",
	Plural:     "Perfetto traces",
	Holds:      "track events, atrace, counters, flows, threads by CPU, samples including V8's, heap profiles",
	Extensions: []string{".pftrace", ".perfetto-trace"},
	Sniff:      Sniff,
	Decode:     Decode,
	Args:       argsOf,
}

// Decode reads all packets into b. If the trace is truncated, it reads the part before
// the cut.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	args := newArgStore(in)
	b.SetArgs(args.text)
	room := new(blocks)
	m := newMaker(ctx, b, args, room)
	read := func(ctx context.Context, pipe chan<- *window) error {
		return newReader(ctx, in, args, room, pipe).all()
	}
	if err := decode.Beside(ctx, in, b, 1, read, m.add); err != nil {
		return err
	}
	m.end()
	args.end(b)
	if !b.Shows() {
		return errors.New("the trace has nothing to show: no track events, scheduler events or samples")
	}
	return nil
}
