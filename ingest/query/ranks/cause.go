package ranks

import (
	"context"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/scan"
)

// cause looks for what takes longer on the straggler: a kernel of its GPU or else a function of
// the threads that launch them or, without a GPU, of its threads.
func (r *Report) cause(ctx context.Context, rec *recording.Recording, members []member) {
	tracks := make([][]int, len(members))
	if members[0].device != nil {
		for i := range members {
			tracks[i] = members[i].device.Streams
		}
		if r.longer(ctx, rec, tracks) {
			return
		}
		for i := range members {
			tracks[i] = members[i].launching()
		}
	} else {
		for k, t := range rec.Tracks {
			for i := range members {
				if t.Kind == recording.ThreadTrack && t.Process == members[i].process {
					tracks[i] = append(tracks[i], k)
				}
			}
		}
	}
	r.longer(ctx, rec, tracks)
}

// launching returns the tracks that launched work of a device.
func (m *member) launching() (tracks []int) {
	for i := range m.device.Work {
		if l := &m.device.Work[i].Launch; l.Track != recording.NoTrack && !slices.Contains(tracks, l.Track) {
			tracks = append(tracks, l.Track)
		}
	}
	return tracks
}

// longer sets Cause if a function explains at least half of the time for which the others wait.
func (r *Report) longer(ctx context.Context, rec *recording.Recording, tracks [][]int) bool {
	use, sums := make([]map[recording.FuncID]int64, len(tracks)), make([]scan.Usage, rec.Functions.Len())
	for i := range tracks {
		for _, t := range tracks[i] {
			scan.SelfTimes(rec, t, sums)
		}
		use[i] = map[recording.FuncID]int64{}
		for f := range sums {
			if sums[f].Calls > 0 {
				use[i][recording.FuncID(f)] = sums[f].Time
			}
		}
		if clear(sums); ctx.Err() != nil {
			return false
		}
	}
	var best Cause
	for f, own := range use[r.Straggler] {
		if gpu.IsCollective(rec.Functions.At(int(f)).Name) {
			continue
		}
		others := make([]int64, 0, len(use))
		for i := range use {
			if i != r.Straggler {
				others = append(others, use[i][f])
			}
		}
		m, _ := middle(others)
		if more, most := own-m, best.Time-best.Median; more > most || more == most && f < best.Function {
			best = Cause{f, own, m}
		}
	}
	if 2*(best.Time-best.Median) < r.Ranks[r.Straggler].Late {
		return false
	}
	r.Cause = &best
	return true
}
