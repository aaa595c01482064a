package findings

import (
	"encoding/json"
	"fmt"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

func nanoseconds(ps int64) json.Number {
	return json.Number(recording.Decimal{Mantissa: ps, Scale: 3}.String())
}

// lost reports whether a warning is about data that the recorder did not write.
func lost(w *recording.Warning) bool { return strings.Contains(w.Code, "lost") }

func (l *look) sampler(r rule) error {
	about := view.State{Tab: "about"}
	// Lines without data, such as a recorder's greeting, are left out without a warning. Minor
	// warnings affect no numbers, and what the recorder lost is not a record of the file.
	var all, warned int64
	for i := range l.rec.Warnings {
		if w := &l.rec.Warnings[i]; !w.Minor && !lost(w) {
			warned += w.Count
		}
	}
	var of recording.Tally // of the kinds with records that are left out
	var row int            // of the last one
	for i, t := range l.rec.Ledger {
		if all += t.Read; t.LeftOut > 0 {
			row = i
			if of.Kind == "" && len(t.Kind) > 2 && !strings.Contains(t.Kind, " ") { // not a phase such as B
				of.Kind = t.Kind
			} else {
				of.Kind = "record"
			}
			of.Read, of.LeftOut = of.Read+t.Read, of.LeftOut+t.LeftOut
		}
	}
	if left := min(of.LeftOut, warned); left > 0 && 100*left >= all {
		skipped, read, share := count(left), plural(of.Read, of.Kind), part(left, of.Read)
		if t := &l.rec.Ledger[row]; t.LeftOut == left && t.Read == of.Read {
			info, at := []string{"info", evidence.File(l.rec)}, fmt.Sprintf("ledger[%d].", row)
			skipped, read, share = skipped.by(at+"left_out", info...), read.by(at+"read", info...), share.over(at+"left_out", at+"read", info...)
		}
		l.add(r, Finding{Size: counts(left, of.Read, safetext.Noun(2, of.Kind))}.saying("%s of %s were skipped (%s).", skipped, read, share), about, "check", evidence.File(l.rec))
	}
	for i := range l.rec.Warnings {
		w := &l.rec.Warnings[i]
		if !w.Minor && (lost(w) || w.Code == "failed") {
			f := Finding{Size: counts(w.Count, w.Count, "records")}
			f.repeat(strings.TrimSuffix(safetext.Text(w.Text), ".") + ".")
			l.add(r, f, about, "check", evidence.File(l.rec))
		}
	}
	// States of threads need no stacks.
	if l.weights == nil || !l.sampled() || l.weights.Basis == analyze.States || l.metric.Kind != recording.Sum {
		return nil
	}
	l.unnamed(r)
	l.broken(r)
	return nil
}

func counts(part, whole int64, what string) Size {
	s := Size{Value: json.Number(fmt.Sprint(part)), Unit: what, Metric: what, Of: json.Number(fmt.Sprint(whole)), share: float64(part) / float64(max(1, whole))}
	s.Share = *decimal(s.share)
	return s
}

// unnamed looks for functions known only by their address.
func (l *look) unnamed(r rule) {
	var cost int64
	var functions []string
	for _, row := range l.Rows() {
		if isUnnamed(row.Function(l.rec)) && row.Self != 0 {
			cost += row.Self
			functions = append(functions, fmt.Sprint(row.Func))
		}
	}
	if sure, ok := l.above(cost, l.sum, .2); ok {
		amount, share := l.amount(cost)
		if query := l.recordsQuery("s.function_id IN (" + strings.Join(functions, ", ") + ")"); query != "" && len(functions) <= mostNames {
			amount, share = l.sql(amount, 0, 0, query), l.rough(share, 0, 1, query)
		}
		l.add(r, Finding{Size: l.size(cost), Confidence: sure}.saying("Functions without names: %s (%s) of %s. The recorder did not find the programs' symbols.", amount, share, name(l.metric.Name)),
			view.State{Tab: "functions", Table: view.Table{Group: "module"}}, "top", evidence.File(l.rec), "--by", "module")
	}
}

func isUnnamed(f recording.Function) bool {
	return f.Unresolved || f.Name == funcname.Unknown || f.Name == "[unknown]"
}

// deep returns the cost of the stacks of a depth, its share of the total, and the largest depth.
func (l *look) deep(depth int, cost int64, deepest int) (amount, share, most Number) {
	amount, share = l.amount(cost)
	most = count(deepest)
	if query := l.recordsQuery(fmt.Sprintf("c.depth = %d", depth)); query != "" {
		amount, share, most = l.sql(amount, 0, 0, query), l.rough(share, 0, 1, query), l.sql(most, 0, 2, query)
	}
	return amount, share, most
}

// limits are the usual limits of recorders on the number of frames in a stack.
var limits = []int{32, 63, 64, 100, 127, 128, 129, 255, 256, 511, 512, 1023, 1024, 2048}

// broken looks for stacks that have only one frame, or as many as a recorder's limit.
func (l *look) broken(r rule) {
	deepest := 0
	cost := map[int]int64{}
	for c := 1; c < len(l.weights.Self); c++ {
		if self := l.weights.Self[c]; self != 0 || l.weights.Count[c] != 0 {
			depth := l.rec.Calls.Depth(recording.CallID(c))
			deepest = max(deepest, depth)
			if self > 0 {
				cost[depth] += self
			}
		}
	}
	if deepest >= 8 {
		if sure, ok := l.above(cost[1], l.sum, .3); ok {
			amount, share, most := l.deep(1, cost[1], deepest)
			l.add(r, Finding{Size: l.size(cost[1]), Confidence: sure}.saying("Stacks of one frame: %s (%s) of %s. Others are up to %s deep, so the recorder did not find the callers.", amount, share, name(l.metric.Name), most),
				view.State{Tab: "flamegraph"}, "top", evidence.File(l.rec), "--tree")
		}
	}
	for _, limit := range limits {
		if limit != deepest {
			continue
		}
		if sure, ok := l.above(cost[deepest], l.sum, .05); ok {
			amount, share, most := l.deep(deepest, cost[deepest], deepest)
			most.noun = plural(deepest, "frame").noun
			l.add(r, Finding{Size: l.size(cost[deepest]), Confidence: sure}.saying("Stacks cut off at %s: %s (%s) of %s. No stack is deeper.", most, amount, share, name(l.metric.Name)),
				view.State{Tab: "flamegraph"}, "top", evidence.File(l.rec), "--invert")
		}
	}
}
