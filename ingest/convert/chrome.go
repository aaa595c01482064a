package convert

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"ashlar/ingest/recording"
)

// chromeWriter writes a recording as a Chrome trace: an object with
// traceEvents, and with stackFrames and samples where it has samples.
//
//   - Spans are complete events (X), those that never ended begins (B). Where
//     an X could be read as lying in another span (spans of no length at the
//     edge of others), the thread has begins and ends (B, E) instead.
//   - Asynchronous operations are b and e, instants i and n, counters C, flows
//     s, t and f.
//   - Samples name a frame of stackFrames and have the event's name; a weight
//     is their value of the event's period, or of its first metric that they
//     have values of. They are no spans: nobody knows how long a sample lasted.
//
// Times are microseconds with as many decimals as they have.
type chromeWriter struct {
	*job
	threads []threadID
	clock   clockText
	b       []byte // the event that is being written
	names   [][]byte
	latest  int64 // the latest time that will be read again
	// sampledAny tells that there are samples.
	sampledAny bool
	ids        int64 // of asynchronous operations and flows so far

	lostMarks, lostValues, oddArgs int64
}

func writeChrome(j *job) error {
	c := &chromeWriter{job: j, threads: threadIDs(j.rec, false, -1, -1)}
	rec := j.rec
	n := samples(rec)
	if rec.Counts.Spans+n+rec.Counts.Instants+points(rec) == 0 {
		return errNothing
	}
	j.total = rec.Counts.Spans + n + rec.Counts.Instants + points(rec)
	var ok bool
	if c.clock, ok = newClockText(&rec.Clock, 1e6); !ok {
		c.lose(1, "origins of the clock", "it is out of range; times count from the recording's beginning")
	}
	c.names = make([][]byte, rec.Functions.Len())
	c.latest = c.findLatest()
	c.sampledAny = n > 0
	if _, err := c.w.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`); err != nil {
		return err
	}
	c.metadata()
	for _, step := range []func() error{c.tracks, c.counters, c.flows} {
		if err := step(); err != nil {
			return err
		}
	}
	if _, err := c.w.WriteString("\n]"); err != nil {
		return err
	}
	if n > 0 {
		if err := c.sampled(); err != nil {
			return err
		}
	}
	if err := c.tool(); err != nil {
		return err
	}
	c.losses(n)
	_, err := c.w.WriteString("}\n")
	return err
}

// event begins an event; end writes it.
func (c *chromeWriter) event(ph byte, pid, tid int64) {
	c.b = append(c.b[:0], `{"ph":"`...)
	c.b = append(c.b, ph, '"')
	c.int("pid", pid)
	c.int("tid", tid)
}

func (c *chromeWriter) end() error {
	sep := ",\n"
	if c.Records == 0 {
		sep = "\n"
	}
	c.Records++
	if _, err := c.w.WriteString(sep); err != nil {
		return err
	}
	c.b = append(c.b, '}')
	_, err := c.w.Write(c.b)
	return err
}

func (c *chromeWriter) int(key string, v int64) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = strconv.AppendInt(c.b, v, 10)
}

func (c *chromeWriter) text(key, v string) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = appendJSON(c.b, v)
}

func (c *chromeWriter) time(key string, t int64) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = c.clock.append(c.b, t)
}

// length is a duration in microseconds.
func (c *chromeWriter) length(key string, d int64) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = appendValue(c.b, d, 6)
}

// function writes a function's name and category.
func (c *chromeWriter) function(id recording.FuncID) {
	n := c.names[id]
	if n == nil {
		f := c.rec.Functions.At(int(id))
		n = appendJSON([]byte(`,"name":`), c.rec.NameInFile(id))
		if f.Module != "" {
			n = appendJSON(append(n, `,"cat":`...), f.Module)
		}
		c.names[id] = n
	}
	c.b = append(c.b, n...)
}

// args writes the arguments that a reference stands for. A trace's own are
// JSON; those that are plain text are the member "args".
func (c *chromeWriter) args(ref uint64) {
	if ref == 0 || c.rec.Args == nil {
		return
	}
	text := c.rec.Args(ref)
	switch {
	case text == "" || text == "{}":
	case text[0] == '{' && json.Valid([]byte(text)):
		c.b = append(append(c.b, `,"args":`...), text...)
	default:
		if text[0] == '{' {
			c.oddArgs++
		}
		c.b = append(c.b, `,"args":{"args":`...)
		c.b = append(appendJSON(c.b, text), '}')
	}
}

const hexDigits = "0123456789abcdef"

// appendJSON writes a string as JSON; what is not UTF-8 becomes U+FFFD.
func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		ch := s[i]
		switch {
		case ch == '"' || ch == '\\':
			b = append(b, '\\', ch)
		case ch < ' ' || ch == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[ch>>4], hexDigits[ch&15])
		case ch < utf8.RuneSelf:
			b = append(b, ch)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

// metadata names the processes and threads.
func (c *chromeWriter) metadata() {
	meta := func(pid, tid int64, name, key string, write func()) {
		c.event('M', pid, tid)
		c.text("name", name)
		c.b = append(c.b, `,"args":{"`...)
		c.b = append(append(c.b, key...), '"', ':')
		write()
		c.b = append(c.b, '}')
		_ = c.end() // an error of the writer stays for the next one
	}
	str := func(s string) func() { return func() { c.b = appendJSON(c.b, s) } }
	num := func(n int) func() { return func() { c.b = strconv.AppendInt(c.b, int64(n), 10) } }
	for i := range c.rec.Processes {
		p := &c.rec.Processes[i]
		if p.Name != "" {
			meta(p.PID, 0, "process_name", "name", str(p.Name))
		}
		if p.Labels != "" {
			meta(p.PID, 0, "process_labels", "labels", str(p.Labels))
		}
		if p.Sort != 0 {
			meta(p.PID, 0, "process_sort_index", "sort_index", num(p.Sort))
		}
	}
	for i, t := range c.rec.Tracks {
		if t.Kind == recording.AsyncTrack {
			continue // named by what runs there
		}
		id := &c.threads[i]
		if id.name != "" {
			meta(id.pid, id.tid, "thread_name", "name", str(id.name))
		}
		if t.Sort != 0 {
			meta(id.pid, id.tid, "thread_sort_index", "sort_index", num(t.Sort))
		}
	}
}

// counterGroup are the series of one counter, which share their events.
type counterGroup struct {
	pid    int64
	name   string
	series []*recording.Counter
	at     []int
}

// counters writes points; those of one counter at one time share an event.
func (c *chromeWriter) counters() error {
	var groups []*counterGroup
	for _, k := range c.rec.Counters {
		pid := c.rec.Processes[k.Process].PID
		i := slices.IndexFunc(groups, func(g *counterGroup) bool { return g.pid == pid && g.name == k.Name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &counterGroup{pid: pid, name: k.Name})
		}
		groups[i].series = append(groups[i].series, k)
	}
	var units int64
	for _, g := range groups {
		g.at = make([]int, len(g.series))
		for _, k := range g.series {
			if k.Unit != "" {
				units++
			}
		}
		if err := c.counter(g); err != nil {
			return err
		}
	}
	c.lose(units, "units of counters", "a trace has numbers only")
	return nil
}

func (c *chromeWriter) counter(g *counterGroup) error {
	for {
		next, any := int64(math.MaxInt64), false
		for i, k := range g.series {
			if g.at[i] < k.Len() {
				next, any = min(next, k.Time(g.at[i])), true
			}
		}
		if !any {
			return nil
		}
		c.event('C', g.pid, 0)
		c.text("name", g.name)
		c.time("ts", next)
		c.b = append(c.b, `,"args":{`...)
		first := true
		for i, k := range g.series {
			if g.at[i] == k.Len() || k.Time(g.at[i]) != next {
				continue
			}
			if !first {
				c.b = append(c.b, ',')
			}
			first = false
			c.b = append(appendJSON(c.b, k.Series), ':')
			v := k.Value(g.at[i])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.lose(1, "points of counters", "JSON has no such number")
				v = 0
			}
			c.b = strconv.AppendFloat(c.b, v, 'g', -1, 64)
			g.at[i]++
		}
		c.b = append(c.b, '}')
		if err := c.end(); err != nil {
			return err
		}
		if err := c.tick(1); err != nil {
			return err
		}
	}
}

// flows writes arrows. All their ends belong to the span that runs there.
func (c *chromeWriter) flows() error {
	for i := range c.rec.Flows {
		f := &c.rec.Flows[i]
		c.ids++
		for k, s := range f.Steps {
			ph := byte('t')
			switch k {
			case 0:
				ph = 's'
			case len(f.Steps) - 1:
				ph = 'f'
			}
			t := &c.threads[s.Track]
			c.event(ph, t.pid, t.tid)
			c.text("name", f.Name)
			c.text("cat", "flow")
			c.int("id", c.ids)
			c.time("ts", s.Time)
			if ph == 'f' {
				c.text("bp", "e")
			}
			if err := c.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// tool writes what recorded, and what was recorded.
func (c *chromeWriter) tool() error {
	s := &c.rec.Source
	if s.Tool == "" && s.Command == "" && len(s.Notes) == 0 {
		return nil
	}
	b := []byte(",\n" + `"metadata":{`)
	if s.Tool != "" {
		b = appendJSON(append(b, `"source":`...), s.Tool)
	}
	if s.Command != "" {
		if s.Tool != "" {
			b = append(b, ',')
		}
		b = appendJSON(append(b, `"command_line":`...), s.Command)
	}
	b = c.notes(b)
	_, err := c.w.Write(append(b, '}'))
	return err
}

func (c *chromeWriter) losses(samples int64) {
	rec := c.rec
	var stacks int64
	for e, s := range rec.Stacks {
		if s != nil && !c.hasSamples(e) {
			stacks += int64(s.Len())
		}
	}
	c.lose(stacks, "stacks", "nothing says when they were, and a trace has times only")
	c.loseWindows("a trace has single events only")
	c.lose(rec.Source.MoreNotes, "notes of the file on itself", "the recording keeps the first hundred")
	c.lose(c.lostValues, "values of samples", "a sample has one weight")
	c.lose(c.lostMarks, "marks of spans as unfinished", "other spans follow, so that they need an end")
	c.lose(c.oddArgs, "arguments that are no JSON", "they are carried as text")
	if samples > 0 {
		c.lose(int64(rec.Contexts.Len()-1), "contexts of stacks", "a sample has its thread and cpu only")
		var places int64
		for i := range rec.Frames.Len() {
			if f := rec.Frames.At(i); f.Addr != 0 || f.Line != 0 {
				places++
			}
		}
		c.lose(places, "addresses and source lines of frames", "frames of a trace have a name and a category")
	}
}

// hasSamples tells whether an event has samples on the timeline.
func (j *job) hasSamples(event int) bool {
	for _, t := range j.rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			return true
		}
	}
	return false
}
