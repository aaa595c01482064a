package shell

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"

	"ashlar/app/address"
	"ashlar/app/demo"
	"ashlar/app/store"
	"ashlar/ingest/recording"
	"ashlar/render/units"
)

// marksPart has the marks of a recording: notes on times, ranges and functions.
type marksPart struct {
	all   []store.Mark
	saved []store.Mark // as they are on the disk
	at    string       // the id of the one that was gone to last

	key    string // of the recording's content; "" until it is known
	stale  bool   // the content has changed since
	asked  bool
	loaded chan loadedMarks
}

type loadedMarks struct {
	key   string
	marks []store.Mark
	err   error
}

// add adds a mark, unless there is one that says the same.
func (m *marksPart) add(x store.Mark) {
	same := func(o store.Mark) bool { return o.Text == x.Text && reflect.DeepEqual(o.Place, x.Place) }
	if !slices.ContainsFunc(m.all, same) {
		m.all = append(slices.Clone(m.all), x)
	}
}

// keep reads the marks once there is a recording, and writes what has changed.
func (m *marksPart) keep(s *Shell, p *pane) {
	if s.Keep == nil || p.rec.Source.Format == "" || p.path == "-" || p.path == "" && !p.demo { // of no file
		return
	}
	if !m.asked {
		m.asked, m.loaded = true, make(chan loadedMarks, 1)
		path, demo, keep, loaded := p.path, p.demo, s.Keep, m.loaded
		go func() {
			var l loadedMarks
			if l.key, l.err = contentKey(path, demo); l.key != "" {
				l.marks, l.err = keep.Marks(l.key)
			}
			loaded <- l
			s.wake()
		}()
	}
	select {
	case l := <-m.loaded:
		if l.err != nil {
			s.Say(l.err.Error())
			return
		}
		m.arrived(p, l)
	default:
	}
	if m.key != "" && !reflect.DeepEqual(m.all, m.saved) {
		m.move(s, p)
		s.Keep.ChangeMarks(m.key, p.doc.Name, difference(m.saved, m.all))
		m.saved = slices.Clone(m.all)
	}
}

// move keeps the marks for the content that a followed file has now: they were
// kept for what it had before.
func (m *marksPart) move(s *Shell, p *pane) {
	if !m.stale || s.Keep == nil || len(m.all) == 0 {
		return
	}
	m.stale = false
	if key, err := contentKey(p.path, p.demo); err == nil && key != "" && key != m.key {
		m.key, m.saved = key, nil
		s.Keep.ChangeMarks(m.key, p.doc.Name, difference(nil, m.all))
		m.saved = slices.Clone(m.all)
	}
}

// arrived takes in what was read. It is no step that can be undone.
func (m *marksPart) arrived(p *pane, l loadedMarks) {
	m.key, m.saved = l.key, l.marks
	with := func(now []store.Mark) []store.Mark {
		all := marksPart{all: slices.Clone(l.marks)}
		for _, x := range now {
			all.add(x)
		}
		return all.all
	}
	m.all = with(m.all)
	h := &p.history
	for i := range h.places {
		h.places[i].Marks = with(h.places[i].Marks)
	}
	h.seen.Marks = with(h.seen.Marks)
}

// contentKey is the key of a file, or of the built-in recording.
func contentKey(path string, builtin bool) (string, error) {
	if builtin {
		b := demo.Input().Mapped()
		return store.Key(bytes.NewReader(b), int64(len(b)))
	}
	return store.FileKey(path)
}

// difference is what makes of the marks on the disk, which others may have
// changed too, what they were made here.
func difference(was, now []store.Mark) func([]store.Mark) []store.Mark {
	has := func(of []store.Mark, id string) int {
		return slices.IndexFunc(of, func(m store.Mark) bool { return m.ID == id })
	}
	now = slices.Clone(now)
	return func(disk []store.Mark) []store.Mark {
		disk = slices.DeleteFunc(disk, func(m store.Mark) bool { return has(was, m.ID) >= 0 && has(now, m.ID) < 0 })
		for _, m := range now {
			if i := has(was, m.ID); i >= 0 && reflect.DeepEqual(was[i], m) {
				continue // another window may have changed or deleted it
			}
			if i := has(disk, m.ID); i >= 0 {
				disk[i] = m
			} else {
				disk = append(disk, m)
			}
		}
		return disk
	}
}

// sorted are the marks in order of time, those of functions after them.
func (m *marksPart) sorted() []store.Mark {
	all := slices.Clone(m.all)
	slices.SortStableFunc(all, func(a, b store.Mark) int {
		switch {
		case a.Func != nil && b.Func != nil:
			return cmp.Compare(a.Func.Name, b.Func.Name)
		case (a.Func != nil) != (b.Func != nil):
			if a.Func != nil {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return all
}

// goToMark shows what a mark is on.
func (p *pane) goToMark(s *Shell, m store.Mark) {
	p.marks.at = m.ID
	if m.Text != "" {
		s.Say(m.Text)
	}
	from, to := p.rec.Start+m.From, p.rec.Start+m.To
	switch {
	case m.Func != nil:
		p.visit.answered = &address.View{Function: m.Func}
	case m.From != m.To:
		p.selectRange(from, to)
		if from < p.view.From || to > p.view.To || to-from < p.view.Span()/50 {
			p.fit(from-(to-from)/10, to+(to-from)/10)
		}
	case from < p.view.From || from > p.view.To:
		half := p.view.Span() / 2
		p.view.From, p.view.To = from-half, from-half+p.view.Span()
		p.view = p.view.Clamp(p.limits())
		p.moved = true
	}
}

// walkMarks goes to the next mark, or to the one before.
func (p *pane) walkMarks(s *Shell, next bool) {
	all := p.marks.sorted()
	if len(all) == 0 {
		s.Say("There are no marks yet; B makes one")
		return
	}
	i := slices.IndexFunc(all, func(m store.Mark) bool { return m.ID == p.marks.at })
	switch {
	case i < 0 && next:
		i = max(0, slices.IndexFunc(all, func(m store.Mark) bool { return p.rec.Start+m.From >= p.view.From }))
	case i < 0:
		i = len(all) - 1
	case next:
		i = (i + 1) % len(all)
	default:
		i = (i + len(all) - 1) % len(all)
	}
	p.goToMark(s, all[i])
}

func (p *pane) deleteMark(_ *Shell, m store.Mark) {
	p.marks.all = slices.DeleteFunc(slices.Clone(p.marks.all), func(o store.Mark) bool { return o.ID == m.ID })
}

// placeText says what a mark is on.
func placeText(at address.Place) string {
	switch {
	case at.Func != nil:
		return at.Func.Name
	case at.From == at.To:
		return "at " + units.Duration(at.From)
	}
	return units.Duration(at.From) + " to " + units.Duration(at.To)
}

// markOf is the note on a function, "" for none.
func (m *marksPart) markOf(f recording.Function) string {
	for _, x := range m.all {
		if x.Func != nil && *x.Func == f.FuncName() {
			return cmp.Or(x.Text, "marked")
		}
	}
	return ""
}
