package convert

import (
	"strconv"
	"strings"

	"ashlar/ingest/recording"
)

// findLatest is the latest time of an event that is no sample: where readers
// end the spans that never did.
func (j *job) findLatest() int64 {
	latest := j.rec.Start
	for _, t := range j.rec.Tracks {
		for i := range t.Lanes {
			latest = max(latest, laneLatest(&t.Lanes[i]))
		}
		for i := range t.Instants {
			latest = max(latest, t.Instants[i].Time)
		}
	}
	for _, c := range j.rec.Counters {
		if n := c.Len(); n > 0 {
			latest = max(latest, c.Time(n-1))
		}
	}
	for i := range j.rec.Flows {
		for _, s := range j.rec.Flows[i].Steps {
			latest = max(latest, s.Time)
		}
	}
	return latest
}

// laneLatest is the latest time of a lane but for the ends of unfinished
// spans.
func laneLatest(l *recording.Lane) int64 {
	for i := l.Len() - 1; i >= 0; i-- {
		if !l.Unfinished(i) {
			return max(l.End(i), l.Start(l.Len()-1))
		}
	}
	if n := l.Len(); n > 0 {
		return l.Start(n - 1)
	}
	return 0
}

// tracks writes spans and instants, track by track.
func (c *chromeWriter) tracks() error {
	for i, t := range c.rec.Tracks {
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

func (c *chromeWriter) thread(t *recording.Track, id *threadID) error {
	cols := columns(c.rec, t)
	for _, col := range cols {
		pairs := len(cols) == 1 && ambiguous(col)
		err := col.walk(func(s *span) error {
			if err := c.tick(1); err != nil {
				return err
			}
			ph := byte('X')
			if s.unfinished {
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
		}, func(s *span) error {
			if !pairs || c.stays(s) {
				return nil
			}
			c.event('E', id.pid, id.tid)
			c.function(c.rec.Func(s.call))
			c.time("ts", s.end)
			return c.end()
		})
		if err != nil {
			return err
		}
	}
	for i := range t.Instants {
		if err := c.instant('i', id.pid, id.tid, &t.Instants[i], "", 0); err != nil {
			return err
		}
	}
	return nil
}

// stays tells whether a span may be left without an end: readers then give it
// the end that it has.
func (c *chromeWriter) stays(s *span) bool {
	return s.unfinished && s.end == c.latest && s.end == c.rec.End
}

func (c *chromeWriter) span(ph byte, id *threadID, s *span) {
	c.event(ph, id.pid, id.tid)
	c.function(c.rec.Func(s.call))
	c.time("ts", s.start)
	if ph == 'X' {
		c.length("dur", s.end-s.start)
	}
	c.args(s.args)
}

// ambiguous tells whether complete events would be read otherwise than spans
// of the column lie: one of no length belongs to a span that ends there, and to
// none that has no length itself.
func ambiguous(col *column) bool {
	found := false
	var closed, parents []span // ended since the last begin; open now
	_ = col.walk(func(s *span) error {
		parents = append(parents[:s.depth], *s)
		if s.start == s.end {
			for i := range closed {
				found = found || closed[i].end == s.start && closed[i].start < s.start
			}
			if s.depth > 0 {
				p := &parents[s.depth-1]
				found = found || p.start == p.end
			}
		}
		closed = closed[:0]
		return nil
	}, func(s *span) error {
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
		c.args(in.Args) // else those are the samples, which stand elsewhere
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.tick(1)
}

// async writes a row of operations: each outermost span and what lies in it has
// an id of its own.
//
// Readers name a row by the category and name of the first span of an
// operation. Outermost spans with another name than the row's were begun inside
// one that ended before them, and instants have no span: they go into the
// row's first operation of the right name.
func (c *chromeWriter) async(t *recording.Track) error {
	a := &asyncRow{chromeWriter: c, track: t}
	a.findAnchor()
	if a.anchor == nil {
		for i := range t.Instants {
			in := &t.Instants[i]
			c.ids++
			if err := c.instant('n', t.PID, 0, in, strings.TrimSuffix(t.Name, "/"+in.Name), c.ids); err != nil {
				return err
			}
		}
		return a.operations(func(*span) bool { return true })
	}
	c.ids++
	a.id = c.ids
	if err := a.begin(a.anchor); err != nil {
		return err
	}
	cat := c.rec.Functions.At(int(c.rec.Func(a.anchor.call))).Module
	for i := range t.Instants {
		if err := c.instant('n', t.PID, 0, &t.Instants[i], cat, a.id); err != nil {
			return err
		}
	}
	a.inAnchor = true
	if err := a.operations(func(s *span) bool { return a.label(s) != t.Name }); err != nil {
		return err
	}
	a.inAnchor = false
	return a.operations(func(s *span) bool { return a.label(s) == t.Name })
}

// asyncRow is a row of operations while it is written.
type asyncRow struct {
	*chromeWriter
	track  *recording.Track
	anchor *span // the first span whose name is the row's, nil for none
	id     int64
	// inAnchor gives all operations the anchor's id.
	inAnchor bool
}

// label is the name of the row that an operation would make which begins with
// a span.
func (a *asyncRow) label(s *span) string {
	id := a.rec.Func(s.call)
	name := a.rec.NameInFile(id)
	if f := a.rec.Functions.At(int(id)); f.Module != "" {
		return f.Module + "/" + name
	}
	return name
}

func (a *asyncRow) findAnchor() {
	for _, col := range columns(a.rec, a.track) {
		l := col.lanes[0]
		for i := range l.Len() {
			if s := spanAt(l, i, 0); a.label(&s) == a.track.Name {
				a.anchor = &s
				return
			}
		}
	}
}

// operations writes the operations whose outermost span is chosen.
func (a *asyncRow) operations(choose func(*span) bool) error {
	anchorID := a.id
	chosen, id := false, anchorID
	for _, col := range columns(a.rec, a.track) {
		err := col.walk(func(s *span) error {
			if s.depth == 0 {
				chosen = choose(s)
				switch {
				case !chosen:
				case a.isAnchor(s):
					id = anchorID
					return nil // begun already
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
		}, func(s *span) error {
			if !chosen || a.stays(s) {
				return nil
			}
			if s.unfinished {
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

func (a *asyncRow) isAnchor(s *span) bool {
	return a.anchor != nil && s.depth == 0 && s.start == a.anchor.start && s.end == a.anchor.end && s.call == a.anchor.call && s.args == a.anchor.args && a.takeAnchor()
}

// takeAnchor is true once.
func (a *asyncRow) takeAnchor() bool {
	a.anchor = nil
	return true
}

func (a *asyncRow) begin(s *span) error {
	if err := a.tick(1); err != nil {
		return err
	}
	a.operation('b', s)
	a.args(s.args)
	return a.end()
}

// opScope makes the id alone tell operations apart; without a scope the
// category would as well, and spans of one may have several.
const opScope = "op"

// operation begins a b or e.
func (a *asyncRow) operation(ph byte, s *span) {
	c := a.chromeWriter
	c.event(ph, a.track.PID, 0)
	f := c.rec.Functions.At(int(c.rec.Func(s.call)))
	c.text("name", c.rec.NameInFile(c.rec.Func(s.call)))
	if f.Module != "" {
		c.text("cat", f.Module)
	}
	c.text("id", "0x"+strconv.FormatInt(a.id, 16))
	c.text("scope", opScope)
	at := s.start
	if ph == 'e' {
		at = s.end
	}
	c.time("ts", at)
}
