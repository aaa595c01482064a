package spaa

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// contextRec copies a context. Its attributes are all its keys; the keys of
// nested objects are joined with dots ("probe.provider"), arrays stay JSON.
func (d *dict) contextRec(b *batch, c *format.Context) contextRec {
	return contextRec{
		attrs: withoutAdded(flatten(nil, "", c.JSON(), 0)), event: d.str(b, c.Event),
		who: owner{pid: c.PID.V, tid: c.TID.V, hasPID: c.PID.OK, hasTID: c.TID.OK, comm: d.str(b, c.Comm)},
	}
}

func isNull[T ~string | ~[]byte](value T) bool { return string(value) == "null" }

// maxFlatten is the number of levels of objects that become keys; deeper ones stay JSON.
const maxFlatten = 4

// flatten appends a valid JSON value under a key. The key is empty for the outermost
// object, whose null values are left out.
func flatten(attrs []recording.Attr, key string, value []byte, depth int) []recording.Attr {
	if len(value) > 0 && value[0] == '"' {
		var s string
		if json.Unmarshal(value, &s) == nil {
			return append(attrs, recording.Attr{Key: key, Value: s})
		}
	}
	var fields map[string]json.RawMessage
	if len(value) > 0 && value[0] == '{' && depth <= maxFlatten && json.Unmarshal(value, &fields) == nil {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			switch field := bytes.TrimSpace(fields[name]); {
			case key != "":
				attrs = flatten(attrs, key+"."+name, field, depth+1)
			case !isNull(field):
				attrs = flatten(attrs, name, field, depth+1)
			}
		}
		return attrs
	}
	var out bytes.Buffer
	if json.Compact(&out, value) == nil {
		value = out.Bytes()
	}
	return append(attrs, recording.Attr{Key: key, Value: validText(string(value))})
}
