// Package marks edits notes on times, ranges and functions of a recording. Notes are
// stored by the recording's content.
package marks

import (
	"bytes"
	"cmp"
	"context"
	"reflect"
	"slices"

	"ashlar/app/core/demo"
	"ashlar/app/core/locate"
	"ashlar/app/core/session"
	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/model/recording"
	"ashlar/render/widget"
)

// Keeper keeps marks from one run to the next. Marks are those of a recording, by
// its key: it waits for the disk, and is called from another goroutine than the
// window's. ChangeMarks changes them; name is the recording's, for lists.
type Keeper interface {
	Marks(key string) ([]view.Mark, error)
	ChangeMarks(key, name string, f func([]view.Mark) []view.Mark)
}

// Marks has the marks of a recording: notes on times, ranges and functions.
type Marks struct {
	*lanes.Timeline
	Keep Keeper // nil if nothing is kept
	// Merge is called with what adds marks that were read to others: for the steps
	// of history, since reading them is none. Find marks a function.
	Merge func(with func([]view.Mark) []view.Mark)
	Find  func(recording.FuncName)

	saved []view.Mark // as they are on the disk

	Key   string // of the recording's content; "" until it is known
	Stale bool   // the content has changed since
	// Content is the recording's content digest in addresses, Meant that of the opened
	// address.
	Content, Meant view.Content
	Read           bool
	reads          session.Async[string, loadedMarks]
}

type loadedMarks struct {
	key     string
	content view.Content
	marks   []view.Mark
	err     error
}

// Add adds a mark, unless there is one that says the same.
func (p *Marks) Add(m view.Mark) { p.Marks = withMark(p.Marks, m) }

func withMark(all []view.Mark, m view.Mark) []view.Mark {
	if slices.ContainsFunc(all, m.SameAs) {
		return all
	}
	return append(slices.Clone(all), m)
}

// Sync reads the marks once there is a recording, and writes what has changed.
func (p *Marks) Sync(s *panel.Host) {
	if p.Keep == nil || p.Rec.Source.Format == "" || p.Path == "-" || p.Path == "" && !p.Demo { // of no file
		return
	}
	if !p.Read {
		path, demo, keep := p.Path, p.Demo, p.Keep
		l, _, ok := p.reads.Ask(path, s.Do.Wake, func(context.Context) (l loadedMarks, err error) {
			if l.content, l.key, l.err = contentKey(path, demo); l.key != "" {
				l.marks, l.err = keep.Marks(l.key)
			}
			return l, nil
		})
		if p.Read = ok; ok && l.err != nil {
			s.Say(l.err.Error())
			return
		} else if ok {
			p.merge(l)
			if p.Meant.Key != "" && p.Meant != p.Content {
				s.Say(locate.Other(p.Path))
			}
		}
	}
	if p.Key != "" && !reflect.DeepEqual(p.Marks, p.saved) {
		p.Move()
		p.Keep.ChangeMarks(p.Key, p.Doc.Name, Changes(p.saved, p.Marks))
		p.saved = slices.Clone(p.Marks)
	}
}

// Move keeps the marks for the content that a followed file has now: they were
// kept for what it had before.
func (p *Marks) Move() {
	if !p.Stale || p.Keep == nil || len(p.Marks) == 0 {
		return
	}
	p.Stale = false
	if content, key, err := contentKey(p.Path, p.Demo); err == nil && key != "" && key != p.Key {
		p.Key, p.Content, p.saved = key, content, nil
		p.Keep.ChangeMarks(p.Key, p.Doc.Name, Changes(nil, p.Marks))
		p.saved = slices.Clone(p.Marks)
	}
}

// merge takes in what was read. It is not a step that can be undone.
func (p *Marks) merge(l loadedMarks) {
	p.Key, p.Content, p.saved = l.key, l.content, l.marks
	with := func(now []view.Mark) []view.Mark {
		all := slices.Clone(l.marks)
		for _, x := range now {
			all = withMark(all, x)
		}
		return all
	}
	p.Marks = with(p.Marks)
	p.Merge(with)
}

// Take adds what was marked in a part of the recording.
func (p *Marks) Take(part *Marks) {
	if part.Read && part.Key == p.Key {
		p.merge(loadedMarks{key: p.Key, content: p.Content, marks: part.Timeline.Marks})
	}
}

// contentKey is the key of a file, or of the built-in recording, which needs no other
// name in addresses; "" for the second of two in one file, which has no marks of its own.
func contentKey(path string, builtin bool) (c view.Content, key string, err error) {
	if _, second := stored.Second(path); second {
		return c, "", nil
	}
	if builtin {
		b := demo.Input().Mapped()
		key, err = settings.Key(bytes.NewReader(b), int64(len(b)))
		return c, key, err
	}
	return settings.FileContent(path)
}

// Changes makes of the marks on the disk, which others may have
// changed too, what they were made here.
func Changes(was, now []view.Mark) func([]view.Mark) []view.Mark {
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

// Sorted are the marks in order of time, those of functions after them.
func (p *Marks) Sorted() []view.Mark {
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

// GoTo shows what a mark is on.
func (p *Marks) GoTo(s *panel.Host, m view.Mark) {
	p.Flag = m.ID
	if m.Text != "" {
		s.Say(m.Text)
	}
	from, to := p.Rec.Start+m.From, p.Rec.Start+m.To
	switch {
	case m.Func != nil:
		p.Find(*m.Func)
	case m.From != m.To:
		p.SelectRange(from, to)
		if from < p.View.From || to > p.View.To || to-from < p.View.Span()/50 {
			p.Fit(from-(to-from)/10, to+(to-from)/10)
		}
	case from < p.View.From || from > p.View.To:
		half := p.View.Span() / 2
		p.View.From, p.View.To = from-half, from-half+p.View.Span()
		p.View = p.View.Clamp(p.ViewLimits())
		p.Moved = true
	}
}

// Walk goes to the next mark, or to the one before.
func (p *Marks) Walk(s *panel.Host, next bool) {
	all := p.Sorted()
	if len(all) == 0 {
		s.Say("No marks. Press B to add one")
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
	p.GoTo(s, all[i])
}

// Delete takes a mark away.
func (p *Marks) Delete(_ *panel.Host, m view.Mark) {
	p.Marks = slices.DeleteFunc(slices.Clone(p.Marks), func(o view.Mark) bool { return o.ID == m.ID })
}

// Items lists what can be done with a mark, or with the moment at the pointer.
func (p *Marks) Items(s *panel.Host, at *view.Mark) []widget.Item {
	if at == nil {
		return []widget.Item{{Title: "Mark this time", Detail: "B", Do: func() { p.Ask(s) }}}
	}
	m := *at
	return []widget.Item{
		{Title: "Go to mark", Do: func() { p.GoTo(s, m) }},
		{Title: "Rename mark", Do: func() { p.Rename(s, m) }},
		{Title: "Copy text", Do: func() { s.CopyLater(m.Text) }},
		{Title: "Delete mark", Do: func() { p.Delete(s, m) }},
	}
}

// Stop ends reading them.
func (p *Marks) Stop() { p.reads.Stop() }
