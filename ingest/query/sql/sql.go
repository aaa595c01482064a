// Package sql answers SQL queries about recordings: it shows the tables of package relation
// to an embedded SQLite, which reads them row by row from the recordings' columns.
//
// Queries come from strangers too: from reports and programs. They can only read these
// tables; there are no other files, no statements that write, and no extensions, and time,
// memory and the size of the result are limited. SQLite itself is compiled to Go, so a
// mistake in it cannot reach memory outside its own.
package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/stats"

	"ashlar/ingest/model/relation"
)

// Source is a recording with its name in the column recording.
type Source struct {
	Name string
	*relation.Set
}

// Limits bound what a query may use. Zero values stand for the defaults.
type Limits struct {
	Time  time.Duration
	Rows  int   // more rows are counted as Result.More, up to the end of time
	Bytes int64 // of texts in the result
}

// Default limits.
const (
	DefaultTime = time.Minute
	resultBytes = 64 << 20
	resultRows  = 1 << 20
	textBytes   = 16 << 20 // of a single value
)

// sqliteBytes is the memory that SQLite may use. Tests lower it.
var sqliteBytes int64 = 1 << 30

// Result is the answer to a query.
type Result struct {
	Columns []string
	Rows    [][]relation.Value
	// Cut is set if the result has more rows than the limits allow.
	Cut bool
}

// Numeric reports whether a column has no texts.
func (r *Result) Numeric(column int) bool {
	for _, row := range r.Rows {
		if v := &row[column]; !v.Null && v.Type == relation.Text {
			return false
		}
	}
	return true
}

// Error is a query that cannot be answered.
type Error struct {
	Text string
	// At is the place in the query, in bytes from its start; -1 if unknown. Query is the
	// query.
	At    int
	Query string
	// Hint names what exists where the query names what does not; it may be empty.
	Hint string
}

// Error returns the message with the place in the query, and the hint.
func (e *Error) Error() string {
	hint := ""
	if e.Hint != "" {
		hint = "; " + e.Hint
	}
	if e.At < 0 {
		return e.Text + hint
	}
	before, near := e.Query[:e.At], e.Query[e.At:]
	start := strings.LastIndexByte(before, '\n') + 1
	near, _, _ = strings.Cut(near, "\n")
	const most = 30
	if utf8.RuneCountInString(near) > most {
		near = string([]rune(near)[:most]) + "…"
	}
	return fmt.Sprintf("%s (line %d, column %d: %s)", e.Text, 1+strings.Count(before, "\n"), 1+utf8.RuneCountInString(before[start:]), near) + hint
}

// Run answers a query about recordings.
func Run(ctx context.Context, sources []Source, query string, limits Limits) (r *Result, err error) {
	if limits.Time <= 0 {
		limits.Time = DefaultTime
	}
	if limits.Rows <= 0 || limits.Rows > resultRows {
		limits.Rows = resultRows
	}
	if limits.Bytes <= 0 {
		limits.Bytes = resultBytes
	}
	within, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() == nil && within.Err() != nil {
			err = &Error{Text: fmt.Sprintf("the query took longer than %v; narrow it, or allow more time", limits.Time), At: -1}
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	if !utf8.ValidString(query) || strings.IndexByte(query, 0) >= 0 {
		return nil, &Error{Text: "the query is not valid UTF-8 text", At: -1}
	}
	err = limited(func() (err error) {
		r, err = inDatabase(within, sources, query, limits)
		return err
	})
	return r, err
}

// limited runs f. The library panics if memory for a value of a table runs out.
func limited(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if e, ok := v.(error); !ok || e.Error() != "sqlite3: out of memory" {
				panic(v)
			}
			err = outOfMemory()
		}
	}()
	return f()
}

func outOfMemory() error {
	return &Error{Text: fmt.Sprintf("the query needs more than %d MB of memory; sort and group fewer rows", sqliteBytes>>20), At: -1}
}

func inDatabase(ctx context.Context, sources []Source, query string, limits Limits) (*Result, error) {
	db, err := open(ctx, sources)
	if err != nil {
		return nil, err
	}
	defer func() { _ = limited(db.Close) }() // closing may fail for lack of memory, too
	return run(ctx, db, sources, query, limits)
}

// open returns a database with the tables of the recordings and nothing else.
func open(ctx context.Context, sources []Source) (*sqlite3.Conn, error) {
	db, err := sqlite3.OpenContext(sqlite3.WithMaxMemory(ctx, sqliteBytes), ":memory:")
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*sqlite3.Conn, error) {
		db.Close()
		return nil, err
	}
	if err := db.Exec("PRAGMA temp_store = memory; PRAGMA trusted_schema = off"); err != nil {
		return fail(err)
	}
	if err := stats.Register(db); err != nil {
		return fail(err)
	}
	if err := linear(db); err != nil {
		return fail(err)
	}
	for i, t := range append(slices.Clone(relation.Tables), relation.Columns) {
		v := &virtual{ctx: ctx, table: t, key: key(t), sorted: sorted(t), sources: sources}
		//lint:ignore SA1019 the generic method needs Go 1.27
		err := sqlite3.CreateModule(db, t.Name, nil, func(db *sqlite3.Conn, _, _, _ string, _ ...string) (*virtual, error) {
			return v, db.DeclareVTab(t.Create())
		})
		if err != nil {
			return fail(fmt.Errorf("table %d: %w", i, err))
		}
	}
	for limit, most := range map[sqlite3.LimitCategory]int{
		sqlite3.LIMIT_LENGTH: textBytes, sqlite3.LIMIT_SQL_LENGTH: 1 << 20, sqlite3.LIMIT_EXPR_DEPTH: 200, sqlite3.LIMIT_COMPOUND_SELECT: 100,
		sqlite3.LIMIT_VDBE_OP: 1 << 20, sqlite3.LIMIT_ATTACHED: 0, sqlite3.LIMIT_LIKE_PATTERN_LENGTH: 1000, sqlite3.LIMIT_TRIGGER_DEPTH: 1, sqlite3.LIMIT_WORKER_THREADS: 0,
	} {
		db.Limit(limit, most)
	}
	if err := db.SetAuthorizer(authorize); err != nil {
		return fail(err)
	}
	db.SetInterrupt(ctx)
	return db, nil
}

// authorize allows to read the tables and to call functions.
func authorize(action sqlite3.AuthorizerActionCode, third, fourth, _, _ string) sqlite3.AuthorizerReturnCode {
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_RECURSIVE:
		return sqlite3.AUTH_OK
	case sqlite3.AUTH_READ:
		if lower := strings.ToLower(third); !strings.HasPrefix(lower, "pragma_") && !strings.HasPrefix(lower, "sqlite_") || third == "" {
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_FUNCTION:
		switch strings.ToLower(fourth) {
		case "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit":
		default:
			return sqlite3.AUTH_OK
		}
	}
	return sqlite3.AUTH_DENY
}

// run answers a query in a database.
func run(ctx context.Context, db *sqlite3.Conn, sources []Source, query string, limits Limits) (*Result, error) {
	s, tail, err := db.Prepare(query)
	if err != nil {
		return nil, failure(err, query)
	}
	if s == nil {
		return nil, &Error{Text: "the query is empty", At: -1}
	}
	defer s.Close()
	if more, _, err := db.Prepare(tail); err != nil || more != nil {
		if more != nil {
			more.Close()
		}
		return nil, &Error{Text: "only one statement is allowed", At: len(query) - len(strings.TrimLeft(tail, " \t\r\n;")), Query: query}
	}
	if !s.ReadOnly() || s.ColumnCount() == 0 {
		return nil, &Error{Text: "only SELECT is allowed", At: -1}
	}
	if s.BindCount() > 0 {
		return nil, &Error{Text: "the query has a parameter (? or :name) without a value", At: -1}
	}
	r := &Result{}
	for c := range s.ColumnCount() {
		r.Columns = append(r.Columns, s.ColumnName(c))
	}
	if quick := fromGroups(ctx, db, sources, query); quick != nil {
		defer quick.Close()
		s = quick
	}
	for bytes := int64(0); s.Step(); {
		if len(r.Rows) == limits.Rows || bytes > limits.Bytes {
			r.Cut = true
			return r, nil
		}
		row := make([]relation.Value, len(r.Columns))
		for c := range row {
			switch s.ColumnType(c) {
			case sqlite3.INTEGER:
				row[c].Int = s.ColumnInt64(c)
			case sqlite3.FLOAT:
				row[c] = relation.Value{Type: relation.Real, Real: s.ColumnFloat(c)}
			case sqlite3.TEXT, sqlite3.BLOB:
				row[c] = relation.Value{Type: relation.Text, Text: strings.ToValidUTF8(s.ColumnText(c), "\uFFFD")}
				bytes += int64(len(row[c].Text))
			default:
				row[c].Null = true
			}
			bytes += 40
		}
		r.Rows = append(r.Rows, row)
	}
	if err := s.Err(); err != nil {
		return nil, failure(err, query)
	}
	return r, nil
}

// fromGroups returns the statement that answers a query from the groups of rows it asks for,
// nil if it asks for anything else.
func fromGroups(ctx context.Context, db *sqlite3.Conn, sources []Source, query string) *sqlite3.Stmt {
	g := grouped(query)
	if g == nil {
		return nil
	}
	x := g.group(ctx, sources)
	if x == nil || g.register(db, x.table()) != nil {
		return nil
	}
	s, _, err := db.Prepare(g.query)
	if err != nil {
		return nil
	}
	return s
}

// failure describes an error of SQLite.
func failure(err error, query string) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "sqlite3: "), "SQL logic error: ")
	out := &Error{Text: text, At: -1, Query: query}
	switch {
	case errors.Is(err, sqlite3.AUTH):
		out.Text = "only reading these tables is allowed: no other statements, files, pragmas or extensions"
	case errors.Is(err, sqlite3.NOMEM):
		return outOfMemory()
	case errors.Is(err, sqlite3.TOOBIG):
		out.Text = "a text or the query is too long"
	}
	var e *sqlite3.Error
	if !errors.As(err, &e) {
		return out
	}
	if rest := e.SQL(); rest != "" && strings.HasSuffix(query, rest) {
		out.At = len(query) - len(rest)
	}
	switch {
	case strings.HasPrefix(text, "no such table: "):
		names := make([]string, len(relation.Tables))
		for i, t := range relation.Tables {
			names[i] = t.Name
		}
		out.Hint = "tables: " + strings.Join(names, ", ")
	case strings.HasPrefix(text, "no such column: "):
		out.Hint = columnsHint(query)
	}
	return out
}

// columnsHint lists the columns of the first tables that a query mentions.
func columnsHint(query string) string {
	used, _ := mentioned(query, tokens(query))
	const most = 2
	var hints []string
	for _, t := range used[:min(len(used), most)] {
		names := make([]string, len(t.Columns))
		for i := range t.Columns {
			names[i] = t.Columns[i].Name
		}
		hints = append(hints, t.Name+" has "+strings.Join(names, ", "))
	}
	return strings.Join(hints, "; ")
}
