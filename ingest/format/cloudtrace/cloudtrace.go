// Package cloudtrace reads the traces of version 1 of Google's Cloud Trace API: JSON with
// a list of traces (projects.traces.list) or one trace (get), each with its spans. See
// https://cloud.google.com/trace/docs/reference/v1/rest/v1/projects.traces.
package cloudtrace

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"time"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/distributed"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the JSON of Google's Cloud Trace.
var Format = codec.Format{
	Name:       "cloudtrace",
	Title:      "Google Cloud trace",
	Plural:     "Google Cloud traces",
	Holds:      "spans of services with labels, from version 1 of the Cloud Trace API",
	Extensions: []string{".json"},
	Sniff:      sniff,
	Decode:     read,
}

// sniff looks for traces of a project.
func sniff(head []byte, whole bool) (decode.Confidence, error) {
	keys := jsonscan.KeysOf(head, whole)
	if !keys["traces"] && !keys["spans"] {
		return decode.No, nil
	}
	for _, word := range []string{`"projectId"`, `"spanId"`, `"startTime"`} {
		if !bytes.Contains(head, []byte(word)) {
			return decode.No, nil
		}
	}
	return decode.Certain, nil
}

type decoder struct {
	s    *jsonscan.Stream
	c    *distributed.Collector
	args decode.Args
}

func read(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	return distributed.ReadJSON(ctx, in, b, "Google Cloud Trace", func(s *jsonscan.Stream, c *distributed.Collector) {
		d := &decoder{s: s, c: c}
		d.trace(true)
	})
}

// trace reads a trace or, if file is true, perhaps an object with a list of traces.
func (d *decoder) trace(file bool) {
	if !d.s.Enter('{') {
		d.s.Skip()
		return
	}
	var id, project string
	var early [][]byte // spans that come before the id of their trace in the file
	for key := range d.s.Members {
		switch {
		case key == "traces" && file && d.s.Enter('['):
			for d.s.Next() {
				d.trace(false)
			}
		case key == "traceId" || key == "projectId":
			raw, _ := d.s.Value()
			if key == "traceId" {
				id = jsonscan.Plain(raw)
			} else {
				project = jsonscan.Plain(raw)
			}
		case key == "spans" && d.s.Enter('['):
			for raw := range d.s.Values {
				if id == "" {
					early = append(early, bytes.Clone(raw))
				} else {
					d.span(raw, id, project)
				}
			}
		default:
			d.s.Skip()
		}
	}
	for _, raw := range early {
		d.span(raw, id, project)
	}
}

// known lists the labels that may name the service. The first one present is used.
var known = []string{"service.name", "g.co/gae/app/module", "/component"}

func (d *decoder) span(raw []byte, trace, project string) {
	s := distributed.Span{Trace: trace}
	var begun, ended bool
	var kind string
	var labels []byte
	for key, val := range jsonscan.Object(raw).All {
		switch string(key) {
		case "spanId":
			s.ID = distributed.ID(val)
		case "parentSpanId":
			s.Parent = distributed.ID(val)
		case "name":
			s.Name = jsonscan.Plain(val)
		case "kind":
			kind = strings.ToLower(strings.TrimPrefix(jsonscan.Plain(val), "RPC_"))
		case "startTime":
			s.Start, begun = moment(val)
		case "endTime":
			s.End, ended = moment(val)
		case "labels":
			labels = val
		}
	}
	if !begun {
		d.c.Timeless()
		return
	}
	s.Open = !ended
	d.args.Reset()
	if kind != "span_kind_unspecified" {
		d.args.Text("span kind", kind)
	}
	service := ""
	for _, label := range known {
		service = cmp.Or(service, jsonscan.Plain(jsonscan.Member(labels, label)))
	}
	for key, val := range jsonscan.Object(labels).All {
		d.args.Value(string(key), val)
	}
	d.args.Text("trace id", trace)
	d.args.Text("span id", s.ID)
	s.Args = d.args.JSON()
	s.Service = d.c.Named(cmp.Or(service, project))
	d.c.Add(&s)
}

// moment parses an RFC 3339 time, in nanoseconds since 1970.
func moment(raw []byte) (ns int64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, jsonscan.Plain(raw))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return 0, false
	}
	return t.UnixNano(), true
}
