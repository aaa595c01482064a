package spaa

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// read decodes a file that is in memory.
func read(t testing.TB, data string) *recording.Recording {
	t.Helper()
	rec, err := tryRead(data, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, rec)
	return rec
}

func tryRead(data string, workers, chunk int) (*recording.Recording, error) {
	in := source.FromBytes("x.spaa", []byte(data))
	in.ChunkSize = chunk
	b := recording.NewBuilder()
	err := Decode(context.Background(), in, b, decode.Options{Workers: workers})
	return b.Finish(), err
}

// balanced checks that the ledger accounts for every record.
func balanced(t testing.TB, rec *recording.Recording) {
	t.Helper()
	for _, l := range rec.Ledger {
		if l.Read != l.Kept+l.LeftOut || l.Repaired > l.Kept {
			t.Errorf("the ledger does not balance: %+v", l)
		}
	}
}

func tally(rec *recording.Recording, kind string) recording.Tally {
	for _, l := range rec.Ledger {
		if l.Kind == kind {
			return l
		}
	}
	return recording.Tally{}
}

// codes lists the warnings as "code×count@place". It omits warnings about samples and
// windows that do not add up to their stacks, which most test files have; see TestParts.
func codes(rec *recording.Recording) string {
	var s []string
	for _, w := range rec.Warnings {
		if strings.HasSuffix(w.Code, "-exceed") || strings.HasSuffix(w.Code, "-less") {
			continue
		}
		s = append(s, fmt.Sprintf("%s×%d@%s", w.Code, w.Count, w.First))
	}
	return strings.Join(s, " ")
}

func warning(rec *recording.Recording, code string) recording.Warning {
	for _, w := range rec.Warnings {
		if w.Code == code {
			return w
		}
	}
	return recording.Warning{}
}

// stackText formats a stack as "outer;inner".
func stackText(rec *recording.Recording, c recording.CallID) string {
	var names []string
	for _, p := range rec.Calls.Path(nil, c) {
		names = append(names, rec.FuncName(p))
	}
	return strings.Join(names, ";")
}

// dump formats the whole content of a recording. Recordings of the same data have the same
// dump.
func dump(rec *recording.Recording) string {
	var s strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	p("source %+v", rec.Source)
	p("clock %+v %d..%d %v", rec.Clock, rec.Start, rec.End, rec.HasTime)
	for i := range rec.Functions.Len() {
		p("func %d %+v", i, rec.Functions.At(i))
	}
	for i := range rec.Frames.Len() {
		p("frame %d %+v", i, rec.Frames.At(i))
	}
	for i := 1; i < rec.Calls.Len(); i++ {
		c := recording.CallID(i)
		p("call %d %d %d", i, rec.Calls.Parent(c), rec.Calls.Frame(c))
	}
	for i := range rec.Contexts.Len() {
		p("context %d %+v", i, rec.Contexts.At(i))
	}
	for i, e := range rec.Events {
		p("event %d %+v", i, e)
		dumpRows(p, "stack", rec.Stacks[i], len(e.Metrics))
	}
	for _, ws := range rec.Windows {
		p("windows %d %+v", ws.Event, ws.Windows)
		dumpRows(p, "row", &ws.Rows, len(rec.Events[ws.Event].Metrics))
	}
	for _, t := range rec.Processes {
		p("process %+v", t)
	}
	for _, t := range rec.Tracks {
		p("track %v %d %d %q", t.Kind, t.PID, t.TID, t.Name)
		for _, ss := range t.Samples {
			for i := range ss.Len() {
				line := fmt.Sprintf("  sample %d %d %d %d", ss.Event, ss.Time(i), ss.Call(i), ss.CPU(i))
				for k := range rec.Events[ss.Event].Metrics {
					line += fmt.Sprintf(" %d", ss.Value(i, &rec.Events[ss.Event].Metrics[k], k))
				}
				p("%s", line)
			}
		}
	}
	p("%+v\n%+v\n%+v", rec.Counts, rec.Warnings, rec.Ledger)
	return s.String()
}

func dumpRows(p func(string, ...any), what string, rows *recording.Stacks, metrics int) {
	if rows == nil {
		return
	}
	for i := range rows.Len() {
		var v []int64
		for k := range metrics {
			v = append(v, rows.Value(i, k))
		}
		p("  %s %d %d %d %v", what, rows.Call(i), rows.Track(i), rows.Context(i), v)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// lines joins records, each with a line end.
func lines(records ...string) string { return strings.Join(records, "\n") + "\n" }
