package chrome

import (
	"bytes"
	"encoding/json"
	"math"

	"ashlar/ingest/input/jsonscan"
)

// metadata applies the name or sort index of an M event. It reports whether the event had
// one.
func (d *decoder) metadata(it *item) bool {
	t := d.threadOf(it)
	args := jsonscan.Member(it.text(), "args")
	name := d.textOf(it.name)
	switch name {
	case "process_name":
		if v := jsonscan.Member(args, "name"); v != nil {
			d.b.ProcessInfo(d.process(t)).Name = jsonscan.Plain(v)
			return true
		}
	case "process_labels":
		if v := jsonscan.Member(args, "labels"); v != nil {
			d.b.ProcessInfo(d.process(t)).Labels = jsonscan.Plain(v)
			return true
		}
	case "process_sort_index":
		if n, ok := sortIndex(args); ok {
			d.b.ProcessInfo(d.process(t)).Sort = n
			return true
		}
	case "thread_name":
		if v := jsonscan.Member(args, "name"); v != nil {
			d.use(it).track.SetName(jsonscan.Plain(v))
			return true
		}
	case "thread_sort_index":
		if n, ok := sortIndex(args); ok {
			d.use(it).track.SetSort(n)
			return true
		}
	}
	d.warn(otherMetadata, it.off, name)
	return false
}

// sortIndex returns the sort index of a metadata event.
func sortIndex(args []byte) (int, bool) {
	m, ok := jsonscan.ParseMicros(jsonscan.Unquoted(jsonscan.Member(args, "sort_index")))
	return int(max(min(m.US, math.MaxInt32), math.MinInt32)), ok
}

// tool searches a top-level object for the recording tool and the recorded command.
func (d *decoder) tool(text []byte) {
	src := d.b.Source()
	for k, v := range jsonscan.Object(text).All {
		switch key := string(k); {
		case src.Tool == "" && v[0] == '"' && (key == "source" || key == "product-version" || key == "version"):
			src.Tool = jsonscan.Plain(v)
		case src.Command == "" && v[0] == '"' && key == "command_line":
			src.Command = jsonscan.Plain(v)
		default:
			d.note(decoded(key), v)
		}
	}
}

// member stores a member of the outermost object as a note.
func (d *decoder) member(text []byte) {
	m := jsonscan.Object(append(append([]byte{'{'}, text...), '}'))
	if k, v, ok := m.Next(); ok && string(k) != "displayTimeUnit" { // displayTimeUnit does not describe the recording
		d.note(decoded(string(k)), v)
	}
}

// note stores a member of a top-level object: a text or a number unchanged, an array as one
// note per element, a small object as compact JSON.
func (d *decoder) note(key string, v []byte) {
	var list []json.RawMessage
	var b bytes.Buffer
	bad := json.Compact(&b, v)
	switch {
	case v[0] == '"':
		d.b.Source().Note(key, jsonscan.Plain(v))
	case v[0] == '[' && json.Unmarshal(v, &list) == nil:
		for _, x := range list {
			d.note(key, x)
		}
	case bad == nil && b.String() == "null":
	case bad == nil && b.Len() <= maxNoted:
		d.b.Source().Note(key, b.String())
	default:
		d.lost("top-level member", longMember, 0, key)
	}
}

// maxNoted is the maximum size of an object stored as a note, in bytes.
const maxNoted = 4 << 10
