// Package distributed builds a recording from the spans of distributed traces, for the
// decoders of OpenTelemetry, Jaeger, Zipkin and Google Cloud Trace.
//
// A service becomes a process. Its work for one request is on one track, nested as
// calls. A span is a call of its parent if the parent is of the same service, covers it in
// time and has no other child running at that time. Every other span is outermost, on the
// same track or in its own service, with an arrow from its parent. Concurrent requests get
// tracks of their own, so that the spans of a track never overlap without nesting.
package distributed

import (
	"cmp"
	"fmt"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// A Span is a span as in the file. Times are nanoseconds of one clock; "" means no id.
type Span struct {
	Trace, ID, Parent string
	// Shared marks the server's side of a call whose client's side has the same ID. The
	// client's side is its parent.
	Shared     bool
	Service    int // number from Collector.Service
	Name       string
	Start, End int64
	// Open means that the file has no end time.
	Open bool
	// Args is a JSON object, nil for none.
	Args []byte
}

// A Service is the program that recorded a span.
type Service struct {
	Name string
	// Instance distinguishes services with the same name.
	Instance string
	PID      int64 // 0 for none
}

// A Collector collects the spans of a file.
type Collector struct {
	// Services may be changed until Build.
	Services []Service

	b      *recording.Builder
	texts  *decode.Texts
	spans  []span
	events []event
	links  []link
	names  map[string]string
	traces map[string]uint32
	named  map[string]int // indices in Services

	read, moments, linked *recording.Tally
}

type span struct {
	id, parent, name string
	args             uint64
	start, end       int64
	trace            uint32
	service          int32
	up               int32 // the parent's index, -1 for none
	track            int32 // index in builder.tracks, -1 if the span was left out
	shared, inline   bool
	mended           bool
}

type event struct {
	span int32
	at   int64
	name string
	args uint64
}

type link struct {
	span  int32
	trace uint32
	id    string
}

// NewCollector returns a Collector whose spans go into b.
func NewCollector(b *recording.Builder) *Collector {
	c := &Collector{b: b, texts: new(decode.Texts), names: map[string]string{}, traces: map[string]uint32{}, named: map[string]int{},
		read: b.Tally("span"), moments: b.Tally("event"), linked: b.Tally("link")}
	b.SetArgs(c.texts.Text)
	return c
}

// Service adds a service and returns its number. Build merges identical services.
func (c *Collector) Service(s Service) int {
	c.Services = append(c.Services, s)
	return len(c.Services) - 1
}

// Named returns the number of the service that has only this name, and adds it if it is
// new.
func (c *Collector) Named(name string) int {
	n, ok := c.named[name]
	if !ok {
		n = c.Service(Service{Name: name})
		c.named[name] = n
	}
	return n
}

// Len returns the number of spans.
func (c *Collector) Len() int { return len(c.spans) }

// Add adds a span.
func (c *Collector) Add(s *Span) {
	c.read.Read++
	c.read.Kept++
	x := span{id: strings.Clone(spelled(s.ID)), parent: c.intern(spelled(s.Parent)), name: c.intern(s.Name), trace: c.trace(s.Trace),
		service: int32(s.Service), start: s.Start, end: s.End, shared: s.Shared, up: -1, track: -1}
	place := c.place(len(c.spans))
	switch {
	case s.Open:
		x.end, x.mended = x.start, true
		c.b.Usual("span-open", place, "Spans have no end, first %s; they are shown without length", place)
	case x.end < x.start:
		x.end, x.mended = x.start, true
		c.b.Warn("span-backward", place, "Spans end before they start, first %s; they are shown without length", place)
	}
	if s.ID == "" {
		c.b.Remark("no-id", place, "Spans have no id, first %s; they are shown without children", place)
	}
	if s.Args != nil {
		x.args = c.texts.Add(s.Args)
	}
	c.spans = append(c.spans, x)
}

// Event adds an event of the most recently added span.
func (c *Collector) Event(at int64, name string, args []byte) {
	c.moments.Read++
	c.moments.Kept++
	e := event{span: int32(len(c.spans) - 1), at: at, name: c.intern(name)}
	if args != nil {
		e.args = c.texts.Add(args)
	}
	c.events = append(c.events, e)
}

// Link adds a link from another span to the most recently added one.
func (c *Collector) Link(trace, id string) {
	c.linked.Read++
	c.linked.Kept++
	c.links = append(c.links, link{int32(len(c.spans) - 1), c.trace(trace), strings.Clone(spelled(id))})
}

// Timeless leaves out a span without a time.
func (c *Collector) Timeless() {
	place := c.place(len(c.spans))
	c.Leave("no-time", place, "Spans have no valid time and were left out, first before "+place)
}

// Leave counts an item that cannot be shown as a span.
func (c *Collector) Leave(code, place, why string) {
	c.read.Read++
	c.read.Leave(place)
	c.b.Warn(code, place, "%s", why)
}

// place describes a span by its number in the order of adding.
func (c *Collector) place(i int) string { return fmt.Sprintf("span %d", i+1) }

func (c *Collector) intern(s string) string {
	if t, ok := c.names[s]; ok {
		return t
	}
	s = strings.Clone(s)
	c.names[s] = s
	return s
}

// spelled returns the form of an id that is compared: a hexadecimal number without leading zeros
// and in lower case, because programs pad ids to different widths; other ids unchanged.
func spelled(id string) string {
	if id == "" || strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return id
	}
	return strings.ToLower(cmp.Or(strings.TrimLeft(id, "0"), "0"))
}

func (c *Collector) trace(s string) uint32 {
	s = spelled(s)
	n, ok := c.traces[s]
	if !ok {
		n = uint32(len(c.traces))
		c.traces[strings.Clone(s)] = n
	}
	return n
}
