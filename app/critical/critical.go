// Package critical says what the critical path of a recording is: as numbers for
// programs, as rows for spreadsheets and as text for people.
package critical

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ashlar/app/cli/tabular"
	"ashlar/app/evidence"
	"ashlar/app/view"
	"ashlar/ingest/path"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/render/units"
)

// Answer is the JSON output of path. Times are exact decimals in nanoseconds, starts
// counted from the recording's start.
type Answer struct {
	File string `json:"file"`
	// Length is how long all paths are together, which their steps add up to.
	Length json.Number `json:"length"`
	// Address shows them.
	Address string `json:"address"`
	// Paths are one for each of the calls that were asked for, else one.
	Paths []Path `json:"paths"`
	// ByState, ByThread and ByFunction add up the steps of all paths, the longest first.
	ByState    []Sum `json:"by_state"`
	ByThread   []Sum `json:"by_thread"`
	ByFunction []Sum `json:"by_function"`
	// Steps are those of all paths, in the order of paths and time.
	Steps []Step `json:"steps"`
	// More is how many steps there are beside these.
	More int `json:"more"`

	rec   *recording.Recording
	paths []path.Path
}

// Path is where a path goes: from Start on for Length, to its end on a thread.
type Path struct {
	Start  json.Number `json:"start"`
	Length json.Number `json:"length"`
	Thread string      `json:"thread"`
	TID    string      `json:"tid"`
	Steps  int         `json:"steps"`
}

// Sum is how long paths were in a state, thread or function, and in how many steps.
type Sum struct {
	Name  string      `json:"name"`
	Time  json.Number `json:"time"`
	Steps int         `json:"steps"`
}

// Step says what the path was in from Start on for Length. State is a thread's state with
// its reason, "span" for one of a thread without states, "nothing" where nothing is known,
// "on its way" with the name of a flow that had been sent and not arrived. WokenBy is the
// thread from which the path comes here.
type Step struct {
	Path     int         `json:"path"`
	Start    json.Number `json:"start"`
	Length   json.Number `json:"length"`
	Thread   string      `json:"thread"`
	TID      string      `json:"tid"`
	State    string      `json:"state"`
	Function string      `json:"function,omitempty"`
	WokenBy  string      `json:"woken_by,omitempty"`
}

func nanoseconds(ps int64) json.Number {
	return json.Number(recording.Decimal{Mantissa: ps, Scale: 3}.String())
}

func thread(rec *recording.Recording, track int) (name, tid string) {
	if track == recording.NoTrack {
		return "", ""
	}
	t := rec.Tracks[track]
	return t.Title(), recording.IDText(t.TID)
}

// Of answers for a scope that has been looked up, with at most so many steps, 0 for all.
func Of(ctx context.Context, rec *recording.Recording, in recording.Scope, steps int) (*Answer, error) {
	a := &Answer{File: rec.Source.Path, Paths: []Path{}, Steps: []Step{}, rec: rec}
	var err error
	if a.paths, err = path.Of(ctx, rec, in); err != nil {
		return nil, err
	}
	var length int64
	for i := range a.paths {
		p := &a.paths[i]
		recording.Add(&length, p.To-p.From)
		name, tid := thread(rec, p.Track)
		a.Paths = append(a.Paths, Path{nanoseconds(p.From - rec.Start), nanoseconds(p.To - p.From), name, tid, len(p.Steps)})
		for k := range p.Steps {
			if steps > 0 && len(a.Steps) == steps {
				a.More += len(p.Steps) - k
				break
			}
			a.Steps = append(a.Steps, stepOf(rec, i, &p.Steps[k]))
		}
	}
	a.Length = nanoseconds(length)
	v := *view.Within(rec, in)
	v.Tab = "path"
	a.Address = evidence.Address(v, rec)
	a.ByState, a.ByThread, a.ByFunction = a.sums(path.ByState), a.sums(path.ByThread), a.sums(path.ByFunction)
	return a, nil
}

func stepOf(rec *recording.Recording, n int, s *path.Step) Step {
	x := Step{Path: n, Start: nanoseconds(s.From - rec.Start), Length: nanoseconds(s.To - s.From), State: s.Words(rec), Function: s.Function(rec)}
	x.Thread, x.TID = thread(rec, s.Track)
	x.WokenBy, _ = thread(rec, s.WokenBy)
	return x
}

func (a *Answer) sums(by path.By) []Sum {
	sums := []Sum{}
	for _, s := range path.Sums(a.rec, a.paths, by) {
		sums = append(sums, Sum{s.Name, nanoseconds(s.Time), s.Steps})
	}
	return sums
}

// CSV writes the steps.
func (a *Answer) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"path", "start_ns", "duration_ns", "thread", "tid", "state", "function", "woken_by"}}
	for _, s := range a.Steps {
		rows = append(rows, []string{fmt.Sprint(s.Path), string(s.Start), string(s.Length), s.Thread, s.TID, s.State, s.Function, s.WokenBy})
	}
	return w.WriteAll(rows)
}

// mostSums is how many rows of a sum the text has.
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
		return fmt.Sprintf("%s: none of these calls took any time\n", plain.Short(a.rec.Source.Name))
	case len(a.paths) == 1:
		name, _ := thread(a.rec, a.paths[0].Track)
		fmt.Fprintf(&b, "%s: critical path of %s, to the end on %s\n", plain.Short(a.rec.Source.Name), units.Duration(length), plain.Short(cmp.Or(name, "no thread")))
	default:
		fmt.Fprintf(&b, "%s: critical paths of %s, %s in all\n", plain.Short(a.rec.Source.Name), units.Plural(int64(len(a.paths)), "call"), units.Duration(length))
	}
	for _, by := range []path.By{path.ByState, path.ByThread, path.ByFunction} {
		sums := path.Sums(a.rec, a.paths, by)
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
			rows = append(rows, []string{units.Duration(s.Time), units.Percent(s.Time, length), units.Count(int64(s.Steps)), plain.Short(s.Name)})
		}
		tabular.Columns(&b, "  ", "rrrl", rows)
	}
	a.steps(&b, n)
	return b.String()
}

// steps writes the first n of them as a table.
func (a *Answer) steps(b *strings.Builder, n int) {
	rows := [][]string{{"start", "duration", "thread", "state", "function", "woken by"}}
	several := len(a.paths) > 1
	if several {
		rows[0] = append([]string{"call"}, rows[0]...)
	}
	left := n
	for i := range a.paths {
		for k := range a.paths[i].Steps[:min(left, len(a.paths[i].Steps))] {
			s := &a.paths[i].Steps[k]
			name, _ := thread(a.rec, s.Track)
			by, _ := thread(a.rec, s.WokenBy)
			row := []string{units.Duration(s.From - a.rec.Start), units.Duration(s.To - s.From), plain.Short(name), plain.Short(s.Words(a.rec)), plain.Short(s.Function(a.rec)), plain.Short(by)}
			if several {
				row = append([]string{fmt.Sprint(i + 1)}, row...)
			}
			rows = append(rows, row)
			left--
		}
	}
	b.WriteString("\n")
	align := "rrllll"
	if several {
		align = "r" + align
	}
	tabular.Columns(b, "", align, rows)
	if more := a.More + len(a.Steps) - (n - left); more > 0 {
		fmt.Fprintf(b, "… and %s more; -n 0 prints all\n", units.Plural(int64(more), "step"))
	}
}
