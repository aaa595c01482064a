package recording

import (
	"fmt"
	"slices"

	"ashlar/ingest/input/safetext"
)

// Warning is one thing that was wrong with a file, how often, and where first.
type Warning struct {
	// Code is a stable word for programs, like "time-backward".
	Code string `json:"code"`
	// Text is a sentence for people, about the first place.
	Text  string `json:"text"`
	Count int64  `json:"count"`
	// First is the first place: "line 17" or "byte 4096"; may be empty.
	First string `json:"first"`
	// Minor says that no number and no bar on the screen would be another one
	// without it: something that was read has no place to be shown.
	Minor bool `json:"minor,omitempty"`
	// Error says that the file is damaged there or breaks a rule of its format. Answers
	// name the errors that are not Minor.
	Error bool `json:"error,omitempty"`
}

// Warned counts the warnings of a recording in words, "" without any. changes
// reports whether some of them change a number or a bar: others are notes on what
// has no place to be shown.
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

// Tally counts what became of the records of one kind. Read = Kept + LeftOut
// always; Repaired ones are among the kept.
type Tally struct {
	Kind                          string
	Read, Kept, Repaired, LeftOut int64
	FirstRepaired, FirstLeftOut   string
}

// TallyFrames is the kind of the tally of frames that stacks have.
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

// Warn notes an error at a place, which changes what is shown. The sentence of the
// first one with the code is kept; later ones are counted.
func (b *Builder) Warn(code, place, format string, args ...any) {
	b.note(code, place, format, args...).Error = true
}

// Remark notes what changes no number and is not an error: see Warning.Minor.
func (b *Builder) Remark(code, place, format string, args ...any) {
	b.note(code, place, format, args...).Minor = true
}

// Mended notes an error that changes no number, since it was made good.
func (b *Builder) Mended(code, place, format string, args ...any) {
	w := b.note(code, place, format, args...)
	w.Error, w.Minor = true, true
}

// Usual notes what changes what is shown and is not an error: a sound file has it too, such
// as spans that began before the recording.
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

// WarnMore counts n more of a warning that Warn has noted.
func (b *Builder) WarnMore(code string, n int64) { b.rec.Warnings[b.warn[code]].Count += n }

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
