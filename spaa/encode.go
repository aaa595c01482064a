package spaa

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendRecord appends the canonical JSON of r to dst, without a line end: no
// white space, "type" first, then the record's known keys in the order of the
// struct's fields, then its extras sorted by name, and the same in every object
// within. It says what is wrong where a number, an id or an extra is not JSON.
func AppendRecord(dst []byte, r Record) ([]byte, error) {
	e := encoder{b: dst}
	e.record(r)
	if e.err != nil {
		return dst, e.err
	}
	return e.b, nil
}

// encoder appends objects to b; err is the first thing that cannot be written.
type encoder struct {
	b     []byte
	keys  []string // known keys written so far in the open objects that have extras
	err   error
	check Parser
}

// object is an open object. Keys are written at once; extras at its end.
type object struct {
	e     *encoder
	extra Extra
	from  int // first of its keys in e.keys
	comma bool
}

func (e *encoder) open(x Extra) object {
	e.b = append(e.b, '{')
	return object{e: e, extra: x, from: len(e.keys)}
}

func (o *object) key(k string) *encoder {
	e := o.e
	if o.comma {
		e.b = append(e.b, ',')
	}
	o.comma = true
	if o.extra != nil {
		e.keys = append(e.keys, k)
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, k...) // known keys need no escapes
	e.b = append(e.b, '"', ':')
	return e
}

// keeps says that a field with the zero value is to be left to the extras,
// which hold the file's own value of the key.
func (o *object) keeps(k string) bool {
	if o.extra == nil {
		return false
	}
	_, ok := o.extra[k]
	return ok
}

// str writes a string that is left out when empty.
func (o *object) str(k, v string) {
	if v != "" {
		o.key(k).string(v)
	}
}

// always writes a string even when it is empty.
func (o *object) always(k, v string) {
	if v != "" || !o.keeps(k) {
		o.key(k).string(v)
	}
}

func (o *object) int(k string, v int64) {
	e := o.key(k)
	e.b = strconv.AppendInt(e.b, v, 10)
}

func (o *object) optInt(k string, v Opt[int64]) {
	if v.OK {
		o.int(k, v.V)
	}
}

func (o *object) optBool(k string, v Opt[bool]) {
	if v.OK {
		e := o.key(k)
		e.b = strconv.AppendBool(e.b, v.V)
	}
}

func (o *object) num(k string, v Number) {
	if v != "" {
		o.key(k).number(k, v)
	}
}

func (o *object) id(k string, v ID) {
	if !v.IsZero() {
		o.key(k).id(k, v)
	}
}

func (o *object) close() {
	e := o.e
	if o.extra != nil {
		names := make([]string, 0, len(o.extra))
		for k := range o.extra {
			if !slices.Contains(e.keys[o.from:], k) {
				names = append(names, k)
			}
		}
		slices.Sort(names)
		for _, k := range names {
			if o.comma {
				e.b = append(e.b, ',')
			}
			o.comma = true
			e.string(k)
			e.b = append(e.b, ':')
			e.raw(k, o.extra[k])
		}
		e.keys = e.keys[:o.from]
	}
	e.b = append(e.b, '}')
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// string appends a JSON string. Bytes that are not UTF-8 become U+FFFD: a SPAA
// file is UTF-8.
func (e *encoder) string(s string) {
	const hexDigits = "0123456789abcdef"
	b := append(e.b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	e.b = append(b, '"')
}

func (e *encoder) number(k string, n Number) {
	from := len(e.b)
	e.b = append(e.b, n...)
	p := &e.check
	p.b = e.b[from:]
	var raw RawNumber
	if c := n[0]; c != '-' && c-'0' > 9 || p.num(0, &raw) != len(n) {
		e.fail("%s: %q is not a JSON number", k, string(n))
	}
}

func (e *encoder) id(k string, id ID) {
	if id.number {
		e.number(k, Number(id.text))
		return
	}
	e.string(id.text)
}

// raw appends JSON text that the caller gave, checked and compacted.
func (e *encoder) raw(k string, text []byte) {
	p := &e.check
	p.b, p.err = text, nil
	end := p.skip(0, 1)
	if end >= 0 {
		_, end = peek(text, end)
	}
	if end != len(text) {
		e.fail("%s: the extra value %.40q is not JSON", k, text)
		return
	}
	from := len(e.b)
	e.b = appendCompact(e.b, text)
	if !utf8.Valid(e.b[from:]) {
		fixed := []rune(string(e.b[from:]))
		e.b = append(e.b[:from], string(fixed)...)
	}
}

func (e *encoder) record(r Record) {
	switch r := r.(type) {
	case *Header:
		e.header(r)
	case *DSO:
		o := e.openRecord("dso", r.Extra)
		o.int("id", r.ID)
		o.always("name", r.Name)
		o.str("build_id", r.BuildID)
		o.optBool("is_kernel", r.IsKernel)
		o.close()
	case *Frame:
		e.frame(r)
	case *Thread:
		o := e.openRecord("thread", r.Extra)
		o.int("pid", r.PID)
		o.int("tid", r.TID)
		o.str("comm", r.Comm)
		o.close()
	case *Stack:
		e.stack(r)
	case *Sample:
		e.sample(r)
	case *Window:
		e.window(r)
	case *Unknown:
		if kind := kindOf([]byte(r.Type)); kind != KindUnknown {
			e.fail("a record of the known type %q must not be written as Unknown", r.Type)
			return
		}
		o := e.open(r.Fields)
		o.key("type").string(r.Type)
		o.close()
	default:
		e.fail("cannot write a record of Go type %T", r)
	}
}

func (e *encoder) openRecord(kind string, x Extra) object {
	o := e.open(x)
	o.key("type").string(kind)
	return o
}

func (e *encoder) header(h *Header) {
	o := e.openRecord("header", h.Extra)
	o.str("format", h.Format)
	o.str("version", h.Version)
	o.str("source_tool", h.SourceTool)
	o.str("frame_order", h.FrameOrder)
	if h.Events != nil {
		o.key("events")
		e.b = append(e.b, '[')
		for i := range h.Events {
			if i > 0 {
				e.b = append(e.b, ',')
			}
			e.event(&h.Events[i])
		}
		e.b = append(e.b, ']')
	}
	if t := h.TimeRange; t != nil {
		o.key("time_range")
		n := e.open(t.Extra)
		n.num("start", t.Start)
		n.num("end", t.End)
		n.str("unit", t.Unit)
		n.close()
	}
	if s := h.Source; s != nil {
		o.key("source")
		n := e.open(s.Extra)
		n.str("tool", s.Tool)
		n.str("command", s.Command)
		n.str("tool_version", s.ToolVersion)
		n.close()
	}
	o.str("stack_id_mode", h.StackIDMode)
	o.close()
}

func (e *encoder) event(v *Event) {
	o := e.open(v.Extra)
	o.str("name", v.Name)
	o.str("kind", v.Kind)
	s := &v.Sampling
	if !o.keeps("sampling") || s.Mode != "" || s.PrimaryMetric != "" {
		o.key("sampling")
		n := e.open(s.Extra)
		n.str("mode", s.Mode)
		n.str("primary_metric", s.PrimaryMetric)
		n.num("sample_period", s.SamplePeriod)
		n.num("frequency_hz", s.FrequencyHz)
		n.close()
	}
	if t := v.AllocationTracking; t != nil {
		o.key("allocation_tracking")
		n := e.open(t.Extra)
		n.optBool("tracks_frees", t.TracksFrees)
		n.optBool("has_timestamps", t.HasTimestamps)
		n.close()
	}
	o.close()
}

func (e *encoder) frame(f *Frame) {
	o := e.openRecord("frame", f.Extra)
	o.int("id", f.ID)
	o.always("func", f.Func)
	o.optBool("func_resolved", f.FuncResolved)
	o.int("dso", f.DSO)
	o.str("ip", f.IP)
	o.str("symoff", f.SymOff)
	o.str("srcline", f.SrcLine)
	o.optBool("srcline_resolved", f.SrcLineResolved)
	o.optBool("inlined", f.Inlined)
	o.optInt("inline_depth", f.InlineDepth)
	o.str("kind", f.Kind)
	o.close()
}

func (e *encoder) stack(s *Stack) {
	o := e.openRecord("stack", s.Extra)
	o.id("id", s.ID)
	o.key("frames")
	e.b = append(e.b, '[')
	for i, f := range s.Frames {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = strconv.AppendInt(e.b, f, 10)
	}
	e.b = append(e.b, ']')
	o.str("stack_type", s.StackType)
	o.key("context")
	e.context(&s.Context)
	o.weights(s.Weights)
	if x := s.Exclusive; x != nil {
		o.key("exclusive")
		n := e.open(x.Extra)
		n.int("frame", x.Frame)
		n.weights(x.Weights)
		n.close()
	}
	if s.RelatedStacks != nil {
		o.key("related_stacks")
		e.b = append(e.b, '[')
		for i, id := range s.RelatedStacks {
			if i > 0 {
				e.b = append(e.b, ',')
			}
			e.id("related_stacks", id)
		}
		e.b = append(e.b, ']')
	}
	o.close()
}

func (e *encoder) context(c *Context) {
	o := e.open(c.Extra)
	o.str("event", c.Event)
	o.optInt("pid", c.PID)
	o.optInt("tid", c.TID)
	o.optInt("cpu", c.CPU)
	o.str("comm", c.Comm)
	if p := c.Probe; p != nil {
		o.key("probe")
		n := e.open(p.Extra)
		n.always("provider", p.Provider)
		n.always("module", p.Module)
		n.always("function", p.Function)
		n.always("name", p.Name)
		n.close()
	}
	o.str("execname", c.ExecName)
	o.optInt("uid", c.UID)
	o.str("zonename", c.ZoneName)
	if c.TraceFields != nil {
		o.key("trace_fields")
		e.raw("trace_fields", c.TraceFields)
	}
	o.close()
}

func (o *object) weights(ws []Weight) {
	if len(ws) == 0 && o.keeps("weights") {
		return
	}
	e := o.key("weights")
	e.b = append(e.b, '[')
	for i := range ws {
		w := &ws[i]
		if i > 0 {
			e.b = append(e.b, ',')
		}
		n := e.open(w.Extra)
		n.always("metric", w.Metric)
		n.num("value", w.Value)
		n.str("unit", w.Unit)
		n.close()
	}
	e.b = append(e.b, ']')
}

func (e *encoder) sample(s *Sample) {
	o := e.openRecord("sample", s.Extra)
	o.num("timestamp", s.Timestamp)
	o.optInt("pid", s.PID)
	o.optInt("tid", s.TID)
	o.optInt("cpu", s.CPU)
	o.str("event", s.Event)
	o.num("period", s.Period)
	o.id("stack_id", s.StackID)
	if s.Context != nil {
		o.key("context")
		e.context(s.Context)
	}
	o.close()
}

func (e *encoder) window(w *Window) {
	o := e.openRecord("window", w.Extra)
	o.id("id", w.ID)
	o.num("start", w.Start)
	o.num("end", w.End)
	o.str("unit", w.Unit)
	if len(w.ByStack) == 0 && o.keeps("by_stack") {
		o.close()
		return
	}
	o.key("by_stack")
	e.b = append(e.b, '[')
	for i := range w.ByStack {
		s := &w.ByStack[i]
		if i > 0 {
			e.b = append(e.b, ',')
		}
		n := e.open(s.Extra)
		n.id("stack_id", s.StackID)
		n.weights(s.Weights)
		n.close()
	}
	e.b = append(e.b, ']')
	o.close()
}
