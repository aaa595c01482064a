package chrome

import (
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/devicememory"
)

// memoryKey identifies a counter of a device's memory in a process.
type memoryKey struct {
	process        int
	device, series string
}

// memory adds points of counters for an instant, if it is a memory event of PyTorch's.
func (d *decoder) memory(it *item, t *thread, at int64) {
	if d.textOf(it.cat) != "cpu_instant_event" {
		return
	}
	e, ok := devicememory.Parse(jsonscan.Member(it.text(), "args"))
	if !ok {
		return
	}
	point := func(series string, bytes int64) {
		k := memoryKey{d.process(t), e.Device, series}
		i, ok := d.memories[k]
		if !ok {
			i = d.b.AddCounter(k.process, e.Device+" memory", series, "bytes")
			d.memories[k] = i
		}
		d.b.CounterPoint(i, at, float64(bytes))
	}
	point("allocated", e.Allocated)
	if e.Reserved > 0 {
		point("reserved", e.Reserved)
	}
}
