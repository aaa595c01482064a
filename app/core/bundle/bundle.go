// Package bundle writes and opens bundles: one file with part of a recording, its view,
// its marks and the source lines it names. Whoever opens a bundle sees the same view.
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

	"ashlar/app/core/locate"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest/format/store"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/extract"
	"ashlar/render/units"
)

// Extension is the file extension of bundles, which are stored recordings.
const Extension = ".ashlar"

// Sections of the file: the addresses of its views, without files, and the lines of
// source files, by the file's name in the recording and the line number.
const (
	viewsSection = "views"
	linesSection = "source lines"
)

// Command is the bundle command.
var Command = subcommand.Command{
	Name: "bundle", Args: "ADDRESS… -o OUT.ashlar", Line: "save a view and its part of a recording as one file",
	Text: `
"Copy view address" in the window copies an ADDRESS. The bundle has the
selected time and threads (all without a selection), the marks, and the source
lines that stacks refer to, with their context, if the files are here. For
selected calls it has the calls, everything inside them, and their callers.
Opening it shows the first view; info lists all views. Several addresses must
belong to one recording or one comparison; the bundle contains everything that
they select. Times stay relative to the whole recording. A FILE instead of
an address is bundled whole, two FILEs as a comparison. Commands name the second
recording in x.ashlar as x.ashlar#b.`,
	Examples: [][2]string{
		{"ashlar bundle 'ashlar:1?file=run.spall&select=1.2s..1.5s' -o anna.ashlar", "300 ms of a trace, with the view"},
		{"ashlar bundle run.spall --calls 'parse[slowest 25]' -o slow.ashlar", "the slowest calls of a function"},
		{"ashlar bundle old.pprof new.pprof -o change.ashlar", "a comparison"},
		{"ashlar anna.ashlar", "open it"},
	},
	Setup: setup,
}

func setup(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
	out := fs.StringP("output", "o", "", "write the bundle to this `FILE`, which ends in .ashlar")
	force := fs.Bool("force", false, "replace an existing file")
	of := fs.String("calls", "", "only these `CALLS`, everything inside them and their callers; the form is that of top --calls")
	roots := fs.StringArray("source-root", nil, "look for source files in `DIR`; with FROM=DIR, look in DIR for files recorded below FROM (repeatable)")
	subcommand.RedactFlag(fs)
	return func(p *subcommand.Program, args []string) error {
		if !strings.EqualFold(filepath.Ext(*out), Extension) {
			return subcommand.Misuse("name the output file with -o; it must end in %s", Extension)
		}
		m := &maker{p: p}
		m.redact, _ = fs.GetBool("redact")
		for _, r := range *roots {
			root, err := sourcefile.ParseRoot(r)
			if err != nil {
				return &subcommand.Usage{Err: err}
			}
			m.roots = append(m.roots, root)
		}
		if err := m.take(args, *of); err != nil {
			return err
		}
		return m.write(*out, *force)
	}
}

// maker makes one bundle.
type maker struct {
	p      *subcommand.Program
	redact bool
	roots  []sourcefile.Root
	files  []string
	views  []*view.State
	recs   []*recording.Recording // the whole recording of each file
	notes  []string
}

// take reads the addresses to bundle. They must all be of one recording, or of the same
// two.
func (m *maker) take(args []string, of string) error {
	if of != "" {
		if _, err := calls.Parse(of); err != nil {
			return subcommand.Misuse("--calls %s names no calls: %w", safetext.Short(of), err)
		}
	}
	var err error
	switch {
	case len(args) == 0:
		return subcommand.Misuse("name an address or a file")
	case len(args) == 2 && !view.IsAddress(args[0]) && !view.IsAddress(args[1]) && args[0] != args[1]:
		m.views = []*view.State{{Files: args}}
	default:
		for _, a := range args {
			v := &view.State{Files: []string{a}}
			if view.IsAddress(a) {
				if v, err = view.Parse(a); err != nil {
					return &subcommand.Usage{Err: err}
				}
			}
			m.views = append(m.views, v)
		}
	}
	for _, v := range m.views {
		if len(v.Files) == 0 || slices.Contains(v.Files, "-") {
			return subcommand.Misuse("a bundle needs files; name one in each address")
		}
		notes, err := locate.Files(v, "", m.p.Recent())
		if m.notes = append(m.notes, notes...); err != nil {
			return err
		}
		if m.files != nil && !slices.Equal(m.files, v.Files) {
			return subcommand.Misuse("all addresses of a bundle must name the same one or two recordings; %s and %s differ", strings.Join(m.files, ", "), strings.Join(v.Files, ", "))
		}
		m.files = v.Files
		for i := range v.Files {
			v.Sides[i].Calls = cmp.Or(of, v.Sides[i].Calls)
		}
	}
	for _, f := range m.files {
		if f == view.Demo {
			f = ""
		}
		rec, err := m.p.Read(f)
		if err != nil {
			return err
		}
		m.recs = append(m.recs, rec)
	}
	return nil
}

// looks returns the views' selections in recording i.
func (m *maker) looks(rec *recording.Recording, i int) (of []recording.Scope, missing []error) {
	for _, v := range m.views {
		look, miss := view.Bind(rec, v, i, 1)
		missing = append(missing, miss...)
		if of = append(of, look.Scope); look.Against != nil {
			of = append(of, *look.Against)
		}
	}
	return of, missing
}

// scope returns a scope that covers all the given scopes, ignoring their calls.
func scope(of []recording.Scope) (in recording.Scope) {
	whole, all := false, false // whole: all of the time; all: all threads
	for i, s := range of {
		switch {
		case !s.Ranged, s.Outside:
			whole = true
		case i == 0:
			in.From, in.To = s.From, s.To
		default:
			in.From, in.To = min(in.From, s.From), max(in.To, s.To)
		}
		if s.Tracks == nil {
			all = true
		}
		in.Tracks = append(in.Tracks, s.Tracks...)
	}
	if in.Ranged = !whole; whole {
		in.From, in.To = 0, 0
	}
	slices.Sort(in.Tracks)
	if in.Tracks = slices.Compact(in.Tracks); all {
		in.Tracks = nil
	}
	in.Async, in.Idle = recording.In, recording.In
	return in
}

// part returns the part of recording i that the views select.
func (m *maker) part(i int) (part *recording.Recording, err error) {
	rec := m.recs[i]
	of, missing := m.looks(rec, i)
	for _, err := range missing {
		m.notes = append(m.notes, err.Error())
	}
	part, notes, err := m.ofCalls(rec, i, of)
	if err != nil {
		return nil, err
	}
	if in := scope(of); part == nil && (in.Ranged || in.Tracks != nil) {
		if part, notes, err = extract.Recording(m.p.Ctx, rec, in, nil); err != nil {
			return nil, err
		}
	}
	if part == nil {
		return rec, nil
	}
	m.notes = append(m.notes, notes...)
	part.Start, part.End = rec.Start, rec.End // keeps times in addresses valid
	return part, nil
}

// ofCalls returns the part of a recording with the calls that the views select. It
// returns nil if a view selects more than calls, or if the part would have different
// calls.
func (m *maker) ofCalls(rec *recording.Recording, i int, of []recording.Scope) (part *recording.Recording, notes []string, err error) {
	times := make([][]recording.Time, len(rec.Tracks))
	counts := make([]int, len(of))
	for k, s := range of {
		if s.Calls == nil {
			return nil, nil, nil
		}
		bound, err := calls.Bind(m.p.Ctx, rec, s)
		if err != nil {
			return nil, nil, err
		}
		if counts[k] = bound.Calls.Calls; counts[k] == 0 {
			return nil, nil, fmt.Errorf("%s: no calls match %s", rec.Source.Path, safetext.Short(s.Calls.Text))
		}
		for track, t := range bound.Calls.Times {
			times[track] = append(times[track], t...)
		}
	}
	in := recording.Scope{Ranged: true, From: rec.End, To: rec.Start, Tracks: []int{}, Async: recording.In, Idle: recording.In}
	for track := range times {
		if times[track] = joined(times[track]); times[track] == nil {
			continue
		}
		in.Tracks = append(in.Tracks, track)
		in.From, in.To = min(in.From, times[track][0].From), max(in.To, times[track][len(times[track])-1].To)
	}
	if part, notes, err = extract.During(m.p.Ctx, rec, in, times); err != nil {
		return nil, nil, err
	}
	part.Start, part.End = rec.Start, rec.End
	again, _ := m.looks(part, i)
	for k, s := range again {
		if bound, err := calls.Bind(m.p.Ctx, part, s); err != nil || bound.Calls.Calls != counts[k] {
			return nil, nil, err
		}
	}
	return part, notes, nil
}

// joined sorts time ranges and merges those that overlap.
func joined(ts []recording.Time) (out []recording.Time) {
	order.By(ts, func(a, b recording.Time) int { return cmp.Compare(a.From, b.From) })
	for _, t := range ts {
		if n := len(out); n > 0 && t.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, t.To)
		} else {
			out = append(out, t)
		}
	}
	return out
}

func (m *maker) write(out string, force bool) error {
	var parts []*recording.Recording
	kept, whole := int64(0), int64(0)
	for i, rec := range m.recs {
		part, err := m.part(i)
		if err != nil {
			return err
		}
		parts = append(parts, part)
		kept, whole = kept+records(part), whole+records(rec)
	}
	var views []string
	for _, v := range m.views {
		views = append(views, m.address(v))
	}
	lines, count := map[string]map[int]string{}, 0
	if !m.redact {
		var left int
		if lines, count, left = m.lines(parts); left > 0 {
			m.notes = append(m.notes, fmt.Sprintf("%s left out: a bundle holds at most %d lines and %s of source", units.Plural(int64(left), "source line"), mostLines, units.Bytes(mostText)))
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
	if len(parts) > 1 {
		if err := store.Add(sections, parts[1]); err != nil {
			return err
		}
	}
	err := outfile.Write(out, outfile.Options{Replace: force, Not: m.files}, func(w io.Writer) error { return store.Write(w, parts[0], sections, false) })
	if err != nil {
		return err
	}
	for _, n := range m.notes {
		fmt.Fprintf(m.p.Stderr, "ashlar: %s\n", safetext.Text(n))
	}
	size := int64(0)
	if st, err := os.Stat(out); err == nil {
		size = st.Size()
	}
	_, err = fmt.Fprintf(m.p.Stdout, "%s: %s, %s of %s, %s, %s\n", safetext.Text(out), units.Plural(int64(len(views)), "view"), units.Plural(kept, "record"), units.Count(whole),
		units.Plural(int64(count), "source line"), units.Bytes(size))
	return err
}

func records(rec *recording.Recording) int64 {
	c := &rec.Counts
	return c.Spans + c.Samples + c.Stacks
}

// address returns the address of a view without its file. With redact, it keeps only the
// tab, its direction and the time ranges.
func (m *maker) address(v *view.State) string {
	at := *v
	if m.redact {
		at = view.State{Tab: v.Tab, Up: v.Up}
		for i, s := range v.Sides {
			at.Sides[i].Show, at.Sides[i].Select = s.Show, s.Select
		}
	}
	if at.Files, at.Contents = nil, nil; len(m.files) > 1 {
		at.Files = both
	}
	return at.String()
}

// both are the names of the files in a bundle of two recordings.
var both = []string{"a", "b"}

// Bounds of the source lines in a bundle.
const (
	around    = 12       // lines before and after each line of a frame
	mostLines = 50_000   // in all files
	mostText  = 16 << 20 // bytes
)

// lines reads the lines of available source files that the recordings' frames refer to,
// by name and number. left is the number of lines beyond the limits.
func (m *maker) lines(recs []*recording.Recording) (all map[string]map[int]string, count, left int) {
	all = map[string]map[int]string{}
	wanted := map[string]map[int]bool{}
	for _, rec := range recs {
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
	}
	bytes := 0
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		path, err := sourcefile.Find(name, m.roots, filepath.Dir(m.files[0]))
		if err != nil || path == "" {
			continue // not available, or not permitted
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

// section reads a section of a bundle. It fails for other files.
func section(path, name string, to any) error {
	if file, ok := store.Second(path); ok {
		path = file
	}
	if !strings.EqualFold(filepath.Ext(path), Extension) {
		return errors.New("not a bundle")
	}
	f, err := source.OpenRegular(path)
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

// Views returns the addresses of the views in a bundle, with the bundle's path as their
// file; nil for other files. Addresses that cannot be parsed are left out.
func Views(file, path string) (all []string) {
	var views []string
	if section(file, viewsSection, &views) != nil {
		return nil
	}
	for _, a := range views {
		v, err := view.Parse(a)
		if err != nil {
			continue
		}
		switch {
		case len(v.Files) == 0:
			v.Files = []string{path}
		case slices.Equal(v.Files, both):
			v.Files = []string{path, store.SecondOf(path)}
		default:
			continue
		}
		all = append(all, v.String())
	}
	return all
}

// Lines returns the text of a source file from a bundle, with empty lines where the
// bundle has none. It returns nil if the bundle lacks the file, or path is not a bundle.
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

// mostLine is the largest plausible line number.
const mostLine = 1 << 20
