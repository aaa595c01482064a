// Package decodetest provides helpers for the tests of decoders.
package decodetest

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Decoder is the Decode function of a format.
type Decoder func(context.Context, *source.Input, *recording.Builder, decode.Options) error

// Of returns a function that decodes bytes with a format's decoder, in chunks of the given
// size (0 for the usual size), and checks that the ledger is balanced.
func Of(to Decoder) func(t testing.TB, content []byte, chunk int) (*recording.Recording, error) {
	return func(t testing.TB, content []byte, chunk int) (*recording.Recording, error) {
		t.Helper()
		return Bytes(t, to, content, chunk)
	}
}

// Bytes decodes content like the function returned by Of.
func Bytes(t testing.TB, to Decoder, content []byte, chunk int) (*recording.Recording, error) {
	t.Helper()
	in := source.FromBytes("x", content)
	in.ChunkSize = chunk
	b := recording.NewBuilder()
	err := to(context.Background(), in, b, decode.Options{})
	r := b.Finish()
	Balanced(t, r)
	return r, err
}

// Balanced checks that the ledger accounts for every record: each record read was kept or
// left out, and each repaired record was kept.
func Balanced(t testing.TB, r *recording.Recording) {
	t.Helper()
	for _, l := range r.Ledger {
		if l.Read != l.Kept+l.LeftOut || l.Repaired > l.Kept {
			t.Errorf("ledger does not balance: %+v", l)
		}
	}
}

// Sentence checks the message for a file with one fault: the error, else the first
// warning and its place.
func Sentence(t testing.TB, name string, r *recording.Recording, err error, place, want string) {
	t.Helper()
	Balanced(t, r)
	at, got := "", ""
	switch {
	case err != nil:
		got = err.Error()
	case len(r.Warnings) > 0:
		at, got = r.Warnings[0].First, r.Warnings[0].Text
	}
	if at != place || got != want {
		t.Errorf("%s:\n got %s: %s\nwant %s: %s", name, at, got, place, want)
	}
}

// Spans lists the tracks of a recording, one line per item: spans in order of their
// begins, indented by depth, in nanoseconds, with their arguments; then instants; finally
// flows.
func Spans(r *recording.Recording) (out []string) {
	args := func(ref uint64) string {
		if ref == 0 || r.Args == nil {
			return ""
		}
		return " " + r.Args(ref)
	}
	for _, t := range r.Tracks {
		out = append(out, fmt.Sprintf("%s / %s", r.Processes[t.Process].Title(), t.Title()))
		type span struct{ lane, i int }
		var all []span
		for lane := range t.Lanes {
			for i := range t.Lanes[lane].Len() {
				all = append(all, span{lane, i})
			}
		}
		sort.SliceStable(all, func(a, b int) bool {
			return t.Lanes[all[a].lane].Start(all[a].i) < t.Lanes[all[b].lane].Start(all[b].i)
		})
		for _, s := range all {
			l := &t.Lanes[s.lane]
			out = append(out, fmt.Sprintf("%*s%s %d..%d%s", 2*s.lane+2, "", r.FuncName(l.Call(s.i)), l.Start(s.i)/1000, l.End(s.i)/1000, args(l.Args(s.i))))
		}
		for _, i := range t.Instants {
			out = append(out, fmt.Sprintf("  * %s %d%s", i.Name, i.Time/1000, args(i.Args)))
		}
	}
	for _, f := range r.Flows {
		line := f.Name
		for _, s := range f.Steps {
			t := r.Tracks[s.Track]
			line += fmt.Sprintf(" > %s / %s %.3f", r.Processes[t.Process].Title(), t.Title(), float64(s.Time)/1000)
		}
		out = append(out, line)
	}
	return out
}

// States lists the states of a thread, one line each, with the thread that ended them.
func States(r *recording.Recording, t *recording.Track) (out []string) {
	for l, i := &t.States, 0; i < l.Len(); i++ {
		woken := ""
		if w := r.Waker(t, i).Track; w != recording.NoTrack {
			woken = " by " + r.Tracks[w].Name
		}
		out = append(out, fmt.Sprintf("state %d/%s %s %s to %s%s", t.PID, t.Name, r.FuncName(l.Call(i)), r.Clock.Text(l.Start(i)), r.Clock.Text(l.End(i)), woken))
	}
	return out
}

// SpansOf decodes content at several chunk sizes, and checks its spans and that there are
// no warnings.
func SpansOf(t testing.TB, to Decoder, content, want string) {
	t.Helper()
	for _, chunk := range []int{0, 1, 13, 400} {
		r, err := Bytes(t, to, []byte(content), chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%v, %v", err, r.Warnings)
		}
		if got := strings.Join(Spans(r), "\n"); got != want {
			t.Fatalf("chunks of %d:\n%s\nwant\n%s", chunk, got, want)
		}
	}
}
