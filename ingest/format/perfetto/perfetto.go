// Package perfetto reads Perfetto's traces (.pftrace, .perfetto-trace): protobuf
// messages, a packet each, of several sequences that name things by number. See
// protos/perfetto/trace in https://github.com/google/perfetto.
//
// It reads track events (slices, instants, counters, flows) with all that they
// refer to, also the older kind that Chrome writes; which thread ran on which
// processor (ftrace's sched events); what threads wrote to trace_marker as Android's
// atrace does (its print events); samples with stacks, those that V8 takes of JavaScript,
// which are track events of the older kind, and stacks of other track events; and heap
// profiles, of which the last one of a process counts. Packets of other kinds are counted
// and left out.
//
// Workers take packets apart, a chunk of the file each (see pipeline): what can be said
// without knowing those before. One goroutine, the reader, takes what they made in the
// order of the file, since packets refer to earlier ones, and puts events in order:
// sequences stand one behind the other in a trace, so that events wait for those before
// them, each on its track. From time to time it hands the earlier half of them on (see
// window), with all that has been told since, to the maker, which alone knows the builder.
// They hold nothing of a mapped file's text but names: arguments are looked up in the file
// again when they are asked for.
package perfetto

import (
	"context"
	"errors"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is Perfetto's traces.
var Format = codec.Format{
	Name:       "perfetto",
	Title:      "Perfetto trace",
	Plural:     "Perfetto traces",
	Holds:      "track events, atrace, counters, flows, which thread ran on which processor, samples, also V8's of JavaScript, heap profiles",
	Extensions: []string{".pftrace", ".perfetto-trace"},
	Sniff:      Sniff,
	Decode:     Decode,
	Args:       argsOf,
}

// Decode reads all packets into b. Of a trace that is cut it reads what stands
// before.
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
		return errors.New("there is nothing in the trace that can be shown: no track event, no sched event, no sample")
	}
	return nil
}
