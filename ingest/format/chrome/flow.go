package chrome

import (
	"cmp"
	"slices"
	"strconv"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// Flows: s, t and f are the start, the steps and the end of an arrow, identified by
// category, name and id. Ids are reused and events may be in any order in the file, so
// arrows are assembled at the end of the file, in order of time. s, t and an f with bp
// "e" belong to the span that runs at their time; an f without bp "e" belongs to the next
// span that begins on its thread. The newer form needs no separate events: spans with a
// bind_id send (flow_out) and receive (flow_in).

type flowKey struct {
	cat, name uint32 // set in the older form
	scope, id uint32
	pid       int64 // if the id is local to a process
	bound     bool  // the flow has the newer form
}

// flowStep is one event of a flow.
type flowStep struct {
	key     int32 // index in flowTable.keys
	name    uint32
	thread  *thread
	raw, at int64 // time of the event; time at which the arrow is attached
	off     int64
	ph      byte // s, t or f; in the newer form the span's phase
	in, out bool // set in the newer form
}

type flowTable struct {
	d     *decoder
	keys  map[flowKey]int32
	steps []flowStep
}

func (f *flowTable) init(d *decoder) { f.d, f.keys = d, map[flowKey]int32{} }

// put adds a step.
func (f *flowTable) put(key flowKey, step flowStep) {
	k, ok := f.keys[key]
	if !ok {
		k = int32(len(f.keys))
		f.keys[key] = k
	}
	step.key, step.at = k, step.raw
	f.steps = append(f.steps, step)
}

// id interns an id. Chrome writes ids as hexadecimal text ("0x1a"), other programs as
// numbers. Like Perfetto, this treats equal numbers in both forms as the same id. Digits
// without 0x stay text, because tools differ: Perfetto reads "26" as 0x26, Catapult as
// 26.
func (f *flowTable) id(raw []byte) uint32 {
	if len(raw) > 2 && raw[0] == '0' && raw[1]|0x20 == 'x' {
		if n, err := strconv.ParseUint(string(raw[2:]), 16, 64); err == nil {
			var buf [20]byte
			raw = strconv.AppendUint(buf[:0], n, 10)
		}
	}
	return f.d.ids.id(raw)
}

// add adds an s, t or f event. It reports whether the event is kept; the end of the file
// may change that.
func (f *flowTable) add(it *item) bool {
	d := f.d
	t := d.use(it)
	key := flowKey{cat: it.cat, name: it.name}
	enclosing := it.ph != 'f' || it.flags&bindsEnclosing != 0
	found := it.id != 0 && it.flags&oddID == 0
	var m jsonscan.Members // members of the event, if the scanner did not keep its id
	if found {
		key.id = f.id(it.bt.id(it.event))
	} else {
		m = jsonscan.Object(it.text())
	}
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "id":
			key.id, found = f.id(jsonscan.Unquoted(v)), true
		case "id2":
			if local := jsonscan.Member(v, "local"); local != nil {
				key.id, key.pid, found = f.id(jsonscan.Unquoted(local)), t.pid, true
			} else if global := jsonscan.Member(v, "global"); global != nil {
				key.id, found = f.id(jsonscan.Unquoted(global)), true
			}
		case "scope":
			key.scope = d.ids.id(jsonscan.Unquoted(v))
		}
	}
	if !found {
		d.warn(noID, it.off, "")
		return false
	}
	at := d.at(it.ts, it.off)
	d.b.Cover(at, at)
	if !enclosing {
		t.waiting = append(t.waiting, int32(len(f.steps)))
	}
	f.put(key, flowStep{name: it.name, thread: t, raw: at, off: it.off, ph: it.ph})
	return true
}

// bound adds a flow of the newer form, sent or received by a span.
func (f *flowTable) bound(it *item, t *thread, at int64) {
	step := flowStep{name: it.name, thread: t, raw: at, off: it.off, ph: it.ph}
	key := flowKey{bound: true}
	found := false
	for k, v := range jsonscan.Object(it.text()).All {
		switch string(k) {
		case "bind_id":
			key.id, found = f.id(jsonscan.Unquoted(v)), true
		case "scope":
			key.scope = f.d.ids.id(jsonscan.Unquoted(v))
		case "flow_in":
			step.in = truth(v)
		case "flow_out":
			step.out = truth(v)
		}
	}
	if found && (step.in || step.out) {
		f.put(key, step)
	}
}

// truth parses a JSON truth value, which may also be in quotes or a number.
func truth(v []byte) bool {
	switch string(jsonscan.Unquoted(v)) {
	case "false", "0", "null", "":
		return false
	}
	return true
}

// bindWaiting moves the steps that wait for their thread's next span to the time when
// that span begins.
func (f *flowTable) bindWaiting(t *thread) {
	byTime := func(a, b int32) int { return cmp.Compare(f.steps[a].raw, f.steps[b].raw) }
	slices.SortFunc(t.waiting, byTime)
	next := make([]int64, len(t.waiting)) // by step: start of the first span before the next step
	for i := range next {
		next[i] = never
	}
	t.track.Starts(func(at int64) {
		// Find the last step that is not after the span's start.
		i, _ := slices.BinarySearchFunc(t.waiting, at, func(s int32, at int64) int {
			if f.steps[s].raw <= at {
				return -1
			}
			return 1
		})
		if i > 0 {
			next[i-1] = min(next[i-1], at)
		}
	})
	soonest := int64(never)
	for i := len(next) - 1; i >= 0; i-- {
		if soonest = min(soonest, next[i]); soonest != never {
			f.steps[t.waiting[i]].at = soonest
		}
	}
	t.waiting = nil
}

// finish assembles the flows and adds them in the order of the file. All spans must be on
// their tracks by then.
func (f *flowTable) finish() {
	for _, t := range f.d.threads {
		if len(t.waiting) > 0 {
			f.bindWaiting(t)
		}
	}
	slices.SortStableFunc(f.steps, func(a, b flowStep) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.raw, b.raw))
	})
	var flows [][]*flowStep
	add := func(steps ...*flowStep) {
		if len(steps) > 1 {
			flows = append(flows, steps)
			return
		}
		for _, s := range steps {
			f.d.later(loneFlow, string(rune(s.ph)), s.off, true)
		}
	}
	bound := make([]bool, len(f.keys))
	for k, i := range f.keys {
		bound[i] = k.bound
	}
	for from := 0; from < len(f.steps); {
		to := from
		for to < len(f.steps) && f.steps[to].key == f.steps[from].key {
			to++
		}
		if bound[f.steps[from].key] {
			f.send(f.steps[from:to], add)
		} else {
			chain(f.steps[from:to], add)
		}
		from = to
	}
	slices.SortStableFunc(flows, func(a, b []*flowStep) int { return cmp.Compare(a[0].off, b[0].off) })
	for _, steps := range flows {
		out := recording.Flow{Name: f.d.textOf(steps[len(steps)-1].name), Steps: make([]recording.FlowStep, len(steps))}
		for i, s := range steps {
			out.Steps[i] = recording.FlowStep{Track: s.thread.track.Index(), Time: s.at}
		}
		f.d.b.AddFlow(out)
	}
	f.keys, f.steps = nil, nil
}

// chain splits the events of one id, in order of time, into flows: a start begins a new
// flow, and an end closes the current one. The order of events at the same time is
// arbitrary; the open flow then continues and ends before the next one starts.
func chain(steps []flowStep, add func(...*flowStep)) {
	var open []*flowStep
	push := func(s *flowStep) {
		if s.ph == 's' {
			add(open...)
			open = nil
		}
		open = append(open, s)
		if s.ph == 'f' {
			add(open...)
			open = nil
		}
	}
	for from := 0; from < len(steps); {
		to := from
		for to < len(steps) && steps[to].raw == steps[from].raw {
			to++
		}
		if to == from+1 {
			push(&steps[from])
			from = to
			continue
		}
		now := map[byte][]*flowStep{}
		for ; from < to; from++ {
			now[steps[from].ph] = append(now[steps[from].ph], &steps[from])
		}
		take := func(ph byte, n int) {
			for _, s := range now[ph][:n] {
				push(s)
			}
			now[ph] = now[ph][n:]
		}
		for left := 1; left > 0; left = len(now['s']) + len(now['t']) + len(now['f']) {
			if goOn := len(now['t'])+len(now['f']) > 0; goOn && (len(open) > 0 || len(now['s']) == 0) {
				take('t', len(now['t']))
				take('f', min(1, len(now['f'])))
				continue
			}
			take('s', 1)
		}
	}
	add(open...)
}

// send connects spans to the latest earlier sender with the same bind_id. One sender may
// have any number of receivers. Among spans at the same time, spans that only send come
// first.
func (f *flowTable) send(steps []flowStep, add func(...*flowStep)) {
	slices.SortStableFunc(steps, func(a, b flowStep) int {
		switch {
		case a.raw != b.raw:
			return cmp.Compare(a.raw, b.raw)
		case a.in == b.in:
			return 0
		case a.in:
			return 1
		}
		return -1
	})
	var sender *flowStep
	for i := range steps {
		s := &steps[i]
		switch {
		case s.in && sender != nil:
			add(sender, s)
		case s.in:
			f.d.warn(loneFlow, s.off, "") // only the link is missing; the span is kept
		}
		if s.out {
			sender = s
		}
	}
}
