package jaeger

import (
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
)

const example = `{"data":[{"traceID":"00ab","spans":[
 {"traceID":"00ab","spanID":"01","flags":1,"operationName":"GET /","references":[],"startTime":1700000000000000,"duration":1000,"tags":[{"key":"http.status_code","type":"int64","value":200},{"key":"error","type":"bool","value":true},{"key":"who","type":"string","value":"a\"b"}],
  "logs":[{"timestamp":1700000000000500,"fields":[{"key":"event","type":"string","value":"retry"},{"key":"n","type":"int64","value":2}]},{"timestamp":1700000000000600,"fields":[{"key":"message","type":"string","value":"done"}]},{"timestamp":1700000000000700,"fields":[]}],"processID":"p1","warnings":null},
 {"traceID":"00ab","spanID":"02","operationName":"parse","references":[{"refType":"CHILD_OF","traceID":"00ab","spanID":"01"}],"startTime":1700000000000100,"duration":100,"tags":[],"logs":[],"processID":"p1","warnings":["clock skew"]},
 {"traceID":"00ab","spanID":"03","operationName":"query","references":[{"refType":"FOLLOWS_FROM","traceID":"00ab","spanID":"02"},{"refType":"CHILD_OF","traceID":"00ab","spanID":"01"},{"refType":"FOLLOWS_FROM","traceID":"cd","spanID":"09"}],"startTime":1700000000000300,"duration":200,"processID":"p2"}],
 "processes":{"p1":{"serviceName":"web","tags":[{"key":"hostname","type":"string","value":"h1"}]},"p2":{"serviceName":"db","tags":[]}},"warnings":null},
 {"traceID":"cd","spans":[{"traceID":"cd","spanID":"09","operationName":"tick","parentSpanID":"0","startTime":1700000000002000.5,"duration":0,"processID":"p1"}],"processes":{"p1":{"serviceName":"web","tags":[{"key":"hostname","value":"h1"}]}}}],
 "total":0,"limit":0,"offset":0,"errors":null}`

const listing = `web / spans
  GET / 0..1000000 {"http.status_code":200,"error":true,"who":"a\"b","trace id":"00ab","span id":"01"}
    parse 100000..200000 {"warnings":"[\"clock skew\"]","trace id":"00ab","span id":"02"}
  tick 2000500..2000500 {"trace id":"cd","span id":"09"}
  * retry 500000 {"event":"retry","n":2}
  * done 600000 {"message":"done"}
  * log 700000
db / spans
  query 300000..500000 {"trace id":"00ab","span id":"03"}
call > web / spans 299999.999 > db / spans 300000.000
link > web / spans 2000500.000 > db / spans 300000.000
link > web / spans 200000.000 > db / spans 300000.000`

func TestExample(t *testing.T) {
	if c, err := sniff([]byte(example[:400]), false); c != decode.Certain || err != nil {
		t.Errorf("sniff = %v, %v", c, err)
	}
	for _, chunk := range []int{0, 1, 13, 400} {
		r, err := decodetest.Bytes(t, read, []byte(example), chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%v, %v", err, r.Warnings)
		}
		if got := strings.Join(decodetest.Spans(r), "\n"); got != listing {
			t.Fatalf("chunks of %d:\n%s\nwant\n%s", chunk, got, listing)
		}
	}
}

func TestOddFiles(t *testing.T) {
	one := `{"traceID":"a","spanID":"1","operationName":"f","startTime":5,"duration":2,"processID":"p"}`
	for _, c := range []struct {
		name, text, place, want string
		spans                   int64
	}{
		{"one trace alone", `{"traceID":"a","spans":[` + one + `],"processes":{"p":{"serviceName":"s"}}}`, "", "", 1},
		{"no processes", `{"data":[{"spans":[` + one + `]}]}`, "", "", 1},
		{"cut", `{"data":[{"traceID":"a","spans":[` + one + `,{"traceID"`, "byte 125", "The file is truncated at byte 125; everything before is shown", 1},
		{"damaged", `{"data":[{"traceID":"a","spans":[` + one + `,@]}]}`, "", "", 1},
		{"no time", `{"data":[{"spans":[{"spanID":"1"},` + one + `]}]}`, "span 1", "Spans have no valid time and were left out, first before span 1", 1},
		{"too late", `{"data":[{"spans":[{"spanID":"1","startTime":99999999999999999999},` + one + `]}]}`, "span 1", "Spans have no valid time and were left out, first before span 1", 1},
		{"no duration", `{"data":[{"spans":[{"spanID":"1","startTime":7},` + one + `]}]}`, "span 1", "Spans have no end, first span 1; they are shown without length", 2},
		{"an answer with errors", `{"data":[{"spans":[` + one + `]}],"errors":[{"code":404,"msg":"trace not found"}]}`, "", `Jaeger reported missing data: "trace not found"`, 1},
		{"empty", `{"data":[]}`, "", "the file has no spans", 0},
	} {
		r, err := decodetest.Bytes(t, read, []byte(c.text), 0)
		if c.name == "damaged" {
			if len(r.Warnings) != 1 || r.Warnings[0].Code != "damaged" {
				t.Errorf("%s: %v", c.name, r.Warnings)
			}
		} else {
			decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		}
		if r.Counts.Spans != c.spans {
			t.Errorf("%s: %d spans", c.name, r.Counts.Spans)
		}
	}
	for _, other := range []string{"", "[]", `{"data":[{"a":1}]}`, `{"traceEvents":[]}`, `{"spans":[]}`} {
		if c, err := sniff([]byte(other), true); c != decode.No || err != nil {
			t.Errorf("sniff(%q) = %v, %v", other, c, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(example))
	decodetest.Fuzz(f, read, sniff)
}
