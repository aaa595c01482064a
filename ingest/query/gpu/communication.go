package gpu

import (
	"cmp"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
)

// collectives are parts of the names of work that communicates with other devices, in lower
// case and without blanks, - and _: kernels of NCCL, RCCL and NVSHMEM, PyTorch's and vLLM's own,
// operations of XLA, and copies between devices.
var collectives = []string{"nccl", "rccl", "nvshmem", "c10d::", "allreduce", "allgather", "reducescatter", "alltoall", "collectivepermute", "collectivebroadcast",
	"crossdevicereduce", "memcpyptop", "memcpyp2p"}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// IsCollective reports whether a name is that of an operation between devices.
func IsCollective(name string) bool {
	name = separators.Replace(strings.ToLower(name))
	return slices.ContainsFunc(collectives, func(part string) bool { return strings.Contains(name, part) })
}

// overlap computes Communicating and Hidden.
func (d *Device) overlap() {
	type edge struct {
		at         int64
		track      int
		change     int
		collective bool
	}
	var edges []edge
	found := false
	for i := range d.Work {
		if w := &d.Work[i]; w.Collective || w.Kind == Kernel {
			edges = append(edges, edge{w.Start, w.Track, 1, w.Collective}, edge{w.End, w.Track, -1, w.Collective})
			found = found || w.Collective
		}
	}
	if !found {
		return
	}
	order.By(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	running := map[int]int{} // by stream
	communicating, computing, from := 0, 0, int64(0)
	for _, e := range edges {
		if communicating > 0 {
			d.Communicating += e.at - from
			if computing > 0 && len(running) > 1 {
				d.Hidden += e.at - from
			}
		}
		from = e.at
		if e.collective {
			communicating += e.change
		} else {
			computing += e.change
		}
		if running[e.track] += e.change; running[e.track] == 0 {
			delete(running, e.track)
		}
	}
}
