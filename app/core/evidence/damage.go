package evidence

import (
	"fmt"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Damage says that a recording that was asked about has errors.
type Damage struct {
	File string `json:"file"`
	// Errors is how many there are: places where the file is damaged or breaks a rule of
	// its format.
	Errors int64 `json:"errors"`
	// Weighing are the problems that change numbers or names, possibly those of this
	// answer. Other problems were repaired.
	Weighing []DamageKind `json:"weighing"`
	// Check is the command that lists all.
	Check string `json:"check"`
}

// DamageKind is one kind of errors.
type DamageKind struct {
	Code  string `json:"code"`
	Count int64  `json:"count"`
	// First is the first place, where the file tells it, and Text a sentence about it.
	First string `json:"first,omitempty"`
	Text  string `json:"text"`
}

// DamageOf collects the errors of a recording; nil without any.
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

// mostKinds is how many kinds of errors beside the first one Text names.
const mostKinds = 3

// Text is one line for people: how many errors weigh on the answer, and of which kinds.
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
		s += " that may weigh on this answer: "
	default:
		s += fmt.Sprintf(", of which %s may weigh on this answer: ", units.Count(weigh))
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
