package recording

import (
	"fmt"
	"slices"

	"ashlar/ingest/input/safetext"
)

// Warning is a problem of a file, with the number of occurrences and the place of the
// first.
type Warning struct {
	// Code is a stable word for programs, like "time-backward".
	Code string `json:"code"`
	// Text is a sentence for people, about the first occurrence.
	Text  string `json:"text"`
	Count int64  `json:"count"`
	// First is the place of the first occurrence: "line 17" or "byte 4096"; may be empty.
	First string `json:"first"`
	// Minor says that no number or bar on the screen is affected: for example, the file
	// has data that is not shown anywhere.
	Minor bool `json:"minor,omitempty"`
	// Error says that the file is damaged at that place or violates its format. Answers
	// list the warnings with Error that are not Minor.
	Error bool `json:"error,omitempty"`
}

// Warned describes the number of warnings of a recording, "" if there are none. changes
// reports whether some of them affect a number or a bar; the others are notes on data
// that is not shown.
func (r *Recording) Warned() (text string, changes bool) {
	wrong, notes := 0, 0
	for i := range r.Warnings {
		if r.Warnings[i].Minor {
			notes++
		} else {
			wrong++
		}
	}
	switch {
	case notes == 0 && wrong == 0:
		return "", false
	case notes == 0:
		return safetext.Plural(wrong, "warning"), true
	case wrong == 0:
		return safetext.Plural(notes, "note"), false
	}
	return safetext.Plural(wrong, "warning") + ", " + safetext.Plural(notes, "note"), true
}

// Tally counts the records of one kind by outcome. Read = Kept + LeftOut always; Repaired
// records are included in Kept.
type Tally struct {
	Kind                          string
	Read, Kept, Repaired, LeftOut int64
	FirstRepaired, FirstLeftOut   string
}

// TallyFrames is the kind of the tally for frames in stacks.
const TallyFrames = "frame in a stack"

// Leave counts a record that was read and left out.
func (t *Tally) Leave(place string) {
	t.LeftOut++
	if t.FirstLeftOut == "" {
		t.FirstLeftOut = place
	}
}

// Mend counts a record that was repaired, and is kept.
func (t *Tally) Mend(place string) {
	t.Repaired++
	if t.FirstRepaired == "" {
		t.FirstRepaired = place
	}
}

// Warn records an error at a place that affects the display. Only the first text of each
// code is kept; later ones are counted.
func (b *Builder) Warn(code, place, format string, args ...any) {
	b.note(code, place, format, args...).Error = true
}

// Remark records something that affects no number and is not an error: see Warning.Minor.
func (b *Builder) Remark(code, place, format string, args ...any) {
	b.note(code, place, format, args...).Minor = true
}

// Mended records an error that was corrected, so that it affects no number.
func (b *Builder) Mended(code, place, format string, args ...any) {
	w := b.note(code, place, format, args...)
	w.Error, w.Minor = true, true
}

// Usual records something that affects the display but is not an error, since valid files
// have it too, such as spans that began before the recording.
func (b *Builder) Usual(code, place, format string, args ...any) {
	b.note(code, place, format, args...)
}

func (b *Builder) note(code, place, format string, args ...any) *Warning {
	i, ok := b.warn[code]
	if !ok {
		i = len(b.rec.Warnings)
		b.warn[code] = i
		b.rec.Warnings = append(b.rec.Warnings, Warning{Code: code, First: place, Text: fmt.Sprintf(format, args...)})
	}
	b.rec.Warnings[i].Count++
	return &b.rec.Warnings[i]
}

// WarnMore counts n more occurrences of a warning that was recorded with Warn.
func (b *Builder) WarnMore(code string, n int64) { b.rec.Warnings[b.warn[code]].Count += n }

// Reword replaces the text of a warning that was recorded with Warn.
func (b *Builder) Reword(code, format string, args ...any) {
	b.rec.Warnings = slices.Clone(b.rec.Warnings) // snapshots share the old ones
	b.rec.Warnings[b.warn[code]].Text = fmt.Sprintf(format, args...)
}

// Retract takes a warning back that has turned out to be wrong.
func (b *Builder) Retract(code string) {
	i, ok := b.warn[code]
	if !ok {
		return
	}
	b.rec.Warnings = slices.Delete(slices.Clone(b.rec.Warnings), i, i+1)
	delete(b.warn, code)
	for c, k := range b.warn {
		if k > i {
			b.warn[c] = k - 1
		}
	}
}
