package firefox

import (
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/column"
)

// maxNested is the maximum nesting depth of profiles; Firefox's processes are one level
// below the first.
const maxNested = 4

// A reader parses one JSON text, which may be a string inside another.
type reader struct {
	d *decoder
	s *jsonscan.Stream
}

// passed lists members of the outermost object that are ignored, because a recording has
// no place for them.
var passed = map[string]bool{
	"pages": true, "profilerOverhead": true, "profilingLog": true, "profileGatheringLog": true,
	"pausedRanges": true, "tasktracer": true, "sources": true, "": true,
	"label": true, "duration": true, "configuration": true, "systemHost": true, "systemClient": true, "fileType": true, "version": true,
	"timestamps": true, "sizes": true,
}

func (r *reader) profile(p *profile, depth int) {
	p.from = r.s.Offset()
	if !r.s.Enter('{') {
		r.s.Skip()
		return
	}
	for key := range r.s.Members {
		switch {
		case key == "meta" && r.s.Peek() == '{':
			if raw, ok := r.s.Value(); ok {
				p.meta.read(raw)
			}
		case key == "libs":
			if raw, ok := r.s.Value(); ok {
				p.tables.libs = readLibs(raw)
			}
		case key == "shared" && r.s.Enter('{'):
			r.shared(p)
		case key == "threads" && r.s.Enter('['):
			for r.s.Next() {
				r.thread(p, depth)
			}
		case key == "processes" && r.s.Enter('['):
			for r.s.Next() {
				r.nested(p, depth)
			}
		case key == "counters" && r.s.Enter('['):
			for r.s.Next() {
				r.counter(p)
			}
		case key == "profile" && depth < maxNested && r.s.Peek() == '{':
			r.devtools(p, depth+1)
		case key == "allocations" && depth < maxNested && r.s.Peek() == '{':
			r.profile(p, depth+1) // an object of columns; "sites" has one entry per allocation
		case timelineKeys[key] && r.s.Enter('['):
			r.timeline(&p.timeline, key)
		default:
			if !passed[key] {
				r.d.b.Remark("member-unknown", decode.Byte(r.s.Offset()), "The member %q is unknown in Firefox profiles and was left out", key)
			}
			r.s.Skip()
		}
	}
	p.timeline.join(p.threads)
}

// nested reads the profile of another process, an object or a string.
func (r *reader) nested(p *profile, depth int) {
	if depth == maxNested {
		r.d.b.Warn("nested", decode.Byte(r.s.Offset()), "The profile at byte %d is nested in more than %d others and was left out", r.s.Offset(), maxNested)
		r.s.Skip()
		return
	}
	sub := new(profile)
	p.processes = append(p.processes, sub)
	if r.s.Peek() != '"' {
		r.profile(sub, depth+1)
		return
	}
	if raw, ok := r.s.Value(); ok {
		in := source.FromBytes("", []byte(jsonscan.Plain(raw)))
		inner := reader{d: r.d, s: jsonscan.NewStream(in, r.d.tick)}
		inner.profile(sub, depth+1)
		if inner.s.Damage >= 0 {
			r.d.b.Warn("damaged", decode.Byte(r.s.Offset()), "The text profile of another process before byte %d is damaged; its readable part is shown", r.s.Offset())
		}
	}
}

func (r *reader) shared(p *profile) {
	for key := range r.s.Members {
		if !r.table(&p.tables, key) {
			r.s.Skip()
		}
	}
}

// A thread holds a thread's data until it is built.
type thread struct {
	tables                         tables
	name, process, kind            string
	pid, tid                       []byte // as in the file
	from                           int64
	samples, markers, js, natively *table
	timeline                       *timeline // timeline of the page shown by the thread
}

func (r *reader) thread(p *profile, depth int) {
	if r.s.Peek() == '"' {
		r.nested(p, depth)
		return
	}
	t := &thread{from: r.s.Offset()}
	if !r.s.Enter('{') {
		r.s.Skip()
		decode.LeaveValue(r.d.b, r.d.threads, "not-a-thread", t.from, "a thread")
		return
	}
	r.d.threads.Read++
	r.d.threads.Kept++
	p.threads = append(p.threads, t)
	for key := range r.s.Members {
		switch {
		case r.table(&t.tables, key):
		case key == "samples":
			t.samples = r.columns(false)
		case key == "markers":
			t.markers = r.columns(false)
		case key == "jsAllocations":
			t.js = r.columns(false)
		case key == "nativeAllocations":
			t.natively = r.columns(false)
		case key == "libs":
			if raw, ok := r.s.Value(); ok {
				t.tables.libs = readLibs(raw)
			}
		case r.s.Peek() == '{' || r.s.Peek() == '[':
			r.s.Skip()
		default:
			raw, ok := r.s.Value()
			if !ok {
				return
			}
			t.about(key, raw)
		}
	}
}

func (t *thread) about(key string, raw []byte) {
	switch key {
	case "name":
		t.name = jsonscan.Plain(raw)
	case "processName":
		t.process = jsonscan.Plain(raw)
	case "processType":
		t.kind = jsonscan.Plain(raw)
	case "pid":
		t.pid = append(t.pid[:0], raw...)
	case "tid":
		t.tid = append(t.tid[:0], raw...)
	}
}

// tables are the tables that samples and markers refer to.
type tables struct {
	strings                                                []string
	libs                                                   []lib
	stack, frame, fn, resource, native, sources, locations *table
}

// table reads a table that threads refer to. It returns false if key is not the name of
// such a table.
func (r *reader) table(ts *tables, key string) bool {
	switch key {
	case "stringArray", "stringTable":
		if !r.s.Enter('[') {
			return false
		}
		for raw := range r.s.Values {
			ts.strings = append(ts.strings, jsonscan.Plain(raw))
		}
	case "stackTable":
		ts.stack = r.columns(false)
	case "frameTable":
		ts.frame = r.columns(false)
	case "funcTable":
		ts.fn = r.columns(false)
	case "resourceTable":
		ts.resource = r.columns(false)
	case "nativeSymbols":
		ts.native = r.columns(false)
	case "sources":
		ts.sources = r.columns(false)
	case "sourceLocationTable":
		ts.locations = r.columns(false)
	default:
		return false
	}
	return true
}

// over returns the tables of a thread, completed from the shared ones.
func (ts tables) over(all *tables) *tables {
	if ts.strings == nil {
		ts.strings = all.strings
	}
	if ts.libs == nil {
		ts.libs = all.libs
	}
	for _, x := range []struct{ own, all **table }{
		{&ts.stack, &all.stack}, {&ts.frame, &all.frame}, {&ts.fn, &all.fn}, {&ts.resource, &all.resource},
		{&ts.native, &all.native}, {&ts.sources, &all.sources}, {&ts.locations, &all.locations},
	} {
		if *x.own == nil {
			*x.own = *x.all
		}
	}
	return &ts
}

// wanted are the columns to keep.
var wanted = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields(`stack time timeDeltas weight threadCPUDelta
		name startTime endTime phase category data
		prefix prefixOffset frame func address line column inlineDepth nativeSymbol lib location originalLocation
		resource source fileName lineNumber columnNumber isJS libIndex filename count`) {
		m[k] = true
	}
	return m
}()

// A table holds columns of numbers, by name.
type table struct {
	cols       map[string]*numbers
	refs       column.Vec[uint64] // texts of the column data
	weightType string
	samples    *table // samples of a counter
}

func (t *table) col(name string) *numbers {
	if t == nil {
		return nil
	}
	return t.cols[name]
}

// add adds a value to a column.
func (t *table) add(d *decoder, name string, raw []byte) {
	if name == "data" {
		t.data(d, raw)
		return
	}
	c := t.cols[name]
	if c == nil {
		c = new(numbers)
		t.cols[name] = c
	}
	c.add(raw)
}

// data keeps the data of a marker. In old versions it includes the start and end.
func (t *table) data(d *decoder, raw []byte) {
	ref := uint64(0)
	var start, end []byte
	phase := "null"
	if len(raw) > 2 && raw[0] == '{' {
		ref = d.texts.Add(raw)
		for k, v := range jsonscan.Object(raw).All {
			switch string(k) {
			case "startTime":
				start = v
			case "endTime":
				end = v
			case "interval":
				switch string(v) {
				case `"start"`:
					phase = "2"
				case `"end"`:
					phase = "3"
				}
			}
		}
	}
	t.refs.Append(ref)
	t.add(d, "data start", start)
	t.add(d, "data end", end)
	t.add(d, "data phase", []byte(phase))
}

// columns reads a table. Its members are the columns or, in raw profiles, rows and a
// schema with the position of each column. A group of a counter contains another table,
// its samples.
func (r *reader) columns(group bool) *table {
	if !r.s.Enter('{') {
		r.s.Skip()
		return nil
	}
	t := &table{cols: map[string]*numbers{}}
	var schema []string
	for key := range r.s.Members {
		switch {
		case key == "schema" && r.s.Peek() == '{':
			if raw, ok := r.s.Value(); ok {
				schema = readSchema(raw)
			}
		case key == "data" && schema != nil && r.s.Enter('['):
			for raw := range r.s.Values {
				t.row(r.d, schema, raw)
			}
		case key == "weightType" && r.s.Peek() == '"':
			if raw, ok := r.s.Value(); ok {
				t.weightType = jsonscan.Plain(raw)
			}
		case wanted[key] && r.s.Enter('['):
			for raw := range r.s.Values {
				t.add(r.d, key, raw)
			}
		case group && key == "samples":
			t.samples = r.columns(false)
		default:
			r.s.Skip()
		}
	}
	return t
}

// row adds a row of a raw table; a short row gets nulls.
func (t *table) row(d *decoder, schema []string, raw []byte) {
	a := jsonscan.Array(raw)
	for _, name := range schema {
		v, ok := a.Next()
		if !ok {
			v = []byte("null")
		}
		if wanted[name] {
			t.add(d, name, v)
		}
	}
}

// readSchema returns the names of columns by position.
func readSchema(raw []byte) []string {
	schema := []string{}
	for k, v := range jsonscan.Object(raw).All {
		n, ok, _ := decode.ParseNumber(v)
		if !ok || n.Scale != 0 || n.Mantissa < 0 || n.Mantissa > 1000 {
			continue
		}
		for len(schema) <= int(n.Mantissa) {
			schema = append(schema, "")
		}
		schema[n.Mantissa] = string(k)
	}
	return schema
}

// A counter holds a counter's data until it is built.
type counter struct {
	name, category, unit string
	graph                string // how the Firefox Profiler draws it
	pid                  []byte
	samples              *table
}

func (r *reader) counter(p *profile) {
	c := new(counter)
	if !r.s.Enter('{') {
		r.s.Skip()
		return
	}
	p.counters = append(p.counters, c)
	for key := range r.s.Members {
		switch {
		case key == "samples":
			c.samples = r.columns(false)
		case (key == "sampleGroups" || key == "sample_groups") && r.s.Enter('['):
			for r.s.Next() {
				if t := r.columns(true); t != nil && c.samples == nil {
					c.samples = t.samples
				}
			}
		case key == "pid":
			if raw, ok := r.s.Value(); ok {
				c.pid = append(c.pid[:0], raw...)
			}
		case key == "name" || key == "category" || key == "display":
			if raw, ok := r.s.Value(); ok {
				c.about(key, raw)
			}
		default:
			r.s.Skip()
		}
	}
}

func (c *counter) about(key string, raw []byte) {
	switch key {
	case "name":
		c.name = jsonscan.Plain(raw)
	case "category":
		c.category = jsonscan.Plain(raw)
	case "display":
		c.graph = jsonscan.Plain(jsonscan.Member(raw, "graphType"))
		c.unit = jsonscan.Plain(jsonscan.Member(raw, "unit"))
	}
}
