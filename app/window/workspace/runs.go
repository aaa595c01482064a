package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/core/locate"
	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/scopebar"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Run is an additional recording of a side: a comparison counts it, but its timeline is not
// shown.
type Run struct {
	File string
	Off  bool // it does not count
	doc  *session.Side
	// total is the last known total, in the comparison's units.
	total    int64
	hasTotal bool
	// of is the side's scope and in is the same scope in this run's recording, which is bound. why
	// is the error if the recording does not have that scope.
	in, of recording.Scope
	bound  *recording.Recording
	why    error
}

// Name returns the file's name.
func (r *Run) Name() string { return OneLine(ingest.NameOf(r.File)) }

// Err returns the error that excludes a run from the comparison; nil if there is none or the run
// is still being read.
func (r *Run) Err() error {
	if r.doc == nil {
		return nil
	}
	if err := r.doc.Err(); err != nil && !r.doc.Recording().Done {
		return err
	}
	return r.why
}

// mostReading is the maximum number of runs that are read at once.
const mostReading = 4

// readRuns begins to read some runs, or all of them.
func (d *Workspace) readRuns(all bool, ps ...*Pane) {
	reading := 0
	for _, p := range ps {
		for _, r := range p.Runs {
			if r.doc != nil && !r.doc.Recording().Done && r.doc.Err() == nil {
				reading++
			}
		}
	}
	for _, p := range ps {
		for _, r := range p.Runs {
			if r.doc == nil && !r.Off && (all || reading < mostReading) {
				r.doc = d.side(r.File, p.Exe, recording.Part{})
				d.Session.Keep(r.doc)
				reading++
			}
		}
	}
}

// inputs returns the runs that count, as far as they are read, with the side's scope.
func (p *Pane) inputs() (all []compare.Input) {
	for _, r := range p.Runs {
		if r.Off || r.doc == nil {
			continue
		}
		rec := r.doc.Recording()
		if !rec.Done || r.doc.Err() != nil {
			continue
		}
		if r.bound != rec || !r.of.Equal(p.Scope) {
			r.bound, r.of = rec, p.Scope
			l, missing := view.Bind(rec, view.OfScope(p.Rec, p.Scope), 0, 1)
			r.in, r.why = l.Scope, errors.Join(missing...)
		}
		if r.why == nil {
			all = append(all, compare.Input{Rec: rec, Scope: r.in})
		}
	}
	return all
}

// withRuns passes the additional recordings of both sides to the comparison.
func (c *Comparison) withRuns(d *Workspace, all bool) {
	d.readRuns(all, c.Panes[0], c.Panes[1])
	if all {
		for _, p := range c.Panes {
			for _, r := range p.Runs {
				if r.doc != nil {
					r.doc.Wait() // a failure is shown in the run's place
				}
			}
		}
	}
	c.Engine.With([2][]compare.Input{c.Panes[0].inputs(), c.Panes[1].inputs()})
}

// AddRuns adds recordings to a side: files, folders and patterns, which are looked up in
// the background.
func (d *Workspace) AddRuns(side int, paths []string) {
	session.Go(func() {
		files, skipped, err := locate.Runs(paths)
		d.Later(func() {
			if err != nil {
				d.Say(err.Error())
				return
			}
			said := d.AddFiles(side, files)
			if len(skipped) > 0 {
				said += " · " + units.Plural(int64(len(skipped)), "file") + " with unknown formats skipped"
			}
			d.Say(said)
		})
	})
}

// AddFiles adds files to a side and returns a message about them. Without a comparison,
// side A is the open recording, and the first run of B opens the comparison.
func (d *Workspace) AddFiles(side int, files []string) (said string) {
	opened := 0
	if len(files) > 0 && d.Versus == nil && (d.Pane == nil || side == 1) {
		opened = 1
		if d.Pane == nil {
			side = 0
			d.Open(files[0])
		} else {
			d.OpenBeside(files[0])
		}
	}
	p := d.Pane
	if c := d.Versus; c != nil {
		p = c.Panes[side]
	}
	most := mostRuns
	if d.Versus == nil {
		most = mostInSeries
	}
	added, known, over := p.addRuns(files[opened:], most)
	said = units.Plural(int64(added+opened), "run") + " added to " + comparison.SideName(side)
	if known > 0 {
		said += ", " + units.Count(int64(known)) + " already there"
	}
	if over > 0 {
		said += " · " + units.Plural(int64(over), "file") + " not added: at most " + units.Count(int64(most)) + " runs per side"
	}
	if d.Versus == nil && added > 0 {
		said += " · open or drop B to compare"
	}
	d.Wake()
	return said
}

// mostRuns is the maximum number of runs of a side of a comparison: all of them are in
// memory. mostInSeries is that of a recording without a comparison, whose runs are only
// read for their trend, a few at a time.
const mostRuns, mostInSeries = 100, 1000

// addRuns adds files to the pane's runs, except those already there and those over the
// maximum.
func (p *Pane) addRuns(files []string, most int) (added, known, over int) {
	for _, f := range files {
		if abs, err := filepath.Abs(f); err == nil && f != view.Demo && !fetch.IsURL(f) {
			f = abs
		}
		if f == p.file() || slices.ContainsFunc(p.Runs, func(r *Run) bool { return r.File == f }) {
			known++
			continue
		}
		if len(p.Runs)+1 >= most {
			over++
			continue
		}
		p.Runs = append(slices.Clip(p.Runs), &Run{File: f})
		added++
	}
	return added, known, over
}

// runFiles returns the files of the pane's runs that count, the shown one first.
func (p *Pane) runFiles() []string {
	all := []string{p.file()}
	for _, r := range p.Runs {
		if !r.Off {
			all = append(all, r.File)
		}
	}
	return all
}

// readRun reads a run without showing it.
func (d *Workspace) readRun(ctx context.Context, file, exe string) (rec *recording.Recording, err error) {
	if d.Read != nil {
		rec, _, err = d.Read(file, exe, recording.Part{})
	} else {
		rec, _, err = ingest.ReadAll(ctx, file, ingest.Options{Options: decode.Options{Exe: exe}, Cache: d.Cache, Scratch: d.Scratch})
	}
	if err == nil && rec.Behind != nil {
		err = rec.Behind
	}
	return rec, err
}

// CompareRuns compares runs with others, by the metric shown, with a function selected
// unless f is nil. Undo leads back.
func (d *Workspace) CompareRuns(a, b []string, f *recording.FuncName) {
	back, now := d.wayBack(), d.ViewState()
	st := &view.State{Files: []string{a[0], b[0]}, Exe: now.Exe, Parts: now.Parts, Colour: now.Colour, Event: now.Event, Metric: now.Metric, Function: f}
	for i, files := range [][]string{a, b} {
		for _, file := range files[1:] {
			st.Sides[i].Runs = append(st.Sides[i].Runs, view.Run{File: file})
		}
	}
	d.Visit(st)
	d.back = back
}

// ShowTrend opens files as runs of one side, in this order, and shows their trend.
func (d *Workspace) ShowTrend(files []string) {
	d.Open(files[0])
	said := d.AddFiles(0, files[1:])
	d.Pane.Tab = panel.Trend
	if len(d.Pane.Runs)+1 < len(files) {
		d.Say(said)
	}
}

// runsState returns the pane's runs for a State.
func (p *Pane) runsState() (all []view.Run) {
	for _, r := range p.Runs {
		all = append(all, view.Run{File: r.File, Off: r.Off})
	}
	return all
}

// setRuns sets the pane's runs from a State. It reuses recordings that were read before.
func (p *Pane) setRuns(all []view.Run) {
	var runs []*Run
	for _, v := range all {
		r := &Run{File: v.File}
		for _, known := range slices.Concat(p.Runs, p.shelf) {
			if known.File == v.File {
				r = known
				break
			}
		}
		r.Off = v.Off
		runs = append(runs, r)
	}
	for _, r := range p.Runs {
		if !slices.Contains(p.shelf, r) {
			p.shelf = append(p.shelf, r)
		}
	}
	p.Runs = runs
}

// keepRuns keeps the pane's recordings open after the session shows other sides.
func (d *Workspace) keepRuns(ps ...*Pane) {
	for _, p := range ps {
		for _, r := range slices.Concat(p.Runs, p.shelf) {
			if r.doc != nil && !slices.Contains(d.Session.Sides(), r.doc) {
				d.Session.Keep(r.doc)
			}
		}
	}
}

// hasRuns reports whether a side has several runs.
func (c *Comparison) hasRuns() bool { return len(c.Panes[0].Runs)+len(c.Panes[1].Runs) > 0 }

// RunsOf describes the runs of a side, the shown one first.
func (c *Comparison) RunsOf(side int) []comparison.Run {
	p := c.Panes[side]
	all := []comparison.Run{{Name: OneLine(p.Doc.Name)}}
	for _, r := range p.Runs {
		all = append(all, comparison.Run{Name: r.Name(), Total: r.total, Known: r.hasTotal, Off: r.Off, Err: r.Err()})
	}
	a := c.Answer()
	if a == nil {
		return all
	}
	outliers := a.Compared.Outliers()
	first := a.Compared.Lead(side)
	set := func(i, r int) {
		all[i].Total, all[i].Known, all[i].Outlier = a.Compared.Runs[r].Sum, true, outliers[r]
	}
	set(0, first)
	for k, in := range a.More[side] {
		for i, r := range p.Runs {
			if r.bound == in.Rec && !r.Off {
				set(i+1, first+1+k)
				r.total, r.hasTotal = all[i+1].Total, true
			}
		}
	}
	return all
}

// ToggleRun takes a run off its side, or puts it back. Run 0 is the shown one: another run
// is shown in its place.
func (d *Workspace) ToggleRun(side, i int) {
	c := d.Versus
	if c == nil || i > len(c.Panes[side].Runs) {
		return
	}
	p := c.Panes[side]
	if i > 0 {
		p.Runs[i-1].Off = !p.Runs[i-1].Off
		d.Wake()
		return
	}
	next := slices.IndexFunc(p.Runs, func(r *Run) bool { return !r.Off && r.Err() == nil && r.doc != nil })
	if next < 0 {
		d.Say("This is the only run of " + comparison.SideName(side) + ": open another file in its place")
		return
	}
	d.showRun(side, next)
}

// showRun shows another run of a side, and takes the one shown so far off.
func (d *Workspace) showRun(side, next int) {
	c := d.Versus
	p := c.Panes[side]
	r := p.Runs[next]
	q := d.NewPane(r.doc)
	q.Path, q.Exe = r.File, p.Exe
	q.Runs = []*Run{{File: p.file(), Off: true, doc: p.Doc, total: c.RunsOf(side)[0].Total, hasTotal: true}}
	for i, x := range p.Runs {
		if i != next {
			q.Runs = append(q.Runs, x)
		}
	}
	q.shelf = p.shelf
	panes := c.Panes
	panes[side] = q
	d.Compare(panes[0], panes[1])
	d.Say(OneLine(p.Doc.Name) + " excluded from " + comparison.SideName(side) + "; showing " + OneLine(q.Doc.Name))
}

// ChooseRuns lists the runs of a side, to take them off or put them back.
func (d *Workspace) ChooseRuns(side int) {
	c := d.Versus
	if c == nil || len(c.Panes[side].Runs) == 0 {
		d.Say(comparison.SideName(side) + " has only one run. Add runs with the palette, or drop files on it")
		return
	}
	var list *widget.Chooser
	list = widget.NewChooser("Runs of "+comparison.SideName(side), "", func(text string) (lines []widget.Line) {
		c := d.Versus
		for i, r := range c.RunsOf(side) {
			if !widget.HasWords(r.Name, text) {
				continue
			}
			l := widget.Line{Title: r.Name, Detail: c.runDetail(r), Mark: widget.MarkOn, Dim: r.Off || r.Err != nil}
			if r.Off {
				l.Mark = widget.MarkOff
			}
			l.Take = func() {
				d.ToggleRun(side, i)
				list.Filled, list.Keep = false, true
			}
			lines = append(lines, l)
		}
		return lines
	})
	d.OpenChooser(list)
}

// runDetail describes a run in a list or a tooltip.
func (c *Comparison) runDetail(r comparison.Run) string {
	var parts []string
	if a := c.Answer(); r.Known && a != nil {
		parts = append(parts, units.Value(a.Compared.Metric.Readable(r.Total)))
	}
	switch {
	case r.Err != nil:
		parts = append(parts, r.Err.Error())
	case r.Off:
		parts = append(parts, "off")
	case r.Outlier:
		parts = append(parts, "outlier")
	case !r.Known:
		parts = append(parts, "being read")
	}
	return strings.Join(parts, " · ")
}

// runsChip returns the chip for a side with several runs.
func (p *Pane) runsChip(choose func()) []scopebar.Chip {
	if len(p.Runs) == 0 {
		return nil
	}
	on, failed := 1, 0
	for _, r := range p.Runs {
		switch {
		case r.Err() != nil:
			failed++
		case !r.Off:
			on++
		}
	}
	text := units.Plural(int64(on), "run")
	if on <= len(p.Runs) {
		text = units.Count(int64(on)) + " of " + units.Plural(int64(len(p.Runs)+1), "run")
	}
	more := []string{"Numbers are the means of these runs"}
	if failed > 0 {
		more = append(more, units.Plural(int64(failed), "run")+" cannot be read")
	}
	return []scopebar.Chip{{Kind: "runs", Text: text, More: more, Go: choose, Off: func() { p.setRuns(nil) }}}
}

// waiting returns the chip for runs that wait for a side B to be compared with.
func (p *Pane) waiting() []scopebar.Chip {
	if len(p.Runs) == 0 {
		return nil
	}
	return []scopebar.Chip{{Kind: "runs", Text: "A: " + units.Plural(int64(len(p.Runs)+1), "run"), More: []string{"Showing the first run", "Open or drop B to compare"}, Off: func() { p.setRuns(nil) }}}
}
