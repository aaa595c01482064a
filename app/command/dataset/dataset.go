// Package dataset implements "ashlar tables": recordings written as tables in Parquet files,
// laid out so that a folder of many recordings is one partitioned data set.
package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/locate"
	"ashlar/app/core/series"
	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest/format/parquet"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/render/units"
)

// Command is the tables command.
var Command = subcommand.Command{
	Name: "tables", Args: "FILE… -o DIR [flags]", Line: "write recordings as tables in Parquet files",
	Text: `
Each FILE becomes a partition of the data set in DIR: its rows of the table
spans are in DIR/spans/recording=FILE/rows.parquet, and so on. Several runs add
to one data set. A table without rows has no file in the partition. Folders
stand for the recordings in them.

DIR opens as a recording again if it has one, and DIR/recordings/recording=FILE
always does.

DIR/duckdb.sql has a view for each table:
  cd DIR && duckdb -init duckdb.sql -c 'SELECT count(*) FROM spans'

Times are integers in picoseconds. IDs are numbers from 0 within a recording,
so joins of several recordings compare the column recording, too. The tables,
version ` + strconv.Itoa(relation.Version) + `, with types and units:

` + relation.Describe(),
	Examples: [][2]string{
		{"ashlar tables run.spall -o runs", "all tables of a recording"},
		{"ashlar tables nightly/ -o runs", "a data set of all recordings in a folder"},
		{"ashlar tables run.spall -o runs --force --json", "replace the recording in the data set"},
	},
	Answer: Result{},
	Setup:  setup,
}

// Result is the JSON output of tables.
type Result struct {
	Output     string      `json:"output"` // the folder
	Version    int         `json:"tables_version"`
	Recordings []Recording `json:"recordings"`
	Skipped    []string    `json:"skipped"` // files in folders that are not recordings
}

// Recording is a recording in the data set.
type Recording struct {
	File string `json:"file"`
	// Name is the value of the column recording.
	Name   string  `json:"recording"`
	Rows   int64   `json:"rows"`
	Bytes  int64   `json:"bytes"`
	Tables []Table `json:"tables"` // the tables with rows
}

// Table is a table of a recording.
type Table struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

type options struct {
	dir         string
	force, json bool
}

func setup(f *pflag.FlagSet) func(*subcommand.Program, []string) error {
	var o options
	f.StringVarP(&o.dir, "output", "o", "", "write into this `DIR`")
	f.BoolVar(&o.force, "force", false, "replace recordings that are already in DIR")
	subcommand.AnswerFlags(f, &o.json)
	return func(p *subcommand.Program, args []string) error {
		switch {
		case len(args) == 0:
			return subcommand.Misuse("name the recordings, or a folder of them")
		case o.dir == "":
			return subcommand.Misuse("name the output folder with -o")
		}
		files, skipped, err := locate.Runs(args)
		if err != nil {
			return &subcommand.Usage{Err: err, Complete: true}
		}
		r := &Result{Output: o.dir, Version: relation.Version, Recordings: make([]Recording, len(files)), Skipped: append([]string{}, skipped...)}
		names := relation.Names(files)
		for i := range files {
			r.Recordings[i] = Recording{File: files[i], Name: names[i], Tables: []Table{}}
		}
		if err := o.write(p, r); err != nil {
			return err
		}
		for _, s := range skipped {
			fmt.Fprintf(p.Stderr, "ashlar: %s: unknown format; skipped\n", safetext.Short(s))
		}
		return p.Answer(o.json, r, "recordings", len(r.Recordings), r.text)
	}
}

// place returns the file of a table of a recording.
func (o *options) place(table, recording string) string {
	return parquet.Place(o.dir, table, recording)
}

// write writes all recordings, some at once. The error is that of the first one with an error.
func (o *options) write(p *subcommand.Program, r *Result) error {
	for i := range r.Recordings {
		if path := o.place("recordings", r.Recordings[i].Name); !o.force {
			if _, err := os.Lstat(path); err == nil {
				return fmt.Errorf("%s: the data set has this recording already; --force replaces it", safetext.Short(path))
			}
		}
	}
	empty := relation.New(recording.NewBuilder().Finish())
	for _, t := range relation.Tables {
		path := o.place(t.Name, parquet.NoRecording)
		if _, err := os.Stat(path); err == nil || t.Name == "recordings" {
			continue
		}
		if _, err := o.table(p.Ctx, empty, t, path); err != nil {
			return err
		}
	}
	if err := outfile.Write(filepath.Join(o.dir, "duckdb.sql"), outfile.Options{Replace: true}, func(w io.Writer) error { return Views(w) }); err != nil {
		return err
	}
	errs := make([]error, len(r.Recordings))
	series.Each(p.Ctx, len(r.Recordings), func(i int) bool {
		x := &r.Recordings[i]
		rec, err := p.Read(x.File)
		if err == nil {
			x.File = rec.Source.Path
			err = o.recording(p.Ctx, rec, x)
		}
		errs[i] = err
		return err == nil
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return p.Ctx.Err()
}

// recording writes the tables of a recording. The table recordings comes last: it shows that
// the others are complete.
func (o *options) recording(ctx context.Context, rec *recording.Recording, x *Recording) error {
	set := relation.New(rec)
	for i := range relation.Tables {
		t := relation.Tables[(i+1)%len(relation.Tables)]
		written, err := o.table(ctx, set, t, o.place(t.Name, x.Name))
		if err != nil {
			return err
		}
		if written.Rows > 0 {
			x.Rows, x.Bytes, x.Tables = x.Rows+written.Rows, x.Bytes+written.Bytes, append(x.Tables, written)
		}
	}
	return nil
}

// table writes a table into a file. Except in the partition parquet.NoRecording, there is no file
// without rows.
func (o *options) table(ctx context.Context, set *relation.Set, t *relation.Table, path string) (Table, error) {
	x := Table{Name: t.Name}
	if set.Open(t).Len() == 0 && !strings.Contains(path, parquet.NoRecording) {
		err := os.Remove(path)
		if err != nil && !os.IsNotExist(err) {
			return x, outfile.Cannot(path, err)
		}
		return x, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return x, outfile.Cannot(path, err)
	}
	err := outfile.Write(path, outfile.Options{Replace: true, Only: isParquet}, func(w io.Writer) (err error) {
		x.Rows, err = parquet.Write(ctx, w, set, t, nil)
		return err
	})
	if err != nil {
		return x, err
	}
	info, err := os.Stat(path)
	if err == nil {
		x.Bytes = info.Size()
	}
	return x, err
}

func isParquet(head []byte) error {
	if !bytes.HasPrefix(head, []byte("PAR1")) {
		return &fs.PathError{Op: "replace", Err: fmt.Errorf("not a Parquet file")}
	}
	return nil
}

// Views writes the views of a data set for DuckDB, run in its folder.
func Views(w io.Writer) error {
	for _, t := range relation.Tables {
		_, err := fmt.Fprintf(w, "CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet('%s/*/*.parquet', hive_partitioning = true, hive_types = {'%s': VARCHAR});\n", t.Name, t.Name, relation.Partition)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) text(n int) string {
	var b strings.Builder
	for _, x := range r.Recordings[:n] {
		fmt.Fprintf(&b, "%s: %s in %s, %s\n", safetext.Text(x.Name), units.Plural(x.Rows, "row"), units.Plural(int64(len(x.Tables)), "table"), units.Bytes(x.Bytes))
	}
	return b.String()
}
