package roundtrip

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/spaa"
)

// TestNotesComeThrough checks that a profile's notes are kept through every format that has
// a place for them. pprof's own library reads the final profile.
func TestNotesComeThrough(t *testing.T) {
	p := madeProfile()
	p.Comments = []string{"hello <world>", "two\nlines, and a comma", "ü"}
	p.DocURL = "https://example.com/how"
	p.DurationNanos = 30_100_000_001
	rec := load(t, "x.pb.gz", encoded(t, p))
	for _, way := range [][]string{{"a.pb.gz"}, {"a.otlp", "b.pb.gz"}, {"a.spaa", "b.pb.gz"}, {"a.spaa.zst", "b.otlp", "c.spaa", "d.pb.gz"}} {
		r := rec
		var content []byte
		for _, name := range way {
			var rep *encode.Report
			content, rep = write(t, r, name, encode.Options{})
			for _, l := range rep.Lost {
				if strings.Contains(l.What, "notes") {
					t.Errorf("%v: %s loses %v", way, name, l)
				}
			}
			r = load(t, name, content)
		}
		got, err := profile.ParseData(content)
		if err != nil {
			t.Fatal(err)
		}
		comments := slices.DeleteFunc(slices.Clone(got.Comments), func(s string) bool {
			return strings.HasPrefix(s, "recorded by ") || strings.HasPrefix(s, "command: ")
		})
		if !slices.Equal(comments, p.Comments) || got.DocURL != p.DocURL || got.DurationNanos != p.DurationNanos {
			t.Errorf("%v: comments %q, documentation %q, %d ns", way, comments, got.DocURL, got.DurationNanos)
		}
		if got.TimeNanos != p.TimeNanos {
			t.Errorf("%v: recorded at %d, want %d", way, got.TimeNanos, p.TimeNanos)
		}
		for _, s := range got.Sample {
			for key := range s.Label {
				if strings.Contains(key, "comment") || strings.Contains(key, "doc") {
					t.Errorf("%v: a sample has the label %s", way, key)
				}
			}
		}
	}
	_, rep := write(t, rec, "x.folded", encode.Options{})
	if !slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return strings.HasPrefix(l.What, "file notes") && l.Count == 6 }) {
		t.Errorf("folded stacks do not say that the notes are lost: %v", rep.Lost)
	}
}

// TestNotesInSPAAAreValid checks that notes keep the header of a SPAA file valid.
func TestNotesInSPAAAreValid(t *testing.T) {
	p := madeProfile()
	p.Comments = []string{"hello"}
	content, _ := write(t, load(t, "x.pb.gz", encoded(t, p)), "x.spaa", encode.Options{})
	v, err := spaa.Validate(strings.NewReader(string(content)), spaa.ValidateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Valid() || v.Counts["unknown-key"] != 0 {
		t.Errorf("%v", v.Findings)
	}
	if !strings.Contains(string(content), `["comment","hello"]`) {
		t.Errorf("the header has no notes: %.600s", content)
	}
}

// TestNotesOfOtherFormats checks that the notes in perf's header and in a trace's metadata
// are read, and kept in conversions.
func TestNotesOfOtherFormats(t *testing.T) {
	perf := "# ========\n# captured on    : Tue Sep  5 10:00:00 2023\n# hostname : build7\n# os release : 6.1.0\n# arch : x86_64\n# cmdline : /usr/bin/perf record -g ./a.out\n# ========\n#\n" +
		"a.out 12/13 1.000000: 100 cycles: \n\t401000 main+0x0 (/bin/a.out)\n\n"
	rec := load(t, "x.perf", []byte(perf))
	for key, want := range map[string]string{recording.NoteHost: "build7", recording.NoteTime: "Tue Sep  5 10:00:00 2023", "os release": "6.1.0", "arch": "x86_64"} {
		if got := rec.Source.NotesOf(key); !slices.Equal(got, []string{want}) {
			t.Errorf("perf: %s is %q, want %q", key, got, want)
		}
	}
	content, _ := write(t, rec, "x.pb.gz", encode.Options{})
	p, err := profile.ParseData(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"host: build7", "recorded at: Tue Sep  5 10:00:00 2023", "command: /usr/bin/perf record -g ./a.out"} {
		if !slices.Contains(p.Comments, want) {
			t.Errorf("pprof: %q is not in %q", want, p.Comments)
		}
	}
	otlp := load(t, "x.otlp", first(write(t, rec, "x.otlp", encode.Options{})))
	if got := otlp.Source.NotesOf(recording.NoteHost); !slices.Equal(got, []string{"build7"}) || otlp.Source.Command != rec.Source.Command {
		t.Errorf("otlp: host %q, command %q", got, otlp.Source.Command)
	}

	trace := `{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}],"otherData":{"revision":"abc","numbers":[1,2],"deep":{"a":true},"none":null},"metadata":{"source":"tool","command_line":"run it","cpu-brand":"fast"}}`
	rec = load(t, "x.json", []byte(trace))
	want := []recording.Note{{Key: "revision", Value: "abc"}, {Key: "numbers", Value: "1"}, {Key: "numbers", Value: "2"}, {Key: "deep", Value: `{"a":true}`}, {Key: "cpu-brand", Value: "fast"}}
	if !slices.Equal(rec.Source.Notes, want) || rec.Source.Tool != "tool" || rec.Source.Command != "run it" {
		t.Errorf("trace: %+v", rec.Source)
	}
	again := load(t, "y.json", first(write(t, rec, "y.json", encode.Options{})))
	if fmt.Sprint(again.Source.Notes) != fmt.Sprint(want) || again.Source.Command != "run it" {
		t.Errorf("trace again: %+v", again.Source)
	}
}

func first(b []byte, _ *encode.Report) []byte { return b }

func TestNotesAreBounded(t *testing.T) {
	var s recording.Source
	s.Note("empty", " \n")
	s.Note("long", strings.Repeat("é", 5000))
	s.Note("bad", "\xff")
	for i := range 200 {
		s.Note("n", fmt.Sprint(i))
		s.Note("n", fmt.Sprint(i))
	}
	if len(s.Notes) != 100 || s.MoreNotes == 0 || len(s.Notes[0].Value) > 2100 || s.Notes[1].Value != "\uFFFD" {
		t.Errorf("%d notes, %d more, the first of %d bytes", len(s.Notes), s.MoreNotes, len(s.Notes[0].Value))
	}
}
