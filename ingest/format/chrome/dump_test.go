package chrome

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// read decodes an input that must be readable.
func read(t testing.TB, in *source.Input) *recording.Recording {
	t.Helper()
	rec, err := tryRead(in)
	if err != nil {
		t.Fatalf("%s: %v", in.Name, err)
	}
	return rec
}

func tryRead(in *source.Input) (*recording.Recording, error) {
	b := recording.NewBuilder()
	err := run(context.Background(), in, b, decode.Options{})
	return b.Finish(), err
}

func readText(t testing.TB, text string) *recording.Recording {
	t.Helper()
	return read(t, source.FromBytes("test.json", []byte(text)))
}

// balanced checks properties that hold for every recording: its ledger balances, and the
// spans counted are on tracks.
func balanced(t testing.TB, rec *recording.Recording) {
	t.Helper()
	var spans int64
	for _, l := range rec.Ledger {
		if l.Read != l.Kept+l.LeftOut || l.Kept < 0 || l.LeftOut < 0 {
			t.Errorf("ledger of %q does not balance: %+v", l.Kind, l)
		}
		if (l.LeftOut > 0) != (l.FirstLeftOut != "") || (l.Repaired > 0) != (l.FirstRepaired != "") {
			t.Errorf("ledger of %q: first places do not go with the counts: %+v", l.Kind, l)
		}
		switch l.Kind {
		case "B", "X", "b", "S":
			spans += l.Kept
		}
	}
	n := 0
	for _, tr := range rec.Tracks {
		n += tr.Spans()
	}
	spans += rec.Filled()
	if int64(n) != spans || rec.Counts.Spans != spans {
		t.Errorf("%d spans on tracks, %d counted, %d begins and complete events kept", n, rec.Counts.Spans, spans)
	}
	for _, w := range rec.Warnings {
		placed := w.Code != "overrun" && w.Code != "touching-spans" && w.Code != "crossing-spans" && w.Code != "overlapping-spans" && w.Code != "hits-differ" // these concern the whole file
		if w.Count <= 0 || w.First == "" && placed || w.Text == "" {
			t.Errorf("odd warning %+v", w)
		}
	}
}

// span is a span as tests compare it, with times in the file's unit.
type span struct {
	start, end string
	name       string
	unfinished bool
}

// spansOf lists the spans of a track, sorted by start, end and name.
func spansOf(rec *recording.Recording, tr *recording.Track) []span {
	var out []span
	for i := range tr.Lanes {
		l := &tr.Lanes[i]
		for k := range l.Len() {
			out = append(out, span{rec.Clock.Text(l.Start(k)), rec.Clock.Text(l.End(k)), rec.FuncName(l.Call(k)), l.Unfinished(k)})
		}
	}
	slices.SortFunc(out, func(a, b span) int {
		x, _ := new(big.Rat).SetString(a.start)
		y, _ := new(big.Rat).SetString(b.start)
		if c := x.Cmp(y); c != 0 {
			return c
		}
		return strings.Compare(a.end+a.name, b.end+b.name)
	})
	return out
}

// dump writes all contents of a recording, to compare two of them.
func dump(w io.Writer, rec *recording.Recording) {
	fmt.Fprintf(w, "%+v %d..%d %v %+v\n", rec.Clock, rec.Start, rec.End, rec.HasTime, rec.Counts)
	fmt.Fprintf(w, "%+v\n%+v\n%+v\n%+v\n", rec.Events, rec.Processes, rec.Warnings, rec.Ledger)
	args := func(ref uint64) string {
		if ref == 0 {
			return ""
		}
		return rec.Args(ref)
	}
	stack := func(c recording.CallID) string {
		var s []string
		for _, id := range rec.Calls.Path(nil, c) {
			f := rec.Functions.At(int(rec.Func(id)))
			fr := rec.Frames.At(int(rec.Calls.Frame(id)))
			s = append(s, fmt.Sprintf("%s|%s|%s:%d:%d", f.Name, f.Module, f.File, fr.Line, fr.Column))
		}
		return strings.Join(s, ";")
	}
	for _, tr := range rec.Tracks {
		fmt.Fprintf(w, "track %d %d %d %q %d\n", tr.Kind, tr.PID, tr.TID, tr.Name, tr.Sort)
		for i := range tr.Lanes {
			l := &tr.Lanes[i]
			for k := range l.Len() {
				fmt.Fprintf(w, " span %d %d..%d %s %v %s\n", i, l.Start(k), l.End(k), stack(l.Call(k)), l.Unfinished(k), args(l.Args(k)))
			}
		}
		for _, x := range tr.Instants {
			fmt.Fprintf(w, " instant %d %q %s\n", x.Time, x.Name, args(x.Args))
		}
		for _, s := range tr.Samples {
			m := &rec.Events[s.Event].Metrics[len(rec.Events[s.Event].Metrics)-1]
			for k := range s.Len() {
				fmt.Fprintf(w, " sample %d %d %s %d %d\n", s.Event, s.Time(k), stack(s.Call(k)), s.CPU(k), s.Value(k, m, len(rec.Events[s.Event].Metrics)-1))
			}
		}
	}
	for _, c := range rec.Counters {
		fmt.Fprintf(w, "counter %q %q %d\n", c.Name, c.Series, c.Process)
		for i := range c.Len() {
			fmt.Fprintf(w, " %d %g\n", c.Time(i), c.Value(i))
		}
	}
	for _, f := range rec.Flows {
		fmt.Fprintf(w, "flow %+v\n", f)
	}
}

func dumped(rec *recording.Recording) string {
	var s strings.Builder
	dump(&s, rec)
	return s.String()
}

// firstDifference returns the first line that differs between two texts.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%.1000s\n%.1000s", i, x[i], y[i])
		}
	}
	return "one is longer"
}
