package otlp

import (
	"math"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
)

// Attributes of profiles that describe the file, not its samples, with the names of
// OpenTelemetry's conventions.
var noteKeys = map[string]string{
	"pprof.profile.comment":     recording.NoteComment,
	"pprof.profile.doc_url":     recording.NoteDoc,
	"pprof.profile.drop_frames": recording.NoteDrop,
	"pprof.profile.keep_frames": recording.NoteKeep,
}

// note records a profile's attribute as a note. It returns false if the attribute does
// not describe the file.
func (c *converter) note(i int32) bool {
	if i < 0 || int(i) >= len(c.d.attrs) {
		return false
	}
	a := &c.d.attrs[i]
	key, ok := noteKeys[a.name(c.d)]
	if !ok {
		return false
	}
	values := a.value.list
	if values == nil {
		values = []value{a.value}
	}
	for k := range values {
		c.b.Source().Note(key, values[k].string(c.d))
	}
	return true
}

// noted are prefixes of attributes that describe where and how a recording was made, from
// OpenTelemetry's conventions. Other attributes apply only to samples.
var noted = []string{"service.", "host.", "os.", "telemetry.", "deployment.", "cloud.", "k8s.", "container.image.", "process.runtime."}

// noteResource records attributes of a resource or scope as notes; its samples have these
// attributes too.
func noteResource(src *recording.Source, attrs []recording.Attr) {
	for _, a := range attrs {
		switch {
		case a.Key == "host.name":
			src.Note(recording.NoteHost, a.Value)
		case a.Key == "process.command_line" && src.Command == "":
			src.Command = a.Value
		case slices.ContainsFunc(noted, func(prefix string) bool { return strings.HasPrefix(a.Key, prefix) }):
			src.Note(a.Key, a.Value)
		}
	}
}

// noteTimes notes the start of the earliest profile, and the duration if all profiles
// have the same times.
func (c *converter) noteTimes() {
	var first [2]uint64
	alike := true
	for i, s := range c.spans {
		alike = alike && s == c.spans[0]
		if i == 0 || s[0] < first[0] {
			first = s
		}
	}
	if t := first[0]; t > 0 && t <= math.MaxInt64 {
		c.b.Source().Note(recording.NoteTime, recording.NoteUnix(int64(t)))
	}
	if d := first[1]; alike && d > 0 && d <= math.MaxInt64 {
		c.b.Source().Note(recording.NoteDuration, recording.NoteSeconds(int64(d)))
	}
}
