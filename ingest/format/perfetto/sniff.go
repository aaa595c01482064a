package perfetto

import (
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
)

// Sniff looks for packets (Trace.packet is field 1, repeated). One must have a field that
// only packets have: the sequence (10), the time (8), or data with a field number above
// those of pprof's and OpenTelemetry's messages. A packet with nothing but a processor's
// ftrace events is accepted too.
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

// upTo returns the message that follows the length at the start of b, as far as b contains
// it.
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

// isFtrace reports whether a packet, which may be cut off, begins with the events of a
// processor, at least one of them whole: FtraceEventBundle in
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

// isFtraceEvent reports whether a message has a time and a thread, as all events have.
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
