package chrome

import "math"

// metadata takes names and order over from an M event; it reports whether
// there was something to take.
func (d *decoder) metadata(it *item) bool {
	t := d.workers[0].threads[it.thread]
	args := member(it.text(), "args")
	name := d.names[it.name].text
	switch name {
	case "process_name":
		if v := member(args, "name"); v != nil {
			d.b.ProcessInfo(d.process(t)).Name = plain(v)
			return true
		}
	case "process_labels":
		if v := member(args, "labels"); v != nil {
			d.b.ProcessInfo(d.process(t)).Labels = plain(v)
			return true
		}
	case "process_sort_index":
		if n, ok := sortIndex(args); ok {
			d.b.ProcessInfo(d.process(t)).Sort = n
			return true
		}
	case "thread_name":
		if v := member(args, "name"); v != nil {
			d.use(it.event).track.SetName(plain(v))
			return true
		}
	case "thread_sort_index":
		if n, ok := sortIndex(args); ok {
			d.use(it.event).track.SetSort(n)
			return true
		}
	}
	d.warn(otherMetadata, it.off, name)
	return false
}

// sortIndex reads the order that a metadata event gives.
func sortIndex(args []byte) (int, bool) {
	m, ok := parseMicros(unquoted(member(args, "sort_index")))
	return int(max(min(m.us, math.MaxInt32), math.MinInt32)), ok
}

// tool looks in a top-level object for what recorded, and what was recorded.
func (d *decoder) tool(text []byte) {
	src := d.b.Source()
	m := object(text)
	for {
		k, v, ok := m.next()
		if !ok {
			return
		}
		switch string(k) {
		case "source", "product-version", "version":
			if src.Tool == "" && v[0] == '"' {
				src.Tool = plain(v)
			}
		case "command_line":
			if src.Command == "" && v[0] == '"' {
				src.Command = plain(v)
			}
		}
	}
}
