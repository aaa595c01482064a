package zipkin

import (
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
)

const example = `[{"traceId":"5af7","id":"352b","kind":"CLIENT","name":"get","timestamp":1700000000000000,"duration":900,"localEndpoint":{"serviceName":"web","ipv4":"10.0.0.1"},"remoteEndpoint":{"ipv4":"10.0.0.2","port":8080},"annotations":[{"timestamp":1700000000000100,"value":"wire send"}],"tags":{"http.path":"/api","n":"1"}},
{"traceId":"5af7","id":"352b","kind":"SERVER","name":"get","timestamp":1700000000000200,"duration":500,"localEndpoint":{"serviceName":"api"},"shared":true},
{"traceId":"5af7","parentId":"352b","id":"9","name":"sql","timestamp":1700000000000300,"duration":100,"localEndpoint":{"serviceName":"api"}}]`

const listing = `web / spans
  get 0..900000 {"span kind":"client","remote":"10.0.0.2:8080","address":"10.0.0.1","http.path":"/api","n":"1","trace id":"5af7","span id":"352b"}
  * wire send 100000
api / spans
  get 200000..700000 {"span kind":"server","trace id":"5af7","span id":"352b"}
    sql 300000..400000 {"trace id":"5af7","span id":"9"}
call > web / spans 199999.999 > api / spans 200000.000`

func TestExample(t *testing.T) {
	for _, content := range []string{example, "[" + example + "]", " [\n" + example + " , []]"} {
		if c, err := sniff([]byte(content), true); c != decode.Certain || err != nil {
			t.Errorf("sniff = %v, %v", c, err)
		}
		if c, err := sniff([]byte(content[:250]), false); c != decode.Certain || err != nil {
			t.Errorf("sniff of the beginning = %v, %v", c, err)
		}
		decodetest.SpansOf(t, read, content, listing)
	}
}

// TestSpellingsOfIDs checks that ids match despite different padding and case.
func TestSpellingsOfIDs(t *testing.T) {
	decodetest.SpansOf(t, read, `[{"traceId":"000000000000000A","id":"0000000000000001","name":"root","timestamp":5,"duration":9},{"traceId":"a","id":"B","parentId":"1","name":"f","timestamp":6,"duration":2},{"traceId":"0a","id":"2","parentId":"0b","name":"g","timestamp":6,"duration":1}]`,
		`unknown service / spans
  root 0..9000 {"trace id":"000000000000000A","span id":"0000000000000001"}
    f 1000..3000 {"trace id":"a","span id":"B"}
      g 1000..2000 {"trace id":"0a","span id":"2"}`)
}

func TestOddFiles(t *testing.T) {
	one := `{"traceId":"a","id":"1","name":"f","timestamp":5,"duration":2}`
	for _, c := range []struct {
		name, text, place, want string
		spans                   int64
	}{
		{"no service", `[` + one + `]`, "", "", 1},
		{"cut", `[` + one + `,{"traceId"`, "byte 64", "The file is truncated at byte 64; everything before is shown", 1},
		{"no time", `[{"traceId":"a","id":"2"},` + one + `]`, "span 1", "Spans have no valid time and were left out, first before span 1", 1},
		{"no duration", `[{"traceId":"a","id":"2","timestamp":7},` + one + `]`, "span 1", "Spans have no end, first span 1; they are shown without length", 2},
		{"no span", `[7,` + one + `]`, "byte 1", "The value at byte 1 is not a span and was left out", 1},
		{"lists in lists of lists", `[[[` + one + `],` + one + `]]`, "byte 2", "The value at byte 2 is not a span and was left out", 1},
		{"none", `[]`, "", "the file has no spans", 0},
	} {
		r, err := decodetest.Bytes(t, read, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		if r.Counts.Spans != c.spans {
			t.Errorf("%s: %d spans", c.name, r.Counts.Spans)
		}
	}
	for _, other := range []string{"", "[]", `[{"a":1}]`, `{"traceId":"a","id":"b"}`, `[{"ph":"X","id":"a"}]`, `[[[{"traceId":"a","id":"b"}]]]`} {
		if c, err := sniff([]byte(other), true); c != decode.No || err != nil {
			t.Errorf("sniff(%q) = %v, %v", other, c, err)
		}
	}
	old := `[{"traceId":"a","id":"b","name":"x","annotations":[],"binaryAnnotations":[]}]`
	if c, err := sniff([]byte(old), true); c != decode.Certain || err == nil || !strings.Contains(err.Error(), "version 1 of Zipkin's JSON is not supported; fetch version 2 (/api/v2/traces)") {
		t.Errorf("version 1: %v, %v", c, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("[" + example + "]"))
	decodetest.Fuzz(f, read, sniff)
}
