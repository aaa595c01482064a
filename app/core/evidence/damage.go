package evidence

import (
	"fmt"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Damage describes the errors of a recording behind an answer.
type Damage struct {
	File string `json:"file"`
	// Errors is the number of errors: places where the file is damaged or breaks a rule
	// of its format.
	Errors int64 `json:"errors"`
	// Weighing lists the errors that change numbers or names, possibly those of this
	// answer, and problems that are not errors but leave sums wrong: spans that overlap
	// ("crossing-spans", "overlapping-spans"), since sums count their common time more
	// than once, spans that end after their parent and are cut ("overrun"), samples without
	// a weight ("period-missing"), times that do not count from the start that the file
	// states ("before-start"), and a metric with two units that cannot be converted
	// ("unit-differs"). The other errors were repaired.
	Weighing []DamageKind `json:"weighing"`
	// Check is the command that lists all errors.
	Check string `json:"check"`

	// unchanging is the first error that changes neither numbers nor names.
	unchanging *DamageKind
}

// DamageKind is one kind of error.
type DamageKind struct {
	Code  string `json:"code"`
	Count int64  `json:"count"`
	// First is the first place with this error, if known, and Text a sentence about it.
	First string `json:"first,omitempty"`
	Text  string `json:"text"`
	error bool
}

// skews reports whether a warning that is not an error means that sums are wrong.
func skews(rec *recording.Recording, code string) bool {
	switch code {
	case recording.WarnBefore, recording.WarnCrossing, recording.WarnCut, recording.WarnPeriod, recording.WarnUnits:
		return true
	case recording.WarnFilled:
		return onlyAsync(rec)
	}
	return false
}

// onlyAsync reports whether a recording has async spans only. Otherwise, sums exclude them
// unless asked to count them.
func onlyAsync(rec *recording.Recording) bool {
	for _, t := range rec.Tracks {
		if t.Kind == recording.ThreadTrack && t.Spans() > 0 {
			return false
		}
	}
	return rec.Counts.Samples == 0 && rec.Counts.Stacks == 0
}

// DamageOf returns the errors of a recording and the overlaps of its spans; nil without
// any.
func DamageOf(rec *recording.Recording) *Damage {
	d := &Damage{File: rec.Source.Path, Weighing: []DamageKind{}, Check: safetext.Command("ashlar", "check", rec.Source.Path)}
	for i := range rec.Warnings {
		w := &rec.Warnings[i]
		if !w.Error && !skews(rec, w.Code) {
			continue
		}
		if w.Error {
			d.Errors += w.Count
		}
		kind := DamageKind{w.Code, w.Count, w.First, w.Text, w.Error}
		if !w.Minor {
			d.Weighing = append(d.Weighing, kind)
		} else if d.unchanging == nil {
			d.unchanging = &kind
		}
	}
	if rec.Source.Checked {
		d.Errors = rec.Source.Errors
	}
	if d.Errors == 0 && len(d.Weighing) == 0 {
		return nil
	}
	return d
}

// longest is the maximum number of characters of a problem's text in a line.
const longest = 160

// mostKinds is the maximum number of kinds that Text names after the first.
const mostKinds = 3

// sentence returns the problem's text, without its full stop, and the first place.
func (k *DamageKind) sentence() string {
	s := strings.TrimSuffix(safetext.Sentence(k.Text, longest), ".")
	if k.First != "" {
		s += " (" + k.First + ")"
	}
	return s
}

// Text returns one line for people: the number of errors that affect the answer, and
// their kinds.
func (d *Damage) Text() string {
	var weigh int64
	for i := range d.Weighing {
		if d.Weighing[i].error {
			weigh += d.Weighing[i].Count
		}
	}
	weigh = min(weigh, d.Errors) // one error may have several effects
	s := d.File + " has " + units.Plural(d.Errors, "error")
	harmless := ", none of which changes a number"
	if d.Errors == 1 {
		harmless = ", which changes no number"
	}
	switch {
	case d.Errors == 0:
		s = d.File + ": "
	case len(d.Weighing) == 0:
		s += harmless
		if d.unchanging != nil {
			s += ": " + d.unchanging.sentence()
		}
		return s + "; " + d.Check + " lists them"
	case weigh == 0:
		s += harmless + ", but: "
	case weigh == d.Errors:
		s += " that may affect this answer: "
	default:
		s += fmt.Sprintf(", of which %s may affect this answer: ", units.Count(weigh))
	}
	w := &d.Weighing[0]
	s += w.sentence()
	if w.Count > 1 && len(d.Weighing) > 1 {
		s += ", " + units.Count(w.Count) + " times"
	}
	for i, more := range d.Weighing[1:] {
		if i == mostKinds {
			s += fmt.Sprintf(", %s", units.Plural(int64(len(d.Weighing)-1-i), "other kind"))
			break
		}
		s += fmt.Sprintf(", %s (%s)", safetext.Short(more.Code), units.Count(more.Count))
	}
	return s + "; " + d.Check + " lists all"
}
