package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/repeat"
	"ashlar/ingest/query/waits"
)

// sql sets a query as the source of a number that no other command prints: a column of a row of
// its answer.
func (l *look) sql(n Number, row, column int, query string) Number {
	return n.by(fmt.Sprintf("rows[%d][%d]", row, column), "sql", evidence.File(l.rec), query)
}

// rough is sql for a share, of which the query has more digits than the sentence.
func (l *look) rough(n Number, row, column int, query string) Number {
	v, err := n.Value.Float64()
	if err != nil {
		return n
	}
	n = l.sql(n, row, column, query)
	n.claimed, n.rounded = fmt.Sprintf("%.4f", v), true
	return n
}

// loopCalls returns a condition for the spans that are the calls of a loop, "" if there is no
// short one.
func (l *look) loopCalls(o *repeat.Loop) string {
	if !o.Numbered {
		is := fmt.Sprintf("thread_id = %d AND function_id = %d", o.Track, o.Function)
		if d := l.depth(o); d > 0 {
			is += fmt.Sprintf(" AND depth = %d", d)
		}
		return is
	}
	n := int64(0)
	for f := range l.rec.Functions.Len() {
		if strings.TrimRight(l.rec.Functions.At(f).Name, figures) == o.Name {
			n += l.callsIn(recording.FuncID(f))
		}
	}
	if n != int64(len(o.Spans)) {
		return ""
	}
	return fmt.Sprintf("thread_id = %d AND rtrim(function, '%s') = %s", o.Track, figures, text(o.Name))
}

const figures = "0123456789"

// text returns a string as SQL writes it.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// gapsQuery asks for the gaps between the calls of a loop: the number of all, the number and the
// least of those from a length on, the median of all, and the share of the long ones of the time
// from the first call to the last, and that time.
func gapsQuery(calls string, from int64) string {
	return fmt.Sprintf("WITH c AS (SELECT start_ps, end_ps FROM spans WHERE %s), "+
		"g AS (SELECT start_ps - lag(end_ps) OVER (ORDER BY start_ps) AS gap FROM c) "+
		"SELECT count(gap) AS gaps, sum(gap >= %[2]d) AS long, min(gap) FILTER (WHERE gap >= %[2]d) / 1000.0 AS least_ns, percentile_disc(gap, 0.5) / 1000.0 AS median_ns, "+
		"1.0 * sum(gap) FILTER (WHERE gap >= %[2]d) / (SELECT max(end_ps) - min(start_ps) FROM c) AS share, (SELECT max(end_ps) - min(start_ps) FROM c) / 1000.0 AS window_ns FROM g", calls, from)
}

// excessQuery asks for the time of the slow calls of a loop beyond the median of the others, as a
// share of the time from the first call to the last.
func excessQuery(calls string, s *repeat.Slow) string {
	return fmt.Sprintf("WITH c AS (SELECT start_ps, end_ps, duration_ps FROM spans WHERE %s) "+
		"SELECT 1.0 * sum(duration_ps - (SELECT percentile_disc(duration_ps, 0.5) FROM c WHERE duration_ps < %[2]d)) FILTER (WHERE duration_ps >= %[2]d) / (max(end_ps) - min(start_ps)) AS share FROM c", calls, s.From)
}

// rhythmQuery asks for the median distance of the slow calls of a loop from one to the next: in
// calls, and in time.
func rhythmQuery(calls string, s *repeat.Slow) string {
	return fmt.Sprintf("WITH c AS (SELECT start_ps, duration_ps, row_number() OVER (ORDER BY start_ps) AS n FROM spans WHERE %s), "+
		"s AS (SELECT n - lag(n) OVER (ORDER BY n) AS apart, start_ps - lag(start_ps) OVER (ORDER BY n) AS every FROM c WHERE duration_ps >= %d) "+
		"SELECT percentile_disc(apart, 0.5) AS apart, percentile_disc(every, 0.5) / 1000.0 AS every_ns FROM s", calls, s.From)
}

// Columns of the answer of calleeQuery.
const (
	selfShare = iota
	totalShare
	slowCalls
	otherCalls
)

// calleeQuery asks what a callee has to do with the slow calls of a loop: how much of the
// difference between the mean of slow calls and that of others is its self time, and how much is
// its total, at most all of it, and how often it runs in a slow call and in another. callee is its function, which
// may be the loop's own.
func calleeQuery(calls, callee string, s *repeat.Slow) string {
	mean := func(of string) string {
		return fmt.Sprintf("avg(%s) FILTER (WHERE d >= %[2]d) - avg(%[1]s) FILTER (WHERE d < %[2]d)", of, s.From)
	}
	return fmt.Sprintf("WITH e AS (SELECT start_ps, end_ps, duration_ps AS d, self_ps, (%s) AS own, (%s) AS callee, count(*) FILTER (WHERE %[1]s) OVER (ORDER BY start_ps, depth) AS n FROM spans WHERE (%[1]s) OR (%[2]s)), "+
		"c AS (SELECT n, end_ps, d FROM e WHERE own), x AS (SELECT n, sum(self_ps) AS self, sum(e.d) AS total, count(*) AS times FROM e JOIN c USING (n) WHERE e.callee AND e.start_ps < c.end_ps GROUP BY n), "+
		"y AS (SELECT d, coalesce(self, 0) AS self, coalesce(total, 0) AS total, coalesce(times, 0) AS times FROM c LEFT JOIN x USING (n)) "+
		"SELECT min(1.0, (%[3]s) / (%[5]s)) AS self_share, min(1.0, (%[4]s) / (%[5]s)) AS total_share, avg(times) FILTER (WHERE d >= %[6]d) AS slow_calls, avg(times) FILTER (WHERE d < %[6]d) AS other_calls FROM y",
		calls, callee, mean("self"), mean("total"), mean("d"), s.From)
}

// endedQuery asks for the waits at channels and for signals that a thread ended: their number, that
// of the threads that waited, their time, and how long that thread was blocked itself. It is "" if
// the names of the states do not tell these waits from others.
func endedQuery(thread int, all []waits.Lock) string {
	is := map[string]bool{}
	for i := range all {
		name := text(strings.TrimSuffix("[blocked: "+all[i].Reason, ": ") + "]")
		counts := all[i].Kind == waits.Channels || all[i].Kind == waits.Signals
		if was, ok := is[name]; ok && was != counts {
			return ""
		}
		is[name] = counts
	}
	maps.DeleteFunc(is, func(_ string, counts bool) bool { return !counts })
	return fmt.Sprintf("WITH s AS (SELECT thread_id, state, name, duration_ps, coalesce(waker_thread_id, lead(waker_thread_id) OVER (PARTITION BY thread_id ORDER BY start_ps)) AS waker FROM states) "+
		"SELECT count(*) AS waits, count(DISTINCT thread_id) AS waiters, sum(duration_ps) / 1000.0 AS lost_ns, (SELECT sum(duration_ps) / 1000.0 FROM s WHERE thread_id = %[1]d AND state = 'blocked') AS blocked_ns "+
		"FROM s WHERE state = 'blocked' AND waker = %[1]d AND thread_id <> %[1]d AND name IN (%[2]s)", thread, strings.Join(slices.Sorted(maps.Keys(is)), ", "))
}

// peersQuery asks for the number of threads with a thread's name but for the digits at its end,
// in its process or in all; it is "" if neither is the number.
func (l *look) peersQuery(track, number int) string {
	of, inside, all := l.rec.Tracks[track], 0, 0
	stem := strings.TrimRight(of.Title(), figures)
	for _, t := range l.rec.Tracks {
		if strings.TrimRight(t.Title(), figures) == stem {
			if all++; t.Process == of.Process {
				inside++
			}
		}
	}
	query := fmt.Sprintf("SELECT count(*) AS threads, count(*) - 1 AS others FROM threads WHERE rtrim(name, '%s') = %s", figures, text(stem))
	switch number {
	case all:
		return query
	case inside:
		return query + fmt.Sprintf(" AND process_id = %d", of.Process)
	}
	return ""
}

// ofPeers sets a query as the source of the number of threads like one, or of the others.
func (l *look) ofPeers(n Number, track, number, column int) Number {
	if query := l.peersQuery(track, number); query != "" {
		return l.sql(n, 0, column, query)
	}
	return n
}

// recordsQuery asks for the cost of the samples or stacks for which a condition holds, its share of
// the total, and the depth of the deepest stack. It is "" if the tables lack the cost.
func (l *look) recordsQuery(condition string) string {
	table := map[recording.Basis]string{recording.FromSamples: "samples", recording.FromStacks: "stacks"}[l.event.Basis]
	if table == "" || l.query.Metric != l.event.Primary || !l.isDefault() {
		return ""
	}
	cost := "cost"
	switch l.metric.Unit {
	case "ns", "bytes":
		cost += "_" + l.metric.Unit
	}
	value := "sum(s.value) FILTER (WHERE " + condition + ")"
	idle := ""
	if l.weights.Left.IdleRecords > 0 {
		idle = " AND coalesce(s.function, '') NOT IN ('(idle)', '(program)')"
	}
	return fmt.Sprintf("SELECT %s / 1e%d AS %s, 1.0 * %[1]s / sum(s.value) AS share, max(c.depth) AS deepest FROM %[4]s s LEFT JOIN calls c ON c.call_id = s.call_id WHERE s.event_id = %[5]d%[6]s",
		value, l.metric.Decimals, cost, table, l.query.Event, idle)
}

// threadsQuery asks for the number of threads with a function in their stacks; it is "" if the
// tables do not tell.
func (l *look) threadsQuery(of recording.FuncID) string {
	switch {
	case l.ofSpans():
		return fmt.Sprintf("SELECT count(DISTINCT s.thread_id) AS threads FROM spans s JOIN threads t ON t.thread_id = s.thread_id WHERE s.function_id = %d AND t.kind <> 'async track'", of)
	case l.event.Basis == recording.FromStates:
		return "SELECT count(DISTINCT s.thread_id) AS threads FROM states s JOIN calls c ON c.call_id = s.call_id WHERE instr(';' || c.path || ';', " + text(";"+l.rec.Functions.At(int(of)).Name+";") + ") > 0"
	}
	return ""
}

// endsQuery asks how many of the longest waits of functions end with a call of a function on a
// track, and within which time of its end. on is a condition for the waits.
func endsQuery(on string, longest int, e *repeat.Ending) string {
	return fmt.Sprintf("WITH w AS (SELECT end_ps, duration_ps FROM spans WHERE %s ORDER BY duration_ps DESC LIMIT %d), t AS (SELECT percentile_disc(duration_ps, 0.5) / 20 AS ps FROM w) "+
		"SELECT sum(EXISTS (SELECT 1 FROM spans e WHERE e.thread_id = %d AND e.function_id = %d AND e.end_ps BETWEEN w.end_ps - t.ps AND w.end_ps + t.ps)) AS hits, count(*) AS waits, ps / 1000.0 AS within_ns FROM w, t",
		on, longest, e.Track, e.Function)
}

// lowsQuery asks for the lowest value of a counter in each part of its time that has values, the
// time up to the end of the part, and the whole time. bytes is set if the values are in bytes.
func lowsQuery(counter int, bytes bool) string {
	low := "low"
	if bytes {
		low = "low_bytes"
	}
	return fmt.Sprintf("WITH v AS (SELECT time_ps, value FROM counter_values WHERE counter_id = %d), t AS (SELECT min(time_ps) AS a, max(time_ps) AS b FROM v) "+
		"SELECT min(value) AS %s, row_number() OVER (ORDER BY min((time_ps - a) / ((b - a) / %[3]d), %[3]d - 1)) * ((b - a) / %[3]d) / 1000.0 AS until_ns, (b - a) / 1000.0 AS all_ns "+
		"FROM v, t GROUP BY min((time_ps - a) / ((b - a) / %[3]d), %[3]d - 1) ORDER BY 2", counter, low, parts)
}
