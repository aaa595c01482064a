// Package jaeger reads the JSON traces of Jaeger's query API (/api/traces), which its web
// page also saves: a list of traces, each with spans and processes. Times are
// microseconds; see model/json/model.go of github.com/jaegertracing/jaeger.
package jaeger

import (
	"bytes"
	"context"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/distributed"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is Jaeger's JSON format.
var Format = codec.Format{
	Name:       "jaeger",
	Title:      "Jaeger trace",
	Plural:     "Jaeger traces",
	Holds:      "spans of services with tags, logs and references, from /api/traces",
	Extensions: []string{".json"},
	Sniff:      sniff,
	Decode:     read,
}

// sniff looks for a list of traces, the first with an id and spans.
func sniff(head []byte, whole bool) (decode.Confidence, error) {
	keys := jsonscan.KeysOf(head, whole)
	has := func(word string) bool { return bytes.Contains(head, []byte(word)) }
	if (keys["data"] || keys["spans"]) && has(`"traceID"`) && (has(`"spans"`) || has(`"spanID"`)) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

type decoder struct {
	b    *recording.Builder
	s    *jsonscan.Stream
	c    *distributed.Collector
	args decode.Args
	odd  decode.Args // fields of a log
}

func read(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	return distributed.ReadJSON(ctx, in, b, "Jaeger", func(s *jsonscan.Stream, c *distributed.Collector) {
		d := &decoder{b: b, s: s, c: c}
		d.file()
	})
}

func (d *decoder) file() {
	if !d.s.Enter('{') {
		return
	}
	services := map[string]int{} // services of a file with a single trace
	for key := range d.s.Members {
		switch {
		case key == "data" && d.s.Enter('['):
			for d.s.Next() {
				d.trace()
			}
		case key == "errors" && d.s.Peek() == '[':
			if raw, ok := d.s.Value(); ok {
				d.errors(raw)
			}
		default:
			d.member(key, services)
		}
	}
}

// errors warns about data that Jaeger reported as missing.
func (d *decoder) errors(raw []byte) {
	for e := range jsonscan.Array(raw).All {
		d.b.Warn("server", "", "Jaeger reported missing data: %q", jsonscan.Plain(jsonscan.Member(e, "msg")))
	}
}

// trace reads a trace. Its processes follow its spans.
func (d *decoder) trace() {
	if !d.s.Enter('{') {
		d.s.Skip()
		return
	}
	services := map[string]int{}
	for key := range d.s.Members {
		d.member(key, services)
	}
}

func (d *decoder) member(key string, services map[string]int) {
	switch {
	case key == "spans" && d.s.Enter('['):
		for raw := range d.s.Values {
			d.span(raw, services)
		}
	case key == "processes" && d.s.Enter('{'):
		for id := range d.s.Members {
			raw, ok := d.s.Value()
			if !ok {
				return
			}
			d.c.Services[d.service(id, services)] = process(raw)
		}
	default:
		d.s.Skip()
	}
}

// service returns the number of a trace's process.
func (d *decoder) service(id string, services map[string]int) int {
	n, ok := services[id]
	if !ok {
		n = d.c.Service(distributed.Service{})
		services[id] = n
	}
	return n
}

// process reads a process as a service.
func process(raw []byte) distributed.Service {
	s := distributed.Service{Name: jsonscan.Plain(jsonscan.Member(raw, "serviceName"))}
	rank := 0
	for tag := range jsonscan.Array(jsonscan.Member(raw, "tags")).All {
		value := jsonscan.Plain(jsonscan.Member(tag, "value"))
		for i, key := range []string{"", "ip", "host.name", "hostname", "k8s.pod.name", "client-uuid", "service.instance.id"} {
			if i > rank && key == jsonscan.Plain(jsonscan.Member(tag, "key")) {
				s.Instance, rank = value, i
			}
		}
	}
	return s
}

func (d *decoder) span(raw []byte, services map[string]int) {
	var s distributed.Span
	var tags, logs, references []byte
	var begun, ended bool
	var duration int64
	var process, warnings string
	for key, val := range jsonscan.Object(raw).All {
		switch string(key) {
		case "traceID":
			s.Trace = distributed.ID(val)
		case "spanID":
			s.ID = distributed.ID(val)
		case "parentSpanID": // written by old versions
			s.Parent = distributed.ID(val)
		case "operationName":
			s.Name = jsonscan.Plain(val)
		case "references":
			references = val
		case "startTime":
			s.Start, begun = decode.Micros(val)
		case "duration":
			duration, ended = decode.Micros(val)
		case "tags":
			tags = val
		case "logs":
			logs = val
		case "processID":
			process = jsonscan.Plain(val)
		case "warnings":
			if warnings = string(val); warnings == "null" {
				warnings = ""
			}
		}
	}
	if !begun {
		d.c.Timeless()
		return
	}
	s.End, s.Open = recording.Saturated(s.Start, duration), !ended
	s.Service = d.service(process, services)
	links := d.references(&s, references)
	d.args.Reset()
	d.tags(&d.args, tags)
	if warnings != "" {
		d.args.Text("warnings", warnings)
	}
	d.args.Text("trace id", s.Trace)
	d.args.Text("span id", s.ID)
	s.Args = d.args.JSON()
	d.c.Add(&s)
	for _, l := range links {
		d.c.Link(l[0], l[1])
	}
	d.logs(logs)
}

// references finds the parent of a span in its trace: the first span it is a child of,
// else the first one it follows. The others become links.
func (d *decoder) references(s *distributed.Span, raw []byte) (links [][2]string) {
	follows := ""
	for r := range jsonscan.Array(raw).All {
		trace, span := distributed.ID(jsonscan.Member(r, "traceID")), distributed.ID(jsonscan.Member(r, "spanID"))
		child := jsonscan.Plain(jsonscan.Member(r, "refType")) == "CHILD_OF"
		switch {
		case child && trace == s.Trace && s.Parent == "":
			s.Parent = span
		case child && trace == s.Trace && s.Parent == span:
		case !child && trace == s.Trace && follows == "":
			follows = span
		default:
			links = append(links, [2]string{trace, span})
		}
	}
	switch {
	case s.Parent == "":
		s.Parent = follows
	case follows != "":
		links = append(links, [2]string{s.Trace, follows})
	}
	return links
}

// tags adds tags, each with a key, a type and a value, to a JSON object.
func (d *decoder) tags(to *decode.Args, raw []byte) {
	for tag := range jsonscan.Array(raw).All {
		to.Value(jsonscan.Plain(jsonscan.Member(tag, "key")), jsonscan.Member(tag, "value"))
	}
}

// logs adds a span's logs, each with a time and fields; the field "event" is the name.
func (d *decoder) logs(raw []byte) {
	for l := range jsonscan.Array(raw).All {
		at, _ := decode.Micros(jsonscan.Member(l, "timestamp"))
		name := ""
		for f := range jsonscan.Array(jsonscan.Member(l, "fields")).All {
			if key := jsonscan.Plain(jsonscan.Member(f, "key")); key == "event" || key == "message" && name == "" {
				name = jsonscan.Plain(jsonscan.Member(f, "value"))
			}
		}
		if name == "" {
			name = "log"
		}
		d.odd.Reset()
		d.tags(&d.odd, jsonscan.Member(l, "fields"))
		d.c.Event(at, name, d.odd.JSON())
	}
}
