package sql

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
)

// cookbook returns the queries of the manual page on querying by their questions.
func cookbook(t testing.TB) map[string]string {
	t.Helper()
	queries := map[string]string{}
	page, err := os.ReadFile("../../../assets/manual/querying.md")
	if err != nil {
		t.Fatal(err)
	}
	_, book, _ := strings.Cut(string(page), "\n## Twenty questions\n")
	for _, entry := range strings.Split(book, "\n### ")[1:] {
		title, rest, _ := strings.Cut(entry, "\n")
		queries[title] = strings.Split(rest, "```")[1]
	}
	return queries
}

// hostile are queries that ask for other files, or for much time or memory.
var hostile = []string{
	"SELECT count(*) FROM spans a, spans b, spans c, spans d, spans e, spans f, spans g, spans h, spans i, spans j",
	"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x",
	"WITH RECURSIVE x(n, s) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, s || s FROM x) SELECT sum(length(s)) FROM x",
	"ATTACH 'x.db' AS y", "DETACH main", "VACUUM INTO 'x.db'", "PRAGMA writable_schema = on", "PRAGMA temp_store_directory = '.'",
	"SELECT load_extension('x')", "SELECT readfile('x')", "SELECT writefile('x', 'y')", "SELECT * FROM pragma_function_list", "SELECT fts3_tokenizer('x')",
	"COPY spans TO 'x'", "CREATE VIRTUAL TABLE x USING csv(filename = 'x')", "SELECT * FROM sqlite_dbpage", "SELECT * FROM generate_series(1, 1e12)",
	"SELECT printf('%.*c', 2000000000, 'x')", "SELECT printf('%2000000000d', 1)", "SELECT hex(zeroblob(16000000))", "SELECT randomblob(16000000) FROM spans a, spans b",
	"SELECT group_concat(a.args || b.args, printf('%.*c', 100000, 'x')) FROM spans a, spans b, spans c, spans d",
	"SELECT length(trim(printf('%.*c', 4000000, 'a'), printf('%.*c', 4000000, 'b')))",
	"SELECT length(ltrim(printf('%.*c', 4000000, 'a'), printf('%.*c', 4000000, 'b') || 'a'))",
	"SELECT length(rtrim(printf('%.*c', 4000000, 'a'), printf('%.*c', 4000000, 'b') || 'a'))",
	"SELECT instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')",
	"SELECT length(replace(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b', 'c'))",
	"SELECT length(replace(printf('%.*c', 1000000, 'a'), 'a', printf('%.*c', 1000000, 'b')))",
	"SELECT length(unhex(printf('%.*c', 4000000, 'z'), printf('%.*c', 4000000, 'y') || 'z'))",
	"SELECT printf('%.*c', 8000000, 'a') LIKE printf('%.*c', 450, '%') || 'b'",
	"SELECT printf('%.*c', 8000000, 'a') LIKE replace(printf('%.*c', 450, 'x'), 'x', 'a%') || 'b'",
	"SELECT printf('%.*c', 8000000, 'a') GLOB replace(printf('%.*c', 450, 'x'), 'x', '*a') || 'b'",
	"SELECT json(printf('%.*c', 8000000, '['))", "SELECT json_extract('[' || replace(printf('%.*c', 1000000, 'x'), 'x', '1,') || '1]', '$[#-1]')",
	"SELECT median(a.span_id), percentile_cont(b.span_id, 0.5) FROM spans a, spans b, spans c, spans d, spans e",
	"WITH a AS (SELECT 1 AS x), b AS (SELECT a.x FROM a, a AS q), c AS (SELECT b.x FROM b, b AS q), d AS (SELECT c.x FROM c, c AS q), e AS (SELECT d.x FROM d, d AS q), f AS (SELECT e.x FROM e, e AS q), g AS (SELECT f.x FROM f, f AS q), h AS (SELECT g.x FROM g, g AS q) SELECT count(*) FROM h, h AS i, h AS j",
	"SELECT sum(1) OVER (ORDER BY a.span_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM spans a, spans b, spans c, spans d, spans e",
	"SELECT strftime('%Y', 1e300), date('now', '+999999999999 years'), round(1e308, 2000000000), substr('x', -9223372036854775808, 9223372036854775807)",
}

// FuzzQuery checks that no query crashes, takes long, needs much memory, or leaves anything
// behind.
func FuzzQuery(f *testing.F) {
	rounds.Unraced(f)
	for _, q := range slices.Concat(slices.Sorted(maps.Values(cookbook(f))), hostile) {
		f.Add(q)
	}
	sources := []Source{{"a", relation.New(example(3))}, {"b", newShop(1).set}}
	before, err := os.ReadDir(".")
	if err != nil {
		f.Fatal(err)
	}
	sqliteBytes = 64 << 20
	f.Fuzz(func(t *testing.T, query string) {
		began := time.Now()
		r, err := Run(context.Background(), sources, query, Limits{Time: 200 * time.Millisecond, Rows: 1000, Bytes: 1 << 20})
		if (r == nil) == (err == nil) {
			t.Errorf("result %v, error %v", r, err)
		}
		if err != nil && err.Error() == "" {
			t.Error("an error without a message")
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("%q took %v", query, d)
		}
		if files, err := os.ReadDir("."); err != nil || len(files) > len(before)+1 { // failing inputs are a folder
			t.Fatalf("after %q there are files: %v %v", query, files, err)
		}
		if got := ask(t, sources[:1], "SELECT count(*) FROM spans WHERE 1"); got != "12" {
			t.Errorf("after %q there are %s spans", query, got)
		}
	})
}
