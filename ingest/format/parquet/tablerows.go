package parquet

import (
	"errors"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// spanBatch is the number of spans of a lane that are added at once.
const spanBatch = 1 << 10

// spans reads spans lane by lane: each lane's spans are in order, and a lane lies below the one
// before it, or begins anew at depth 1.
func (d *tables) spans() {
	var batch []lanes.Span
	var track *recording.TrackBuilder
	lane, depth, last := -1, int32(0), int64(0)
	flush := func() {
		if track != nil {
			track.Nested(lane, batch)
		}
		batch = batch[:0]
	}
	done := map[*recording.TrackBuilder]bool{}
	d.each("spans", columns("thread_id start_ps end_ps call_id unfinished args cpu_ps"), func(t *tableFile, c []cell) bool {
		thread, known := c[0].int()
		on, known := at(d.tracks, thread, known)
		start, started := c[1].int()
		end, ended := c[2].int()
		id := c[3].or(0)
		call, called := at(d.calls, id, id > 0)
		if !known || !started || !ended || !called || start < 0 || end < start {
			return false
		}
		if deep := d.depths[id]; on != track || deep != depth || start < last {
			flush()
			if on != track {
				if done[on] || deep != 1 {
					return t.fail(errors.New("its rows are not sorted by thread, depth and time"))
				}
				track, lane, depth = on, -1, 0
				done[on] = true
			}
			if deep != 1 && deep != depth+1 {
				return t.fail(errors.New("its rows are not sorted by thread, depth and time"))
			}
			lane, depth = lane+1, deep
		}
		last = end
		d.b.Cover(start, end)
		s := lanes.Span{Start: start, End: end, Call: call, Args: d.keep(&c[5], &c[6])}
		if c[4].is() {
			flush()
			track.NestedUnfinished(lane, s)
			return true
		}
		if batch = append(batch, s); len(batch) == spanBatch {
			flush()
		}
		return true
	})
	flush()
}

func (d *tables) states() {
	d.each("states", columns("thread_id start_ps end_ps state name call_id waker_thread_id waker_call_id"), func(_ *tableFile, c []cell) bool {
		thread, known := c[0].int()
		track, known := at(d.tracks, thread, known)
		start, started := c[1].int()
		end, ended := c[2].int()
		state := named(stateKinds, c[3].string())
		below, called := d.call(&c[5])
		if !known || !started || !ended || !called || start < 0 || end < start || state == recording.NoState {
			return false
		}
		waker := recording.NoWaker
		if by, woken := c[6].int(); woken {
			from, known := at(d.tracks, by, true)
			in, called := d.call(&c[7])
			if !known || !called {
				return false
			}
			waker = d.b.Waker(from.Index(), in)
		}
		frame := d.b.FunctionFrame(d.b.Function(recording.Function{Name: c[4].string(), State: state}))
		track.StateBy(start, end, d.b.Call(below, frame), waker)
		return true
	})
}

// metricsOf returns the number of metrics of an event, 0 if there is no such event.
func (d *tables) metricsOf(event int64, known bool) int {
	if !known || event < 0 || event >= int64(d.b.Events()) {
		return 0
	}
	return len(d.b.Event(int(event)).Metrics)
}

// row reads the values of a record from a table that has a row for each metric.
func (d *tables) row(v *tableFile, id int64, n int) bool {
	d.values = d.values[:0]
	for range n {
		if !v.next() {
			return d.err == nil && v.fail(errors.New("it has too few rows"))
		}
		d.tally.Read, d.tally.Kept = d.tally.Read+1, d.tally.Kept+1
		if of, ok := v.cells[0].int(); !ok || of != id {
			return v.fail(errors.New("its rows are not sorted by their IDs"))
		}
		d.values = append(d.values, v.cells[1].or(recording.Missing))
	}
	return true
}

func (d *tables) samples() {
	v := d.open("sample_values", "sample_id", "value")
	defer v.close()
	d.each("samples", columns("sample_id event_id thread_id time_ps call_id cpu"), func(t *tableFile, c []cell) bool {
		event, known := c[1].int()
		n := d.metricsOf(event, known)
		if n == 0 {
			return t.fail(errors.New("a sample is of no event"))
		}
		if !t.number(0) || !d.row(v, t.row, n) {
			return false
		}
		thread, known := c[2].int()
		track, known := at(d.tracks, thread, known)
		time, timed := c[3].int()
		call, called := d.call(&c[4])
		if !known || !timed || !called || time < 0 {
			return false
		}
		track.Sample(int(event), time, call, int(small(&c[5]))-one(c[5].null), d.values)
		return true
	})
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// record reads the columns that stacks and stacks of windows have in common.
func (d *tables) record(t, v *tableFile, c []cell, add func(event int, call recording.CallID, track int, ctx recording.ContextID)) bool {
	event, known := c[1].int()
	n := d.metricsOf(event, known)
	if n == 0 {
		return t.fail(errors.New("a stack is of no event"))
	}
	if !t.number(0) || !d.row(v, t.row, n) {
		return false
	}
	track, known := recording.NoTrack, true
	if thread, ok := c[2].int(); ok {
		var on *recording.TrackBuilder
		if on, known = at(d.tracks, thread, true); known {
			track = on.Index()
		}
	}
	call, called := d.call(&c[3])
	ctx, labelled := at(d.contexts, c[4].or(0), true)
	if !known || !called || !labelled {
		return false
	}
	add(int(event), call, track, ctx)
	return true
}

func (d *tables) stacks() {
	v := d.open("stack_values", "stack_id", "value")
	defer v.close()
	d.each("stacks", columns("stack_id event_id thread_id call_id context_id"), func(t *tableFile, c []cell) bool {
		return d.record(t, v, c, func(event int, call recording.CallID, track int, ctx recording.ContextID) {
			d.b.AddStack(event, call, track, ctx, d.values)
		})
	})
}

type window struct {
	event      int
	name       string
	start, end int64
}

func (d *tables) windows() {
	var windows []window
	d.each("windows", columns("window_id event_id name start_ps end_ps"), func(t *tableFile, c []cell) bool {
		event, known := c[1].int()
		start, started := c[3].int()
		end, ended := c[4].int()
		if !t.number(0) || d.metricsOf(event, known) == 0 || !started || !ended || start < 0 || end < start {
			return t.fail(errors.New("a window has no event or no times"))
		}
		windows = append(windows, window{int(event), c[2].string(), start, end})
		return true
	})
	next := 0
	until := func(n int) {
		for ; next < n; next++ {
			w := &windows[next]
			d.b.AddWindow(w.event, w.name, w.start, w.end)
		}
	}
	v := d.open("window_stack_values", "window_stack_id", "value")
	defer v.close()
	d.each("window_stacks", columns("window_stack_id event_id thread_id call_id context_id window_id"), func(t *tableFile, c []cell) bool {
		return d.record(t, v, c, func(event int, call recording.CallID, track int, ctx recording.ContextID) {
			id := c[5].or(-1)
			if id < max(0, int64(next-1)) || id >= int64(len(windows)) || windows[id].event != event {
				t.fail(errors.New("its rows are not sorted by window_id"))
				return
			}
			until(int(id) + 1)
			d.b.AddWindowStack(event, call, track, ctx, d.values)
		})
	})
	until(len(windows))
}

func (d *tables) counters() {
	var counters []int
	d.each("counters", columns("counter_id process_id name series unit"), func(t *tableFile, c []cell) bool {
		process, known := c[1].int()
		pid, known := at(d.processes, process, known)
		if !t.number(0) || !known {
			return t.fail(errors.New("a counter is of no process"))
		}
		counters = append(counters, d.b.AddCounter(d.b.Process(pid), c[2].string(), c[3].string(), c[4].string()))
		return true
	})
	d.each("counter_values", columns("counter_id time_ps value"), func(_ *tableFile, c []cell) bool {
		id, known := c[0].int()
		counter, known := at(counters, id, known)
		time, timed := c[1].int()
		if !known || !timed || time < 0 || c[2].null {
			return false
		}
		d.b.CounterPoint(counter, time, c[2].f)
		return true
	})
}

func (d *tables) instants() {
	d.each("instants", columns("thread_id time_ps name args"), func(_ *tableFile, c []cell) bool {
		thread, known := c[0].int()
		track, known := at(d.tracks, thread, known)
		time, timed := c[1].int()
		if !known || !timed || time < 0 {
			return false
		}
		track.Instant(time, c[2].string(), d.keep(&c[3], nil))
		return true
	})
}

func (d *tables) flows() {
	var flow recording.Flow
	last := int64(-1)
	done := func() {
		if len(flow.Steps) > 0 {
			d.b.AddFlow(flow)
		}
		flow = recording.Flow{}
	}
	d.each("flows", columns("flow_id name thread_id time_ps"), func(_ *tableFile, c []cell) bool {
		thread, known := c[2].int()
		track, known := at(d.tracks, thread, known)
		time, timed := c[3].int()
		if !known || !timed || time < 0 {
			return false
		}
		if id := c[0].or(0); id != last {
			done()
			last, flow.Name = id, c[1].string()
		}
		flow.Steps = append(flow.Steps, recording.FlowStep{Track: track.Index(), Time: time})
		return true
	})
	done()
}

// warnings adds the warnings of the original file.
func (d *tables) warnings() {
	d.each("warnings", columns("code text count place minor error"), func(_ *tableFile, c []cell) bool {
		add, code := d.b.Usual, c[0].string()
		switch minor, wrong := c[4].is(), c[5].is(); {
		case minor && wrong:
			add = d.b.Mended
		case minor:
			add = d.b.Remark
		case wrong:
			add = d.b.Warn
		}
		add(code, c[3].string(), "%s", c[1].string())
		d.b.WarnMore(code, max(0, c[2].or(1)-1))
		return true
	})
}
