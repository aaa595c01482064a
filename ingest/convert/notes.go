package convert

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/recording"
	format "ashlar/spaa"
)

// loseNotes notes what the file said of itself, for targets that have no place
// for it.
func (j *job) loseNotes(why string) {
	src := &j.rec.Source
	j.lose(int64(len(src.Notes))+src.MoreNotes, "notes of the file on itself", why)
}

// notes carries notes into a profile: comments as such, others that it has no
// field for as comments that begin with their key.
func (w *pprofWriter) notes() {
	p := w.p
	for _, n := range w.rec.Source.Notes {
		switch {
		case n.Key == recording.NoteComment:
			p.Comments = append(p.Comments, n.Value)
		case n.Key == recording.NoteDoc && p.DocURL == "":
			p.DocURL = n.Value
		case n.Key == recording.NoteDuration && !w.rec.HasTime:
			if ns, ok := recording.NoteNanos(n.Value); ok {
				p.DurationNanos = ns
			}
		case n.Key == recording.NoteDuration:
		case n.Key == recording.NoteTime && isUnix(n.Value):
			if p.TimeNanos == 0 {
				p.TimeNanos = unixOf(n.Value)
			}
		case n.Key == recording.NoteDrop || n.Key == recording.NoteKeep:
			// What they hide is gone already.
		default:
			p.Comments = append(p.Comments, n.Key+": "+n.Value)
		}
	}
	w.lose(w.rec.Source.MoreNotes, "notes of the file on itself", "the recording keeps the first hundred")
}

func isUnix(note string) bool { return unixOf(note) != 0 }

// unixOf is a note's time in nanoseconds since 1970, 0 where it is none.
func unixOf(note string) int64 {
	ns, _ := recording.NoteUnixNanos(note)
	return ns
}

// Attributes of a profile for what only pprof has; the names are those of
// OpenTelemetry's conventions.
const (
	otlpComment = "pprof.profile.comment"
	otlpDoc     = "pprof.profile.doc_url"
	otlpDrop    = "pprof.profile.drop_frames"
	otlpKeep    = "pprof.profile.keep_frames"
)

// notes are a profile's attributes that say what notes say. Those whose key is
// an attribute's name are attributes of resources.
func (w *otlpWriter) notes() (attrs []int32) {
	var comments []byte
	for _, n := range w.rec.Source.Notes {
		switch n.Key {
		case recording.NoteComment:
			comments = pbBytes(comments, 1, anyText(n.Value))
		case recording.NoteDoc:
			attrs = append(attrs, w.dict.attr(otlpDoc, anyText(n.Value)))
		case recording.NoteDrop:
			attrs = append(attrs, w.dict.attr(otlpDrop, anyText(n.Value)))
		case recording.NoteKeep:
			attrs = append(attrs, w.dict.attr(otlpKeep, anyText(n.Value)))
		case recording.NoteDuration, recording.NoteHost:
		default:
			if known := n.Key == recording.NoteTime && isUnix(n.Value); !known && !w.isCommon(n) {
				comments = pbBytes(comments, 1, anyText(n.Key+": "+n.Value))
			}
		}
	}
	if comments != nil { // an ArrayValue
		attrs = append(attrs, w.dict.attr(otlpComment, protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), comments)))
	}
	return attrs
}

// isCommon tells whether a note is an attribute of a resource anyway.
func (w *otlpWriter) isCommon(n recording.Note) bool {
	for _, r := range w.resources {
		for _, a := range r.common {
			if a.Key == n.Key && a.Value == n.Value {
				return true
			}
		}
	}
	return false
}

// notesKey is the header's key for notes, in SPAA files that are made here: an
// array of pairs of key and value.
const notesKey = "x_ashlar_notes"

// notes is what the header of a SPAA file has for them.
func (s *spaaWriter) notes() format.Extra {
	if len(s.rec.Source.Notes) == 0 {
		return nil
	}
	pairs := [][2]string{}
	for _, n := range s.rec.Source.Notes {
		pairs = append(pairs, [2]string{n.Key, n.Value})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(pairs) != nil {
		return nil
	}
	return format.Extra{notesKey: bytes.TrimSpace(b.Bytes())}
}

// notes appends a member for each key of the notes: a text, or an array of them.
func (c *chromeWriter) notes(b []byte) []byte {
	src := &c.rec.Source
	done := map[string]bool{"source": true, "command_line": true}
	for _, n := range src.Notes {
		if done[n.Key] {
			continue
		}
		done[n.Key] = true
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(appendJSON(b, n.Key), ':')
		all := src.NotesOf(n.Key)
		if len(all) == 1 {
			b = appendJSON(b, all[0])
			continue
		}
		for i, v := range all {
			sep := byte(',')
			if i == 0 {
				sep = '['
			}
			b = appendJSON(append(b, sep), v)
		}
		b = append(b, ']')
	}
	return b
}
