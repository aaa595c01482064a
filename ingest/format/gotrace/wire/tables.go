package wire

import (
	"cmp"
	"slices"

	"ashlar/ingest/input/safetext"
)

// A Generation holds the tables of a part of a trace, about a second long. Consumers of
// events may read them concurrently: they do not change after the generation's first
// event.
type Generation struct {
	id      uint64
	perTick float64 // ns per tick
	clock   bool    // Wall and Snapshot are known
	// Wall is the system clock's time at the trace's Snapshot, in ns since 1970; 0 if
	// unknown, as before Go 1.25.
	Wall, Snapshot int64

	first    uint64 // the earliest time, in ticks
	snapTick uint64
	strings  table
	texts    []string
	stacks   table
	frames   []Frame // frames of all stacks, one for each code address
	byPC     map[uint64]int32
	inStacks []int32 // indices into frames, stack after stack
	ends     []int32 // by stack: the index of its end in inStacks
	samples  []sample
	cursors  []*cursor
}

// A Frame is a frame of a stack.
type Frame struct {
	PC         uint64
	Func, File int32 // indices of texts
	Line       uint64

	fn, file uint64 // ids as in the file
}

type sample struct {
	time     int64
	p, g     int64
	stack    uint64
	reported int64 // position in the file
}

// Text returns a string of the table; 0 is "".
func (g *Generation) Text(i int32) string { return g.texts[i] }

// Texts and Stacks return the number of strings and stacks, including the empty ones.
func (g *Generation) Texts() int  { return len(g.texts) }
func (g *Generation) Stacks() int { return len(g.ends) }

// EachFrame visits the frames of a stack, the innermost first.
func (g *Generation) EachFrame(stack int32, visit func(f *Frame)) {
	if stack == 0 {
		return
	}
	for _, i := range g.inStacks[g.ends[stack-1]:g.ends[stack]] {
		visit(&g.frames[i])
	}
}

// table maps ids, which mostly count up from 1, to places.
type table struct {
	dense  []int32
	sparse map[uint64]int32
	n      int
}

// of returns the place of an id; id 0 has place 0.
func (t *table) of(id uint64) (place int32, ok bool) {
	if id < uint64(len(t.dense)) {
		if place = t.dense[id]; place != 0 || id == 0 {
			return place, true
		}
	}
	if id == 0 {
		return 0, true
	}
	place, ok = t.sparse[id]
	return place, ok
}

// add sets the place of an id; it returns false if the id has one already.
func (t *table) add(id uint64, place int32) bool {
	if _, is := t.of(id); is {
		return false
	}
	t.n++
	switch {
	case id < uint64(4*t.n+1024):
		if id >= uint64(len(t.dense)) {
			t.dense = append(t.dense, make([]int32, max(int(id)+1-len(t.dense), len(t.dense)))...)
		}
		t.dense[id] = place
	case t.sparse == nil:
		t.sparse = map[uint64]int32{}
		fallthrough
	default:
		t.sparse[id] = place
	}
	return true
}

func newGeneration() *Generation {
	return &Generation{byPC: map[uint64]int32{}, texts: []string{""}, ends: []int32{0}}
}

// add adds a batch to the generation.
func (g *Generation) add(b *batch, version int) error {
	switch {
	case b.is(evStrings):
		return g.addStrings(b)
	case b.is(evStacks):
		return g.addStacks(b)
	case b.is(evCPUSamples):
		return g.addSamples(b)
	case b.is(evFrequency) && version < 25, b.is(evSync) && version >= 25:
		return g.addSync(b, version)
	case b.is(evEndOfGeneration):
		return wrong(b.at, "a generation ends within a batch of events")
	case b.experiment:
		return nil
	}
	for _, c := range g.cursors {
		if c.id == b.m {
			c.batches = append(c.batches, *b)
			return nil
		}
	}
	g.cursors = append(g.cursors, &cursor{id: b.m, batches: []batch{*b}})
	return nil
}

// each reads the entries of a part of a table. All entries have one type and begin with
// the given number of integers. entry must read the rest of each entry.
func (b *batch) each(typ byte, what string, numbers int, entry func(c *cut, n []uint64) error) error {
	c := cut{data: b.data, off: 1}
	var n [5]uint64
	for c.off < len(c.data) {
		at := b.at + int64(c.off)
		if c.data[c.off] != typ {
			return wrong(at, "an entry in the table of %s has the wrong type, %d", what, c.data[c.off])
		}
		c.off++
		for i := range numbers {
			n[i] = c.number()
		}
		if !c.wrong() {
			if err := entry(&c, n[:numbers]); err != nil {
				err.(*Error).At = at
				return err
			}
		}
		if c.wrong() {
			return wrong(at, "an entry in the table of %s is truncated", what)
		}
	}
	return nil
}

func (g *Generation) addStrings(b *batch) error {
	return b.each(evString, "strings", 2, func(c *cut, n []uint64) error {
		switch {
		case n[1] > maxString:
			return wrong(0, "a string of %s is too long", safetext.Plural(n[1], "byte"))
		case n[1] > uint64(len(c.data)-c.off):
			c.short = true
			return nil
		case !g.strings.add(n[0], int32(len(g.texts))):
			return wrong(0, "two strings have the number %d", n[0])
		}
		g.texts = append(g.texts, string(c.data[c.off:c.off+int(n[1])]))
		c.off += int(n[1])
		return nil
	})
}

func (g *Generation) addStacks(b *batch) error {
	return b.each(evStack, "stacks", 2, func(c *cut, n []uint64) error {
		if n[1] > maxFrames {
			return wrong(0, "a stack of %s is too long", safetext.Plural(n[1], "frame"))
		}
		for range n[1] {
			f := Frame{PC: c.number(), fn: c.number(), file: c.number(), Line: c.number()}
			if c.wrong() {
				return nil
			}
			i, ok := g.byPC[f.PC]
			if !ok {
				i = int32(len(g.frames))
				g.byPC[f.PC] = i
				g.frames = append(g.frames, f)
			}
			g.inStacks = append(g.inStacks, i)
		}
		if !g.stacks.add(n[0], int32(len(g.ends))) {
			return wrong(0, "two stacks have the number %d", n[0])
		}
		g.ends = append(g.ends, int32(len(g.inStacks)))
		return nil
	})
}

func (g *Generation) addSamples(b *batch) error {
	return b.each(evCPUSample, "CPU samples", 5, func(_ *cut, n []uint64) error {
		g.samples = append(g.samples, sample{time: int64(n[0]), p: int64(n[2]), g: int64(n[3]), stack: n[4], reported: b.at})
		return nil
	})
}

// addSync reads the length of a tick and, from Go 1.25 on, the times of other clocks.
func (g *Generation) addSync(b *batch, version int) error {
	c := cut{data: b.data}
	if version >= 25 {
		c.off = 1
	}
	tick := b.time
	for c.off < len(c.data) {
		at, typ := b.at+int64(c.off), c.data[c.off]
		c.off++
		switch {
		case typ == evFrequency && g.perTick != 0:
			return wrong(at, "the clock's frequency occurs twice")
		case typ == evFrequency:
			g.perTick = 1.0 / (float64(c.number()) / 1e9)
		case typ == evClockSnapshot && version >= 25 && g.clock:
			return wrong(at, "the clock snapshot occurs twice")
		case typ == evClockSnapshot && version >= 25:
			g.clock = true
			tick += c.number()
			c.number() // the monotonic clock
			sec, nsec := c.number(), c.number()
			g.snapTick, g.Wall = tick, int64(sec)*1e9+int64(nsec)
		default:
			return wrong(at, "a batch of clocks has an event of the wrong type, %d", typ)
		}
		if c.wrong() {
			return wrong(at, "a batch of clocks is truncated")
		}
	}
	return nil
}

// ns converts ticks to nanoseconds.
func (g *Generation) ns(ticks uint64) int64 { return int64(float64(ticks) * g.perTick) }

// complete checks for required events and resolves references between tables, after all
// batches were read.
func (g *Generation) complete(version int, at int64) error {
	switch {
	case g.perTick == 0:
		return wrong(at, "no frequency event found")
	case version >= 25 && !g.clock:
		return wrong(at, "no clock snapshot event found")
	}
	for i := range g.frames {
		f := &g.frames[i]
		fn, named := g.strings.of(f.fn)
		file, filed := g.strings.of(f.file)
		if !named || !filed {
			return wrong(at, "a stack refers to a missing function or file name")
		}
		f.Func, f.File = fn, file
	}
	g.byPC = nil
	if g.clock {
		g.Snapshot = g.ns(g.snapTick)
	}
	for i := range g.samples {
		g.samples[i].time = g.ns(uint64(g.samples[i].time))
	}
	slices.SortFunc(g.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	return nil
}

// NewGeneration returns an empty generation for a trace read by other means; texts and
// stacks are added one by one.
func NewGeneration() *Generation { return newGeneration() }

// AddText adds a text and returns its number.
func (g *Generation) AddText(s string) int32 {
	g.texts = append(g.texts, s)
	return int32(len(g.texts) - 1)
}

// AddFrame adds a frame to the current stack, innermost first. EndStack ends the stack.
func (g *Generation) AddFrame(f Frame) {
	g.inStacks = append(g.inStacks, int32(len(g.frames)))
	g.frames = append(g.frames, f)
}

// EndStack ends the current stack, which consists of the frames added since the previous
// one, and returns its number.
func (g *Generation) EndStack() int32 {
	g.ends = append(g.ends, int32(len(g.inStacks)))
	return int32(len(g.ends) - 1)
}
