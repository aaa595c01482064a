package perfetto

import "ashlar/ingest/recording"

// label is what events are called.
type label struct {
	name  string
	frame recording.FrameID
}

// spell gives an event its name and category as texts.
func (s *sequence) spell(e *trackEvent) {
	if e.byName {
		e.name, e.byName = s.texts[internName].get(e.nameID), false
	}
	if e.byCategory {
		e.category, e.byCategory = s.texts[internCategory].get(e.categoryID), false
	}
}

// labelOf is the label of an event. Those that are named by number are looked up once
// in a sequence.
func (d *decoder) labelOf(s *sequence, e *trackEvent) uint32 {
	if !e.byName && e.name != "" || !e.byCategory && e.category != "" {
		s.spell(e)
		return d.label(e.name, e.category)
	}
	k := numbered{s, s.version, e.byName, e.byCategory, e.nameID, e.categoryID}
	room := &d.looked[(s.id*511+e.nameID*31+e.categoryID)%uint64(len(d.looked))]
	if room.numbered != k {
		s.spell(e)
		room.numbered, room.label = k, d.label(e.name, e.category)
	}
	return room.label
}

// numbered is how an event is called in a sequence, as long as it calls nothing anew.
type numbered struct {
	s                  *sequence
	version            int
	byName, byCategory bool
	name, category     uint64
}

// label numbers a name and a category.
func (d *decoder) label(name, category string) uint32 {
	k := [2]string{name, category}
	n, ok := d.names[k]
	if !ok {
		fn := recording.Function{Name: name, Module: category}
		if fn.Name == "" {
			fn.Name, fn.Unresolved = "[no name]", true
		}
		n = uint32(len(d.labels))
		d.labels = append(d.labels, label{name, d.b.FunctionFrame(d.b.Function(fn))})
		d.names[k] = n
	}
	return n
}
