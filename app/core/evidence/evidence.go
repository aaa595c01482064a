// Package evidence makes numbers checkable: the address of the view that shows a number,
// and the confidence interval of a sampled share.
package evidence

import (
	"fmt"
	"path/filepath"
	"strings"

	"ashlar/app/core/demo"
	"ashlar/app/core/locate"
	"ashlar/app/core/view"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/redact"
	"ashlar/render/units"
)

// Address returns the address of a view of one or two recordings, with their paths and
// content digests.
func Address(v view.State, recs ...*recording.Recording) string {
	v.Files, v.Contents = nil, nil
	for _, rec := range recs {
		v.Files = append(v.Files, file(rec))
	}
	locate.Name(&v)
	for i, rec := range recs {
		if c, err := view.ParseContent(rec.Source.Content); err == nil && c.Key != "" {
			v.Contents = append(v.Contents, make([]view.Content, max(0, i+1-len(v.Contents)))...)
			v.Contents[i] = c
		}
	}
	return v.String()
}

// About returns the address of the panel with a recording's contents and warnings.
func About(rec *recording.Recording) string { return Address(view.State{Tab: "about"}, rec) }

// file returns a recording's path as written in addresses.
func file(rec *recording.Recording) string {
	path := rec.Source.Path
	if path == demo.Name {
		return view.Demo
	}
	if abs, err := filepath.Abs(rec.Source.At(path)); err == nil && path != "-" && !fetch.IsURL(path) && !rec.Source.Redacted {
		return abs
	}
	return path
}

// Redacted returns a recording without information about its origin. Its path no longer
// leads to the file, so the content digest for addresses is computed first.
func Redacted(r *redact.Redactor, rec *recording.Recording) *recording.Recording {
	v := view.State{Files: []string{file(rec)}}
	locate.Name(&v)
	out := *r.Recording(rec)
	if out.Source.Content = ""; len(v.Contents) > 0 {
		out.Source.Content = v.Contents[0].String()
	}
	return &out
}

// Of returns a view of the query's scope. It names the event and the metric unless they
// are the recording's default.
func Of(rec *recording.Recording, q analyze.Query) view.State {
	v := *view.OfScope(rec, q.Scope)
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return v
	}
	if d := rec.DefaultEvent(); q.Event != d || q.Metric != rec.Events[d].Primary {
		e := &rec.Events[q.Event]
		v.Event, v.Metric = view.EventName(e), e.Metrics[q.Metric].Name
	}
	return v
}

// Command returns an ashlar command line, with --redact if the recording's names are
// redacted.
func Command(rec *recording.Recording, args ...string) string {
	if rec.Source.Redacted {
		args = append(args, "--redact")
	}
	return safetext.Command(append([]string{"ashlar"}, args...)...)
}

// File returns the argument by which a command opens the recording.
func File(rec *recording.Recording) string {
	if rec.Source.Path == demo.Name {
		return "--demo"
	}
	return rec.Source.Path
}

// LeftOut returns a text for the records that a total excludes, each with the flag that
// includes them; "" for none.
func LeftOut(l *analyze.LeftOut, m *recording.Metric) string {
	var b strings.Builder
	if l.AsyncSpans > 0 {
		fmt.Fprintf(&b, "\nasync spans excluded: %s in %s (--async in includes them)", units.Duration(l.AsyncTime), units.Plural(l.AsyncSpans, "span"))
	}
	if l.IdleRecords > 0 {
		n := units.Count(l.IdleRecords)
		if l.Waits {
			n = units.Plural(l.IdleRecords, "wait")
		}
		fmt.Fprintf(&b, "\n%s excluded: %s in %s (--idle in includes them)", l.IdleName(), units.Value(l.Idle, m), n)
	}
	return b.String()
}
