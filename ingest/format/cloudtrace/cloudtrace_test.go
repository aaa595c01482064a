package cloudtrace

import (
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
)

const one = `{"projectId":"shop-1","traceId":"5af7","spans":[
{"spanId":"11","kind":"RPC_SERVER","name":"/buy","startTime":"2023-11-14T22:13:20Z","endTime":"2023-11-14T22:13:20.000900Z","labels":{"/component":"web","/http/status_code":"200"}},
{"spanId":"12","name":"sql","startTime":"2023-11-14T23:13:20.000100001+01:00","endTime":"2023-11-14T22:13:20.000200Z","parentSpanId":"11","labels":{"/component":"web"}},
{"spanId":"13","kind":"SPAN_KIND_UNSPECIFIED","name":"pay","startTime":"2023-11-14T22:13:20.000300Z","endTime":"2023-11-14T22:13:20.000400Z","parentSpanId":"11"}]}`

const listing = `web / spans
  /buy 0..900000 {"span kind":"server","/component":"web","/http/status_code":"200","trace id":"5af7","span id":"11"}
    sql 100001..200000 {"/component":"web","trace id":"5af7","span id":"12"}
shop-1 / spans
  pay 300000..400000 {"trace id":"5af7","span id":"13"}
call > web / spans 299999.999 > shop-1 / spans 300000.000`

// sorted returns a trace with its keys in alphabetical order, as some programs write it:
// the trace's id comes after its spans.
func sorted(trace string) string {
	head, spans, _ := strings.Cut(trace, `"spans"`)
	return `{"spans"` + strings.TrimSuffix(spans, "}") + "," + strings.TrimSuffix(strings.TrimPrefix(head, "{"), ",") + "}"
}

func TestExample(t *testing.T) {
	for _, content := range []string{one, `{"traces":[` + one + `],"nextPageToken":"x"}`, " {\n\"traces\" : [ " + sorted(one) + " ] }", sorted(one)} {
		if c, err := sniff([]byte(content), true); c != decode.Certain || err != nil {
			t.Errorf("sniff = %v, %v", c, err)
		}
		decodetest.SpansOf(t, read, content, listing)
	}
}

func TestOddFiles(t *testing.T) {
	span := `{"spanId":"1","name":"f","startTime":"2023-11-14T22:13:20Z","endTime":"2023-11-14T22:13:21Z"}`
	in := func(spans string) string { return `{"projectId":"p","traceId":"a","spans":[` + spans + `]}` }
	for _, c := range []struct {
		name, text, place, want string
		spans                   int64
	}{
		{"whole", in(span), "", "", 1},
		{"cut", strings.TrimSuffix(in(span+`,{"spanId":"2`), `]}`), "byte 134", "The file is truncated at byte 134; everything before is shown", 1},
		{"no time", in(`{"spanId":"2"},` + span), "span 1", "Spans have no valid time and were left out, first before span 1", 1},
		{"a time that is none", in(strings.Replace(span, "2023-11-14T22:13:20Z", "yesterday", 1) + "," + span), "span 1", "Spans have no valid time and were left out, first before span 1", 1},
		{"no end", in(strings.Replace(span, "endTime", "until", 1)), "span 1", "Spans have no end, first span 1; they are shown without length", 1},
		{"backward", in(strings.Replace(span, "22:13:21", "22:13:19", 1)), "span 1", "Spans end before they start, first span 1; they are shown without length", 1},
		{"no id", in(strings.Replace(span, `"1"`, "0", 1)), "span 1", "Spans have no id, first span 1; they are shown without children", 1},
		{"no traces", `{"traces":[]}`, "", "the file has no spans", 0},
	} {
		r, err := decodetest.Bytes(t, read, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		if r.Counts.Spans != c.spans {
			t.Errorf("%s: %d spans", c.name, r.Counts.Spans)
		}
	}
	for _, other := range []string{"", "[]", `{"traces":[]}`, `{"spans":[{"spanId":"1","startTime":3}]}`, `{"projectId":1,"spanId":2,"startTime":3}`} {
		if c, err := sniff([]byte(other), true); c != decode.No || err != nil {
			t.Errorf("sniff(%q) = %v, %v", other, c, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(one))
	f.Add([]byte(`{"traces":[` + sorted(one) + `]}`))
	decodetest.Fuzz(f, read, sniff)
}
