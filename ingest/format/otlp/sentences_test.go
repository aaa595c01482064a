package otlp

import (
	"encoding/binary"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

// TestSentences checks the message for a file with one fault per case: the first warning
// and its place, or the error.
func TestSentences(t *testing.T) {
	good := example(era110)
	sample := func(parts ...[]byte) []byte {
		return msg(blob(1, blob(2, blob(2, msg(blob(2, msg(num64(1, 1), pack(4, 3))), blob(2, msg(parts...)))))), dict())
	}
	for _, c := range []struct {
		name        string
		content     []byte
		place, want string
	}{
		{"empty", nil, "", "the file is empty"},
		{"nothing in it", []byte{0x12, 0}, "", "the file has no profiles"},
		{"cut", good[:len(good)-10], "byte 340", "Field 2 at byte 340 is longer than its message: the file is truncated or damaged there"},
		{"rubbish behind", append(good[:len(good):len(good)], 0xff), "byte 763", "The protobuf is damaged at byte 763; the rest of its message is left out"},
		{"a frame that is cut", append([]byte{0, 0, 0xff, 0xff}, good...), "byte 0", "The message at byte 0 should have 65535 bytes but has 763: the file is truncated or damaged there"},
		{"a length that is cut", append(append(binary.BigEndian.AppendUint32(nil, uint32(len(good))), good...), 0, 0), "byte 767", "The file ends within the length of a message at byte 767"},
		{"JSON that is cut", []byte(jsonExample[:200]), "", "no line of the JSON could be read"},
		{"JSON of something else", []byte(`{"a":1}`), "", "the file has no profiles"},
		{"a line of JSON that is cut", []byte(jsonExample + "\n" + jsonExample[:300]), "line 2", "Line 2 is damaged or truncated and was left out: unexpected end of JSON input"},
		{"no such stack", sample(num64(1, 99), pack(4, 3)), "sample 2", "Sample 2 refers to a stack or location that is not in the dictionary"},
		{"no values", sample(num64(1, 1)), "sample 2", "Sample 2 has neither values nor timestamps and was left out"},
		{"more values than times", sample(num64(1, 1), pack(4, 3, 4), times(5, t0)), "sample 2", "Sample 2 has 2 values but 1 timestamp"},
		{"a far time first", sample(num64(1, 1), times(5, 5, t0, t0+7)), "sample 2", "A timestamp of sample 2 (5) is too far from the others; it is not on the timeline"},
		{"a far time", sample(num64(1, 1), times(5, t0, 5)), "sample 2", "A timestamp of sample 2 (5) is too far from the others; it is not on the timeline"},
		{"no such attribute", sample(num64(1, 1), pack(2, 99), pack(4, 3)), "", "Attribute 99 is used but not in the dictionary"},
		{"too large", sample(num64(1, 1), pack(4, 1<<63-1)), "", `the total of metric "samples" exceeds 2^63 of its smallest unit (for times, 106 days); sums are limited to that`},
	} {
		r, err := decodeBytes(t, c.content)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}
