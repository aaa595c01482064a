package sql

import (
	"slices"
	"strings"

	"ashlar/ingest/model/relation"
)

// Candidate is a word that could stand at a place of a query.
type Candidate struct {
	Text, Detail string
}

// words are the words of SQL that are completed, and functions those that take arguments.
var (
	words = strings.Fields("AND AS ASC BETWEEN BY CASE CAST CROSS DESC DISTINCT ELSE END EXCEPT EXISTS FROM GROUP HAVING IN INTERSECT IS JOIN LEFT LIKE LIMIT " +
		"NOT NULL OFFSET ON OR ORDER OVER PARTITION RECURSIVE SELECT THEN UNION USING WHEN WHERE WITH")
	functions = strings.Fields("abs avg coalesce count floor lag lead length lower max median min percentile_cont percentile_disc printf replace round row_number substr sum total upper")
)

// token is a word, a text in quotes, a comment or another character of a query.
type token struct {
	kind     tokenKind
	from, to int
}

type tokenKind uint8

const (
	wordToken tokenKind = iota
	textToken
	commentToken
	otherToken
)

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// tokens splits a query, without its blanks. A text or comment that does not end reaches to
// the end of the query.
func tokens(q string) (all []token) {
	for i := 0; i < len(q); {
		t := token{otherToken, i, i + 1}
		until := func(end string, skip int) {
			if k := strings.Index(q[min(len(q), i+skip):], end); k >= 0 {
				t.to = i + skip + k + len(end)
			} else {
				t.to = len(q)
			}
		}
		switch c := q[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case isWord(c):
			t.kind = wordToken
			for t.to < len(q) && isWord(q[t.to]) {
				t.to++
			}
		case c == '\'' || c == '"' || c == '`':
			t.kind = textToken
			for until(string(c), 1); t.to < len(q) && q[t.to] == c; { // two stand for one in the text
				until(string(c), t.to+1-i)
			}
		case strings.HasPrefix(q[i:], "--"):
			t.kind = commentToken
			until("\n", 2)
		case strings.HasPrefix(q[i:], "/*"):
			t.kind = commentToken
			until("*/", 2)
		}
		all = append(all, t)
		i = t.to
	}
	return all
}

// Complete returns the words that may stand at a place of a query and where they begin: at
// the start of the word that ends there. names returns names of functions of the recording
// that begin with a text, for places in quotes; it may be nil.
func Complete(query string, at int, names func(part string) []string) (from int, all []Candidate) {
	ts := tokens(query)
	at = max(0, min(at, len(query)))
	here := slices.IndexFunc(ts, func(t token) bool { return t.from < at && at <= t.to })
	if here >= 0 && (ts[here].kind == commentToken || ts[here].kind == textToken) {
		t := ts[here]
		inner := query[t.from+1 : t.to]
		quotes := len(inner) - len(strings.TrimRight(inner, query[t.from:t.from+1]))
		closed := t.to == at && quotes%2 == 1
		if t.kind == commentToken || closed || query[t.from] != '\'' || names == nil || !named(query, ts[:here]) {
			return at, nil
		}
		for _, n := range names(strings.ReplaceAll(query[t.from+1:at], "''", "'")) {
			if !strings.Contains(n, "\n") {
				all = append(all, Candidate{strings.ReplaceAll(n, "'", "''"), "function"})
			}
		}
		return t.from + 1, all
	}
	from = at
	for from > 0 && isWord(query[from-1]) {
		from--
	}
	part := strings.ToLower(query[from:at])
	add := func(text, detail string) {
		if strings.HasPrefix(strings.ToLower(text), part) && !slices.ContainsFunc(all, func(c Candidate) bool { return c.Text == text }) {
			all = append(all, Candidate{text, detail})
		}
	}
	var before []string // the words and characters before the place
	for _, t := range ts {
		if t.to <= from && t.kind != commentToken {
			before = append(before, query[t.from:t.to])
		}
	}
	used, tables := mentioned(query, ts)
	last := ""
	if len(before) > 0 {
		last = strings.ToUpper(before[len(before)-1])
	}
	switch {
	case last == "." && len(before) > 1:
		if t := tables[strings.ToLower(before[len(before)-2])]; t != nil {
			columnsOf(t, add)
		}
		return from, all
	case last == "FROM" || last == "JOIN":
		for _, t := range queryTables() {
			first, _, _ := strings.Cut(t.Doc, ":")
			add(t.Name, "table: "+first)
		}
		return from, all
	}
	for _, t := range used {
		columnsOf(t, add)
	}
	for alias := range tables {
		if relation.Named(alias) == nil && part != "" {
			add(alias, tables[alias].Name)
		}
	}
	if len(used) == 0 {
		for _, t := range queryTables() {
			columnsOf(t, add)
		}
	}
	if part != "" {
		slices.SortStableFunc(all, func(a, b Candidate) int { return len(a.Text) - len(b.Text) })
	}
	for _, f := range functions {
		add(f+"(", "function of SQL")
	}
	for _, w := range words {
		add(w, "")
	}
	return from, all
}

// queryTables returns the tables of queries, those that are asked for most first.
func queryTables() []*relation.Table {
	var first, others []*relation.Table
	for _, t := range append(slices.Clone(relation.Tables), relation.Columns) {
		switch t.Name {
		case "spans", "samples", "stacks", "states", "calls":
			first = append(first, t)
		default:
			others = append(others, t)
		}
	}
	return append(first, others...)
}

func columnsOf(t *relation.Table, add func(text, detail string)) {
	for i := range t.Columns {
		c := &t.Columns[i]
		detail := t.Name + ": " + c.Doc
		if c.Unit != "" {
			detail += " (" + c.Unit + ")"
		}
		add(c.Name, detail)
	}
	add(relation.Partition, "name of the recording")
}

// named reports whether the tokens end with a comparison of a column of functions' names.
func named(query string, ts []token) bool {
	for i := len(ts) - 1; i >= 0 && i >= len(ts)-40; i-- {
		t := ts[i]
		switch word := strings.ToLower(query[t.from:t.to]); {
		case word == "function" || word == "name":
			return true
		case t.kind == otherToken && strings.Contains("=<>!(,", word), word == "in" || word == "not" || word == "like":
		case t.kind == textToken: // an earlier element of a list
		default:
			return false
		}
	}
	return false
}

// mentioned returns the tables of a query in their order, and the names by which their
// columns can be called, in lower case.
func mentioned(query string, ts []token) (used []*relation.Table, names map[string]*relation.Table) {
	names = map[string]*relation.Table{}
	text := func(i int) string {
		if i < 0 || i >= len(ts) {
			return ""
		}
		return query[ts[i].from:ts[i].to]
	}
	for i := range ts {
		if ts[i].kind != wordToken || text(i-1) == "." || text(i+1) == "." {
			continue
		}
		k := slices.IndexFunc(queryTables(), func(t *relation.Table) bool { return strings.EqualFold(t.Name, text(i)) })
		if k < 0 {
			continue
		}
		t := queryTables()[k]
		if !slices.Contains(used, t) {
			used = append(used, t)
		}
		names[strings.ToLower(t.Name)] = t
		next := i + 1
		if strings.EqualFold(text(next), "as") {
			next++
		}
		if next < len(ts) && ts[next].kind == wordToken && !slices.Contains(words, strings.ToUpper(text(next))) {
			names[strings.ToLower(text(next))] = t
		}
	}
	return used, names
}
