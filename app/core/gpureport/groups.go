package gpureport

import (
	"encoding/json"
	"fmt"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/render/units"
)

// Group is an operator, a module or an annotation with the GPU work that it launched. Name
// is empty for the work that none launched. Shares are of WorkTime; in each list, Self adds
// up to WorkTime, and so does Outermost.
type Group struct {
	Name string `json:"name"`
	// Self is the time of the work launched in it and in no other within it.
	Self       json.Number `json:"self"`
	SelfShare  json.Number `json:"self_share"`
	Total      json.Number `json:"total"` // with the work launched in rows within this one
	TotalShare json.Number `json:"total_share"`
	// Outermost is the part of Total launched in it and in no other around it.
	Outermost json.Number `json:"outermost"`
	// Backward is the part of Total that the backward pass launched, for modules only.
	Backward json.Number `json:"backward"`
	Calls    int         `json:"calls"` // 0 if the trace has only its work
	Work     int         `json:"work"`  // kernels, copies and fills in Total
	// Kernels are the kernels, copies and fills of Self by name, the longest first.
	Kernels []Kernel `json:"kernels"`
}

// Kernel is the work of one name in a group.
type Kernel struct {
	Name  string      `json:"name"`
	Count int         `json:"count"`
	Time  json.Number `json:"time"`
}

// groupsOf returns a list of groups as JSON.
func groupsOf(rec *recording.Recording, groups []gpu.Group, all int64) []Group {
	out := []Group{}
	for i := range groups {
		g := &groups[i]
		to := Group{g.Name, exactnum.Nanoseconds(g.Self), evidence.Share(g.Self, all), exactnum.Nanoseconds(g.Total), evidence.Share(g.Total, all),
			exactnum.Nanoseconds(g.Outermost), exactnum.Nanoseconds(g.Backward), g.Calls, g.Work, []Kernel{}}
		for _, p := range g.Parts {
			to.Kernels = append(to.Kernels, Kernel{rec.Functions.At(int(p.Function)).Name, p.Count, exactnum.Nanoseconds(p.Time)})
		}
		out = append(out, to)
	}
	return out
}

// Limits on the groups in text.
const (
	textGroups  = 12 // maximum number in a list, besides the one for other work
	textKernels = 3  // maximum number of kernels in a group: those with 1 % of all work
)

// groupText writes a list of groups.
func (a *Answer) groupText(b *strings.Builder, one string, groups []gpu.Group) {
	if groups == nil {
		return
	}
	all := a.groups.Time
	back := len(groups) > 0 && one == "module"
	fmt.Fprintf(b, "\nGPU time by %s, %s in total\n       total                 self   calls    work  ", one, units.Duration(all))
	if back {
		b.WriteString("    backward  ")
	}
	fmt.Fprintf(b, "%s\n", one)
	shown, more := 0, 0
	for i := range groups {
		g := &groups[i]
		name, calls := safetext.Short(g.Name), units.Count(int64(g.Calls))
		if g.Name == "" {
			name, calls = "(no "+one+")", ""
		} else if shown++; shown > textGroups {
			more++
			continue
		} else if g.Calls == 0 {
			calls = ""
		}
		fmt.Fprintf(b, "%12s %7s %12s %7s %7s  ", units.Duration(g.Total), units.Percent(g.Total, all), units.Duration(g.Self), calls, units.Count(int64(g.Work)))
		if back {
			fmt.Fprintf(b, "%12s  ", units.Duration(g.Backward))
		}
		fmt.Fprintf(b, "%s\n", name)
		if one != "operator" {
			continue
		}
		for _, p := range g.Parts[:min(len(g.Parts), textKernels)] {
			if 100*p.Time >= all {
				fmt.Fprintf(b, "%33s %15s    %s\n", units.Duration(p.Time), units.Count(int64(p.Count)), safetext.Short(a.name(p.Function)))
			}
		}
	}
	if more > 0 {
		fmt.Fprintf(b, "… and %s; --json lists all\n", units.Plural(int64(more), "other "+one))
	}
}
