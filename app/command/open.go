package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"ashlar/app/core/cache"
	"ashlar/app/core/demo"
	"ashlar/app/core/evidence"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// read loads a recording, or a part of it; path is "" for the built-in one.
func (c *call) read(path string, part recording.Part) (rec *recording.Recording, stats ingest.Stats, err error) {
	rec, stats, err = c.load(path, part)
	if err == nil && rec.Behind != nil {
		err = fmt.Errorf("%s: %w", rec.Source.Path, rec.Behind)
	}
	if err == nil {
		err = c.sayThreads(rec, part.Threads)
	}
	return rec, stats, err
}

func (c *call) load(path string, part recording.Part) (rec *recording.Recording, stats ingest.Stats, err error) {
	switch {
	case path == "":
		rec, stats, err = c.readInput(demo.Input(), part)
	case path == "-" && c.stdin != io.Reader(os.Stdin):
		rec, stats, err = c.readInput(source.FromReader("-", c.stdin), part)
	case c.run.Read != nil:
		rec, stats, err = c.run.Read(c.ctx, path, c.reading(part))
	default:
		rec, stats, err = ingest.ReadAll(c.ctx, path, c.reading(part))
	}
	if err == nil {
		rec = c.redacted(rec)
		c.takeNote(rec)
	}
	if view.IsAddress(path) && errors.Is(err, fs.ErrNotExist) {
		err = notAFile(path)
	}
	return rec, stats, err
}

// notAFile is the error for the address of a view where a command takes a file.
func notAFile(address string) error {
	its := ""
	if v, err := view.Parse(address); err == nil && len(v.Files) > 0 {
		its = ", such as " + safetext.Command(v.Files[0])
	}
	return misuse("%s is the address of a view, but a file is needed here%s", safetext.Short(address), its)
}

// takeNote records problems of a recording that every answer about it mentions: its
// errors, and the metrics whose sums are not exact. Both are in order of their names, because
// several recordings may be read at once.
func (c *call) takeNote(rec *recording.Recording) {
	c.besideLock.Lock()
	defer c.besideLock.Unlock()
	b := &c.beside
	b.Damage = slices.DeleteFunc(b.Damage, func(d *evidence.Damage) bool { return d.File == rec.Source.Path })
	if d := evidence.DamageOf(rec); d != nil {
		b.Damage = append(b.Damage, d)
		for i := len(b.Damage) - 1; i > 0 && b.Damage[i].File < b.Damage[i-1].File; i-- {
			b.Damage[i-1], b.Damage[i] = b.Damage[i], b.Damage[i-1]
		}
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		for k := range e.Metrics {
			name := e.NameOrKind() + "/" + e.Metrics[k].Name
			if e.Metrics[k].Saturated() && !slices.Contains(b.Saturated, name) {
				b.Saturated = append(b.Saturated, name)
				slices.Sort(b.Saturated)
			}
		}
	}
}

// sayDamage prints a line for each damaged recording, unless the JSON lists it.
func (c *call) sayDamage() {
	for _, d := range c.beside.Damage {
		c.note("%s", d.Text())
	}
}

// redacted applies --redact to a recording.
func (c *call) redacted(rec *recording.Recording) *recording.Recording {
	if c.redactor == nil {
		return rec
	}
	return evidence.Redacted(c.redactor, rec)
}

// sayThreads lists the matching threads if there are more of them than names: several
// threads may have a name or contain it. It fails if no thread matches, so that zeros are
// not mistaken for an answer.
func (c *call) sayThreads(rec *recording.Recording, named []string) error {
	const most = 6
	part := recording.Part{Threads: named}
	var names []string
	n := 0
	for _, t := range rec.Tracks {
		if len(named) == 0 || !part.Takes(t) {
			continue
		}
		switch n++; {
		case n <= most:
			names = append(names, strings.TrimSpace(t.Name+" "+recording.IDText(t.TID)))
		case n == most+1:
			names = append(names, "…")
		}
	}
	switch {
	case n == 0 && len(named) > 0:
		return &subcommand.Usage{Err: fmt.Errorf("--thread %s: no thread with this id or name; ashlar top FILE --by thread lists threads", strings.Join(named, ", ")), Complete: true}
	case n > len(named):
		c.note("--thread %s: ambiguous, %d threads match: %s", strings.Join(named, ", "), n, strings.Join(names, ", "))
	}
	return nil
}

// reading returns the options for reading recordings.
func (c *call) reading(part recording.Part) ingest.Options {
	return ingest.Options{Options: decode.Options{Exe: c.exe}, Part: part, Cache: c.cache, Scratch: c.scratch()}
}

// scratch returns the folder for columns that do not fit in memory; "" in tests.
func (c *call) scratch() string {
	if c.run.Cache == nil && !c.run.Scratch {
		return ""
	}
	return cache.Scratch()
}

func (c *call) readInput(in *source.Input, part recording.Part) (*recording.Recording, ingest.Stats, error) {
	l := ingest.OpenInput(c.ctx, in, c.reading(part))
	defer l.Close()
	err := l.Wait()
	return l.Snapshot(), l.Stats(), err
}

// stopped returns the error of a recording that was read only in part. The answer is
// printed anyway.
func stopped(rec *recording.Recording) error {
	for i := range rec.Warnings {
		if rec.Warnings[i].Code == "failed" {
			return errors.New(rec.Warnings[i].Text)
		}
	}
	return nil
}

// answer prints a command's answer about a recording, as JSON or as a text.
func (c *call) answer(rec *recording.Recording, asJSON bool, v any, text func() string) error {
	return cmp.Or(c.printRows(asJSON, v, "", 0, func(int) string { return text() }), stopped(rec))
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
