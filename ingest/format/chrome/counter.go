package chrome

import (
	"math"
	"strconv"

	"ashlar/ingest/input/jsonscan"
)

// counterKey identifies a counter of a process by its name and its id, if any.
type counterKey struct {
	process  int
	name, id uint32
}

// series is one line of a counter's graph.
type series struct {
	key   string
	index int
}

// maxSeries is the maximum number of series of one counter.
const maxSeries = 1024

// counter adds a C event: each number among its args is a point of a series. It reports
// whether it added a point.
func (d *decoder) counter(it *item) bool {
	t := d.threadOf(it)
	at := d.at(it.ts, it.off)
	key := counterKey{process: d.process(t), name: it.name}
	var args []byte
	m := jsonscan.Object(it.text())
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "args":
			args = v
		case "id":
			key.id = d.ids.id(jsonscan.Unquoted(v))
		}
	}
	found := false
	m = jsonscan.Object(args)
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		value, err := strconv.ParseFloat(string(jsonscan.Unquoted(v)), 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			continue // no finite number
		}
		if i := d.series(key, k); i >= 0 {
			d.b.CounterPoint(i, at, value)
			found = true
		}
	}
	if !found {
		d.warn(noSeries, it.off, "")
	}
	return found
}

// series returns the index of a counter's series, -1 when it has too many.
func (d *decoder) series(key counterKey, name []byte) int {
	list := d.counters[key]
	for i := range list {
		if list[i].key == string(name) {
			return list[i].index
		}
	}
	if len(list) == maxSeries {
		return -1
	}
	label := d.textOf(key.name)
	if key.name == 0 {
		label = nameless
	}
	if key.id != 0 {
		label += "[" + decoded(d.ids.raw[key.id-1]) + "]"
	}
	s := series{string(name), d.b.AddCounter(key.process, label, string(name), "")}
	d.counters[key] = append(list, s)
	return s.index
}
