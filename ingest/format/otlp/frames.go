package otlp

import (
	"iter"
	"math"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// call interns a stack of the dictionary. ok is false if the stack or one of its
// locations is missing.
func (c *converter) call(stack int32) (id recording.CallID, ok bool) {
	if stack < 0 || int(stack) >= len(c.d.stacks) {
		return recording.NoCall, stack == 0 // index 0 is valid even without a stack table
	}
	if c.calls[stack] != recording.NoCall {
		return c.calls[stack], true
	}
	ok = true
	at := c.d.stacks[stack]
	for i := len(at) - 1; i >= 0; i-- { // leaf first
		if at[i] < 0 || int(at[i]) >= len(c.d.locations) {
			ok = false
			continue
		}
		for _, f := range c.location(at[i]) {
			id = c.b.Call(id, f)
		}
	}
	if ok {
		c.calls[stack] = id
	}
	return id, ok
}

// location returns a location's frames, outermost first: the last line is the function,
// the lines before it were inlined into it.
func (c *converter) location(i int32) []recording.FrameID {
	if c.frames[i] != nil {
		return c.frames[i]
	}
	l := &c.d.locations[i]
	where := c.where(l)
	var frames []recording.FrameID
	for k := len(l.lines) - 1; k >= 0; k-- {
		frames = append(frames, c.line(l, k, &where))
	}
	if len(frames) == 0 {
		frames = append(frames, c.bare(l, &where))
	}
	c.frames[i] = frames
	return frames
}

// where describes the code of a location, from its mapping and attributes.
type where struct {
	module, buildID string
	kind            recording.Kind
	mapping         uint16
	typ             uint8
	folded          bool
}

func (c *converter) where(l *location) (w where) {
	var attrs []recording.Attr
	for _, i := range l.attrs {
		attrs = c.attr(attrs, i)
	}
	typ := get(attrs, frameTypeKey)
	if m := l.mapping; m >= 0 && int(m) < len(c.d.mappings) {
		w.module, w.buildID, w.mapping = c.mapping(&c.d.mappings[m])
	}
	w.kind, w.typ, w.folded = kindOf(typ, w.module), c.b.FrameType(typ), get(attrs, foldedKey) == "true"
	if w.module == "" && typ != "native" {
		// Interpreted code has no binary, so group it by its interpreter.
		w.module = typ
	}
	return w
}

// mapping returns the binary of a mapping. number is the mapping's number in the recording,
// 0 if the mapping is empty.
func (c *converter) mapping(m *mapping) (module, buildID string, number uint16) {
	var attrs []recording.Attr
	for _, i := range m.attrs {
		attrs = c.attr(attrs, i)
	}
	for _, key := range []string{"process.executable.build_id.gnu", "process.executable.build_id.go", htlhashKey} {
		if buildID = get(attrs, key); buildID != "" {
			if key == htlhashKey {
				buildID = recording.HTLHash + buildID
			}
			break
		}
	}
	x := recording.Mapping{Start: m.start, Limit: m.limit, Offset: m.offset, File: c.d.str(m.file), BuildID: buildID}
	for key, has := range hasOf(&x) {
		*has = get(attrs, key) == "true"
	}
	if x != (recording.Mapping{}) {
		number = c.b.Mapping(x)
	}
	return x.File, buildID, number
}

// Attributes of locations and mappings, by OpenTelemetry's conventions.
const (
	frameTypeKey = "profile.frame.type"
	foldedKey    = "pprof.location.is_folded"
	htlhashKey   = "process.executable.build_id.htlhash"
)

// hasOf visits the flags of a mapping that tell which symbol data is available, such as
// file names, with their attribute names.
func hasOf(m *recording.Mapping) iter.Seq2[string, *bool] {
	return func(yield func(string, *bool) bool) {
		_ = yield("pprof.mapping.has_filenames", &m.HasFilenames) && yield("pprof.mapping.has_functions", &m.HasFunctions) &&
			yield("pprof.mapping.has_inline_frames", &m.HasInlineFrames) && yield("pprof.mapping.has_line_numbers", &m.HasLineNumbers)
	}
}

// kindOf converts the values of profile.frame.type in OpenTelemetry's conventions.
func kindOf(typ, module string) recording.Kind {
	switch typ {
	case "kernel":
		return recording.KindKernel
	case "native", "go", "rust":
		return recording.KindUser
	case "beam", "cpython", "dotnet", "jvm", "perl", "php", "ruby", "v8js":
		return recording.KindManaged
	}
	return program.KindOf(module)
}

// line returns the frame of line k of a location.
func (c *converter) line(l *location, k int, w *where) recording.FrameID {
	ln := &l.lines[k]
	var fn function
	if ln.function >= 0 && int(ln.function) < len(c.d.functions) {
		fn = c.d.functions[ln.function]
	}
	name := c.d.str(fn.name)
	if name == "" {
		name = c.d.str(fn.system)
	}
	if name == "" {
		return c.bare(l, w)
	}
	file, symbol := c.d.str(fn.file), c.d.str(fn.system)
	if symbol == name {
		symbol = ""
	}
	f := recording.Frame{
		Func: c.b.Function(recording.Function{Name: name, Module: w.module, File: file, Kind: w.kind, Symbol: symbol}),
		Addr: l.addr, File: file, Line: small(ln.line), Column: small(ln.col), Kind: w.kind, BuildID: w.buildID,
		Mapping: w.mapping, Type: w.typ, Folded: w.folded, StartLine: small(fn.start),
	}
	if depth := len(l.lines) - 1 - k; depth > 0 {
		f.Inlined, f.InlineDepth = true, uint8(min(depth, math.MaxUint8))
	}
	return c.b.Frame(f)
}

// bare returns the frame of a location known only by address.
func (c *converter) bare(l *location, w *where) recording.FrameID {
	name := funcname.OfAddress(w.module, l.addr, c.offset(l))
	id := c.b.Function(recording.Function{Name: name, Module: w.module, Kind: w.kind, Unresolved: true})
	return c.b.Frame(recording.Frame{Func: id, Addr: l.addr, Kind: w.kind, BuildID: w.buildID, Mapping: w.mapping, Type: w.typ, Folded: w.folded})
}

// offset returns the offset of an address in its binary's file, 0 if unknown. In a
// mapping that starts at 0, addresses are offsets already.
func (c *converter) offset(l *location) uint64 {
	if l.mapping < 0 || int(l.mapping) >= len(c.d.mappings) {
		return 0
	}
	m := &c.d.mappings[l.mapping]
	if l.addr < m.start || l.addr >= m.limit {
		return 0
	}
	return l.addr - m.start + m.offset
}

func small(n int64) int32 { return int32(max(0, min(n, math.MaxInt32))) }
