package shell

import (
	"bytes"
	"cmp"
	"context"
	"reflect"
	"slices"

	"ashlar/app/demo"
	"ashlar/app/session"
	"ashlar/app/store"
	"ashlar/app/view"
	"ashlar/ingest/recording"
	"ashlar/render/widget"
)

// marksPart has the marks of a recording: notes on times, ranges and functions.
type marksPart struct {
	saved []view.Mark // as they are on the disk

	key   string // of the recording's content; "" until it is known
	stale bool   // the content has changed since
	read  bool
	reads session.Async[string, loadedMarks]
}

type loadedMarks struct {
	key   string
	marks []view.Mark
	err   error
}

// addMark adds a mark, unless there is one that says the same.
func (p *pane) addMark(m view.Mark) { p.Marks = withMark(p.Marks, m) }

func withMark(all []view.Mark, m view.Mark) []view.Mark {
	if slices.ContainsFunc(all, m.Says) {
		return all
	}
	return append(slices.Clone(all), m)
}

// keep reads the marks once there is a recording, and writes what has changed.
func (m *marksPart) keep(s *Shell, p *pane) {
	if s.Keep == nil || p.Rec.Source.Format == "" || p.Path == "-" || p.Path == "" && !p.Demo { // of no file
		return
	}
	if !m.read {
		path, demo, keep := p.Path, p.Demo, s.Keep
		l, _, ok := m.reads.Ask(path, s.Do.Wake, func(context.Context) (l loadedMarks, err error) {
			if l.key, l.err = contentKey(path, demo); l.key != "" {
				l.marks, l.err = keep.Marks(l.key)
			}
			return l, nil
		})
		if m.read = ok; ok && l.err != nil {
			s.Say(l.err.Error())
			return
		} else if ok {
			m.arrived(p, l)
		}
	}
	if m.key != "" && !reflect.DeepEqual(p.Marks, m.saved) {
		m.move(s, p)
		s.Keep.ChangeMarks(m.key, p.Doc.Name, changes(m.saved, p.Marks))
		m.saved = slices.Clone(p.Marks)
	}
}

// move keeps the marks for the content that a followed file has now: they were
// kept for what it had before.
func (m *marksPart) move(s *Shell, p *pane) {
	if !m.stale || s.Keep == nil || len(p.Marks) == 0 {
		return
	}
	m.stale = false
	if key, err := contentKey(p.Path, p.Demo); err == nil && key != "" && key != m.key {
		m.key, m.saved = key, nil
		s.Keep.ChangeMarks(m.key, p.Doc.Name, changes(nil, p.Marks))
		m.saved = slices.Clone(p.Marks)
	}
}

// arrived takes in what was read. It is no step that can be undone.
func (m *marksPart) arrived(p *pane, l loadedMarks) {
	m.key, m.saved = l.key, l.marks
	with := func(now []view.Mark) []view.Mark {
		all := slices.Clone(l.marks)
		for _, x := range now {
			all = withMark(all, x)
		}
		return all
	}
	h := &p.history
	p.Marks, h.seen.Look.Marks, h.shown.Look.Marks = with(p.Marks), with(h.seen.Look.Marks), with(h.shown.Look.Marks)
	for _, st := range h.steps {
		st.Marks = with(st.Marks)
	}
}

// takeMarks adds what was marked in a part of the recording.
func (p *pane) takeMarks(part *pane) {
	if part.noted.read && part.noted.key == p.noted.key {
		p.noted.arrived(p, loadedMarks{key: p.noted.key, marks: part.Marks})
	}
}

// contentKey is the key of a file, or of the built-in recording.
func contentKey(path string, builtin bool) (string, error) {
	if builtin {
		b := demo.Input().Mapped()
		return store.Key(bytes.NewReader(b), int64(len(b)))
	}
	return store.FileKey(path)
}

// changes is what makes of the marks on the disk, which others may have
// changed too, what they were made here.
func changes(was, now []view.Mark) func([]view.Mark) []view.Mark {
	has := func(of []view.Mark, id string) int {
		return slices.IndexFunc(of, func(m view.Mark) bool { return m.ID == id })
	}
	now = slices.Clone(now)
	return func(disk []view.Mark) []view.Mark {
		disk = slices.DeleteFunc(disk, func(m view.Mark) bool { return has(was, m.ID) >= 0 && has(now, m.ID) < 0 })
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
func (p *pane) sortedMarks() []view.Mark {
	all := slices.Clone(p.Marks)
	slices.SortStableFunc(all, func(a, b view.Mark) int {
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
func (p *pane) goToMark(s *Shell, m view.Mark) {
	p.Flag = m.ID
	if m.Text != "" {
		s.Say(m.Text)
	}
	from, to := p.Rec.Start+m.From, p.Rec.Start+m.To
	switch {
	case m.Func != nil:
		p.visit.answered = &view.State{Function: m.Func}
	case m.From != m.To:
		p.SelectRange(from, to)
		if from < p.View.From || to > p.View.To || to-from < p.View.Span()/50 {
			p.Fit(from-(to-from)/10, to+(to-from)/10)
		}
	case from < p.View.From || from > p.View.To:
		half := p.View.Span() / 2
		p.View.From, p.View.To = from-half, from-half+p.View.Span()
		p.View = p.View.Clamp(p.Limits())
		p.Moved = true
	}
}

// walkMarks goes to the next mark, or to the one before.
func (p *pane) walkMarks(s *Shell, next bool) {
	all := p.sortedMarks()
	if len(all) == 0 {
		s.Say("There are no marks yet; B makes one")
		return
	}
	i := slices.IndexFunc(all, func(m view.Mark) bool { return m.ID == p.Flag })
	switch {
	case i < 0 && next:
		i = max(0, slices.IndexFunc(all, func(m view.Mark) bool { return p.Rec.Start+m.From >= p.View.From }))
	case i < 0:
		i = len(all) - 1
	case next:
		i = (i + 1) % len(all)
	default:
		i = (i + len(all) - 1) % len(all)
	}
	p.goToMark(s, all[i])
}

func (p *pane) deleteMark(_ *Shell, m view.Mark) {
	p.Marks = slices.DeleteFunc(slices.Clone(p.Marks), func(o view.Mark) bool { return o.ID == m.ID })
}

// markOf is the note on a function, "" for none.
func (p *pane) markOf(f recording.Function) string {
	for _, x := range p.Marks {
		if x.Func != nil && *x.Func == f.FuncName() {
			return cmp.Or(x.Text, "marked")
		}
	}
	return ""
}

// markItems are what can be done with a mark, or with the moment at the pointer.
func (p *pane) markItems(s *Shell, at *view.Mark) []widget.Item {
	if at == nil {
		return []widget.Item{{Title: "Mark this moment", Detail: "B", Do: func() { s.askMark() }}}
	}
	m := *at
	return []widget.Item{
		{Title: "Go to it", Do: func() { p.goToMark(s, m) }},
		{Title: "Rename the mark", Do: func() { p.renameMark(s, m) }},
		{Title: "Copy the note", Do: func() { s.CopyLater(m.Text) }},
		{Title: "Delete the mark", Do: func() { p.deleteMark(s, m) }},
	}
}
