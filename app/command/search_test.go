package command

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// traceFiles returns recordings with thread names and arguments.
func traceFiles(t *testing.T) []string {
	writeSmallSpall(t)
	return append(samples.Files(t, "spall/v3_named_threads_args.spall", "chrome-trace/multiprocess.json", "chrome-trace/simple.json"), "testdata/small.spall")
}

// spansOf tests each span on its own. It returns the functions and the number of the spans for
// which holds is true, and the time that these cover.
func spansOf(rec *recording.Recording, holds func(t *recording.Track, l *lanes.Lane, i int) bool) (names []string, n, self int64) {
	seen := map[string]bool{}
	for _, t := range rec.Tracks {
		type stretch struct{ from, to int64 }
		var covered []stretch
		for k := range t.Lanes {
			l := &t.Lanes[k]
			for i := range l.Len() {
				if !holds(t, l, i) {
					continue
				}
				n++
				seen[rec.FuncName(l.Call(i))] = true
				s := stretch{l.Start(i), l.End(i)}
				if t.Kind == recording.ThreadTrack && slices.ContainsFunc(covered, func(c stretch) bool { return c.from <= s.from && c.to >= s.to }) {
					continue
				}
				covered = append(covered, s)
				self += s.to - s.from
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), n, self
}

// TestSearchInThreadsAndArguments compares searches with spansOf.
func TestSearchInThreadsAndArguments(t *testing.T) {
	compared := 0
	for _, path := range traceFiles(t) {
		l := ingest.Open(context.Background(), path, ingest.Options{})
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		rec := l.Snapshot()
		ms := rec.Events[0].Metrics[0]
		words := map[string]bool{}
		for _, tr := range rec.Tracks {
			words["thread:"+strings.ToLower(tr.Title())] = true
			for k := range tr.Lanes {
				if l := &tr.Lanes[k]; l.Len() > 0 && l.Args(0) != 0 && rec.Args != nil {
					text := rec.Args(l.Args(0))
					if first := strings.Fields(strings.ToLower(text)); len(first) > 0 && len(words) < 12 && !strings.HasPrefix(first[0], "/") {
						words["arg:"+first[len(first)-1]] = true
					}
				}
			}
		}
		for text := range words {
			field, want, _ := strings.Cut(text, ":")
			names, n, self := spansOf(rec, func(tr *recording.Track, l *lanes.Lane, i int) bool {
				if field == "thread" {
					return strings.Contains(strings.ToLower(tr.Title()), want)
				}
				return l.Args(i) != 0 && strings.Contains(strings.ToLower(rec.Args(l.Args(i))), want)
			})
			v := viewOf(t, path, "--search", text)
			var got []string
			for _, r := range v.Rows {
				if !slices.Contains(got, r.Name) {
					got = append(got, r.Name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, names) {
				t.Errorf("%s --search %s lists %d functions, want %d", filepath.Base(path), text, len(got), len(names))
			}
			if m := v.Matched; m.Records != n || whole(t, m.Total, &ms) != self {
				t.Errorf("%s --search %s finds %s in %d spans, want %d in %d", filepath.Base(path), text, m.Total, m.Records, self, n)
			}
			compared++
		}
		l.Close()
	}
	if compared == 0 {
		t.Errorf("no search was compared")
	}
}

// TestSearchInOneField checks that a search such as name:main looks only in that field.
func TestSearchInOneField(t *testing.T) {
	rows := viewOf(t, "testdata/small.spaa").Rows
	for _, c := range []struct {
		text string
		has  func(r *viewRow) bool
	}{
		{"name:main", func(r *viewRow) bool { return strings.Contains(strings.ToLower(r.Name), "main") }},
		{"module:/app$/", func(r *viewRow) bool { return strings.HasSuffix(r.Module, "app") }},
		{"module:nothing", func(r *viewRow) bool { return false }},
	} {
		var want, got []string
		for i := range rows {
			if c.has(&rows[i]) {
				want = append(want, rows[i].Name)
			}
		}
		for _, r := range viewOf(t, "testdata/small.spaa", "--search", c.text).Rows {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("--search %s lists %q, want %q", c.text, got, want)
		}
	}
}
