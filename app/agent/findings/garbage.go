package findings

import (
	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// keeps reports whether the program itself has memory in use. After its work it has none, and
// it tells nothing that a function keeps none.
func keeps(inUse *look, owners []recording.FuncID) bool {
	for c, f := range owners {
		if f != nobody && inUse.weights.Self[c] > 0 {
			return true
		}
	}
	return false
}

// garbage examines heap profiles that record both allocated and live memory.
func (l *look) garbage(r rule) error {
	for e := range l.rec.Events {
		ev := &l.rec.Events[e]
		all, left := ev.Metric("alloc_space"), ev.Metric("inuse_space")
		if all < 0 || left < 0 {
			continue
		}
		other, err := l.other(e, all)
		if err != nil {
			return err
		}
		kept, err := l.other(e, left)
		if err != nil {
			return err
		}
		owners, recognized := other.owners()
		if recognized && !keeps(kept, owners) {
			return nil
		}
		still, made := kept.byOwner(owners), other.byOwner(owners)
		for {
			id, cost := most(made)
			sure, ok := other.above(cost, other.sum, .33)
			if !ok {
				break
			}
			delete(made, id)
			if 20*still[id] > cost {
				continue
			}
			f := l.rec.Functions.At(int(id))
			with := ""
			if recognized {
				with = ", with the library code below it,"
			}
			amount, share := other.amount(cost)
			keeps := part(still[id], cost)
			if library, _ := analyze.Library(l.rec); !library[id] {
				args := other.owned(f)
				amount, share = amount.by("function.self", args...), share.over("function.self", "total", args...)
				keeps = keeps.over("function.self", evidence.Command(l.rec, args...)+" # function.self", kept.owned(f)...)
			}
			other.add(r, Finding{Function: f.Name, Size: other.size(cost), Confidence: sure}.saying("%s%s allocates %s (%s) of all memory and keeps %s of it.", quoted(f.Name), with, amount, share, keeps), of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f))
		}
		l.out = other.out
		return nil
	}
	return nil
}
