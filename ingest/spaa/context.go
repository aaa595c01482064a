package spaa

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"

	"ashlar/ingest/recording"
	format "ashlar/spaa"
)

// contextRec copies a context. Its attributes are all its keys; the keys of
// nested objects are joined with dots ("probe.provider"), arrays stay JSON.
func (d *dict) contextRec(b *batch, c *format.ContextLine) contextRec {
	r := contextRec{event: d.str(b, c.Event)}
	r.who = owner{pid: c.PID.V, tid: c.TID.V, hasPID: c.PID.OK, hasTID: c.TID.OK, comm: d.str(b, c.Comm)}
	text := func(key string, s []byte) {
		if s != nil {
			r.attrs = append(r.attrs, recording.Attr{Key: key, Value: validText(string(s))})
		}
	}
	num := func(key string, n format.Opt[int64]) {
		if n.OK {
			r.attrs = append(r.attrs, recording.Attr{Key: key, Value: strconv.FormatInt(n.V, 10)})
		}
	}
	text("event", c.Event)
	num("pid", c.PID)
	num("tid", c.TID)
	num("cpu", c.CPU)
	text("comm", c.Comm)
	text("execname", c.ExecName)
	num("uid", c.UID)
	text("zonename", c.ZoneName)
	r.attrs = flatten(r.attrs, "probe", c.Probe, 0)
	r.attrs = flatten(r.attrs, "trace_fields", c.TraceFields, 0)
	for _, f := range c.Extra {
		if !isNull(f.Value) {
			r.attrs = flatten(r.attrs, validText(string(f.Key)), f.Value, 0)
		}
	}
	return r
}

func isNull(value []byte) bool { return string(value) == "null" }

// maxFlatten is how many levels of objects become keys; deeper ones stay JSON.
const maxFlatten = 4

// flatten appends a checked JSON value under a key.
func flatten(attrs []recording.Attr, key string, value []byte, depth int) []recording.Attr {
	if len(value) == 0 {
		return attrs
	}
	switch {
	case value[0] == '"':
		var s string
		if json.Unmarshal(value, &s) == nil {
			return append(attrs, recording.Attr{Key: key, Value: s})
		}
	case value[0] == '{' && depth < maxFlatten:
		var fields map[string]json.RawMessage
		if json.Unmarshal(value, &fields) != nil {
			break
		}
		names := make([]string, 0, len(fields))
		for name := range fields {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			attrs = flatten(attrs, key+"."+name, bytes.TrimSpace(fields[name]), depth+1)
		}
		return attrs
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return append(attrs, recording.Attr{Key: key, Value: validText(string(value))})
	}
	return append(attrs, recording.Attr{Key: key, Value: validText(out.String())})
}
