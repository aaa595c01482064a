// Package bundle makes one file of a part of a recording, how it is looked at, the marks
// on it and the source lines that it names, to hand to somebody else; who opens it sees
// what was looked at.
package bundle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/outfile"
	"ashlar/app/sourcefile"
	"ashlar/app/verb"
	"ashlar/app/view"
	"ashlar/ingest/extract"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/ingest/store"
	"ashlar/render/units"
)

// Extension is that of bundles, which are stored recordings.
const Extension = ".ashlar"

// Sections of the file: the addresses of its views, without files, and the lines of
// source files by their names in the recording and their numbers.
const (
	viewsSection = "views"
	linesSection = "source lines"
)

// Verb is the command.
var Verb = verb.Verb{
	Name: "bundle", Args: "ADDRESS… -o OUT.ashlar", Line: "put a view and its part of a recording into one file",
	Text: `
"Copy the view's address" in the window copies an ADDRESS. The file has the time
and the threads that are selected there (all where nothing is), the marks, and
of the source files that are here the lines that stacks lead to, with some
around them. Who opens it is shown the first view; info lists all. Several
addresses are of one recording, and the file has what any of them selects. Times
stay those of the whole recording. A FILE in place of an address is all of it.`,
	Examples: [][2]string{
		{"ashlar bundle 'ashlar:1?file=run.spall&select=1.2s..1.5s' -o anna.ashlar", "300 ms of a trace, as they were looked at"},
		{"ashlar anna.ashlar", "open it"},
	},
	Setup: setup,
}

func setup(fs *pflag.FlagSet) func(*verb.Program, []string) error {
	out := fs.StringP("output", "o", "", "write this `FILE`, which ends in .ashlar")
	force := fs.Bool("force", false, "replace the file where there is one")
	roots := fs.StringArray("source-root", nil, "look for source files in `DIR`, or FROM=DIR for those below FROM; may be repeated")
	verb.RedactFlag(fs)
	return func(p *verb.Program, args []string) error {
		if !strings.EqualFold(filepath.Ext(*out), Extension) {
			return verb.Misuse("name the file to write with -o: it ends in %s", Extension)
		}
		m := &maker{p: p}
		m.redact, _ = fs.GetBool("redact")
		for _, r := range *roots {
			root, err := sourcefile.ParseRoot(r)
			if err != nil {
				return &verb.Usage{Err: err}
			}
			m.roots = append(m.roots, root)
		}
		if err := m.take(args); err != nil {
			return err
		}
		return m.write(*out, *force)
	}
}

// maker makes one bundle.
type maker struct {
	p      *verb.Program
	redact bool
	roots  []sourcefile.Root
	file   string
	views  []*view.State
	rec    *recording.Recording // the whole
}

// take reads what is bundled: addresses of one recording.
func (m *maker) take(args []string) error {
	if len(args) == 0 {
		return verb.Misuse("name what to bundle: an address, or a file")
	}
	for _, a := range args {
		v := &view.State{Files: []string{a}}
		if view.Is(a) {
			var err error
			if v, err = view.Parse(a); err != nil {
				return &verb.Usage{Err: err}
			}
		}
		switch {
		case len(v.Files) != 1 || v.Files[0] == "-":
			return verb.Misuse("a bundle is of one recording that is a file, which each address has to name")
		case m.file != "" && m.file != v.Files[0]:
			return verb.Misuse("a bundle is of one recording: %s and %s are two", m.file, v.Files[0])
		}
		m.file = v.Files[0]
		m.views = append(m.views, v)
	}
	var err error
	name := m.file
	if name == view.Demo {
		name = ""
	}
	m.rec, err = m.p.Read(name)
	return err
}

// scope covers whatever any of the views selects; notes say what of it is left out.
func (m *maker) scope() (in recording.Scope, notes []string) {
	whole, all := false, false // of time, and of threads
	for i, v := range m.views {
		look, missing := view.Bind(m.rec, v, 0, 1)
		for _, err := range missing {
			notes = append(notes, err.Error())
		}
		of := []recording.Scope{look.Scope}
		if look.Against != nil {
			of = append(of, *look.Against)
		}
		for k, s := range of {
			switch first := i == 0 && k == 0; {
			case !s.Ranged:
				whole = true
			case first:
				in.From, in.To = s.From, s.To
			default:
				in.From, in.To = min(in.From, s.From), max(in.To, s.To)
			}
			if s.Tracks == nil {
				all = true
			}
			in.Tracks = append(in.Tracks, s.Tracks...)
		}
	}
	if in.Ranged = !whole; whole {
		in.From, in.To = 0, 0
	}
	slices.Sort(in.Tracks)
	if in.Tracks = slices.Compact(in.Tracks); all {
		in.Tracks = nil
	}
	in.Async, in.Idle = recording.In, recording.In
	return in, notes
}

func (m *maker) write(out string, force bool) error {
	in, notes := m.scope()
	part := m.rec
	if in.Ranged || in.Tracks != nil {
		var more []string
		var err error
		if part, more, err = extract.Recording(m.p.Ctx, m.rec, in, nil); err != nil {
			return err
		}
		notes = append(notes, more...)
		part.Start, part.End = m.rec.Start, m.rec.End // so that times in addresses mean the same
	}
	var views []string
	for _, v := range m.views {
		views = append(views, m.address(v))
	}
	lines, count := map[string]map[int]string{}, 0
	if !m.redact {
		var left int
		if lines, count, left = m.lines(part); left > 0 {
			notes = append(notes, fmt.Sprintf("%s found no room: a bundle has at most %d lines of %s in all", units.Plural(int64(left), "source line"), mostLines, units.Bytes(mostText)))
		}
	}
	sections := map[string][]byte{}
	for name, v := range map[string]any{viewsSection: views, linesSection: lines} {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		sections[name] = b
	}
	err := outfile.Write(out, outfile.Options{Replace: force, Not: []string{m.file}}, func(w io.Writer) error { return store.Write(w, part, sections, false) })
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(m.p.Stderr, "ashlar: %s\n", plain.Text(n))
	}
	size := int64(0)
	if st, err := os.Stat(out); err == nil {
		size = st.Size()
	}
	_, err = fmt.Fprintf(m.p.Stdout, "%s: %s, %s of %s, %s, %s\n", plain.Text(out), units.Plural(int64(len(views)), "view"), units.Plural(records(part), "record"), units.Count(records(m.rec)),
		units.Plural(int64(count), "source line"), units.Bytes(size))
	return err
}

func records(rec *recording.Recording) int64 {
	c := &rec.Counts
	return c.Spans + c.Samples + c.Stacks
}

// address is that of a view without its file. Where names are left out, so are those in
// the view, and the notes of marks.
func (m *maker) address(v *view.State) string {
	at := *v
	if m.redact {
		at = view.State{Tab: v.Tab, Up: v.Up}
		at.Sides[0].Show, at.Sides[0].Select = v.Sides[0].Show, v.Sides[0].Select
	}
	at.Files = nil
	return at.String()
}

// Bounds of the source lines in a bundle.
const (
	around    = 12       // lines before and behind one that stacks lead to
	mostLines = 50_000   // in all
	mostText  = 16 << 20 // bytes
)

// lines reads those of source files that are here and that frames of a recording lead
// to, by name and number; left counts those that there is no room for.
func (m *maker) lines(rec *recording.Recording) (all map[string]map[int]string, count, left int) {
	all = map[string]map[int]string{}
	wanted := map[string]map[int]bool{}
	for i := range rec.Frames.Len() {
		f := rec.Frames.Ref(i)
		name := cmp.Or(f.File, rec.Functions.Ref(int(f.Func)).File)
		if name == "" || f.Line <= 0 {
			continue
		}
		if wanted[name] == nil {
			wanted[name] = map[int]bool{}
		}
		for n := max(1, int(f.Line)-around); n <= int(f.Line)+around; n++ {
			wanted[name][n] = true
		}
	}
	bytes := 0
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		path, err := sourcefile.Find(name, m.roots, filepath.Dir(m.file))
		if err != nil || path == "" {
			continue // it is not here, or nobody permitted it
		}
		text, err := sourcefile.Lines(path)
		if err != nil {
			continue
		}
		of := map[int]string{}
		for _, n := range slices.Sorted(maps.Keys(wanted[name])) {
			if n > len(text) {
				break
			}
			if count >= mostLines || bytes >= mostText {
				left++
				continue
			}
			of[n] = text[n-1]
			count++
			bytes += len(text[n-1])
		}
		all[name] = of
	}
	return all, count, left
}

// section reads one of a file that may be a bundle; an error where it is none.
func section(path, name string, to any) error {
	if !strings.EqualFold(filepath.Ext(path), Extension) {
		return errors.New("it is no bundle")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := store.Section(f, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// Views are the addresses of what a bundle shows, with it as their file; nil for what is
// no bundle. What cannot be read of them is left out.
func Views(path string) (all []string) {
	var views []string
	if section(path, viewsSection, &views) != nil {
		return nil
	}
	for _, a := range views {
		if v, err := view.Parse(a); err == nil && len(v.Files) == 0 {
			v.Files = []string{path}
			all = append(all, v.String())
		}
	}
	return all
}

// Lines is the text of a source file as far as a bundle has it: lines that it lacks are
// empty. It is nil where the bundle has none, or path is no bundle.
func Lines(path, source string) []string {
	var all map[string]map[int]string
	if section(path, linesSection, &all) != nil || len(all[source]) == 0 {
		return nil
	}
	last := 0
	for n := range all[source] {
		if n > 0 && n <= mostLine {
			last = max(last, n)
		}
	}
	text := make([]string, last)
	for n, line := range all[source] {
		if n > 0 && n <= last {
			text[n-1] = line
		}
	}
	return text
}

// mostLine is the largest number of a line that is believed.
const mostLine = 1 << 20
