package perfetto

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// nest is the state of a thread's spans between two runs of its events.
type nest struct {
	open []openSpan // spans open in the recording
	last int64      // the latest time
	any  bool
}

// nester matches ends and begins of a thread's spans and adds the spans depth by depth,
// at half the cost of adding them one by one.
type nester struct {
	m     *maker
	b     *recording.TrackBuilder // nil between runs
	on    *nest
	base  int            // number of spans open in the recording
	stack []openSpan     // spans begun in this run and still open
	spans [][]lanes.Span // finished spans, by depth
	used  []int          // depths with finished spans
	count int            // events processed
}

type openSpan struct {
	at   int64
	args uint64
	call recording.CallID
}

// start continues the spans of a thread.
func (n *nester) start(m *maker, pl *place) {
	if pl.nest == nil {
		pl.nest = new(nest)
	}
	n.m, n.b, n.on, n.count = m, pl.builder, pl.nest, 0
	n.base = len(n.on.open)
}

// clock returns at or, if at is earlier than the latest time, the latest time and false.
func (n *nester) clock(at int64) (is int64, forward bool) {
	if !n.on.any {
		n.on.any = true
		n.m.b.Cover(at, at)
	} else if at < n.on.last {
		return n.on.last, false
	}
	n.on.last = at
	return at, true
}

func (n *nester) begin(at int64, frame recording.FrameID, args uint64) {
	at, forward := n.clock(at)
	if !forward {
		n.m.backward()
	}
	parent := recording.NoCall
	if k := len(n.stack); k > 0 {
		parent = n.stack[k-1].call
	} else if n.base > 0 {
		parent = n.on.open[n.base-1].call
	}
	n.stack = append(n.stack, openSpan{at, args, n.m.b.Call(parent, frame)})
}

func (n *nester) end(at int64, args uint64) {
	at, forward := n.clock(at)
	k := len(n.stack) - 1
	switch {
	case k < 0 && n.base == 0:
		n.m.unmatched()
		return
	case k < 0:
		n.base--
		if args != 0 {
			n.b.SetArgs(n.m.args.pair(n.on.open[n.base].args, args))
		}
		n.b.End(at)
		n.on.open = n.on.open[:n.base]
	default:
		o := &n.stack[k]
		d := n.base + k
		for d >= len(n.spans) {
			n.spans = append(n.spans, nil)
		}
		if len(n.spans[d]) == 0 {
			n.used = append(n.used, d)
		}
		n.spans[d] = append(n.spans[d], lanes.Span{Start: o.at, End: at, Args: n.m.args.pair(o.args, args), Call: o.call})
		n.stack = n.stack[:k]
	}
	if !forward {
		n.m.backward()
	}
}

// finish adds the finished spans, and the others as open spans.
func (n *nester) finish() {
	if n.b == nil {
		return
	}
	for _, d := range n.used {
		n.b.Nested(d, n.spans[d])
		n.spans[d] = n.spans[d][:0]
	}
	for _, o := range n.stack {
		n.b.Open(o.at, o.call, o.args)
	}
	n.on.open = append(n.on.open, n.stack...)
	n.used, n.stack, n.b = n.used[:0], n.stack[:0], nil
}
