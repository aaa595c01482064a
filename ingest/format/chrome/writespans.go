package chrome

import (
	"strconv"
	"strings"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// findLatest returns the time of the latest event other than a sample. Readers end
// unfinished spans there.
func (c *chromeWriter) findLatest() int64 {
	latest := c.Rec.Start
	for _, t := range c.Rec.Tracks {
		for i := range t.Lanes {
			latest = max(latest, encode.LaneLatest(&t.Lanes[i]))
		}
		for i := range t.Instants {
			latest = max(latest, t.Instants[i].Time)
		}
	}
	for _, k := range c.Rec.Counters {
		if n := k.Len(); n > 0 {
			latest = max(latest, k.Time(n-1))
		}
	}
	for i := range c.Rec.Flows {
		for _, s := range c.Rec.Flows[i].Steps {
			latest = max(latest, s.Time)
		}
	}
	return latest
}

// tracks writes spans and instants, track by track.
func (c *chromeWriter) tracks() error {
	for i, t := range c.Rec.Tracks {
		var err error
		if t.Kind == recording.AsyncTrack {
			err = c.async(t)
		} else {
			err = c.thread(t, &c.threads[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *chromeWriter) thread(t *recording.Track, id *encode.ThreadID) error {
	cols := encode.Columns(c.Rec, t)
	for _, col := range cols {
		pairs := len(cols) == 1 && ambiguous(col)
		err := col.Walk(func(s *encode.Span) error {
			if err := c.Tick(1); err != nil {
				return err
			}
			if c.placeholder(s) {
				return nil
			}
			ph := byte('X')
			if s.Unfinished {
				if len(cols) == 1 && c.stays(s) {
					ph = 'B'
				} else {
					c.lostMarks++
				}
			}
			if pairs {
				ph = 'B'
			}
			c.span(ph, id, s)
			return c.end()
		}, func(s *encode.Span) error {
			if !pairs || c.stays(s) || c.placeholder(s) {
				return nil
			}
			c.event('E', id.PID, id.TID)
			c.function(c.Rec.Func(s.Call))
			c.time("ts", s.End)
			return c.end()
		})
		if err != nil {
			return err
		}
	}
	for i := range t.Instants {
		if err := c.instant('i', id.PID, id.TID, &t.Instants[i], "", 0); err != nil {
			return err
		}
	}
	return nil
}

// placeholder reports whether a span was added while reading, for children that overlap. It
// is not written, because the next reader adds it again.
func (c *chromeWriter) placeholder(s *encode.Span) bool {
	return c.Rec.FuncName(s.Call) == recording.Overlapping
}

// stays reports whether a span may be written without an end, because readers will give
// it the same end.
func (c *chromeWriter) stays(s *encode.Span) bool {
	return s.Unfinished && s.End == c.latest && s.End == c.Rec.End
}

func (c *chromeWriter) span(ph byte, id *encode.ThreadID, s *encode.Span) {
	c.event(ph, id.PID, id.TID)
	c.function(c.Rec.Func(s.Call))
	c.time("ts", s.Start)
	if ph == 'X' {
		c.length("dur", s.End-s.Start)
	}
	c.args(s.Args)
}

// ambiguous reports whether readers would nest the spans of the column differently if
// they were complete events. Readers put a span of zero length into a span that ends at
// the same time, and never into another span of zero length.
func ambiguous(col *encode.Column) bool {
	found := false
	var closed, parents []encode.Span // spans that ended since the last begin; spans now open
	_ = col.Walk(func(s *encode.Span) error {
		parents = append(parents[:s.Depth], *s)
		if s.Start == s.End {
			for i := range closed {
				found = found || closed[i].End == s.Start && closed[i].Start < s.Start
			}
			if s.Depth > 0 {
				p := &parents[s.Depth-1]
				found = found || p.Start == p.End
			}
		}
		closed = closed[:0]
		return nil
	}, func(s *encode.Span) error {
		closed = append(closed, *s)
		return nil
	})
	return found
}

func (c *chromeWriter) instant(ph byte, pid, tid int64, in *recording.Instant, cat string, id int64) error {
	c.event(ph, pid, tid)
	c.text("name", in.Name)
	if cat != "" {
		c.text("cat", cat)
	}
	if ph == 'i' {
		c.text("s", "t")
	} else {
		c.text("id", "0x"+strconv.FormatInt(id, 16))
		c.text("scope", opScope)
	}
	c.time("ts", in.Time)
	if in.Name != "CpuProfile" || !c.sampledAny {
		c.args(in.Args) // else the arguments are samples, which are written elsewhere
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.Tick(1)
}

// async writes a row of operations. Each outermost span gets its own id, which the spans
// inside it share.
//
// Readers name a row after the category and name of the first span of an operation. An
// outermost span whose name differs from the row's name began inside a span that ended
// before it. Such spans, and instants, which have no span, go into the first operation
// that has the row's name.
func (c *chromeWriter) async(t *recording.Track) error {
	a := &asyncRow{chromeWriter: c, track: t}
	a.findAnchor()
	if a.anchor == nil {
		if t.Spans() > 0 {
			c.lostRows++
		}
		for i := range t.Instants {
			in := &t.Instants[i]
			c.ids++
			if err := c.instant('n', t.PID, 0, in, strings.TrimSuffix(t.Name, "/"+in.Name), c.ids); err != nil {
				return err
			}
		}
		return a.operations(func(*encode.Span) bool { return true })
	}
	c.ids++
	a.id = c.ids
	if err := a.begin(a.anchor); err != nil {
		return err
	}
	cat := c.Rec.Functions.At(int(c.Rec.Func(a.anchor.Call))).Module
	for i := range t.Instants {
		if err := c.instant('n', t.PID, 0, &t.Instants[i], cat, a.id); err != nil {
			return err
		}
	}
	a.inAnchor = true
	if err := a.operations(func(s *encode.Span) bool { return a.label(s) != t.Name }); err != nil {
		return err
	}
	a.inAnchor = false
	return a.operations(func(s *encode.Span) bool { return a.label(s) == t.Name })
}

// asyncRow is a row of operations while it is written.
type asyncRow struct {
	*chromeWriter
	track  *recording.Track
	anchor *encode.Span // the first span whose name is the row's, nil for none
	id     int64
	// inAnchor gives all operations the anchor's id.
	inAnchor bool
}

// label returns the name that readers would give to the row of an operation beginning
// with s.
func (a *asyncRow) label(s *encode.Span) string {
	id := a.Rec.Func(s.Call)
	name := a.Rec.NameInFile(id)
	if f := a.Rec.Functions.At(int(id)); f.Module != "" {
		return f.Module + "/" + name
	}
	return name
}

func (a *asyncRow) findAnchor() {
	for _, col := range encode.Columns(a.Rec, a.track) {
		l := col.Lanes[0]
		for i := range l.Len() {
			if s := encode.SpanAt(l, i, 0); a.label(&s) == a.track.Name {
				a.anchor = &s
				return
			}
		}
	}
}

// operations writes the operations whose outermost span satisfies choose.
func (a *asyncRow) operations(choose func(*encode.Span) bool) error {
	anchorID := a.id
	chosen, id := false, anchorID
	for _, col := range encode.Columns(a.Rec, a.track) {
		err := col.Walk(func(s *encode.Span) error {
			if s.Depth == 0 {
				chosen = choose(s)
				switch {
				case !chosen:
				case a.isAnchor(s):
					id = anchorID
					return nil // its begin is already written
				case !a.inAnchor:
					a.ids++
					id = a.ids
				}
			}
			if !chosen {
				return nil
			}
			a.id = id
			return a.begin(s)
		}, func(s *encode.Span) error {
			if !chosen || a.stays(s) {
				return nil
			}
			if s.Unfinished {
				a.lostMarks++
			}
			a.id = id
			a.operation('e', s)
			return a.end()
		})
		if err != nil {
			return err
		}
	}
	a.id = anchorID
	return nil
}

func (a *asyncRow) isAnchor(s *encode.Span) bool {
	return a.anchor != nil && s.Depth == 0 && s.Start == a.anchor.Start && s.End == a.anchor.End && s.Call == a.anchor.Call && s.Args == a.anchor.Args && a.takeAnchor()
}

// takeAnchor forgets the anchor, so that it is matched only once, and returns true.
func (a *asyncRow) takeAnchor() bool {
	a.anchor = nil
	return true
}

func (a *asyncRow) begin(s *encode.Span) error {
	if err := a.Tick(1); err != nil {
		return err
	}
	a.operation('b', s)
	a.args(s.Args)
	return a.end()
}

// opScope makes readers identify operations by the id alone. Without a scope they also
// use the category, and spans of one operation may have different categories.
const opScope = "op"

// operation starts to write a b or e event.
func (a *asyncRow) operation(ph byte, s *encode.Span) {
	c := a.chromeWriter
	c.event(ph, a.track.PID, 0)
	f := c.Rec.Functions.At(int(c.Rec.Func(s.Call)))
	c.text("name", c.Rec.NameInFile(c.Rec.Func(s.Call)))
	if f.Module != "" {
		c.text("cat", f.Module)
	}
	c.text("id", "0x"+strconv.FormatInt(a.id, 16))
	c.text("scope", opScope)
	at := s.Start
	if ph == 'e' {
		at = s.End
	}
	c.time("ts", at)
}
