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
	// answer. The other errors were repaired.
	Weighing []DamageKind `json:"weighing"`
	// Check is the command that lists all errors.
	Check string `json:"check"`
}

// DamageKind is one kind of error.
type DamageKind struct {
	Code  string `json:"code"`
	Count int64  `json:"count"`
	// First is the first place with this error, if known, and Text a sentence about it.
	First string `json:"first,omitempty"`
	Text  string `json:"text"`
}

// DamageOf returns the errors of a recording; nil without any.
func DamageOf(rec *recording.Recording) *Damage {
	d := &Damage{File: rec.Source.Path, Weighing: []DamageKind{}, Check: safetext.Command("ashlar", "check", rec.Source.Path)}
	for i := range rec.Warnings {
		w := &rec.Warnings[i]
		if !w.Error {
			continue
		}
		if d.Errors += w.Count; !w.Minor {
			d.Weighing = append(d.Weighing, DamageKind{w.Code, w.Count, w.First, w.Text})
		}
	}
	if d.Errors == 0 {
		return nil
	}
	return d
}

// mostKinds is the maximum number of kinds that Text names after the first.
const mostKinds = 3

// Text returns one line for people: the number of errors that affect the answer, and
// their kinds.
func (d *Damage) Text() string {
	var weigh int64
	for i := range d.Weighing {
		weigh += d.Weighing[i].Count
	}
	s := d.File + " has " + units.Plural(d.Errors, "error")
	switch {
	case weigh == 0:
		return s + ", none of which changes a number; " + d.Check + " lists them"
	case weigh == d.Errors:
		s += " that may affect this answer: "
	default:
		s += fmt.Sprintf(", of which %s may affect this answer: ", units.Count(weigh))
	}
	w := &d.Weighing[0]
	s += strings.TrimSuffix(safetext.Short(w.Text), ".")
	if w.First != "" {
		s += " (" + w.First + ")"
	}
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
