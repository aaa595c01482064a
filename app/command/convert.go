package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/command/progress"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest"
	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
	"ashlar/ingest/query/extract"
	"ashlar/ingest/query/join"
	"ashlar/ingest/query/redact"
	"ashlar/render/units"
)

func convertCommand() command {
	return own(subcommand.Command{
		Name: "convert", Args: "IN OUT [flags]", Line: "write a recording in another format",
		Text: `
The extension of OUT sets the format:

` + ingest.WrittenFormats() + `
Add .gz or .zst to the name to compress OUT.

Data that OUT cannot hold is listed at the end. OUT is written completely or not
at all. SPAA to SPAA keeps every record, key and number unchanged.

With --range, --thread, --calls or transforms, OUT has only that part of IN,
with the same values.
` + viewHelp,
		Examples: [][2]string{
			{"perf script | ashlar convert - run.spaa.zst --windows 1s", "SPAA with samples and one-second windows"},
			{"ashlar convert run.spaa run.pb.gz", "a profile for go tool pprof"},
			{"ashlar convert trace.json trace.spall --force", "replace trace.spall if it exists"},
			{"ashlar convert run.spall part.spaa --range 1.2s..1.5s --thread worker", "copy part of a recording"},
		},
		Answer: conversion{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o convertOptions
		var windows string
		exeFlag(fs)
		fs.BoolVar(&o.force, "force", false, "replace OUT if it exists")
		fs.BoolVar(&o.large, "large", false, "write OUT even if it has more than 1 GB and ten times the size of IN")
		fs.StringVar(&windows, "windows", "", "sum samples in windows of this `LENGTH`, such as 1s or 100ms (SPAA)")
		fs.StringVar(&o.event, "event", "", "the `EVENT` to write if OUT holds only one (pprof, folded; default: the first)")
		fs.BoolVar(&o.json, "json", false, "print the report as JSON")
		subcommand.RedactFlag(fs)
		var rng string
		fs.StringVar(&rng, "range", "", "only `START..END`, from the recording's start: 1.2s..1.5s")
		o.calls.add(fs)
		fs.StringArrayVar(&o.threads, "thread", nil, "only this `THREAD`: an id, a name, or part of a name (repeatable)")
		o.AddTransformFlags(fs)
		return func(c *call, args []string) (err error) {
			if err := o.names(args); err != nil {
				return err
			}
			if o.part, err = rangeFlag(rng); err != nil {
				return err
			}
			if windows != "" {
				if o.window, err = decimal.ParseLength(windows); err != nil {
					return misuse("--windows %q %w", windows, err)
				}
				if o.window == 0 {
					return misuse("--windows must be longer than 0")
				}
			}
			if err := o.check(); err != nil {
				return err
			}
			return c.convert(&o)
		}
	})
}

type convertOptions struct {
	in, out string
	target  *codec.Format
	force   bool
	large   bool
	window  int64
	event   string
	json    bool
	// part, calls, threads and the transforms of view.Stacks select the part of the
	// recording to write.
	part    recording.Range
	calls   callsFlag
	threads []string
	view.Stacks
}

func (o *convertOptions) names(args []string) (err error) {
	switch {
	case len(args) == 0:
		return misuse("name the recording, or - for standard input, and the file to write")
	case len(args) == 1:
		return misuse("name the output file after %s; its extension sets the format", args[0])
	case len(args) > 2:
		return misuse("too many files: %s; convert takes IN and OUT", args[2])
	case args[0] == "" || args[1] == "":
		return misuse("a file name is empty")
	case args[1] == "-":
		return misuse("convert cannot write to standard output; name a file, whose extension sets the format")
	}
	o.in, o.out = args[0], args[1]
	if o.target, err = ingest.FormatFor(o.out); err != nil {
		return &subcommand.Usage{Err: err}
	}
	return nil
}

// check rejects flags that the target format cannot use.
func (o *convertOptions) check() error {
	switch {
	case o.window != 0 && !o.target.Encode.Windows:
		return misuse("%s has no windows; leave out --windows", o.target.Title)
	case o.event != "" && !o.target.Encode.OneEvent:
		return misuse("%s files always hold all events; leave out --event", o.target.Title)
	}
	return nil
}

func (c *call) convert(o *convertOptions) (err error) {
	ctx := c.ctx
	files, err := join.Files(o.in)
	if err != nil {
		return err
	}
	out, err := outfile.Create(o.out, outfile.Options{Replace: o.force, Not: files})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := out.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	p := progress.Start(c.stderr)
	defer p.Stop()
	r, err := c.convertInto(ctx, o, out, p)
	if err != nil {
		return err
	}
	if info, err := out.Stat(); err == nil {
		r.Bytes = info.Size()
	}
	p.Stop()
	if err := out.Commit(); err != nil {
		return err
	}
	if err := c.reportConversion(o, r); err != nil {
		return err
	}
	return r.stopped
}

// conversion is the JSON output of convert.
type conversion struct {
	File    string        `json:"file"`
	Format  string        `json:"format"`
	Output  string        `json:"output"`
	Target  string        `json:"output_format"`
	Records int64         `json:"records"`
	Bytes   int64         `json:"bytes"`
	Lost    []encode.Loss `json:"not_carried_over"`
	// Notes describe how the written part differs from the selection.
	Notes []string `json:"notes,omitempty"`
	// Warnings is the number of warnings about the input.
	Warnings int64 `json:"input_warnings"`

	stopped error
}

func (c *call) convertInto(ctx context.Context, o *convertOptions, out *outfile.File, p *progress.Progress) (*conversion, error) {
	var in *source.Input // nil for a joined recording
	var format string
	path, bytes := o.in, int64(-1)
	if !join.IsName(o.in) {
		var err error
		if in, err = c.openInput(ctx, o.in); err != nil {
			return nil, err
		}
		defer in.Close()
		defer context.AfterFunc(ctx, in.Stop)()
		if format, err = formatOf(in); err != nil {
			return nil, err
		}
		path, bytes = in.Path, in.Bytes
	}
	r := &conversion{File: o.in, Format: format, Output: o.out, Target: o.target.Name, Lost: []encode.Loss{}}
	opt := encode.Options{Event: o.event, Window: o.window, Limit: &encode.Limit{
		Input: bytes, Free: -1, Large: o.large, Flag: "--large", Say: func(text string) { p.Stop(); c.note("%s", text) },
	}}
	if !o.target.Encode.Compresses(o.out) {
		opt.Limit.Free = out.Free()
	}
	var rep *encode.Report
	var err error
	if in != nil && format == o.target.Name && o.target.Encode.Copy != nil && !o.partial() && c.redactor == nil {
		p.Watch("copying", func() (done, total int64) { return in.Consumed(), in.Bytes })
		err = source.Protect(in.Path, func() (err error) {
			rep, err = o.target.Copy(ctx, out, o.out, &inputReader{in: in}, opt)
			return err
		})
	} else {
		rep, err = c.rewrite(ctx, o, in, out, opt, p, r)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		var named *source.Error
		var choice *encode.ChoiceError
		var write *fs.PathError
		switch {
		case errors.As(err, &choice):
			return nil, misuse("%s: %w", path, err)
		case errors.As(err, &named):
			return nil, err
		case errors.As(err, &write) && write.Op == "write":
			return nil, outfile.Cannot(o.out, err)
		}
		return nil, fmt.Errorf("%s cannot be converted to %s: %w", path, o.out, err)
	}
	r.Records = rep.Records
	r.Lost = append(r.Lost, rep.Lost...)
	return r, nil
}

// rewrite converts by reading a recording and writing it in the target format.
func (c *call) rewrite(ctx context.Context, o *convertOptions, in *source.Input, out io.Writer, opt encode.Options, p *progress.Progress, r *conversion) (*encode.Report, error) {
	opts := c.reading(recording.Part{Range: o.part, Threads: o.threads})
	l := (*ingest.Load)(nil)
	if in == nil {
		l = ingest.Open(ctx, o.in, opts)
	} else {
		l = ingest.OpenInput(ctx, in, opts)
	}
	defer l.Close()
	p.Watch("reading", func() (done, total int64) { pr := l.Progress(); return pr.Bytes, pr.Total })
	if err := l.Wait(); err != nil {
		return nil, err
	}
	rec := c.redacted(l.Snapshot())
	if in == nil {
		r.Format, opt.Limit.Input = rec.Source.Format, rec.Source.Bytes
	}
	for i := range rec.Warnings {
		if rec.Warnings[i].Code != recording.WarnPart { // the requested part
			r.Warnings += rec.Warnings[i].Count
		}
	}
	r.stopped = stopped(rec)
	opt.Progress = p.Writing()
	if o.partial() {
		watched, stop := memory.Watch(ctx, "the selected part", nil)
		var err error
		rec, err = o.partOf(watched, rec, r)
		cause := context.Cause(watched)
		if stop(); err != nil {
			return nil, cmp.Or(cause, err)
		}
	}
	var rep *encode.Report
	err := source.Protect(o.in, func() (err error) {
		rep, err = o.target.Write(ctx, out, o.out, rec, opt)
		return err
	})
	return rep, err
}

// reportConversion prints the result of a conversion and the data that OUT cannot hold.
func (c *call) reportConversion(o *convertOptions, r *conversion) error {
	if r.Warnings > 0 {
		c.note("%s: %s while it was read; %s lists them", o.in, units.Plural(r.Warnings, "warning"), safetext.Command("ashlar", "check", o.in))
	}
	if c.redactor != nil {
		r.File = redact.FileName(r.File)
	}
	if o.json {
		return c.printRows(true, r, "", 0, nil)
	}
	for _, n := range r.Notes {
		c.note("%s", n)
	}
	if len(r.Lost) > 0 {
		fmt.Fprintln(c.stderr, "Not converted:")
		for _, l := range r.Lost {
			fmt.Fprintf(c.stderr, "  %s (%s): %s\n", safetext.Short(l.What), units.Count(l.Count), safetext.Text(l.Why))
		}
	}
	return c.say(fmt.Sprintf("%s: %s, %s, %s\n", safetext.Text(o.out), o.target.Title, units.Plural(r.Records, "record"), units.Bytes(r.Bytes)))
}

// openInput opens a recording without reading it.
func (c *call) openInput(ctx context.Context, path string) (*source.Input, error) {
	if path == "-" && c.stdin != io.Reader(os.Stdin) {
		return source.FromReader("-", c.stdin), nil
	}
	return ingest.OpenSource(ctx, path)
}

// formatOf recognises the format of an input without consuming it.
func formatOf(in *source.Input) (name string, err error) {
	err = source.Protect(in.Path, func() error {
		f, read, err := ingest.FormatOf(in)
		if !read {
			return err
		}
		if err != nil && in.Private {
			return &source.Error{Path: inputName(in), What: "has an unknown format", Err: err}
		}
		if err != nil {
			return &source.Error{Path: inputName(in), What: err.Error(), Err: err}
		}
		name = f.Name
		return nil
	})
	return name, err
}

// inputName returns the input's name for messages.
func inputName(in *source.Input) string {
	if in.Path == "-" {
		return "standard input"
	}
	return in.Path
}

// inputReader reads an input's content.
type inputReader struct {
	in   *source.Input
	rest []byte
	err  error
}

func (r *inputReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.rest, _, r.err = r.in.Next(0)
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// partial reports whether only a part of the recording is wanted.
func (o *convertOptions) partial() bool {
	return o.part.IsSet() || len(o.threads) > 0 || o.calls.isSet() || o.Transforms != nil
}

// partOf extracts the selected part of a recording.
func (o *convertOptions) partOf(ctx context.Context, rec *recording.Recording, r *conversion) (*recording.Recording, error) {
	if err := o.Check(rec); err != nil {
		return nil, err
	}
	var in recording.Scope
	if o.part.IsSet() {
		in = recording.Between(rec.Start, rec.End)
		if rec.HasTime {
			var err error
			if in, err = o.part.In(rec); err != nil {
				return nil, misfit(rec, err)
			}
		}
	}
	for _, name := range o.threads {
		tracks, err := match.FindTracks(rec, name)
		if err != nil {
			return nil, err
		}
		in.Tracks = append(in.Tracks, tracks...)
	}
	slices.Sort(in.Tracks)
	in.Tracks = slices.Compact(in.Tracks)
	in.Async, in.Idle = recording.In, recording.In // include everything
	in, err := o.calls.in(ctx, rec, in)
	if err != nil {
		return nil, err
	}
	part, notes, err := extract.Recording(ctx, rec, in, o.Transforms)
	r.Notes = notes
	return part, err
}
