package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
	"ashlar/app/core/tables"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/ingest/query/sql"
	"ashlar/render/units"
)

// textRecords is the default number of rows in text output.
const textRecords = 100

func sqlCommand() command {
	return own(subcommand.Command{
		Name: "sql", Args: "FILE… SELECT [flags]", Line: "answer a question about recordings in SQL",
		Text: `
The tables are those of "ashlar help tables", as in "ashlar tables": spans,
samples, stacks, calls, functions, threads, states and more. Times are integers
in picoseconds. With several FILEs, each table has the rows of all of them, told
apart by the column recording.

The language is that of SQLite: WITH, window functions, JSON (args ->> '$.key'),
and the functions median, percentile_disc(x, 0.99) and percentile_cont. Only
SELECT is allowed, and no other file can be read.`,
		Examples: [][2]string{
			{"ashlar sql run.spall 'SELECT name, kind FROM threads'", "the threads"},
			{"ashlar sql run.spall --query slow.sql --csv", "the query in a file, for a spreadsheet"},
			{"ashlar sql a.spall b.spall --query totals.sql --json", "two recordings, as JSON"},
		},
		Answer: sqlAnswer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		o := sqlOptions{rows: textRecords, limits: sql.Limits{Time: sql.DefaultTime}}
		subcommand.RowsFlag(fs, &o.rows, "rows", "--json and --csv")
		file := fs.String("query", "", "take the query from this `FILE`")
		fs.BoolVar(&o.csv, "csv", false, "print only the rows, as CSV")
		fs.DurationVar(&o.limits.Time, "timeout", sql.DefaultTime, "stop the query after this `TIME`, such as 30s")
		subcommand.AnswerFlags(fs, &o.json)
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) error {
			if err := c.takeRows(fs, &o.rows, "rows", o.json, o.csv); err != nil {
				return err
			}
			if o.limits.Time <= 0 {
				return misuse("--timeout must be longer than 0")
			}
			if *demo {
				args = append([]string{""}, args...)
			}
			if *file != "" {
				b, err := os.ReadFile(*file)
				if err != nil {
					return err
				}
				args = append(args, string(b))
			}
			if len(args) < 2 {
				return misuse("name the recordings, and the query in quotes")
			}
			return c.sql(&o, args[:len(args)-1], args[len(args)-1])
		}
	})
}

type sqlOptions struct {
	rows      int
	json, csv bool
	limits    sql.Limits
}

// sqlAnswer is the JSON output of sql.
type sqlAnswer struct {
	Recordings []sqlRecording `json:"recordings"`
	Query      string         `json:"query"`
	Columns    []string       `json:"columns"`
	// Rows holds the values of each row in the order of the columns: exact numbers, strings or
	// null.
	Rows [][]any `json:"rows"`
	// More is true if there are more rows than the limits allow.
	More bool `json:"more"`

	result *sql.Result
}

type sqlRecording struct {
	File string `json:"file"`
	// Name is the value of the column recording.
	Name string `json:"recording"`
}

func (c *call) sql(o *sqlOptions, files []string, query string) error {
	a := &sqlAnswer{Query: query}
	names := relation.Names(files)
	var sources []sql.Source
	var first *recording.Recording
	for i, path := range files {
		rec, _, err := c.read(path, recording.Part{})
		if err != nil {
			return err
		}
		if first == nil {
			first = rec
		}
		if path == "" {
			names[i] = "demo"
		}
		sources = append(sources, sql.Source{Name: names[i], Set: relation.New(rec)})
		a.Recordings = append(a.Recordings, sqlRecording{rec.Source.Path, names[i]})
	}
	c.watch("the answer")
	o.limits.Rows = o.rows
	r, err := sql.Run(c.ctx, sources, query, o.limits)
	var wrong *sql.Error
	if errors.As(err, &wrong) {
		return &subcommand.Usage{Err: wrong, Complete: true}
	}
	if err != nil {
		return err
	}
	a.result, a.Columns, a.More = r, r.Columns, r.Cut
	if r.Cut {
		c.note("only the first %s are shown; -n 0 prints all", units.Plural(int64(len(r.Rows)), "row"))
	}
	if o.csv {
		if err := tables.CSV(c.stdout, a.columns(), r.Rows); err != nil {
			return err
		}
		return stopped(first)
	}
	if o.json {
		a.Rows = make([][]any, len(r.Rows))
		for i, row := range r.Rows {
			a.Rows[i] = make([]any, len(row))
			for k, v := range row {
				a.Rows[i][k] = jsonValue(v)
			}
		}
	}
	if err := c.printRows(o.json, a, "rows", len(r.Rows), a.text); err != nil {
		return err
	}
	return stopped(first)
}

// jsonValue returns a value for JSON; infinite numbers are texts.
func jsonValue(v relation.Value) any {
	switch {
	case v.Null:
		return nil
	case v.Type == relation.Text || v.Type == relation.Real && math.IsInf(v.Real, 0):
		return v.String()
	}
	return json.Number(v.String())
}

// columns returns the columns of the result for tables.
func (a *sqlAnswer) columns() []tables.Column[[]relation.Value] {
	cs := make([]tables.Column[[]relation.Value], len(a.Columns))
	for i, name := range a.Columns {
		cell := func(r *[]relation.Value) string { return (*r)[i].String() }
		cs[i] = tables.Column[[]relation.Value]{Name: name, Text: cell, Exact: cell, Number: a.result.Numeric(i)}
	}
	return cs
}

func (a *sqlAnswer) text(n int) string {
	if len(a.result.Rows) == 0 {
		return fmt.Sprintf("No rows (%s).\n", strings.Join(a.Columns, ", "))
	}
	var b strings.Builder
	tables.Write(&b, "", a.columns(), a.result.Rows[:n])
	return b.String()
}
