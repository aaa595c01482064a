package sql

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
)

// plain keeps SQLite from being helped by groups.
func plain(query string) string { return "WITH x0 AS (SELECT 1) " + query }

// randomQuery returns a query that groups a table.
func randomQuery(rng *rand.Rand) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	table := relation.Named(pick("spans", "states", "calls", "functions", "samples", "flows", "threads", "counter_values"))
	var ints, texts []string
	for _, c := range table.Columns {
		switch c.Type {
		case relation.Text:
			texts = append(texts, c.Name)
		case relation.Integer:
			ints = append(ints, c.Name)
		}
	}
	if len(texts) == 0 {
		texts = []string{"recording"}
	}
	as, of := "", ""
	if rng.IntN(3) == 0 {
		as, of = pick(" x", " AS x"), "x."
	}
	column := func() string { return pick(of, "") + pick(append(append([]string{"recording"}, ints...), texts...)...) }
	aggregate := func() string {
		return pick("count(*)", "count("+column()+")", "sum("+pick(ints...)+")", "min("+pick(texts...)+")", "max("+of+pick(ints...)+")", "avg("+pick(ints...)+")", "total("+pick(ints...)+")", "round(sum("+pick(ints...)+") / 1e6, 2)", "count(*) * 2 + max("+pick(ints...)+")")
	}
	var keys []string
	for range rng.IntN(4) {
		keys = append(keys, column())
	}
	items := append([]string{}, keys...)
	for range 1 + rng.IntN(3) {
		items = append(items, aggregate()+pick("", " AS total_of", " AS n"))
	}
	rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	var where []string
	for range rng.IntN(3) {
		where = append(where, pick(
			column()+pick(" IS NULL", " IS NOT NULL"), pick(ints...)+pick(" = ", " <> ", " != ", "<", " <= ", " > ", ">=", " == ")+pick("0", "1", "3", "-1", "1e6", "500000000"),
			pick(texts...)+pick(" = ", " <> ")+pick("'inner'", "'Request'", "'running'", "'nothing'"), pick(ints...)+" IN (0, 2, 5)", pick(ints...)+" BETWEEN 1 AND 1e9",
			pick(texts...)+" IN ('inner', 'Query')", "recording = 'a'"))
	}
	q := "SELECT " + strings.Join(items, ", ") + " FROM " + table.Name + as
	if where != nil {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	if keys != nil {
		q += " GROUP BY " + strings.Join(keys, ", ")
		q += pick("", "", " HAVING count(*) > 1", " HAVING sum("+pick(ints...)+") > 100")
		q += pick("", " ORDER BY "+strings.Join(keys, " DESC, "), " ORDER BY "+strings.Join(keys, ", ")+" LIMIT 3")
	}
	return q
}

// TestGroups compares the answers from groups of rows with those of SQLite from the rows.
func TestGroups(t *testing.T) {
	sources := []Source{{"a", relation.New(example(20))}, {"b", newShop(3).set}}
	rng := rand.New(rand.NewPCG(1, 2))
	quick := 0
	queries := rounds.Size(300, 40)
	for range queries {
		query := randomQuery(rng)
		if grouped(query) != nil {
			quick++
		}
		got, want := ask(t, sources, query), ask(t, sources, plain(query))
		if strings.HasPrefix(want, "error: ") && strings.HasPrefix(got, "error: ") {
			continue
		}
		if g, w := strings.Split(got, "\n"), strings.Split(want, "\n"); got != want {
			for i := range min(len(g), len(w)) {
				if g[i] != w[i] {
					t.Fatalf("%s\nrow %d: %s, want %s", query, i, g[i], w[i])
				}
			}
			t.Fatalf("%s\n%d rows, want %d", query, len(g), len(w))
		}
	}
	if quick < queries/2 {
		t.Errorf("only %d queries were answered from groups", quick)
	}
}

// TestGrouped checks which queries are answered from groups.
func TestGrouped(t *testing.T) {
	for _, q := range []string{
		"SELECT function, sum(self_ps) AS self_ps, count(*) AS calls FROM spans GROUP BY function ORDER BY self_ps DESC, function LIMIT 5",
		"SELECT count(*) FROM spans -- all\n;",
		"SELECT name, count(*) FROM states WHERE state = 'blocked' GROUP BY 1 ORDER BY 2 DESC, 1",
		"SELECT s.thread_id AS t, max(s.duration_ps) / 1e9 FROM spans AS s WHERE s.depth = 1 AND s.duration_ps > 1e6 GROUP BY t",
		"SELECT sum(self_ps) FROM spans GROUP BY function HAVING count(*) > 3 AND function <> 'x'",
	} {
		if grouped(q) == nil {
			t.Errorf("left to SQLite: %s", q)
		}
	}
	for _, q := range []string{
		"SELECT function, depth FROM spans", "SELECT function, depth, count(*) FROM spans GROUP BY function", "SELECT count(DISTINCT function) FROM spans",
		"SELECT sum(self_ps) AS depth FROM spans GROUP BY depth ORDER BY depth + 1", "SELECT count(*) function FROM spans GROUP BY function", "SELECT *, count(*) FROM spans GROUP BY function",
		"SELECT sum(value) FROM counter_values", "SELECT value, count(*) FROM counter_values GROUP BY value", "SELECT median(self_ps) FROM spans", "SELECT max(depth, 2) FROM spans", "SELECT count(*) FROM spans, threads",
		"SELECT count(*) FROM spans WHERE depth = 1 OR depth = 2", "SELECT count(*) FROM spans WHERE depth = 1.5", "SELECT count(*) FROM spans WHERE depth = '1'",
		"SELECT count(*) FROM spans WHERE function = 'it''s'", "SELECT count(*) FROM spans WHERE function LIKE 'a%'", "SELECT count(*) FROM spans LIMIT 1 OFFSET 1",
		"SELECT count(*) OVER () FROM spans", "SELECT (SELECT 1), count(*) FROM spans", "SELECT \"function\", count(*) FROM spans GROUP BY 1", "SELECT count(*) FROM spans UNION SELECT 1",
	} {
		if g := grouped(q); g != nil {
			t.Errorf("taken from SQLite: %s as %s", q, g.query)
		}
	}
}

// TestGroupsOverflow checks that sums beyond 64 bits are errors, as in SQLite.
func TestGroupsOverflow(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	for tid := range int64(3) {
		track := b.Track(recording.TrackKey{PID: 1, TID: tid})
		track.Begin(0, b.FunctionFrame(b.Function(recording.Function{Name: "f"})), 0)
		track.End(1 << 62)
	}
	sources := []Source{{"a", relation.New(b.Finish())}}
	for _, q := range []string{"SELECT sum(duration_ps) FROM spans", "SELECT avg(duration_ps) FROM spans", "SELECT function, sum(end_ps) FROM spans GROUP BY 1"} {
		if got, want := ask(t, sources, q), ask(t, sources, plain(q)); got != want || !strings.Contains(got, "o") && !strings.Contains(got, "e") {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}
