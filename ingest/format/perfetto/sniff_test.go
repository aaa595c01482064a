package perfetto

import (
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
)

func TestSniff(t *testing.T) {
	// A packet with nothing but a bundle of ftrace events.
	event := msg(num(num(nil, 1, 123456789), 2, 77), 3, []byte("\x12\x05hello"))
	bundle := msg(nil, 1, msg(nil, packetFtrace, msg(msg(num(nil, 1, 0), 2, event), 2, event)))
	compact := msg(nil, packetFtrace, msg(num(nil, 1, 2), 4, msg(nil, 5, []byte("swapper"))))
	decodetest.Sniffs(t, Sniff, true, map[string]decode.Confidence{
		"": decode.No, "text": decode.No, "\x0a\x02\x08\x05": decode.No, // the last is a sample type of pprof
		string(msg(nil, 1, num(nil, packetTime, 5))): decode.Certain,
		string(bundle):                                   decode.Certain,
		string(bundle[:40]):                              decode.Certain, // cut after an event
		string(bundle[:20]):                              decode.No,
		string(msg(nil, 1, compact)):                     decode.Certain,
		string(msg(nil, 1, msg(nil, 1, num(nil, 1, 3)))): decode.No,
		string(msg(nil, 1, msg(nil, 1, msg(num(nil, 1, 3), 2, num(nil, 1, 9))))):               decode.No,
		string(msg(nil, 1, msg(nil, 1, msg(nil, 1, []byte("\x0a\x04name\x12\x03\x0a\x01x"))))): decode.No, // OpenTelemetry
	})
}
