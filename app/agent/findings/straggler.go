package findings

import (
	"cmp"
	"slices"

	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/scan"
)

// mostPeers is the maximum size of a group of threads that are compared function by function,
// and mostPeerSpans the maximum number of spans of all such threads.
const (
	mostPeers     = 64
	mostPeerSpans = 5_000_000
)

// straggler compares threads whose names differ only in digits, within one process or across
// processes, such as the ranks of a training run.
func (l *look) straggler(r rule) error {
	devices, err := l.gpus()
	if err != nil {
		return err
	}
	groups, n := map[string][]int{}, 0
	var names []string
	for i, t := range l.rec.Tracks {
		k := repeat.Stem(t.Name)
		if t.Kind != recording.ThreadTrack || t.Spans() == 0 || k == t.Name || isStream(devices, i) || l.rec.IsProcessor(i) {
			continue
		}
		if groups[k] == nil {
			names = append(names, k)
		}
		groups[k] = append(groups[k], i)
		n += t.Spans()
	}
	if n > mostPeerSpans {
		return nil
	}
	for _, k := range names {
		if tracks := groups[k]; len(tracks) >= 3 && len(tracks) <= mostPeers {
			if l.slowest(r, tracks) {
				return nil
			}
		}
	}
	return nil
}

// slowest adds a finding if one function takes much longer on one of the tracks.
func (l *look) slowest(r rule, tracks []int) bool {
	use := make([]map[recording.FuncID]scan.Usage, len(tracks))
	sums := make([]scan.Usage, l.rec.Functions.Len())
	var whole int64
	for k, i := range tracks {
		whole += scan.SelfTimes(l.rec, i, sums)
		use[k] = map[recording.FuncID]scan.Usage{}
		for f := range sums {
			if sums[f].Calls > 0 {
				use[k][recording.FuncID(f)] = sums[f]
			}
		}
		clear(sums)
	}
	type found struct {
		f              recording.FuncID
		more           int64
		top, next, low int // tracks: the one with the most per call, the next, and the one with the least
	}
	var best found
	for f := range use[0] {
		per := make([]int64, 0, len(tracks))
		var few, many int64
		for k := range tracks {
			u := use[k][f]
			if u.Calls < 10 {
				break
			}
			per = append(per, u.Time/u.Calls)
			if k == 0 {
				few, many = u.Calls, u.Calls
			}
			few, many = min(few, u.Calls), max(many, u.Calls)
		}
		if len(per) < len(tracks) || 10*many > 13*few {
			continue
		}
		order := make([]int, len(tracks)) // from the least per call to the most
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(per[a], per[b]) })
		low, next, top := order[0], order[len(order)-2], order[len(order)-1]
		if 2*per[top] < 3*per[next] || 2*per[next] > 3*per[low] || per[low] <= 0 {
			continue
		}
		more := (per[top] - per[next]) * use[top][f].Calls
		if 20*more*int64(len(tracks)) >= whole && (more > best.more || more == best.more && f < best.f) { // 1/20 of the mean time per track
			best = found{f, more, top, next, low}
		}
	}
	if best.more == 0 {
		return false
	}
	fn, t := l.rec.Functions.At(int(best.f)), l.rec.Tracks[tracks[best.top]]
	each := func(k int) Number {
		u := use[k][best.f]
		n := duration(u.Time / u.Calls)
		if thread := l.threadFlag(tracks[k]); thread != nil && l.ofSpans() {
			n = n.over("function.self", "function.count", append([]string{"top", evidence.File(l.rec), "--callees-of", typed(l.rec, fn), "-n", "1"}, thread...)...)
		}
		return n
	}
	l.add(r, Finding{Function: fn.Name, Thread: t.Name, Size: timePart(best.more, whole/int64(len(tracks)))}.saying("%s takes %s of self time per call on %s, but %s to %s on its %s.",
		quoted(fn.Name), each(best.top), l.on(tracks[best.top]), each(best.low), each(best.next), l.ofPeers(plural(len(tracks)-1, "peer"), tracks[best.top], len(tracks), 1)), of(fn, "calls"), "top", evidence.File(l.rec), "--by", "thread", "--focus", typed(l.rec, fn))
	return true
}
