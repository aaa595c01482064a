// Package convert writes recordings in other formats. [ForFile] finds the
// target by a file's name; its Write streams a recording into it and reports
// what the target could not hold. The same recording gives the same bytes.
//
// SPAA to SPAA goes record by record ([CopySPAA]), so that nothing is lost,
// and [Create] makes files that are either whole or not there.
//
// # What every target gets
//
// Numbers stay exact: fractions are decimals where the target has them, and
// where it only has integers they are rounded so that the sum is right to half
// a unit (see rounder); the report says so.
//
// Threads keep their ids. Those that have none, and those whose ids mean
// another thread already, get new ones (see threadIDs).
package convert

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/recording"
)

// Options are wishes for a conversion; the zero value is fine.
type Options struct {
	// Event names the event for targets that hold one; "" is the default one.
	Event string
	// Window is how long the time windows are that a SPAA file gets, in
	// picoseconds; 0 leaves them as the recording has them.
	Window int64
	// Progress, if set, is called now and then with how much has been done of
	// all that there is to do, in steps of no particular size.
	Progress func(done, total int64)
}

// Target is a format that recordings can be written in.
type Target struct {
	// Name is as info prints it: "spaa"; Title is how people call it.
	Name, Title string
	// Extensions are those of files, with the dot. Behind them may stand .gz
	// or .zst, but for those in packed, which are compressed by their nature.
	Extensions []string
	packed     []string
	write      func(*job) error
}

// Targets are all formats that can be written. To add one, add its entry.
func Targets() []Target {
	return []Target{
		{Name: "spaa", Title: "SPAA", Extensions: []string{".spaa"}, write: writeSPAA},
		{Name: "pprof", Title: "pprof", Extensions: []string{".pb", ".pprof"}, packed: []string{".pprof"}, write: writePprof},
		{Name: "otlp", Title: "OpenTelemetry profiles", Extensions: []string{".otlp"}, write: writeOTLP},
		{Name: "folded", Title: "folded stacks", Extensions: []string{".folded"}, write: writeFolded},
		{Name: "chrome", Title: "Chrome trace", Extensions: []string{".json"}, write: writeChrome},
		{Name: "spall", Title: "spall", Extensions: []string{".spall"}, write: writeSpall},
	}
}

// ForFile finds the target of a file by its name's extension. The error lists
// the extensions that there are.
func ForFile(name string) (*Target, error) {
	base := uncompressed(name)
	var all []string
	for _, t := range Targets() {
		for _, ext := range t.Extensions {
			if strings.HasSuffix(base, ext) {
				return &t, nil
			}
			all = append(all, ext)
		}
	}
	return nil, fmt.Errorf("%s says no format: its extension must be one of %s, and .gz or .zst may follow", name, strings.Join(all, ", "))
}

// uncompressed is a file's name in lower case without the extension of a
// compression.
func uncompressed(name string) string {
	name = strings.ToLower(name)
	for _, ext := range []string{".gz", ".zst"} {
		if s, ok := strings.CutSuffix(name, ext); ok {
			return s
		}
	}
	return name
}

// Write writes a whole recording to w as the target has it; name is the
// file's, whose extension says how it is compressed. The report lists what
// could not be carried over; it is there also with an error.
func (t *Target) Write(ctx context.Context, w io.Writer, name string, rec *recording.Recording, opt Options) (*Report, error) {
	rep := new(Report)
	rep.lose(rec.SharedSymbols(), "mangled names", "several read the same and are one function")
	rep.lose(rec.Pairs(), "links of user and kernel stacks", "%s has none; both halves are carried, and both count", t.Title)
	err := t.compressed(w, name, func(w *bufio.Writer) error {
		return t.write(&job{ctx: ctx, rec: rec, opt: opt, w: w, Report: rep})
	})
	return rep, err
}

// compressed calls write with a writer that compresses as the name says.
func (t *Target) compressed(w io.Writer, name string, write func(*bufio.Writer) error) error {
	lower := strings.ToLower(name)
	var z io.WriteCloser
	switch {
	case strings.HasSuffix(lower, ".zst"):
		var err error
		if z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	case strings.HasSuffix(lower, ".gz"):
		z = gzip.NewWriter(w)
	default:
		for _, ext := range t.packed {
			if strings.HasSuffix(lower, ext) {
				z = gzip.NewWriter(w)
			}
		}
	}
	out := w
	if z != nil {
		out = z
	}
	b := bufio.NewWriterSize(out, 256<<10)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if z != nil {
		return z.Close()
	}
	return nil
}

// job is one conversion under way.
type job struct {
	ctx context.Context
	rec *recording.Recording
	opt Options
	w   *bufio.Writer
	*Report

	done, total, next int64
}

// stride is how many steps pass between looks at the clock and the context.
const stride = 8192

// tick counts n steps; the error is the context's.
func (j *job) tick(n int64) error {
	if j.done += n; j.done < j.next {
		return nil
	}
	j.next = j.done + stride
	if j.opt.Progress != nil {
		j.opt.Progress(j.done, max(j.total, j.done))
	}
	return j.ctx.Err()
}
