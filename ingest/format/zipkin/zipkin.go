// Package zipkin reads Zipkin traces in version 2 of its JSON: a list of spans, or of
// lists of them, from /api/v2/traces or saved by its web page. Times are microseconds; see
// zipkin2-api.yaml of github.com/openzipkin/zipkin-api.
package zipkin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/distributed"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is Zipkin's JSON, version 2.
var Format = codec.Format{
	Name:       "zipkin",
	Title:      "Zipkin trace",
	Plural:     "Zipkin traces",
	Holds:      "spans of services with tags and annotations, version 2 of the JSON",
	Extensions: []string{".json"},
	Sniff:      sniff,
	Decode:     read,
}

// sniff looks at the first span.
func sniff(head []byte, _ bool) (decode.Confidence, error) {
	p, lists := jsonscan.Space(head, 0), 0
	for p < len(head) && head[p] == '[' {
		p = jsonscan.Space(head, p+1)
		lists++
	}
	if lists == 0 || lists > 2 || p == len(head) || head[p] != '{' {
		return decode.No, nil
	}
	keys, end := jsonscan.Keys(head[p:], false)
	if !keys["traceId"] || !keys["id"] || end == 0 && !bytes.Contains(head, []byte(`"localEndpoint"`)) {
		return decode.No, nil
	}
	if keys["binaryAnnotations"] {
		return decode.Certain, errors.New("version 1 of Zipkin's JSON is not supported; fetch version 2 (/api/v2/traces)")
	}
	return decode.Certain, nil
}

type decoder struct {
	s    *jsonscan.Stream
	c    *distributed.Collector
	args decode.Args
}

func read(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	return distributed.ReadJSON(ctx, in, b, "Zipkin", func(s *jsonscan.Stream, c *distributed.Collector) {
		d := &decoder{s: s, c: c}
		d.list(0)
	})
}

// list reads a list of spans, or of lists.
func (d *decoder) list(depth int) {
	if !d.s.Enter('[') {
		return
	}
	for d.s.Next() {
		switch c := d.s.Peek(); {
		case c == '[' && depth == 0:
			d.list(1)
		case c == '{':
			raw, ok := d.s.Value()
			if !ok {
				return
			}
			d.span(raw)
		default:
			d.c.Leave("no-span", decode.Byte(d.s.Offset()), fmt.Sprintf("The value at byte %d is not a span and was left out", d.s.Offset()))
			d.s.Skip()
		}
	}
}

func (d *decoder) span(raw []byte) {
	var s distributed.Span
	var begun, ended bool
	var duration int64
	var kind, local, remote string
	var tags, annotations []byte
	for key, val := range jsonscan.Object(raw).All {
		switch string(key) {
		case "traceId":
			s.Trace = jsonscan.Plain(val)
		case "id":
			s.ID = jsonscan.Plain(val)
		case "parentId":
			s.Parent = jsonscan.Plain(val)
		case "name":
			s.Name = jsonscan.Plain(val)
		case "kind":
			kind = strings.ToLower(jsonscan.Plain(val))
		case "shared":
			s.Shared = string(val) == "true"
		case "timestamp":
			s.Start, begun = decode.Micros(val)
		case "duration":
			duration, ended = decode.Micros(val)
		case "localEndpoint":
			s.Service = d.service(val)
			local = address(val)
		case "remoteEndpoint":
			remote = cmp.Or(jsonscan.Plain(jsonscan.Member(val, "serviceName")), address(val))
		case "tags":
			tags = val
		case "annotations":
			annotations = val
		}
	}
	if !begun || s.Start == 0 {
		d.c.Timeless()
		return
	}
	if jsonscan.Member(raw, "localEndpoint") == nil {
		s.Service = d.service(nil)
	}
	s.End, s.Open = recording.Saturated(s.Start, duration), !ended
	d.args.Reset()
	d.args.Text("span kind", kind)
	d.args.Text("remote", remote)
	d.args.Text("address", local)
	for key, val := range jsonscan.Object(tags).All {
		d.args.Value(string(key), val)
	}
	d.args.Text("trace id", s.Trace)
	d.args.Text("span id", s.ID)
	s.Args = d.args.JSON()
	d.c.Add(&s)
	d.annotations(annotations)
}

// service returns the number of an endpoint's service.
func (d *decoder) service(raw []byte) int {
	return d.c.Named(jsonscan.Plain(jsonscan.Member(raw, "serviceName")))
}

// address returns the address of an endpoint, with its port if known.
func address(raw []byte) string {
	host := cmp.Or(jsonscan.Plain(jsonscan.Member(raw, "ipv4")), jsonscan.Plain(jsonscan.Member(raw, "ipv6")))
	if port := jsonscan.Plain(jsonscan.Member(raw, "port")); port != "" && port != "0" {
		host += ":" + port
	}
	return host
}

func (d *decoder) annotations(raw []byte) {
	for a := range jsonscan.Array(raw).All {
		at, _ := decode.Micros(jsonscan.Member(a, "timestamp"))
		d.c.Event(at, jsonscan.Plain(jsonscan.Member(a, "value")), nil)
	}
}
