package gpureport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/exactnum"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/render/units"
)

// Memory is the memory of a device that PyTorch's allocator manages for a process. Reserved
// includes memory that the allocator caches.
type Memory struct {
	Device    string `json:"device"`
	Process   string `json:"process"`
	Allocated Peak   `json:"allocated"`
	Reserved  Peak   `json:"reserved"`
}

// Peak is the largest amount of memory, and the first moment at which it was in use.
type Peak struct {
	Bytes int64       `json:"bytes"`
	Time  json.Number `json:"time"`
	// Thread made the allocation, in Operator (the innermost) and during Step. Operator and
	// Step are empty if it was in none.
	Thread   string `json:"thread"`
	Operator string `json:"operator"`
	Step     string `json:"step"`
}

func (a *Answer) addMemory(all []gpu.Memory) {
	a.memory, a.Memory = all, []Memory{}
	for i := range all {
		m := &all[i]
		a.Memory = append(a.Memory, Memory{m.Device, a.rec.Processes[m.Process].Title(), a.peak(&m.Allocated), a.peak(&m.Reserved)})
	}
}

func (a *Answer) peak(p *gpu.Peak) Peak {
	if p.Track == recording.NoTrack {
		return Peak{Time: "0"}
	}
	out := Peak{p.Bytes, exactnum.Nanoseconds(p.Time - a.rec.Start), a.rec.TrackLabel(p.Track), p.Operator, ""}
	if p.Step >= 0 {
		out.Step = a.rec.FuncName(a.steps.Steps[p.Step].Call)
	}
	return out
}

// memoryText writes the peaks of memory.
func (a *Answer) memoryText(b *strings.Builder) {
	for i := range a.memory {
		m := &a.memory[i]
		of := m.Device
		if slices.ContainsFunc(a.memory, func(o gpu.Memory) bool { return o.Device == m.Device && o.Process != m.Process }) {
			of += ", " + a.Memory[i].Process
		}
		fmt.Fprintf(b, "\nMemory of %s\n", safetext.Short(of))
		for k, p := range []*gpu.Peak{&m.Allocated, &m.Reserved} {
			if p.Bytes == 0 {
				continue
			}
			to := []*Peak{&a.Memory[i].Allocated, &a.Memory[i].Reserved}[k]
			fmt.Fprintf(b, "%12s  peak %s, reached at %s", units.Bytes(p.Bytes), [...]string{"allocated", "reserved"}[k], units.Duration(p.Time-a.rec.Start))
			if to.Operator != "" {
				fmt.Fprintf(b, " in %s", safetext.Short(to.Operator))
			}
			if to.Step != "" {
				fmt.Fprintf(b, ", during %s", safetext.Short(to.Step))
			}
			b.WriteByte('\n')
		}
	}
}
