package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

func str(s string) []byte { return text(1, s) } // encodes an AnyValue
func keyValue(n protowire.Number, key string, value ...[]byte) []byte {
	return blob(n, msg(text(1, key), blob(2, msg(value...))))
}

func traceID(n byte) []byte { return append(make([]byte, 15), n) }
func spanID(n byte) []byte  { return append(make([]byte, 7), n) }

// spanOf encodes a span.
func spanOf(trace, id, parent byte, name string, start, end uint64, more ...[]byte) []byte {
	b := msg(blob(1, traceID(trace)), blob(2, spanID(id)), text(5, name), fixed64(7, start), fixed64(8, end))
	if parent != 0 {
		b = append(b, blob(4, spanID(parent))...)
	}
	return blob(2, append(b, msg(more...)...))
}

// resourceSpans encodes the spans of a service.
func resourceSpans(name string, spans ...[]byte) []byte {
	return blob(1, msg(
		blob(1, msg(keyValue(1, "service.name", str(name)), keyValue(1, "process.pid", num64(3, 40+uint64(len(name)))), keyValue(1, "host.name", str("h1")))),
		blob(2, msg(blob(1, msg(text(1, "lib"), text(2, "1.0"))), msg(spans...)))))
}

var shopSpans = [][]byte{
	resourceSpans("shop",
		spanOf(1, 1, 0, "GET /cart", t0, t0+1000, num64(6, 2),
			keyValue(9, "http.status_code", num64(3, 500)), keyValue(9, "cached", num64(2, 0)), keyValue(9, "ratio", fixed64(4, 0x3ff8000000000000)),
			keyValue(9, "hosts", blob(5, msg(blob(1, str("a")), blob(1, num64(3, 7))))), keyValue(9, "more", blob(6, keyValue(1, "k", str("v\"")))), keyValue(9, "raw", blob(7, []byte{0xca, 0xfe})),
			num64(10, 2), blob(15, msg(text(2, "no stock"), num64(3, 2))),
			blob(11, msg(fixed64(1, t0+700), text(2, "exception"), keyValue(3, "exception.type", str("E"))))),
		spanOf(1, 2, 1, "render", t0+100, t0+400),
		spanOf(1, 3, 1, "POST stock", t0+300, t0+900, num64(6, 3))),
	resourceSpans("stock",
		spanOf(1, 4, 3, "POST /stock", t0+350, t0+800, num64(6, 2), text(3, "v=1")),
		spanOf(2, 5, 0, "sweep", t0+2000, t0+2001, blob(13, msg(blob(1, traceID(1)), blob(2, spanID(4)))))),
}

// shop is the expected recording of shopSpans.
const shop = `shop / spans
  GET /cart 0..1000 {"http.status_code":500,"cached":false,"ratio":1.5,"hosts":["a",7],"more":{"k":"v\""},"raw":"cafe","span kind":"server","status":"error","status message":"no stock","library":"lib 1.0","trace id":"00000000000000000000000000000001","span id":"0000000000000001"}
    render 100..400 {"library":"lib 1.0","trace id":"00000000000000000000000000000001","span id":"0000000000000002"}
  * exception 700 {"exception.type":"E"}
shop / spans 2
  POST stock 300..900 {"span kind":"client","library":"lib 1.0","trace id":"00000000000000000000000000000001","span id":"0000000000000003"}
stock / spans
  POST /stock 350..800 {"span kind":"server","library":"lib 1.0","trace state":"v=1","trace id":"00000000000000000000000000000001","span id":"0000000000000004"}
  sweep 2000..2001 {"library":"lib 1.0","trace id":"00000000000000000000000000000002","span id":"0000000000000005"}
call > shop / spans 299.999 > shop / spans 2 300.000
call > shop / spans 2 349.999 > stock / spans 350.000
link > stock / spans 800.000 > stock / spans 2000.000`

// shopJSON is shopSpans in JSON, one resource per element.
var shopJSON = []string{
	`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"process.pid","value":{"intValue":"44"}},{"key":"host.name","value":{"stringValue":"h1"}}]},"scopeSpans":[{"scope":{"name":"lib","version":"1.0"},"spans":[` +
		`{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","parentSpanId":"","name":"GET /cart","kind":2,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000001000","attributes":[{"key":"http.status_code","value":{"intValue":"500"}},{"key":"cached","value":{"boolValue":false}},{"key":"ratio","value":{"doubleValue":1.5}},{"key":"hosts","value":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":7}]}}},{"key":"more","value":{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v\""}}]}}},{"key":"raw","value":{"bytesValue":"cafe"}}],"droppedAttributesCount":2,"status":{"message":"no stock","code":2},"events":[{"timeUnixNano":"1700000000000000700","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"E"}}]}]},` +
		`{"traceId":"AAAAAAAAAAAAAAAAAAAAAQ==","spanId":"AAAAAAAAAAI=","parentSpanId":"AAAAAAAAAAE=","name":"render","startTimeUnixNano":1700000000000000100,"endTimeUnixNano":1700000000000000400},` +
		`{"traceId":"00000000000000000000000000000001","spanId":"0000000000000003","parentSpanId":"0000000000000001","name":"POST stock","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":"1700000000000000300","endTimeUnixNano":"1700000000000000900","status":{"code":"STATUS_CODE_UNSET"}}]}]}`,
	`{"scopeSpans":[{"scope":{"name":"lib","version":"1.0"},"spans":[` +
		`{"traceId":"00000000000000000000000000000001","spanId":"0000000000000004","parentSpanId":"0000000000000003","traceState":"v=1","name":"POST /stock","kind":2,"startTimeUnixNano":"1700000000000000350","endTimeUnixNano":"1700000000000000800"},` +
		`{"traceId":"00000000000000000000000000000002","spanId":"0000000000000005","parentSpanId":"0000000000000000","name":"sweep","startTimeUnixNano":"1700000000000002000","endTimeUnixNano":"1700000000000002001","links":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000004"}]}]}],` +
		`"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"stock"}},{"key":"process.pid","value":{"intValue":"45"}}]}}`,
}

func TestTraces(t *testing.T) {
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	all := strings.Join(shopJSON, ",")
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(`{"resourceSpans":[`+all+`]}`), "", "  "); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"protobuf":     msg(shopSpans...),
		"framed":       append(frame(shopSpans[0]), frame(shopSpans[1])...),
		"JSON lines":   []byte(`{"resourceSpans":[` + shopJSON[0] + "]}\n\n" + `{"resourceSpans":[` + shopJSON[1] + "]}\n"),
		"JSON":         pretty.Bytes(),
		"Tempo":        []byte(`{"batches":[` + all + `]}`),
		"Jaeger's API": []byte(`{"result":{"resourceSpans":[` + all + `]}}`),
	} {
		if c, err := sniffTraces(content, true); c != decode.Certain || err != nil {
			t.Errorf("%s: sniff = %v, %v", name, c, err)
		}
		if c, _ := sniffTraces(content[:300], false); c != decode.Certain && name != "framed" {
			t.Errorf("%s: sniff of the beginning = %v", name, c)
		}
		if c, _ := Sniff(content, true); c != decode.No {
			t.Errorf("%s is taken for a profile: %v", name, c)
		}
		for _, chunk := range []int{0, 7} {
			r, err := decodetest.Bytes(t, decodeTraces, content, chunk)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := strings.Join(decodetest.Spans(r), "\n"); got != shop {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, shop)
			}
			if len(r.Warnings) != 1 || r.Warnings[0].Text != "The recorder left out 2 attributes, events or links of spans" || r.Processes[0].PID != 44 {
				t.Errorf("%s: %v, %+v", name, r.Warnings, r.Processes)
			}
		}
	}
	if c, _ := sniffTraces(example(era18), true); c != decode.No {
		t.Errorf("a profile is taken for a trace: %v", c)
	}
}

func TestDamagedTraces(t *testing.T) {
	whole := msg(shopSpans...)
	line := `{"resourceSpans":[` + shopJSON[0] + "]}\n"
	for _, c := range []struct {
		name, content, place, want string
		spans                      int64
	}{
		{"cut", string(whole[:len(whole)-60]), "byte 460", "Field 1 at byte 460 is longer than its message: the file is truncated or damaged there", 4},
		{"rubbish behind", string(whole) + "\xff\xff", "", "", 5},
		{"a line is cut", line + line[:len(line)/2], "line 2", "Line 2 is damaged or truncated; the spans before it are shown", 3},
		{"a line is none", line + "hello\n" + `{"resourceSpans":[` + shopJSON[1] + "]}\n", "line 2", "Line 2 is damaged or truncated; the spans before it are shown", 5},
		{"an object is cut", "{\n\"resourceSpans\":[" + shopJSON[0] + "," + shopJSON[1][:400], "byte 1823", "The file is truncated at byte 1823; everything before is shown", 4},
		{"no time", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"1","name":"a"},{"spanId":"2","startTimeUnixNano":"5e2","endTimeUnixNano":600}]}]}]}`, "span 1",
			"Spans have no valid time and were left out, first before span 1", 1},
		{"attributes of an old kind", `{"resourceSpans":[{"resource":{"attributes":{"a":"b"}},"scopeSpans":[{"spans":[{"spanId":"2","startTimeUnixNano":500,"endTimeUnixNano":600}]}]}]}`, "",
			"A resource is invalid (json: cannot unmarshal object into Go struct field .attributes of type []otlp.jsonAttribute); its service has no name", 1},
		{"empty", "", "", "the file is empty", 0},
		{"none", `{"resourceSpans":[]}`, "", "the file has no spans", 0},
		{"metrics too", line + `{"resourceMetrics":[{}]}` + "\n", "", "The file also has metrics or logs, which are not shown", 3},
	} {
		r, err := decodetest.Bytes(t, decodeTraces, []byte(c.content), 0)
		if len(r.Warnings) > 0 && r.Warnings[0].Code == "dropped" {
			r.Warnings = r.Warnings[1:]
		}
		if c.want != "" || c.name != "rubbish behind" {
			decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		}
		if r.Counts.Spans != c.spans {
			t.Errorf("%s: %d spans, want %d", c.name, r.Counts.Spans, c.spans)
		}
	}
	// Spans before a cut are kept, wherever the cut is.
	for n := range whole {
		r, _ := decodetest.Bytes(t, decodeTraces, whole[:n], 0)
		if got := int(r.Counts.Spans); got > 5 || n > 400 && got < 2 {
			t.Errorf("%d spans of the first %d bytes", got, n)
		}
	}
}

// TestDeepAttributes checks that deeply nested attributes are cut off in both encodings.
func TestDeepAttributes(t *testing.T) {
	value, text := str("x"), `{"stringValue":"x"}`
	for range 100 {
		value = blob(5, blob(1, value))
		text = `{"arrayValue":{"values":[` + text + `]}}`
	}
	for _, content := range [][]byte{
		resourceSpans("a", spanOf(1, 1, 0, "f", t0, t0+1, keyValue(9, "k", value))),
		[]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"1","startTimeUnixNano":5,"endTimeUnixNano":6,"attributes":[{"key":"k","value":` + text + `}]}]}]}]}`),
	} {
		r, err := decodetest.Bytes(t, decodeTraces, content, 0)
		if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Code != "too-deep" {
			t.Errorf("%v, %v", err, r.Warnings)
			continue
		}
		if args := r.Args(r.Tracks[0].Lanes[0].Args(0)); !json.Valid([]byte(args)) || !strings.Contains(args, `"k":[[[[`) {
			t.Errorf("arguments %s", args)
		}
	}
}

// TestTracesStop checks that reading stops when the context ends.
func TestTracesStop(t *testing.T) {
	var spans [][]byte
	for i := range 5000 {
		spans = append(spans, spanOf(1, byte(i), 0, fmt.Sprint("f", i%7), t0+uint64(i), t0+uint64(i)+10))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := recording.NewBuilder()
	err := decodeTraces(ctx, source.FromBytes("x", resourceSpans("a", spans...)), b, decode.Options{})
	if err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func FuzzTraces(f *testing.F) {
	f.Add(msg(shopSpans...))
	f.Add([]byte(`{"resourceSpans":[` + shopJSON[0] + "]}\n" + `{"resourceSpans":[` + shopJSON[1] + "]}\n"))
	f.Add([]byte("{\n\"batches\":[" + shopJSON[1] + "]}"))
	decodetest.Fuzz(f, decodeTraces, sniffTraces)
}

func TestIDs(t *testing.T) {
	for text, want := range map[string]string{`"00AB"`: "00ab", `"0000"`: "", `""`: "", `null`: "", `"AAAAAAAAAAE="`: hex.EncodeToString(spanID(1))} {
		if got := jsonID([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
