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
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/widget"
)

// Keeper stores marks between runs. The key identifies the recording. Its methods wait
// for the disk, so they are called outside the window's goroutine. ChangeMarks applies f
// to the marks; name is the recording's name in lists.
type Keeper interface {
	Marks(key string) ([]view.Mark, error)
	ChangeMarks(key, name string, f func([]view.Mark) []view.Mark)
}

// Marks holds the marks of a recording: notes on times, ranges and functions.
type Marks struct {
	*lanes.Timeline
	Keep Keeper // nil if nothing is kept
	// Merge is called with a function that adds the marks that were read. It adds them to
	// every step of history, because reading marks is not a step of its own. Find selects
	// a function.
	Merge func(with func([]view.Mark) []view.Mark)
	Find  func(recording.FuncName)

	saved []view.Mark // as they are on the disk

	Key   string // key of the recording's contents; "" until known
	Stale bool   // the file has changed since Key was computed
	// Content is the digest of the recording's contents in addresses, Meant the digest in
	// the opened address.
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

// Add adds a mark unless an equal one exists.
func (p *Marks) Add(m view.Mark) { p.Marks = withMark(p.Marks, m) }

func withMark(all []view.Mark, m view.Mark) []view.Mark {
	if slices.ContainsFunc(all, m.SameAs) {
		return all
	}
	return append(slices.Clone(all), m)
}

// Sync reads the marks once there is a recording, and writes changes.
func (p *Marks) Sync(s *panel.Host) {
	if p.Keep == nil || p.Rec.Source.Format == "" || p.Path == "-" || p.Path == "" && !p.Demo { // not a file
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

// Move stores the marks under the new contents of a followed file; they were stored under
// its old contents.
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

// merge adds the marks that were read. This is not a step of history.
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

// Take adds the marks made in a part of the recording.
func (p *Marks) Take(part *Marks) {
	if part.Read && part.Key == p.Key {
		p.merge(loadedMarks{key: p.Key, content: p.Content, marks: part.Timeline.Marks})
	}
}

// contentKey returns the key of a file or of the built-in recording, whose name suffices
// in addresses. It returns "" for the second recording of a file, which has no marks of
// its own.
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

// Changes returns a function that applies the changes from was to now to the marks on the
// disk, which other windows may have changed too.
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

// Sorted returns the marks in order of time, followed by the marks on functions.
func (p *Marks) Sorted() []view.Mark {
	all := slices.Clone(p.Marks)
	order.By(all, func(a, b view.Mark) int {
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

// GoTo shows the place of a mark.
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

// Walk goes to the next or previous mark.
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

// Delete deletes a mark.
func (p *Marks) Delete(_ *panel.Host, m view.Mark) {
	p.Marks = slices.DeleteFunc(slices.Clone(p.Marks), func(o view.Mark) bool { return o.ID == m.ID })
}

// Items lists the actions for a mark, or for the time at the pointer.
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

// Stop stops reading marks.
func (p *Marks) Stop() { p.reads.Stop() }
