package spaa

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	format "ashlar/spaa"
)

// notesKey is the header key for notes in SPAA files that Ashlar writes: an array of
// [key, value] pairs.
const notesKey = "x_ashlar_notes"

// notes keeps the keys of the header and its source that are not in the spec.
func (m *merger) notes(h *format.Header) {
	src := m.b.Source()
	var pairs [][2]string
	if text := h.Extra[notesKey]; text != nil && json.Unmarshal(text, &pairs) == nil {
		for _, p := range pairs {
			src.Note(validText(p[0]), validText(p[1]))
		}
	}
	all := []format.Extra{h.Extra}
	if h.Source != nil {
		all = append(all, h.Source.Extra)
	}
	for _, extra := range all {
		for _, key := range slices.Sorted(maps.Keys(extra)) {
			if ownKeys[key] && (key != notesKey || pairs != nil) || isNull(extra[key]) {
				continue
			}
			for _, a := range flatten(nil, validText(key), extra[key], 1) {
				src.Note(a.Key, a.Value)
			}
		}
	}
}

// trackingNote describes in words the data that an allocation profiler captured (spec,
// 9.1).
func trackingNote(t *format.AllocationTracking) string {
	if t == nil {
		return ""
	}
	var words []string
	say := func(is format.Opt[bool], yes, no string) {
		switch {
		case is.OK && is.V:
			words = append(words, yes)
		case is.OK:
			words = append(words, no)
		}
	}
	say(t.TracksFrees, "frees are tracked", "frees are not tracked")
	say(t.HasTimestamps, "with times", "without times")
	return strings.Join(words, ", ")
}
