// Package perfetto reads Perfetto's traces (.pftrace, .perfetto-trace): protobuf
// messages, a packet each, of several sequences that name things by number. See
// protos/perfetto/trace in https://github.com/google/perfetto.
//
// It reads track events (slices, instants, counters, flows) with all that they
// refer to, also the older kind that Chrome writes; which thread ran on which
// processor (ftrace's sched events); what threads wrote to trace_marker as Android's
// atrace does (its print events); samples with stacks, and those that V8 takes of JavaScript,
// which are track events of the older kind; and heap profiles, of which the last one of a
// process counts. Packets of other kinds are counted and
// left out.
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

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/codec"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
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

// Sniff looks for packets (Trace.packet is field 1, repeated), of which one has a
// field that only packets have: the sequence (10), the time (8), or data of a kind
// with a number beyond those of pprof's and OpenTelemetry's messages; or events of a
// processor, which ftrace's packets may have alone.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	certain := false
	for rest := head; len(rest) > 0; {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 || num != 1 || typ != protowire.BytesType {
			return decode.No, nil
		}
		packet, whole := upTo(rest[n:])
		certain = certain || isFtrace(packet)
		if !whole {
			break
		}
		for rest = rest[n+protowire.SizeBytes(len(packet)):]; len(packet) > 0; {
			num, typ, n := protowire.ConsumeTag(packet)
			if n < 0 {
				return decode.No, nil
			}
			m := protowire.ConsumeFieldValue(num, typ, packet[n:])
			if m < 0 {
				return decode.No, nil
			}
			certain = certain || num >= 8
			packet = packet[n+m:]
		}
	}
	if certain {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// upTo is what stands behind a length that b begins with, as far as it is there.
func upTo(b []byte) (is []byte, whole bool) {
	size, n := varint(b, 0)
	if n < 0 {
		return nil, false
	}
	is = b[n:]
	if size > uint64(len(is)) {
		return is, false
	}
	return is[:size], true
}

// isFtrace says whether a packet, which may be cut, begins with events of a processor, of
// which there is one that is whole: FtraceEventBundle in
// protos/perfetto/trace/ftrace/ftrace_event_bundle.proto.
func isFtrace(packet []byte) bool {
	if len(packet) == 0 || packet[0] != packetFtrace<<3|lengthType {
		return false
	}
	bundle, _ := upTo(packet[1:])
	processor, events := false, false
	for num, v := range each(bundle) {
		bytes := v.b != nil
		switch num {
		case 1:
			processor = true
		case 2:
			events = isFtraceEvent(v.b)
		case 4:
			events = true
		}
		if has := num == 2 || num == 4 || num == 8 || num == 11; bytes != has || num == 2 && !events || num > 11 {
			return false
		}
	}
	return processor && events
}

// isFtraceEvent says whether a message has a time and a thread, as all events have.
func isFtraceEvent(b []byte) bool {
	var has [2]bool
	for num, v := range each(b) {
		if num <= 2 {
			if v.b != nil {
				return false
			}
			has[num-1] = true
		}
	}
	return has == [2]bool{true, true}
}

// Decode reads all packets into b. Of a trace that is cut it reads what stands
// before.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	args := newArgStore(in)
	b.SetArgs(args.text)
	room := new(blocks)
	m := newMaker(ctx, b, args, room)
	pipe := make(chan *window, 1)
	var failed error
	go func() {
		defer close(pipe)
		failed = source.Protect(in.Path, func() error { return newReader(reading, in, args, room, pipe).all() })
	}()
	err := source.Guard(in.Path, func() error {
		return decode.Each(b, pipe, func(w *window) error { return m.add(w) })
	})
	cancel()
	for range pipe { // let the reader end
	}
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	m.end()
	args.end(b)
	if !b.Shows() {
		return errors.New("there is nothing in the trace that can be shown: no track event, no sched event, no sample")
	}
	return nil
}
