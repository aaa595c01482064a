// Package pathreport prints the critical path of a recording as JSON, as table rows and as
// text.
package pathreport

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/tables"
	"ashlar/app/core/tabular"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/criticalpath"
	"ashlar/render/units"
)

// Answer is the JSON output of path. Times are exact decimals in nanoseconds, starts
// counted from the recording's start.
type Answer struct {
	File string `json:"file"`
	// Length is the total duration of all paths, the sum of their steps.
	Length json.Number `json:"length"`
	// Address shows the paths.
	Address string `json:"address"`
	// Paths has one path for each requested call, or a single path if no calls were
	// requested.
	Paths []Path `json:"paths"`
	// ByState, ByThread and ByFunction are the sums of all paths' steps, longest first.
	ByState    []Sum `json:"by_state"`
	ByThread   []Sum `json:"by_thread"`
	ByFunction []Sum `json:"by_function"`
	// Candidates are functions on other threads that overlap waits whose end is not
	// recorded more often than by chance, the strongest association first.
	Candidates []Candidate `json:"candidates"`
	// Steps lists the steps of all paths, path by path, in order of time.
	Steps []Step `json:"steps"`
	// More is the number of steps that were left out.
	More int `json:"more"`

	rec   *recording.Recording
	paths []criticalpath.Path
	rows  []row // the steps in Steps
}

// Path is a critical path: it begins at Start, takes Length and ends on Thread.
type Path struct {
	Start  json.Number `json:"start"`
	Length json.Number `json:"length"`
	Thread string      `json:"thread"`
	TID    string      `json:"tid"`
	Steps  int         `json:"steps"`
}

// Sum is the time that the paths spent in a state, thread or function, and the number of
// steps.
type Sum struct {
	Name  string      `json:"name"`
	Time  json.Number `json:"time"`
	Steps int         `json:"steps"`
}

// Step is a step of a path, from Start, of duration Length. State is a thread state with
// its reason, "span" for a thread without states, "nothing" if nothing is known, or "on
// its way" with the name of a flow that was sent but has not yet arrived. WokenBy is the
// thread from which the path came.
type Step struct {
	Path     int         `json:"path"`
	Start    json.Number `json:"start"`
	Length   json.Number `json:"length"`
	Thread   string      `json:"thread"`
	TID      string      `json:"tid"`
	State    string      `json:"state"`
	Function string      `json:"function,omitempty"`
	WokenBy  string      `json:"woken_by,omitempty"`
	// WokenByTID is the id of that thread.
	WokenByTID string `json:"woken_by_tid,omitempty"`
}

// Thread returns the title of a thread, "" for no track.
func Thread(rec *recording.Recording, track int) string {
	if track == recording.NoTrack {
		return ""
	}
	return rec.Tracks[track].Title()
}

// Label is Thread with the thread's id.
func Label(rec *recording.Recording, track int) string {
	if track == recording.NoTrack {
		return ""
	}
	return rec.TrackLabel(track)
}

func tid(rec *recording.Recording, track int) string {
	if track == recording.NoTrack {
		return ""
	}
	return recording.IDText(rec.Tracks[track].TID)
}

// Of returns the answer for a scope whose calls are bound, with at most the given number
// of steps, 0 for all.
func Of(ctx context.Context, rec *recording.Recording, in recording.Scope, steps int) (*Answer, error) {
	a := &Answer{File: rec.Source.Path, Paths: []Path{}, Steps: []Step{}, rec: rec}
	var err error
	if a.paths, err = criticalpath.Of(ctx, rec, in); err != nil {
		return nil, err
	}
	var length int64
	for i := range a.paths {
		p := &a.paths[i]
		recording.Add(&length, p.To-p.From)
		a.Paths = append(a.Paths, Path{exactnum.Nanoseconds(p.From - rec.Start), exactnum.Nanoseconds(p.To - p.From), Thread(rec, p.Track), tid(rec, p.Track), len(p.Steps)})
		for k := range p.Steps {
			if steps > 0 && len(a.Steps) == steps {
				a.More += len(p.Steps) - k
				break
			}
			a.rows, a.Steps = append(a.rows, row{i, p.Steps[k]}), append(a.Steps, stepOf(rec, i, &p.Steps[k]))
		}
	}
	a.Length = exactnum.Nanoseconds(length)
	v := *view.OfScope(rec, in)
	v.Tab = "path"
	a.Address = evidence.Address(v, rec)
	a.ByState, a.ByThread, a.ByFunction = a.sums(criticalpath.ByState), a.sums(criticalpath.ByThread), a.sums(criticalpath.ByFunction)
	return a, a.findCandidates(ctx, in)
}

func stepOf(rec *recording.Recording, n int, s *criticalpath.Step) Step {
	return Step{n, exactnum.Nanoseconds(s.From - rec.Start), exactnum.Nanoseconds(s.To - s.From), Thread(rec, s.Track), tid(rec, s.Track), s.Words(rec), s.Function(rec), Thread(rec, s.WokenBy), tid(rec, s.WokenBy)}
}

func (a *Answer) sums(by criticalpath.By) []Sum {
	sums := []Sum{}
	for _, s := range criticalpath.Sums(a.rec, a.paths, by) {
		sums = append(sums, Sum{s.Name, exactnum.Nanoseconds(s.Time), s.Steps})
	}
	return sums
}

// row is a step with the number of its path.
type row struct {
	path int
	criticalpath.Step
}

// Columns returns the columns of the table of steps.
func Columns[T any](rec *recording.Recording, step func(*T) *criticalpath.Step) []tables.Column[T] {
	return []tables.Column[T]{
		tables.Time("start", func(r *T) int64 { return step(r).From - rec.Start }),
		tables.Time("duration", func(r *T) int64 { return step(r).To - step(r).From }),
		tables.Named("thread", func(r *T) string { return Label(rec, step(r).Track) }),
		tables.Named("state", func(r *T) string { return step(r).Words(rec) }),
		tables.Named("function", func(r *T) string { return step(r).Function(rec) }),
		tables.Named("woken by", func(r *T) string { return Label(rec, step(r).WokenBy) }),
	}
}

func (a *Answer) columns() []tables.Column[row] {
	return Columns(a.rec, func(r *row) *criticalpath.Step { return &r.Step })
}

// CSV writes the steps.
func (a *Answer) CSV(out io.Writer) error {
	cs := slices.Insert(a.columns(), 3, tables.Named("tid", func(r *row) string { return tid(a.rec, r.Track) }))
	cs[2] = tables.Named("thread", func(r *row) string { return Thread(a.rec, r.Track) })
	cs[len(cs)-1] = tables.Named("woken_by", func(r *row) string { return Thread(a.rec, r.WokenBy) })
	return tables.CSV(out, slices.Insert(cs, 0, tables.Count("path", func(r *row) int64 { return int64(r.path) })), a.rows)
}

// mostSums is the maximum number of rows per sum in the text.
const mostSums = 12

// Text writes the answer for people, with the first n steps.
func (a *Answer) Text(n int) string {
	var b strings.Builder
	var length int64
	for i := range a.paths {
		length += a.paths[i].To - a.paths[i].From
	}
	switch {
	case len(a.paths) == 0:
		return fmt.Sprintf("%s: none of these calls took any time\n", safetext.Short(a.rec.Source.Name))
	case len(a.paths) == 1:
		fmt.Fprintf(&b, "%s: critical path of %s, to the end on %s\n", safetext.Short(a.rec.Source.Name), units.Duration(length), safetext.Short(cmp.Or(Label(a.rec, a.paths[0].Track), "no thread")))
	default:
		fmt.Fprintf(&b, "%s: critical paths of %s, %s in all\n", safetext.Short(a.rec.Source.Name), units.Plural(int64(len(a.paths)), "call"), units.Duration(length))
	}
	for _, by := range []criticalpath.By{criticalpath.ByState, criticalpath.ByThread, criticalpath.ByFunction} {
		sums := criticalpath.Sums(a.rec, a.paths, by)
		fmt.Fprintf(&b, "\nby %s\n", by)
		rows := [][]string{}
		for i, s := range sums {
			if i == mostSums && len(sums) > mostSums+1 {
				var rest int64
				for _, s := range sums[i:] {
					rest += s.Time
				}
				rows = append(rows, []string{units.Duration(rest), units.Percent(rest, length), "", units.Plural(int64(len(sums)-i), "other")})
				break
			}
			rows = append(rows, []string{units.Duration(s.Time), units.Percent(s.Time, length), units.Count(int64(s.Steps)), safetext.Short(cmp.Or(Label(a.rec, s.Track), s.Name))})
		}
		tabular.Columns(&b, "  ", "rrrl", rows)
	}
	a.candidates(&b)
	a.steps(&b, n)
	return b.String()
}

// steps writes the first n steps as a table.
func (a *Answer) steps(b *strings.Builder, n int) {
	cs := a.columns()
	if len(a.paths) > 1 {
		cs = slices.Insert(cs, 0, tables.Numbered("call", func(r *row) string { return fmt.Sprint(r.path + 1) }))
	}
	b.WriteString("\n")
	tables.Write(b, "", cs, a.rows[:n])
	if more := a.More + len(a.rows) - n; more > 0 {
		fmt.Fprintf(b, "… and %s more; -n 0 prints all\n", units.Plural(int64(more), "step"))
	}
}
