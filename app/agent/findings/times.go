package findings

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/spans"
)

// Limits on the number of items that are examined one by one.
const (
	mostFunctions = 12 // functions whose calls are examined
	fewestCalls   = 50 // minimum number of calls of an examined function
)

// heavy returns the functions of a trace whose calls are examined: those with a total of
// at least a tenth of the time.
func (l *look) heavy() (rows []analyze.Row) {
	if !l.ofSpans() {
		return nil
	}
	rows = l.functions(func(r *analyze.Row) bool { return 10*r.Total >= l.sum })
	slices.SortStableFunc(rows, func(a, b analyze.Row) int { return cmp.Compare(b.Total, a.Total) })
	return rows[:min(len(rows), mostFunctions)]
}

// lengths returns the durations of the calls of each of the heavy functions.
func (l *look) lengths() (rows []analyze.Row, all []*spans.Durations, err error) {
	if rows = l.heavy(); len(rows) == 0 {
		return nil, nil, nil
	}
	if l.spans == nil {
		of := make([]recording.FuncID, len(rows))
		for i := range rows {
			of[i] = rows[i].Func
		}
		l.spans, err = spans.DurationsOfEach(l.ctx, l.rec, l.query.Scope, of)
	}
	return rows, l.spans, err
}

func (l *look) mode(r rule) error {
	if l.explained {
		return nil
	}
	rows, all, err := l.lengths()
	if err != nil {
		return err
	}
	for i, row := range rows {
		d := all[i]
		slow, ok := d.Slow()
		if !ok || d.Count < fewestCalls || 5*slow.Count > d.Count || slow.From < 3*d.Median {
			continue
		}
		f := l.rec.Functions.At(int(row.Func))
		which := (&calls.Query{Functions: []string{typed(l.rec, f)}, Duration: recording.Offsets(slow.From, slow.To)}).String()
		in, err := calls.Bind(l.ctx, l.rec, l.query.Scope.Of(&recording.CallSet{Text: which}))
		if err != nil {
			return err
		}
		apart, err := spans.DurationsIn(l.ctx, l.rec, in)
		if err != nil {
			return err
		}
		sum, _ := d.Sum.Float64()
		took, _ := apart.Sum.Float64()
		if took < .4*sum {
			continue
		}
		if all, err := l.everywhere(row.Func, d); all || err != nil {
			return err
		}
		if noise, err := l.disturbed(row.Func, d); noise || err != nil {
			return err
		}
		state := of(f, "calls")
		state.Sides[0].Calls = which
		size := l.sizeOf(int64(min(took, math.MaxInt64/2)), int64(min(sum, math.MaxInt64/2)))
		stats := []string{"stats", evidence.File(l.rec), "--function", typed(l.rec, f)}
		number, least, share := count(slow.Count), duration(apart.Min), percentage(size.share)
		if apart.Count == slow.Count {
			number = number.by("count", "calls", evidence.File(l.rec), which, "-n", "1")
			least = least.by("min", "calls", evidence.File(l.rec), which, "-n", "1")
			share = share.over("sum", evidence.Command(l.rec, "calls", evidence.File(l.rec), typed(l.rec, f), "-n", "1")+" # sum", "calls", evidence.File(l.rec), which, "-n", "1")
		}
		l.add(r, Finding{Function: f.Name, Size: size}.saying("%s of %s of %s took at least %s (median %s): %s of the function's time.",
			number, plural(d.Count, "call").by("count", stats...), quoted(f.Name), least, duration(d.Median).by("median", stats...), share), state, "calls", evidence.File(l.rec), which)
		return nil // one finding is enough: its callers and callees are slow, too
	}
	return nil
}

// spread returns how far the mean duration is above the median, as a fraction of the
// median.
func spread(d *spans.Durations) float64 {
	mean, _ := d.Mean().Float64()
	return mean/float64(max(1, d.Median)) - 1
}

// everywhere reports whether the durations of at least a third of the functions that neither
// call one nor are called by it are spread at least half as much as those of that one. Then
// something disturbed the whole program, such as other programs on the same processors, and
// the function is not the cause.
func (l *look) everywhere(f recording.FuncID, d *spans.Durations) (bool, error) {
	related := map[recording.FuncID]bool{f: true}
	for c := 1; c < len(l.weights.Self); c++ {
		id := recording.CallID(c)
		if l.weights.Count[c] > 0 && l.below(id, f) {
			related[l.rec.Func(id)] = true
		}
		for up := l.rec.Calls.Parent(id); l.rec.Func(id) == f && up != recording.NoCall; up = l.rec.Calls.Parent(up) {
			related[l.rec.Func(up)] = true
		}
	}
	rows := l.functions(func(r *analyze.Row) bool { return !related[r.Func] && r.Count >= fewestCalls && 50*r.Total >= l.sum })
	slices.SortStableFunc(rows, func(a, b analyze.Row) int { return cmp.Compare(b.Total, a.Total) })
	rows = rows[:min(len(rows), mostFunctions)]
	if len(rows) < 3 {
		return false, nil
	}
	ids := make([]recording.FuncID, len(rows))
	for i := range rows {
		ids[i] = rows[i].Func
	}
	all, err := spans.DurationsOfEach(l.ctx, l.rec, l.query.Scope, ids)
	if err != nil {
		return false, err
	}
	like := 0
	for _, other := range all {
		if other.Count > 0 && 2*spread(other) >= spread(d) {
			like++
		}
	}
	return 3*like >= len(all), nil
}

func (l *look) slower(r rule) error {
	rows, all, err := l.lengths()
	if err != nil {
		return err
	}
	for i, row := range rows {
		d := all[i]
		t := d.Trend
		if d.Count < fewestCalls || t.Direction != spans.Slower || t.P > .001 || t.Moments < 10 || t.First <= 0 || t.Last < 2*t.First {
			continue
		}
		if noise, err := l.slowed(row.Func, d); err != nil {
			return err
		} else if noise {
			continue
		}
		f := l.rec.Functions.At(int(row.Func))
		stats := []string{"stats", evidence.File(l.rec), "--function", typed(l.rec, f)}
		found := Finding{Function: f.Name, Size: l.size(row.Total), Confidence: decimal(1 - t.P)}.saying("Calls of %s slow down: %s at the end, %s at the start.",
			quoted(f.Name), estimated(t.Last).by("trend.last", stats...), estimated(t.First).by("trend.first", stats...))
		if in := l.grower(rows, all, i); in >= 0 {
			f, t = l.rec.Functions.At(int(rows[in].Func)), all[in].Trend
			stats = []string{"stats", evidence.File(l.rec), "--function", typed(l.rec, f)}
			found.Function = f.Name
			found.say(" Of the functions without callees, %s slows down most: %s at the end, %s at the start.", quoted(f.Name), estimated(t.Last).by("trend.last", stats...), estimated(t.First).by("trend.first", stats...))
		}
		l.add(r, found, of(f, "calls"), stats...)
		return nil
	}
	if len(rows) == 0 {
		return l.slowerLoop(r)
	}
	return nil
}

// grower returns the row whose calls grow most in total, among functions that spend at least
// half of their time themselves. It is -1 if none grows by at least a quarter of the growth of
// the row other, or if that is other itself.
func (l *look) grower(rows []analyze.Row, all []*spans.Durations, other int) int {
	grows := func(i int) float64 { return float64(all[i].Count) * (all[i].Trend.Last - all[i].Trend.First) }
	most, by := -1, grows(other)/4
	for i := range rows {
		if d := all[i]; 2*rows[i].Self >= rows[i].Total && d.Count >= fewestCalls && d.Trend.Direction == spans.Slower && d.Trend.P <= .001 && d.Trend.First > 0 && grows(i) >= by {
			most, by = i, grows(i)
		}
	}
	if most == other {
		return -1
	}
	return most
}

// slowerLoop is slower for recordings whose costs do not come from spans, such as traces of
// Go: it examines the calls that repeat on a thread.
func (l *look) slowerLoop(r rule) error {
	loops, err := l.repeating()
	if err != nil || len(l.devices) > 0 {
		return err
	}
	for i := range loops[:min(len(loops), mostLoops)] {
		o := &loops[i]
		t := o.Trend(20)
		if o.Numbered || t.Tau < .5 || t.P > .001 || t.Moments < 10 {
			continue
		}
		n := len(o.Spans) / 10
		first, last := o.Median(0, n), o.Median(len(o.Spans)-n, len(o.Spans))
		if last < 2*first {
			continue
		}
		f := l.rec.Functions.At(int(o.Function))
		l.add(r, Finding{Function: f.Name, Thread: l.rec.Tracks[o.Track].Name, Size: timePart(o.Total, max(o.Total, l.rec.Duration())), Confidence: decimal(1 - t.P)}.saying("Calls of %s on %s slow down: the median is %s in the last tenth, %s in the first.",
			quoted(f.Name), l.on(o.Track), l.ofLoop(duration(last), "median", o, &calls.Query{Started: recording.Range{From: o.Start(len(o.Spans)-n) - l.rec.Start, HasFrom: true}}),
			l.ofLoop(duration(first), "median", o, &calls.Query{Started: recording.Range{To: o.Start(n) - l.rec.Start, HasTo: true}})), of(f, "calls"), "stats", evidence.File(l.rec), "--function", typed(l.rec, f))
		return nil
	}
	return nil
}

func (l *look) starving(r rule) error {
	if l.weights == nil || l.metric.Kind != recording.Sum {
		return nil
	}
	rows, err := analyze.ByTrack(l.ctx, l.rec, l.query)
	if err != nil {
		return err
	}
	devices, err := l.gpus()
	if err != nil {
		return err
	}
	has := map[int]int64{}
	for i := range rows {
		has[rows[i].Track] = rows[i].Self
	}
	like := map[string][]int{}
	for i, t := range l.rec.Tracks {
		if t.Kind == recording.ThreadTrack && repeat.Stem(t.Name) != "" && repeat.Stem(t.Name) != t.Name && !isStream(devices, i) {
			k := fmt.Sprint(t.PID, " ", repeat.Stem(t.Name))
			like[k] = append(like[k], i)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(like)) {
		tracks := like[k]
		if len(tracks) < 3 {
			continue
		}
		slices.SortFunc(tracks, func(a, b int) int { return cmp.Compare(has[a], has[b]) })
		least, middle := tracks[0], has[tracks[len(tracks)/2]]
		// The least busy thread must have at most 1/50 of the median, and the next at
		// least 1/4, which shows that the threads of the group share its work.
		if 50*has[least] > middle || 4*has[tracks[1]] < middle || middle == 0 {
			continue
		}
		var sure *Finding = &Finding{}
		if l.sampled() && l.behind.Samples > 0 {
			expected := float64(l.behind.Samples) * l.share(middle, l.sum)
			if expected < enough {
				continue
			}
			sure.Confidence = decimal(1 - math.Exp(-expected/5)*5) // 1 minus the chance of so few samples at a fifth of the median
		}
		t := l.rec.Tracks[least]
		on := func(track int) Number {
			n := l.value(has[track])
			if row := l.trackRow(track); row != "" && has[track] != 0 {
				n = n.by(row+"self", l.withMetric("top", evidence.File(l.rec), "--by", "thread")...)
			}
			return n
		}
		sure.say("%s %s has %s of %s; the median of the %s like it is %s.", l.kind(least), quoted(strings.TrimSpace(t.Label())), on(least), name(l.metric.Name), l.ofPeers(plural(len(tracks), l.threadWord()), least, len(tracks), 0), on(tracks[len(tracks)/2]))
		if where := l.mostlyIn(least, nil); where.name != "" {
			sure.say(" Most of its stacks are in %s.", quoted(where.name))
		}
		sure.Thread, sure.Size = t.Name, l.sizeOf(has[least], middle)
		state := view.State{Tab: "functions", Table: view.Table{Group: "thread"}}
		l.add(r, *sure, state, "top", evidence.File(l.rec), "--by", "thread")
		return nil
	}
	return nil
}

// stall looks for a period in which all threads were inactive, between periods of
// activity.
func (l *look) stall(r rule) error {
	if l.weights == nil || !l.rec.HasTime || l.rec.Duration() <= 0 || l.event.Basis == recording.FromStacks && l.rec.Counts.Samples == 0 {
		return nil
	}
	const cells = 200
	width := max(1, l.rec.Duration()/cells)
	busy := make([]bool, cells+1)
	mark := func(from, to int64) {
		for c := max(0, (from-l.rec.Start)/width); c <= min(cells, (to-l.rec.Start)/width); c++ {
			busy[c] = true
		}
	}
	n := 0
	for _, t := range l.rec.Tracks {
		if t.Kind != recording.ThreadTrack {
			continue
		}
		if len(t.Lanes) > 0 && !l.sampled() {
			n += t.Lanes[0].Len()
			t.Lanes[0].Walk(l.rec.Start, l.rec.End, width, func(b *lanes.Bar) bool { mark(b.Start, b.End); return true })
		}
		for _, s := range t.Samples {
			n += s.Len()
			s.Walk(l.rec.Start, l.rec.End, width, func(b *lanes.Bar) bool { mark(b.Start, b.Start); return true })
		}
	}
	if n < 10*cells {
		return nil
	}
	begin, longest, at := 0, 0, 0
	for c := range busy {
		if busy[c] {
			begin = c + 1
		} else if c-begin+1 > longest && begin > 0 {
			longest, at = c-begin+1, begin
		}
	}
	if last := at + longest; longest < cells/10 || last >= cells {
		return nil
	}
	gap := recording.Offsets(int64(at)*width, int64(at+longest)*width)
	state := view.State{}
	state.Sides[0].Select = gap
	whole := l.rec.Duration()
	size := Size{Value: nanoseconds(int64(longest) * width), Unit: "ns", Metric: "duration", Of: nanoseconds(whole), share: float64(longest) / cells}
	size.Share = *decimal(size.share)
	l.add(r, Finding{Size: size}.saying("No %s ran from %s to %s (of %s).", l.threadWord(), duration(gap.From), duration(gap.To), duration(whole).by("time.duration_ns", "info", evidence.File(l.rec))),
		state, "top", evidence.File(l.rec), "--range", gap.String())
	return nil
}
