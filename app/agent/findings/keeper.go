package findings

import (
	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
)

// leastKept is the memory in use, in bytes, that is too little to report.
const leastKept = 1 << 20

// keeper looks for the function of the program that allocated most of the memory in use.
func (l *look) keeper(r rule) error {
	for e := range l.rec.Events {
		m := l.rec.Events[e].Metric("inuse_space")
		if m < 0 {
			continue
		}
		kept, err := l.other(e, m)
		if err != nil {
			return err
		}
		owners, _ := kept.owners()
		cost, all := map[recording.FuncID]int64{}, map[recording.FuncID]bool{}
		for c, f := range owners {
			self := kept.weights.Self[c]
			if c == 0 || self <= 0 { // 0 has no stack
				continue
			}
			all[l.rec.Func(recording.CallID(c))] = true
			if f != nobody {
				cost[f] += self
			}
		}
		id, sum := most(cost)
		sure, ok := kept.above(sum, kept.sum, .5)
		if !ok || len(all) < 3 || sum < leastKept {
			return nil // a program that does one thing only, or a small one
		}
		f := l.rec.Functions.At(int(id))
		if isUnnamed(f) {
			return nil
		}
		amount, share := kept.amount(sum)
		amount, share = amount.by("function.self", kept.owned(f)...), share.over("function.self", "total", kept.owned(f)...)
		kept.add(r, Finding{Function: f.Name, Size: kept.size(sum), Confidence: sure}.saying("%s and the library code below it allocated %s (%s) of the memory in use.", quoted(f.Name), amount, share), of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f))
		l.out = kept.out
		return nil
	}
	return nil
}
