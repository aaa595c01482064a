package otlp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/distributed"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Traces is the OTLP traces format: TracesData or ExportTraceServiceRequest of
// opentelemetry/proto/trace/v1/trace.proto, in the same encodings as profiles.
var Traces = codec.Format{
	Name:       "otlp-traces",
	Title:      "OpenTelemetry trace",
	Plural:     "OpenTelemetry traces",
	Holds:      "spans of services with attributes, events and links; protobuf, framed protobuf, JSON lines, Tempo's JSON",
	Extensions: []string{".otlp", ".otlp.json", ".jsonl"},
	Sniff:      sniffTraces,
	Decode:     decodeTraces,
}

// sniffTraces looks for messages with spans.
func sniffTraces(head []byte, whole bool) (decode.Confidence, error) {
	if isJSON(head) {
		if bytes.Contains(head, []byte(`"resourceSpans"`)) || bytes.Contains(head, []byte(`"batches"`)) && (bytes.Contains(head, []byte(`"scopeSpans"`)) || bytes.Contains(head, []byte(`"instrumentationLibrarySpans"`))) {
			return decode.Certain, nil
		}
		return decode.No, nil
	}
	if framed(head) {
		n := uint64(binary.BigEndian.Uint32(head))
		head = head[4:]
		whole = whole && n <= uint64(len(head))
		head = head[:min(n, uint64(len(head)))]
	}
	spans := 0
	ok := walk(head, func(num protowire.Number, body []byte, isBytes bool) bool {
		return num == 1 && isBytes && walkShape(body, resourceShape, func(num protowire.Number, body []byte) bool {
			return num != 2 || walkShape(body, scopeShape, func(num protowire.Number, body []byte) bool {
				if num != 2 {
					return true
				}
				fits := fitsSpan(body)
				if fits {
					spans++
				}
				return fits || !whole && len(body) < 64 // this span may be cut off
			})
		})
	})
	if ok && spans > 0 {
		return decode.Certain, nil
	}
	return decode.No, nil
}

var spanShape = shape{map[protowire.Number]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: false, 7: false, 8: false,
	9: true, 10: false, 11: true, 12: false, 13: true, 14: false, 15: true, 16: false}, true}

// fitsSpan reports whether a message can be a span: it has ids of the right lengths.
func fitsSpan(b []byte) bool {
	ids := 0
	return walkShape(b, spanShape, func(num protowire.Number, body []byte) bool {
		switch {
		case num == 1 && len(body) == 16, num == 2 && len(body) == 8:
			ids++
		case num == 1, num == 2:
			return false
		}
		return true
	}) && ids == 2
}

// tracer reads traces.
type tracer struct {
	*reader
	ctx     context.Context
	b       *recording.Builder
	c       *distributed.Collector
	args    decode.Args
	dropped uint64 // attributes, events and links dropped by the recorder
	n       int
}

// decodeTraces reads all spans of a file.
func decodeTraces(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	content, readErr := in.All(maxContent)
	if len(content) == 0 {
		return cmp.Or(readErr, errors.New("the file is empty"))
	}
	note := func(code, place, text string) { b.Warn(code, place, "%s", text) }
	t := &tracer{reader: &reader{content: content, note: note}, ctx: ctx, b: b, c: distributed.NewCollector(b)}
	var err error
	if isJSON(content) {
		b.Source().Version = "JSON"
		err = t.json(content)
	} else {
		frames := [][]byte{content}
		if framed(content) {
			frames = split(content, note)
		}
		for _, f := range frames {
			t.message(f)
		}
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if t.dropped > 0 {
		b.Remark("dropped", "", "The recorder left out %d attributes, events or links of spans", t.dropped)
	}
	if err := t.c.Build(ctx); err != nil {
		return err
	}
	if t.c.Len() == 0 && readErr == nil {
		return errors.New("the file has no spans")
	}
	return readErr
}

// tick is called for each span; it returns false if reading must stop.
func (t *tracer) tick() bool {
	if t.n++; t.n%1024 != 0 {
		return true
	}
	t.b.Progress()
	return t.ctx.Err() == nil
}

// service returns the service described by a resource's attributes.
func (t *tracer) service(in []attribute) distributed.Service {
	var attrs []recording.Attr
	for i := range in {
		attrs = append(attrs, recording.Attr{Key: in[i].key, Value: in[i].value.string(&dictionary{})})
	}
	noteResource(t.b.Source(), attrs)
	s := distributed.Service{
		Name:     cmp.Or(get(attrs, "service.name"), get(attrs, "process.executable.name"), get(attrs, "container.id")),
		Instance: cmp.Or(get(attrs, "service.instance.id"), get(attrs, "k8s.pod.name"), get(attrs, "host.name")),
	}
	if pid, ok := pidOf(attrs); ok && pid > 0 {
		s.PID = pid
	}
	return s
}

// message reads a protobuf message.
func (t *tracer) message(b []byte) {
	t.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		if num == 1 && typ == protowire.BytesType {
			t.resource(body)
		}
	})
}

// resource reads the spans of a resource. Its description may follow them.
func (t *tracer) resource(b []byte) {
	service := t.c.Service(distributed.Service{})
	t.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		switch {
		case typ != protowire.BytesType:
		case num == 1:
			t.c.Services[service] = t.service(t.attributes(body, 1))
		case num == 2:
			t.scope(body, service)
		}
	})
}

func (t *tracer) scope(b []byte, service int) {
	library := ""
	var spans [][]byte
	t.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		switch {
		case typ != protowire.BytesType:
		case num == 1:
			var name, version string
			t.fields(body, func(num protowire.Number, _ protowire.Type, _ uint64, body []byte) {
				switch num {
				case 1:
					name = string(body)
				case 2:
					version = string(body)
				}
			})
			library = strings.TrimSpace(name + " " + version)
		case num == 2:
			spans = append(spans, body)
		}
	})
	for _, s := range spans {
		if !t.tick() {
			return
		}
		t.span(s, service, library)
	}
}

// Names of span kinds and status codes.
var (
	spanKinds   = []string{"", "internal", "server", "client", "producer", "consumer"}
	statusCodes = []string{"", "ok", "error"}
)

func named(names []string, n uint64) string {
	if n < uint64(len(names)) {
		return names[n]
	}
	return strconv.FormatUint(n, 10)
}

// about holds the kind, status and origin of a span.
type about struct {
	kind, status, message, library, state string
}

// put adds a span with its arguments.
func (t *tracer) put(s *distributed.Span, a *about, attrs *decode.Args, start, end uint64) bool {
	if start == 0 || start > math.MaxInt64 || end > math.MaxInt64 {
		t.c.Timeless()
		return false
	}
	s.Start, s.End, s.Open = int64(start), int64(end), end == 0
	attrs.Text("span kind", a.kind)
	attrs.Text("status", a.status)
	attrs.Text("status message", a.message)
	attrs.Text("library", a.library)
	attrs.Text("trace state", a.state)
	attrs.Text("trace id", s.Trace)
	attrs.Text("span id", s.ID)
	s.Args = attrs.JSON()
	t.c.Add(s)
	return true
}

// span reads a protobuf span.
func (t *tracer) span(b []byte, service int, library string) {
	s := distributed.Span{Service: service}
	a := about{library: library}
	var start, end uint64
	var events, links [][]byte
	t.args.Reset()
	t.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			s.Trace = id(body)
		case 2:
			s.ID = id(body)
		case 3:
			a.state = string(body)
		case 4:
			s.Parent = id(body)
		case 5:
			s.Name = string(body)
		case 6:
			a.kind = named(spanKinds, n)
		case 7:
			start = n
		case 8:
			end = n
		case 9:
			t.member(&t.args, body, 0)
		case 10, 12, 14:
			t.dropped += n
		case 11:
			events = append(events, body)
		case 13:
			links = append(links, body)
		case 15:
			t.fields(body, func(num protowire.Number, _ protowire.Type, n uint64, body []byte) {
				switch num {
				case 2:
					a.message = string(body)
				case 3:
					a.status = named(statusCodes, n)
				}
			})
		}
	})
	if !t.put(&s, &a, &t.args, start, end) {
		return
	}
	for _, e := range events {
		t.event(e)
	}
	for _, l := range links {
		t.link(l)
	}
}

// id converts an id to hexadecimal digits; an id of only zeros becomes "".
func id(b []byte) string {
	if len(bytes.Trim(b, "\x00")) == 0 {
		return ""
	}
	return hex.EncodeToString(b)
}

func (t *tracer) event(b []byte) {
	var at uint64
	name := ""
	t.args.Reset()
	t.fields(b, func(num protowire.Number, _ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			at = n
		case 2:
			name = string(body)
		case 3:
			t.member(&t.args, body, 0)
		case 4:
			t.dropped += n
		}
	})
	t.c.Event(int64(min(at, math.MaxInt64)), name, t.args.JSON())
}

func (t *tracer) link(b []byte) {
	var trace, span string
	t.fields(b, func(num protowire.Number, _ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			trace = id(body)
		case 2:
			span = id(body)
		case 5:
			t.dropped += n
		}
	})
	t.c.Link(trace, span)
}

// member adds a KeyValue to a JSON object.
func (t *tracer) member(to *decode.Args, b []byte, depth int) {
	key, value := "", []byte("null")
	t.fields(b, func(num protowire.Number, _ protowire.Type, _ uint64, body []byte) {
		switch num {
		case 1:
			key = string(body)
		case 2:
			value = t.any(body, depth)
		}
	})
	to.Raw(key, value)
}

// any converts an AnyValue to JSON.
func (t *tracer) any(b []byte, depth int) []byte {
	out := []byte("null")
	if depth > maxDepth {
		t.note("too-deep", t.place(b), "An attribute's value at "+t.place(b)+" is nested too deeply and left out")
		return out
	}
	t.fields(b, func(num protowire.Number, _ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			out = decode.Quoted(string(body))
		case 2:
			out = strconv.AppendBool(nil, n != 0)
		case 3:
			out = strconv.AppendInt(nil, int64(n), 10)
		case 4:
			out = decode.Float(math.Float64frombits(n))
		case 5:
			out = []byte{'['}
			t.fields(body, func(num protowire.Number, _ protowire.Type, _ uint64, body []byte) {
				if num == 1 {
					if len(out) > 1 {
						out = append(out, ',')
					}
					out = append(out, t.any(body, depth+1)...)
				}
			})
			out = append(out, ']')
		case 6:
			var object decode.Args
			t.fields(body, func(num protowire.Number, _ protowire.Type, _ uint64, body []byte) {
				if num == 1 {
					t.member(&object, body, depth+1)
				}
			})
			if out = object.JSON(); out == nil {
				out = []byte("{}")
			}
		case 7:
			out = decode.Quoted(hex.EncodeToString(body))
		}
	})
	return out
}
