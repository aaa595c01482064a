package chrome

import (
	"bytes"
	"strings"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/devicememory"
	"ashlar/ingest/model/recording"
)

// decoder is the second stage: it builds the recording from the batches, in file order.
type decoder struct {
	b    *recording.Builder
	args *argStore

	names  column.Vec[named] // by name id; 0 is not a name
	raw    *interner
	frames map[uint64]recording.FrameID // frames of names with another category than their first
	ids    *interner                    // ids of async operations, flows, sample frames …

	workers   []worker
	threads   []*thread // in order of first use
	threadFor map[threadKey]*thread
	texts     map[string]int64 // the recording's ids for process and thread ids that are texts

	held   []*batch          // batches held until the origin is known
	timed  []jsonscan.Micros // times in held
	seen   int               // elements in held
	start  jsonscan.Micros   // startTime in held
	origin int64             // in µs
	first  int64             // the earliest of the times in held, relative to the origin (at most 0), in ps
	begun  bool              // origin is known
	any    bool              // the file has at least one element
	latest int64             // the latest time of all, in picoseconds

	spanEvent int // index of the event, -1 before there are spans
	async     asyncOps
	flows     flowTable
	counters  map[counterKey][]series
	memories  map[memoryKey]int // indices of counters
	sampled   samplers
	stacks    stackTable
	profile   *cpuFile // set if the file is a single CPU profile
	asides    map[recording.TrackKey]*asides
	clocked   bool // at least one span has a CPU time
	system    systemTrace

	ledger
}

// worker maps one scanner's ids to the recording's.
type worker struct {
	names   []uint32
	threads []*thread
}

// named is an interned name.
type named struct {
	text  string
	cat   uint32 // the first category, and the frame of name and category
	frame recording.FrameID
	known bool

	annotation bool // as a category: annotation handles its events
}

func newDecoder(b *recording.Builder, args *argStore) *decoder {
	d := &decoder{
		b:         b,
		args:      args,
		raw:       newInterner(),
		frames:    map[uint64]recording.FrameID{},
		ids:       newInterner(),
		workers:   []worker{{names: []uint32{0}, threads: []*thread{nil}}},
		threadFor: map[threadKey]*thread{},
		texts:     map[string]int64{},
		spanEvent: -1,
		counters:  map[counterKey][]series{},
		memories:  map[memoryKey]int{},
		asides:    map[recording.TrackKey]*asides{},
	}
	d.names.Append(named{})
	d.ledger.b = b
	b.Slack(roundedBy)
	d.async.init(d)
	d.flows.init(d)
	d.sampled.init(d)
	d.stacks.init(d)
	return d
}

// take adds a batch. It reports whether the batch may be reused.
func (d *decoder) take(bt *batch) bool {
	d.learn(bt)
	if d.begun {
		d.build(bt)
		return true
	}
	if len(bt.events) == 0 {
		return true // nothing but blanks: keep none of its bytes
	}
	d.held = append(d.held, bt)
	for i := range bt.events {
		ev := &bt.events[i]
		switch {
		case ev.ph == phStart:
			d.start = ev.ts
		case ev.ph == phSample && len(d.timed) == 0:
			d.start, _ = jsonscan.ParseMicros(jsonscan.Unquoted(jsonscan.Member(bt.text(ev), "ts")))
		case ev.flags&hasTS != 0 && ev.ph > ' ' && ev.ph != 'M':
			d.timed = append(d.timed, ev.ts)
		}
		if d.seen++; len(d.timed) == originTimes || d.seen == originSeen {
			d.begin()
			return true
		}
	}
	return false
}

// learn takes over the names and threads that are new in a batch.
func (d *decoder) learn(bt *batch) {
	for bt.worker >= len(d.workers) {
		d.workers = append(d.workers, worker{names: []uint32{0}, threads: []*thread{nil}})
	}
	w := &d.workers[bt.worker]
	for _, raw := range bt.names {
		id := d.raw.idOf(raw)
		d.named(id)
		w.names = append(w.names, id)
	}
	for _, k := range bt.threads {
		t := d.threadFor[k]
		if t == nil {
			t = &thread{key: k, pid: d.number(k.pid), tid: d.number(k.tid), nested: true}
			d.threadFor[k] = t
		}
		w.threads = append(w.threads, t)
	}
}

// named extends the table of names by a newly interned name.
func (d *decoder) named(id uint32) {
	if int(id) == d.names.Len() {
		text := decoded(d.raw.raw[id-1])
		d.names.Append(named{text: text, annotation: text == streamAnnotation || text == wholeTrace})
	}
}

// textOf returns the text of a name or a category.
func (d *decoder) textOf(id uint32) string { return d.names.Ref(int(id)).text }

// number returns the recording's id for a process or thread. Ids that are text get
// numbers far from the ids that systems use.
func (d *decoder) number(id ident) int64 {
	if id.text == "" {
		return id.n
	}
	n, ok := d.texts[id.text]
	if !ok {
		n = recording.TextID - int64(len(d.texts))
		d.texts[id.text] = n
	}
	return n
}

// threadOf returns an event's thread.
func (d *decoder) threadOf(it *item) *thread { return d.workers[it.bt.worker].threads[it.thread] }

// use returns an event's thread, and creates its track if needed.
func (d *decoder) use(it *item) *thread {
	t := d.threadOf(it)
	if t.track == nil {
		d.open(t)
	}
	return t
}

func (d *decoder) open(t *thread) {
	t.track = d.b.Track(recording.TrackKey{Kind: recording.ThreadTrack, PID: t.pid, TID: t.tid})
	d.threads = append(d.threads, t)
	if t.key.tid.text != "" && t.track.Name() == "" {
		t.track.SetName(t.key.tid.text)
	}
	d.process(t)
}

// process returns the index of a thread's process.
func (d *decoder) process(t *thread) int {
	i := d.b.Process(t.pid)
	if p := d.b.ProcessInfo(i); t.key.pid.text != "" && p.Name == "" {
		p.Name = t.key.pid.text
	}
	return i
}

// nameless is the name of events without a name.
const nameless = "(nameless)"

// frame returns the frame for a name in a category. The category is the function's
// module, so equal names in different categories are different functions.
func (d *decoder) frame(name, cat uint32) recording.FrameID {
	n := d.names.Ref(int(name))
	if n.known && n.cat == cat {
		return n.frame
	}
	key := uint64(name)<<32 | uint64(cat)
	if f, ok := d.frames[key]; ok {
		return f
	}
	text := n.text
	if name == 0 {
		text = nameless
	}
	f := d.b.FunctionFrame(d.b.Function(recording.Function{Name: text, Module: d.textOf(cat)}))
	if n.known {
		d.frames[key] = f
	} else {
		n.known, n.cat, n.frame = true, cat, f
	}
	return f
}

// spans adds the recording's event for spans, unless it exists already.
func (d *decoder) spans() {
	if d.spanEvent < 0 {
		d.spanEvent = d.b.AddEvent(recording.SpanEvent())
	}
}

// item is an element while it is being added.
type item struct {
	*event
	bt        *batch
	off       int64  // offset in the content
	name, cat uint32 // ids of the event's name and category in the decoder
}

func (it *item) text() []byte { return it.bt.text(it.event) }

// ref returns a reference to the item's arguments, 0 for none.
func (d *decoder) ref(it *item) uint64 {
	if it.flags&hasArgs == 0 {
		return 0
	}
	return d.args.add(it.text(), it.off)
}

// build adds the elements of a batch.
func (d *decoder) build(bt *batch) {
	names := d.workers[bt.worker].names
	d.any = d.any || len(bt.events) > 0
	for i := range bt.events {
		ev := &bt.events[i]
		it := item{event: ev, bt: bt, off: bt.base + int64(ev.off), name: names[ev.name], cat: names[ev.cat]}
		if ev.ph <= ' ' {
			d.element(&it)
		} else {
			d.event(&it)
		}
		if i&1023 == 1023 {
			d.b.Progress()
		}
	}
}

// event adds an event of the trace, depending on its phase.
func (d *decoder) event(it *item) {
	k := d.read(it.ph)
	if it.ph != 'M' && it.flags&hasTS == 0 && it.ph != '(' && it.ph != ')' {
		d.left(k, it.off)
		d.warn(noTime, it.off, "")
		return
	}
	kept := true
	if !d.clocked && (it.ph == 'X' && it.flags&hasThreadDur != 0 || it.ph == 'E' && it.flags&hasThreadTS != 0) {
		d.clocked = true
		d.args.clocked = true
		d.b.SetCPU(d.args.cpu)
	}
	switch it.ph {
	case 'B', 'E', 'X':
		kept = d.sync(it, k)
	case 'i', 'I', 'R':
		d.instant(it)
	case 'C':
		kept = d.counter(it)
	case 'b', 'e', 'n', 'S', 'F', 'T', 'p':
		kept = d.async.add(it, k)
	case 's', 't', 'f':
		kept = d.flows.add(it)
	case 'M':
		kept = d.metadata(it)
	case 'P':
		kept = d.sampled.event(it)
	case 'O', 'N', 'D', 'v', 'V', 'c', '(', ')', '=':
		// Objects, memory dumps, clock synchronisation, contexts and marks of linked ids
		// are not shown.
		kept = false
		d.warn(noPicture, it.off, phaseName(it.ph))
	default:
		kept = false
		d.warn(unknownPhase, it.off, string(rune(it.ph)))
	}
	if kept {
		k.Kept++
	} else {
		d.left(k, it.off)
	}
}

// phaseName describes a phase whose events are left out.
func phaseName(ph byte) string {
	switch ph {
	case 'O', 'N', 'D':
		return "an object's life or state (phase " + string(rune(ph)) + ")"
	case 'v', 'V':
		return "a memory dump (phase " + string(rune(ph)) + ")"
	case 'c':
		return "a clock synchronisation (phase c)"
	case '=':
		return "a linked id (phase =)"
	}
	return "a context (phase " + string(rune(ph)) + ")"
}

// element handles an element of the trace that is not an event.
func (d *decoder) element(it *item) {
	switch it.ph {
	case phNone:
		d.left(d.kind("(no phase)"), it.off)
		d.kind("(no phase)").Read++
		if len(bytes.Trim(it.text(), "{} \t\r\n")) == 0 { // JAX ends the list with an empty event
			d.warn(emptyEvent, it.off, "")
		} else {
			d.warn(noPhase, it.off, "")
		}
	case phOther:
		ph := jsonscan.Plain(jsonscan.Member(it.text(), "ph"))
		k := d.kind(ph)
		k.Read++
		d.left(k, it.off)
		d.warn(unknownPhase, it.off, ph)
	case phScalar:
		d.lost("(no event)", notEvent, it.off, "")
	case phBad:
		d.lost("(damaged)", badEvent, it.off, "")
	case phCut:
		d.lost("(cut)", cut, it.off, "")
	case phUnclosed:
		d.warn(unclosedFile, it.off, "")
	case phComma:
		d.warn(missingComma, it.off, "")
	case phStray:
		d.warn(stray, it.off, "")
	case phTool:
		d.tool(it.text())
	case phMember:
		d.member(it.text())
	case phSystem:
		d.system.read(it.text())
	case phSkipped:
		key, _, _ := strings.Cut(string(it.text()[1:]), `"`)
		d.lost("top-level member", longMember, it.off, decoded(key))
	case phFrame:
		d.stacks.define(it)
	case phSample:
		d.sampled.top(it)
	case phNode, phSampleID, phDelta, phStart, phEnd:
		d.cpuProfile(it)
	}
}

// instant adds an event without a length to its thread.
func (d *decoder) instant(it *item) {
	t := d.use(it)
	name := d.textOf(it.name)
	if it.name == 0 {
		name = nameless
		d.warn(noName, it.off, "")
	}
	at := d.at(it.ts, it.off)
	t.track.Instant(at, name, d.ref(it))
	switch {
	case it.name == 0:
	case name == "CpuProfile":
		d.sampled.whole(it, t)
	case name == devicememory.Name:
		d.memory(it, t, at)
	}
}

// finish adds everything that depends on the end of the file.
func (d *decoder) finish() {
	d.begin()
	d.finishProfile()
	d.sampled.finish()
	// Spans without an end last until the end of the recording, which is known only now.
	if _, end, ok := d.b.Extent(); ok {
		d.latest = max(d.latest, end)
	}
	for _, t := range d.threads {
		d.settleAll(t)
	}
	d.system.finish(d)
	d.async.finish()
	d.flows.finish()
	d.report()
	if d.b.Events() == 0 {
		d.spans()
	}
	if n := d.args.texts.Dropped; n > 0 {
		d.warn(argsDropped, 0, "")
		d.b.WarnMore(problems[argsDropped].code, n-1)
	}
}
