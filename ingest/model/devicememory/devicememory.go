// Package devicememory parses the memory events of PyTorch's profiler.
package devicememory

import (
	"strconv"

	"ashlar/ingest/input/jsonscan"
)

// Name is the name of memory events, which are instants.
const Name = "[memory]"

// Event is a change of the memory that PyTorch's allocator manages on a device.
type Event struct {
	Device string // such as "GPU 0"
	// Allocated and Reserved are the sums after the change, in bytes. Reserved includes
	// memory that the allocator caches; it is 0 for the CPU.
	Allocated, Reserved int64
}

// devices names the types of devices (DeviceType.h in github.com/pytorch/pytorch).
var devices = map[int64]string{0: "CPU", 1: "GPU", 6: "GPU", 9: "XLA", 12: "XPU", 13: "MPS"}

// Parse returns the event with these arguments, a JSON object. It reports whether the
// arguments have the sums, which old versions of PyTorch did not write.
func Parse(args []byte) (e Event, ok bool) {
	var kind, id int64
	for k, v := range jsonscan.Object(args).All {
		n, isInt := jsonscan.ParseInt(v)
		if !isInt {
			continue
		}
		switch string(k) {
		case "Device Type":
			kind = n
		case "Device Id":
			id = n
		case "Total Allocated":
			e.Allocated = n
			ok = true
		case "Total Reserved":
			e.Reserved = n
		}
	}
	e.Device = devices[kind]
	if e.Device == "" {
		e.Device = "device of type " + strconv.FormatInt(kind, 10)
	}
	if kind != 0 && id >= 0 {
		e.Device += " " + strconv.FormatInt(id, 10)
	}
	return e, ok
}
