package gpureport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/order"
	"ashlar/ingest/query/ranks"
	"ashlar/render/units"
)

// Ranks compares the ranks of a distributed job by the collective operations that all ranks of
// a group take part in. The last rank to begin an operation keeps the others waiting.
type Ranks struct {
	Count      int         `json:"count"`
	Operations int         `json:"operations"`
	Window     json.Number `json:"window"` // from the first operation to the end of the last
	Ranks      []Rank      `json:"ranks"`
	// Collectives are the kinds of operations, the longest wait first.
	Collectives []Collective `json:"collectives"`
	// Straggler is the index in Ranks of one that is last too often to be chance, -1 if there
	// is none. Cause names what takes longer there, null if that is not recorded.
	Straggler int        `json:"straggler"`
	Cause     *RankCause `json:"cause"`
}

// Rank is a rank of a job: a GPU, or a process if no GPU communicates.
type Rank struct {
	Name       string `json:"name"`
	Operations int    `json:"operations"`
	// Last is the number of operations that it was the last to begin. Late is the time for
	// which the others waited for it alone: from the last but one to begin until it.
	Last      int         `json:"last"`
	Late      json.Number `json:"late"`
	LateShare json.Number `json:"late_share"` // of Window
	Wait      json.Number `json:"wait"`       // its own wait for others
	// Compute is the time in which other kernels ran or, without GPUs, the time outside of
	// collective operations.
	Compute json.Number `json:"compute"`
}

// Collective is a kind of collective operation.
type Collective struct {
	Name       string      `json:"name"`
	Ranks      int         `json:"ranks"`
	Operations int         `json:"operations"`
	Wait       json.Number `json:"wait"` // of all ranks together
}

// RankCause is a function whose time on the straggler exceeds the median of the other ranks.
type RankCause struct {
	Function string      `json:"function"`
	Time     json.Number `json:"time"`
	Median   json.Number `json:"median"`
}

func (a *Answer) addRanks(r *ranks.Report) {
	if a.ranks = r; r == nil {
		return
	}
	out := &Ranks{Count: len(r.Ranks), Operations: r.Operations, Window: exactnum.Nanoseconds(r.Window), Ranks: []Rank{}, Collectives: []Collective{}, Straggler: r.Straggler}
	for _, x := range r.Ranks {
		out.Ranks = append(out.Ranks, Rank{x.Name, x.Operations, x.Last, exactnum.Nanoseconds(x.Late), evidence.Share(x.Late, r.Window), exactnum.Nanoseconds(x.Wait), exactnum.Nanoseconds(x.Compute)})
	}
	for _, c := range r.Collectives {
		out.Collectives = append(out.Collectives, Collective{c.Name, c.Ranks, c.Operations, exactnum.Nanoseconds(c.Wait)})
	}
	if c := r.Cause; c != nil {
		out.Cause = &RankCause{a.name(c.Function), exactnum.Nanoseconds(c.Time), exactnum.Nanoseconds(c.Median)}
	}
	a.Ranks = out
}

// textRanks is the maximum number of ranks and of kinds of operations in text: those that are
// late for the longest time, and those with the longest waits.
const textRanks = 12

func (a *Answer) ranksText(b *strings.Builder) {
	r := a.ranks
	if r == nil {
		return
	}
	fmt.Fprintf(b, "%s in %s over %s\n", units.Plural(int64(len(r.Ranks)), "rank"), units.Plural(int64(r.Operations), "collective operation"), units.Duration(r.Window))
	for _, c := range r.Collectives[:min(len(r.Collectives), textRanks)] {
		fmt.Fprintf(b, "%12s waited by %s in %s of %s\n", units.Duration(c.Wait), units.Plural(int64(c.Ranks), "rank"), units.Plural(int64(c.Operations), "call"), safetext.Short(c.Name))
	}
	if s := r.Straggler; s >= 0 {
		fmt.Fprintf(b, "%s is last too often to be chance.", safetext.Short(r.Ranks[s].Name))
		if c := r.Cause; c != nil {
			fmt.Fprintf(b, " %s takes %s there, %s on the median of the others.", safetext.Short(a.name(c.Function)), units.Duration(c.Time), units.Duration(c.Median))
		}
		b.WriteString("\n")
	}
	all := slices.Clone(r.Ranks)
	order.By(all, func(a, b ranks.Rank) int { return cmp.Compare(b.Late, a.Late) })
	b.WriteString("\n   last   others wait for it      own wait       compute  rank\n")
	for _, x := range all[:min(len(all), textRanks)] {
		fmt.Fprintf(b, "%7s %13s %7s %13s %13s  %s\n", units.Count(int64(x.Last)), units.Duration(x.Late), units.Percent(x.Late, r.Window), units.Duration(x.Wait), units.Duration(x.Compute), safetext.Short(x.Name))
	}
	if more := len(all) - textRanks; more > 0 {
		fmt.Fprintf(b, "… and %s; --json lists all\n", units.Plural(int64(more), "other rank"))
	}
	b.WriteString("\n")
}
