package chrome

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// chromeWriter writes a recording as a Chrome trace: an object with traceEvents, and with
// stackFrames and samples if the recording has samples.
//
//   - Spans are complete events (X), unfinished spans begins (B). If readers
//     would nest a thread's X differently, because spans of zero length are at
//     the edge of others, the thread has begins and ends (B, E) instead.
//   - Asynchronous operations are b and e, instants i and n, counters C, flows
//     s, t and f.
//   - Samples name a frame of stackFrames and have the event's name. A weight
//     is their value of the event's period, or of the first metric for which
//     they have values. They are not spans, because the length of a sample is
//     unknown.
//
// Times are in microseconds, with all their decimals.
type chromeWriter struct {
	*encode.Job
	threads []encode.ThreadID
	clock   encode.ClockText
	b       []byte // the current event
	names   [][]byte
	latest  int64 // the latest time that readers will see
	// sampledAny reports whether there are samples.
	sampledAny bool
	ids        int64 // number of ids given to asynchronous operations and flows

	lostMarks, lostRows, lostValues, oddArgs int64
}

func write(j *encode.Job) error {
	c := &chromeWriter{Job: j, threads: encode.ThreadIDs(j.Rec, false, -1, -1)}
	rec := j.Rec
	n := encode.Samples(rec)
	if rec.Counts.Spans+n+rec.Counts.Instants+encode.Points(rec) == 0 {
		return encode.ErrNothing
	}
	j.Total = rec.Counts.Spans + n + rec.Counts.Instants + encode.Points(rec)
	var ok bool
	if c.clock, ok = encode.NewClockText(&rec.Clock, 1e6); !ok {
		c.Lose(1, "clock origins", "the clock origin is out of range; times are relative to the recording's start")
	}
	c.names = make([][]byte, rec.Functions.Len())
	c.latest = c.findLatest()
	c.sampledAny = n > 0
	if _, err := c.W.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`); err != nil {
		return err
	}
	c.metadata()
	for _, step := range []func() error{c.tracks, c.counters, c.flows} {
		if err := step(); err != nil {
			return err
		}
	}
	if _, err := c.W.WriteString("\n]"); err != nil {
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
	_, err := c.W.WriteString("}\n")
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
	if _, err := c.W.WriteString(sep); err != nil {
		return err
	}
	c.b = append(c.b, '}')
	_, err := c.W.Write(c.b)
	return err
}

func (c *chromeWriter) int(key string, v int64) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = strconv.AppendInt(c.b, v, 10)
}

func (c *chromeWriter) text(key, v string) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = encode.AppendJSON(c.b, v)
}

func (c *chromeWriter) time(key string, t int64) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = c.clock.Append(c.b, t)
}

// length writes a duration in microseconds.
func (c *chromeWriter) length(key string, d int64) {
	c.b = append(append(append(c.b, ',', '"'), key...), '"', ':')
	c.b = encode.AppendValue(c.b, d, 6)
}

// function writes a function's name and category.
func (c *chromeWriter) function(id recording.FuncID) {
	n := c.names[id]
	if n == nil {
		f := c.Rec.Functions.At(int(id))
		n = encode.AppendJSON([]byte(`,"name":`), c.Rec.NameInFile(id))
		if f.Module != "" {
			n = encode.AppendJSON(append(n, `,"cat":`...), f.Module)
		}
		c.names[id] = n
	}
	c.b = append(c.b, n...)
}

// args writes the arguments of a reference. Arguments from a trace are JSON; plain text
// becomes the member "args".
func (c *chromeWriter) args(ref uint64) {
	if ref == 0 || c.Rec.Args == nil {
		return
	}
	text := c.Rec.Args(ref)
	switch {
	case text == "" || text == "{}":
	case text[0] == '{' && json.Valid([]byte(text)):
		c.b = append(append(c.b, `,"args":`...), text...)
	default:
		if text[0] == '{' {
			c.oddArgs++
		}
		c.b = append(c.b, `,"args":{"args":`...)
		c.b = append(encode.AppendJSON(c.b, text), '}')
	}
}

// metadata writes the names of processes and threads.
func (c *chromeWriter) metadata() {
	meta := func(pid, tid int64, name, key string, write func()) {
		c.event('M', pid, tid)
		c.text("name", name)
		c.b = append(c.b, `,"args":{"`...)
		c.b = append(append(c.b, key...), '"', ':')
		write()
		c.b = append(c.b, '}')
		_ = c.end() // the next call returns the writer's error
	}
	str := func(s string) func() { return func() { c.b = encode.AppendJSON(c.b, s) } }
	num := func(n int) func() { return func() { c.b = strconv.AppendInt(c.b, int64(n), 10) } }
	for i := range c.Rec.Processes {
		p := &c.Rec.Processes[i]
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
	for i, t := range c.Rec.Tracks {
		if t.Kind == recording.AsyncTrack {
			continue // readers name it after its operations
		}
		id := &c.threads[i]
		if id.Name != "" {
			meta(id.PID, id.TID, "thread_name", "name", str(id.Name))
		}
		if t.Sort != 0 {
			meta(id.PID, id.TID, "thread_sort_index", "sort_index", num(t.Sort))
		}
	}
}

// counterGroup is the series of one counter, which share events.
type counterGroup struct {
	pid    int64
	name   string
	series []*recording.Counter
	at     []int
}

// counters writes the points of counters; points of one counter at the same time share an
// event.
func (c *chromeWriter) counters() error {
	var groups []*counterGroup
	for _, k := range c.Rec.Counters {
		pid := c.Rec.Processes[k.Process].PID
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
	c.Lose(units, "counter units", "Chrome traces store counters without units")
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
			c.b = append(encode.AppendJSON(c.b, k.Series), ':')
			v := k.Value(g.at[i])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.Lose(1, "counter points", "JSON cannot hold infinity or NaN")
				v = 0
			}
			c.b = strconv.AppendFloat(c.b, v, 'g', -1, 64)
			g.at[i]++
		}
		c.b = append(c.b, '}')
		if err := c.end(); err != nil {
			return err
		}
		if err := c.Tick(1); err != nil {
			return err
		}
	}
}

// flows writes arrows. Each end belongs to the span that runs at its time.
func (c *chromeWriter) flows() error {
	for i := range c.Rec.Flows {
		f := &c.Rec.Flows[i]
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
			c.event(ph, t.PID, t.TID)
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

// tool writes the recording tool and the recorded command.
func (c *chromeWriter) tool() error {
	s := &c.Rec.Source
	if s.Tool == "" && s.Command == "" && len(s.Notes) == 0 {
		return nil
	}
	b := []byte(",\n" + `"metadata":{`)
	if s.Tool != "" {
		b = encode.AppendJSON(append(b, `"source":`...), s.Tool)
	}
	if s.Command != "" {
		if s.Tool != "" {
			b = append(b, ',')
		}
		b = encode.AppendJSON(append(b, `"command_line":`...), s.Command)
	}
	b = c.notes(b)
	_, err := c.W.Write(append(b, '}'))
	return err
}

func (c *chromeWriter) losses(samples int64) {
	rec := c.Rec
	var stacks int64
	for e, s := range rec.Stacks {
		if s != nil && !c.HasSamples(e) {
			stacks += int64(s.Len())
		}
	}
	c.Lose(stacks, "stacks", "a trace holds only timed data, and stacks have no times")
	c.Lose(rec.Counts.States, "state times", "a trace has only spans, samples and counters")
	c.LoseWindows("a trace has only single events")
	c.LoseMoreNotes()
	c.Lose(c.lostValues, "sample values", "a sample has only one weight")
	c.Lose(c.lostRows, "names of async rows", "the viewer names each row after its first operation")
	c.Lose(c.lostMarks, "marks of unfinished spans", "other spans follow, so they need an end")
	c.Lose(c.oddArgs, "arguments that are not JSON", "they become text")
	if c.clock.Cut {
		c.Lose(1, "last digits of the clock's origin", "digits below a picosecond are lost")
	}
	c.LoseThreads(c.threads, func(i int) bool {
		t := rec.Tracks[i]
		return t.Kind != recording.AsyncTrack && (t.Spans() > 0 || len(t.Samples) > 0 || len(t.Instants) > 0)
	})
	if samples > 0 {
		c.Lose(int64(rec.Contexts.Len()-1), "stack contexts", "a sample has no context except its thread and CPU")
	}
	c.LosePlaces("frames of a trace have a name and a category")
	c.LoseSymbols("frames of a trace have a name and a category")
}

// notes appends a member for each key of the notes: a text, or an array of them.
func (c *chromeWriter) notes(b []byte) []byte {
	src := &c.Rec.Source
	done := map[string]bool{"source": true, "command_line": true}
	for _, n := range src.Notes {
		if done[n.Key] {
			continue
		}
		done[n.Key] = true
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(encode.AppendJSON(b, n.Key), ':')
		all := src.NotesOf(n.Key)
		if len(all) == 1 {
			b = encode.AppendJSON(b, all[0])
			continue
		}
		for i, v := range all {
			sep := byte(',')
			if i == 0 {
				sep = '['
			}
			b = encode.AppendJSON(append(b, sep), v)
		}
		b = append(b, ']')
	}
	return b
}
