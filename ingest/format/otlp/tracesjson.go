package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/distributed"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
)

// json reads one object per line, or one object over all lines.
func (t *tracer) json(content []byte) error {
	first, _, _ := bytes.Cut(bytes.TrimLeft(content, " \t\r\n"), []byte("\n"))
	if !json.Valid(first) && !bytes.Contains(content, []byte("\n{\"resourceSpans\"")) {
		s := t.walk(content)
		decode.WarnDamage(t.b, s.Damage, s.Cut)
		return s.Err()
	}
	lines := t.b.Tally("message")
	for n, rest := 1, content; len(rest) > 0; n++ {
		var l []byte
		l, rest, _ = bytes.Cut(rest, []byte("\n"))
		if l = bytes.TrimSpace(l); len(l) == 0 {
			continue
		}
		lines.Read++
		lines.Kept++
		s := t.walk(l)
		if s.Err() != nil {
			return s.Err()
		}
		if s.Damage >= 0 || l[0] != '{' {
			place := fmt.Sprintf("line %d", n)
			lines.Mend(place)
			t.b.Warn("bad-line", place, "Line %d is damaged or truncated; the spans before it are shown", n)
		}
	}
	return nil
}

// walk reads the spans of an object, up to any damage.
func (t *tracer) walk(content []byte) *jsonscan.Stream {
	s := jsonscan.NewStream(source.FromBytes("", content), func() error { return decode.Tick(t.ctx, t.b) })
	t.object(s, 0)
	return s
}

// object reads the next message; Jaeger's API wraps it in another object.
func (t *tracer) object(s *jsonscan.Stream, depth int) {
	if !s.Enter('{') {
		return
	}
	for key := range s.Members {
		switch {
		case (key == "resourceSpans" || key == "batches") && s.Enter('['):
			for s.Next() {
				t.jsonResource(s)
			}
		case (key == "result" || key == "trace") && depth == 0 && s.Peek() == '{':
			t.object(s, 1)
		case key == "resourceMetrics" || key == "resourceLogs":
			t.b.Remark("other-signal", "", "The file also has metrics or logs, which are not shown")
			s.Skip()
		default:
			s.Skip()
		}
	}
}

// jsonResource reads the spans of a resource. Its description may follow them.
func (t *tracer) jsonResource(s *jsonscan.Stream) {
	if !s.Enter('{') {
		s.Skip()
		return
	}
	service := t.c.Service(distributed.Service{})
	for key := range s.Members {
		switch {
		case key == "resource":
			raw, _ := s.Value()
			var r struct {
				Attributes []jsonAttribute `json:"attributes"`
			}
			if err := json.Unmarshal(raw, &r); err != nil {
				t.b.Warn("bad-resource", "", "A resource is invalid (%v); its service has no name", err)
			}
			t.c.Services[service] = t.service(attributes(r.Attributes))
		case (key == "scopeSpans" || key == "instrumentationLibrarySpans") && s.Enter('['):
			for s.Next() {
				t.jsonScope(s, service)
			}
		default:
			s.Skip()
		}
	}
}

func (t *tracer) jsonScope(s *jsonscan.Stream, service int) {
	if !s.Enter('{') {
		s.Skip()
		return
	}
	library := ""
	for key := range s.Members {
		switch {
		case key == "scope" || key == "instrumentationLibrary":
			raw, _ := s.Value()
			library = strings.TrimSpace(jsonscan.Plain(jsonscan.Member(raw, "name")) + " " + jsonscan.Plain(jsonscan.Member(raw, "version")))
		case key == "spans" && s.Enter('['):
			for s.Next() {
				raw, ok := s.Value()
				if !ok || !t.tick() {
					return
				}
				t.jsonSpan(raw, service, library)
			}
		default:
			s.Skip()
		}
	}
}

// enum reads an enumeration value: its number, or its name after a prefix.
func enum(raw []byte, names []string, prefix string) string {
	text := jsonscan.Plain(raw)
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return named(names, n)
	}
	if text = strings.ToLower(strings.TrimPrefix(text, prefix)); text == "unset" || text == "unspecified" {
		return ""
	}
	return text
}

// jsonID reads an id, which Tempo writes in base64.
func jsonID(raw []byte) string {
	text := jsonscan.Plain(raw)
	if strings.HasSuffix(text, "=") {
		if b, err := base64.StdEncoding.DecodeString(text); err == nil {
			text = hex.EncodeToString(b)
		}
	}
	if strings.Trim(text, "0") == "" {
		return ""
	}
	return strings.ToLower(text)
}

// count reads a non-negative number; 0 if it is missing or does not fit.
func count(raw []byte) uint64 {
	text := string(jsonscan.Unquoted(raw))
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	n, ok, fits := decode.ParseNumber([]byte(text))
	v, whole := n.Round(0).At(0)
	if !ok || !fits || !whole || v < 0 {
		return 0
	}
	return uint64(v)
}

func (t *tracer) jsonSpan(raw []byte, service int, library string) {
	s := distributed.Span{Service: service}
	a := about{library: library}
	var start, end uint64
	var events, links []byte
	t.args.Reset()
	for key, val := range jsonscan.Object(raw).All {
		switch string(key) {
		case "traceId":
			s.Trace = jsonID(val)
		case "spanId":
			s.ID = jsonID(val)
		case "parentSpanId":
			s.Parent = jsonID(val)
		case "traceState":
			a.state = jsonscan.Plain(val)
		case "name":
			s.Name = jsonscan.Plain(val)
		case "kind":
			a.kind = enum(val, spanKinds, "SPAN_KIND_")
		case "startTimeUnixNano":
			start = count(val)
		case "endTimeUnixNano":
			end = count(val)
		case "attributes":
			t.jsonMembers(&t.args, val, 0)
		case "events":
			events = val
		case "links":
			links = val
		case "status":
			a.message = jsonscan.Plain(jsonscan.Member(val, "message"))
			a.status = enum(jsonscan.Member(val, "code"), statusCodes, "STATUS_CODE_")
		case "droppedAttributesCount", "droppedEventsCount", "droppedLinksCount":
			t.dropped += count(val)
		}
	}
	if t.put(&s, &a, &t.args, start, end) {
		t.jsonEvents(events)
		t.jsonLinks(links)
	}
}

func (t *tracer) jsonEvents(raw []byte) {
	for event := range jsonscan.Array(raw).All {
		t.args.Reset()
		t.jsonMembers(&t.args, jsonscan.Member(event, "attributes"), 0)
		t.dropped += count(jsonscan.Member(event, "droppedAttributesCount"))
		at := min(count(jsonscan.Member(event, "timeUnixNano")), math.MaxInt64)
		t.c.Event(int64(at), jsonscan.Plain(jsonscan.Member(event, "name")), t.args.JSON())
	}
}

func (t *tracer) jsonLinks(raw []byte) {
	for link := range jsonscan.Array(raw).All {
		t.dropped += count(jsonscan.Member(link, "droppedAttributesCount"))
		t.c.Link(jsonID(jsonscan.Member(link, "traceId")), jsonID(jsonscan.Member(link, "spanId")))
	}
}

// jsonMembers adds a list of KeyValues to a JSON object.
func (t *tracer) jsonMembers(to *decode.Args, raw []byte, depth int) {
	for attr := range jsonscan.Array(raw).All {
		to.Raw(jsonscan.Plain(jsonscan.Member(attr, "key")), t.jsonAny(jsonscan.Member(attr, "value"), depth))
	}
}

// jsonAny converts an AnyValue to plain JSON.
func (t *tracer) jsonAny(raw []byte, depth int) []byte {
	out := []byte("null")
	if depth > maxDepth {
		t.note("too-deep", "", "Attributes' values are nested too deeply and left out")
		return out
	}
	for key, val := range jsonscan.Object(raw).All {
		switch string(key) {
		case "intValue":
			if n, err := strconv.ParseInt(string(jsonscan.Unquoted(val)), 10, 64); err == nil {
				out = strconv.AppendInt(nil, n, 10)
				break
			}
			out = decode.Quoted(jsonscan.Plain(val))
		case "doubleValue":
			if f, err := strconv.ParseFloat(string(jsonscan.Unquoted(val)), 64); err == nil || errors.Is(err, strconv.ErrRange) {
				out = decode.Float(f)
				break
			}
			out = decode.Quoted(jsonscan.Plain(val))
		case "boolValue":
			out = strconv.AppendBool(nil, string(jsonscan.Unquoted(val)) == "true")
		case "arrayValue":
			out = []byte{'['}
			for v := range jsonscan.Array(jsonscan.Member(val, "values")).All {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(out, t.jsonAny(v, depth+1)...)
			}
			out = append(out, ']')
		case "kvlistValue":
			var object decode.Args
			t.jsonMembers(&object, jsonscan.Member(val, "values"), depth+1)
			if out = object.JSON(); out == nil {
				out = []byte("{}")
			}
		default: // texts, and bytes in base64
			out = decode.Quoted(jsonscan.Plain(val))
		}
	}
	return out
}
