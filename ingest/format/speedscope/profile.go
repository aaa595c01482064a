package speedscope

import (
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/pairmap"
	"ashlar/ingest/model/recording"
)

// profile is a profile that has been read but not built.
type profile struct {
	kind, name, unit string
	start, end       decode.Number
	starts, ends     bool
	from             int64 // offset in the content

	// For an evented profile: a frame per event, with the bit closing if the event closes
	// it.
	frames column.Vec[uint32]
	// For a sampled profile: a stack per sample, as a node of the tree.
	stacks column.Vec[uint32]
	values numbers // times or weights
}

const (
	closing = 1 << 31
	noStack = 1<<32 - 1
)

// numbers are decimals, nine bytes each.
type numbers struct {
	mantissas column.Vec[int64]
	scales    column.Vec[int8]
	finest    int // the largest scale
}

func (n *numbers) add(v decode.Number) {
	n.mantissas.Append(v.Mantissa)
	n.scales.Append(int8(v.Scale))
	n.finest = max(n.finest, v.Scale)
}

func (n *numbers) len() int { return n.mantissas.Len() }

func (n *numbers) at(i int) decode.Number {
	return decode.Number{Mantissa: n.mantissas.At(i), Scale: int(n.scales.At(i))}
}

// tree holds the stacks of all sampled profiles, by frame number. Node 0 is the empty
// stack; parents precede their children.
type tree struct {
	parent, frame []uint32
	paths         *pairmap.Paths
	index         pairmap.Table
	calls         []recording.CallID // by node, as far as known
}

// leaf returns the node of a stack, which is given outermost frame first.
func (t *tree) leaf(stack []uint32) uint32 {
	if t.paths == nil {
		t.paths = pairmap.NewPaths()
	}
	return t.paths.Leaf(stack, 0, t.child)
}

// child returns the child of a node for a frame, adding it if it is new.
func (t *tree) child(node, frame uint32) uint32 {
	if t.parent == nil {
		t.parent, t.frame = []uint32{0}, []uint32{0}
	}
	if c := t.index.Get(node, frame); c != 0 {
		return c
	}
	c := uint32(len(t.parent))
	t.parent, t.frame = append(t.parent, node), append(t.frame, frame)
	t.index.Put(node, frame, c)
	return c
}

// call returns the call of a node. The frames must be known.
func (d *decoder) call(node uint32) recording.CallID {
	t := &d.nodes
	for i := len(t.calls); i <= int(node); i++ {
		if i == 0 {
			t.calls = append(t.calls, recording.NoCall)
			continue
		}
		t.calls = append(t.calls, d.b.Call(t.calls[t.parent[i]], d.frameOf(t.frame[i])))
	}
	return t.calls[node]
}

// profile reads one profile.
func (d *decoder) profile() {
	t := d.b.Tally("profile")
	t.Read++
	p := &profile{from: d.s.Offset()}
	if !d.s.Enter('{') {
		d.s.Skip()
		t.Leave(decode.Byte(p.from))
		d.b.Warn("not-a-profile", decode.Byte(p.from), "The value at byte %d is not a profile and was left out", p.from)
		return
	}
	for key := range d.s.Members {
		switch {
		case key == "events" && d.s.Enter('['):
			d.eachEvent(p)
		case key == "samples" && d.s.Enter('['):
			d.eachStack(p)
		case key == "weights" && d.s.Enter('['):
			for d.s.Next() {
				raw, ok := d.s.Value()
				if !ok {
					break
				}
				p.values.add(d.weight(raw))
			}
		default:
			d.describe(p, key)
		}
	}
	d.place(p, t)
}

// place keeps a profile until it can be built, if its kind is known.
func (d *decoder) place(p *profile, t *recording.Tally) {
	if p.kind == "" {
		switch { // the type is missing if the file is truncated
		case p.frames.Len() > 0:
			p.kind = "evented"
		case p.stacks.Len() > 0:
			p.kind = "sampled"
		}
	}
	// Records of the other kind cannot be part of this profile.
	if p.kind != "evented" {
		for range p.frames.Len() {
			d.eventTally.Leave(decode.Byte(p.from))
		}
	}
	if p.kind != "sampled" {
		for range p.stacks.Len() {
			d.sampleTally.Leave(decode.Byte(p.from))
		}
	}
	if p.kind != "evented" && p.kind != "sampled" {
		t.Leave(decode.Byte(p.from))
		d.b.Warn("profile-kind", decode.Byte(p.from), "The profile at byte %d is of the type %q, neither evented nor sampled, and was left out", p.from, p.kind)
		return
	}
	t.Kept++
	d.any = true
	d.waiting = append(d.waiting, p)
	if d.known {
		_ = d.buildWaiting() // can only be the context's error, which the caller finds too
	}
}

// describe reads a short member of a profile.
func (d *decoder) describe(p *profile, key string) {
	switch key {
	case "type", "name", "unit", "startValue", "endValue":
	default:
		d.leaveMember(key)
		return
	}
	raw, ok := d.s.Value()
	if !ok {
		return
	}
	switch text := jsonscan.Plain(raw); key {
	case "type":
		p.kind = text
	case "name":
		p.name = text
	case "unit":
		p.unit = text
	case "startValue":
		p.start, p.starts = d.number(raw)
	case "endValue":
		p.end, p.ends = d.number(raw)
	}
}

// number parses a number; an invalid one is 0.
func (d *decoder) number(raw []byte) (decode.Number, bool) {
	n, ok, fits := decode.ParseNumber(jsonscan.Unquoted(raw))
	if ok && fits {
		return n, true
	}
	d.b.Warn("number-bad", decode.Byte(d.s.Offset()), "The number %.40s before byte %d is invalid or too large; it counts as 0", raw, d.s.Offset())
	return decode.Number{}, false
}

// weight parses a weight; one that exceeds 64 bits is limited.
func (d *decoder) weight(raw []byte) decode.Number {
	if n, ok, fits := decode.ParseNumber(jsonscan.Unquoted(raw)); ok && !fits {
		d.b.Warn("weight-too-large", decode.Byte(d.s.Offset()), "The weight %.40s before byte %d is beyond ±(2^63 − 1) and was limited", raw, d.s.Offset())
		return n.Limit()
	}
	n, _ := d.number(raw)
	return n
}

// eachEvent reads the events of a profile, as far as they can be.
func (d *decoder) eachEvent(p *profile) {
	d.eventTally = d.b.Tally("event")
	for d.s.Next() {
		if n, at, end := plainEvent(d.s.Ahead()); end > 0 {
			d.s.Advance(end)
			d.eventTally.Read++
			p.frames.Append(n)
			p.values.add(at)
			continue
		}
		raw, ok := d.s.Value()
		if !ok {
			return
		}
		d.eventTally.Read++
		var typ, frame, at []byte
		for k, v := range jsonscan.Object(raw).All {
			switch string(k) {
			case "type":
				typ = jsonscan.Unquoted(v)
			case "frame":
				frame = v
			case "at":
				at = v
			}
		}
		n, ok := frameNumber(frame)
		t, timed := decode.Number{}, false
		if ok {
			t, timed = d.number(at)
		}
		if !timed || string(typ) != "O" && string(typ) != "C" {
			d.eventTally.Leave(decode.Byte(d.s.Offset()))
			d.b.Warn("not-an-event", decode.Byte(d.s.Offset()), "The element before byte %d is not an event (type O or C, frame and at) and was left out", d.s.Offset())
			continue
		}
		if typ[0] == 'C' {
			n |= closing
		}
		p.frames.Append(n)
		p.values.add(t)
	}
}

// plainEvent parses an event in the usual form: the three members, each once, in any
// order, with at most one space before and after a value. end is the index after the
// event, 0 if it has another form.
func plainEvent(b []byte) (frame uint32, at decode.Number, end int) {
	const typ, number, time, all = 1, 2, 4, 7
	if len(b) == 0 || b[0] != '{' {
		return 0, at, 0
	}
	has, closes := 0, uint32(0)
	for i := 1; i+24 < len(b); i++ {
		if b[i] == ' ' {
			i++
		}
		member, ok := 0, false
		switch {
		case string(b[i:i+7]) == `"type":`:
			member = typ
			if i = behind(b, i+7); b[i] == '"' && b[i+2] == '"' && (b[i+1] == 'O' || b[i+1] == 'C') {
				ok = true
				if b[i+1] == 'C' {
					closes = closing
				}
				i += 3
			}
		case string(b[i:i+8]) == `"frame":`:
			member = number
			from := behind(b, i+8)
			i = digitsFrom(b, from)
			frame, ok = frameNumber(b[from:i])
		case string(b[i:i+5]) == `"at":`:
			member = time
			from := behind(b, i+5)
			if i = digitsFrom(b, from); i < len(b) && b[i] == '.' {
				i = digitsFrom(b, i+1)
			}
			var fits bool
			at, ok, fits = decode.ParseNumber(b[from:i])
			ok = ok && fits
		}
		if !ok || has&member != 0 || i >= len(b) {
			return 0, at, 0
		}
		has |= member
		if b[i] == '}' && has == all {
			return frame | closes, at, i + 1
		}
		if b[i] != ',' || has == all {
			return 0, at, 0
		}
	}
	return 0, at, 0
}

func behind(b []byte, i int) int {
	if b[i] == ' ' {
		i++
	}
	return i
}

func digitsFrom(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// frameNumber reads the number of a frame.
func frameNumber(b []byte) (uint32, bool) {
	var n uint32
	for _, c := range b {
		if c < '0' || c > '9' || n > (closing-10)/10 {
			return 0, false
		}
		n = n*10 + uint32(c-'0')
	}
	return n, len(b) > 0
}

// eachStack reads the stacks of a sampled profile.
func (d *decoder) eachStack(p *profile) {
	d.sampleTally = d.b.Tally("sample")
	var stack []uint32
	for d.s.Next() {
		var end int
		if stack, end = plainStack(d.s.Ahead(), stack[:0]); end > 0 {
			d.s.Advance(end)
			d.sampleTally.Read++
			p.stacks.Append(d.nodes.leaf(stack))
			continue
		}
		raw, ok := d.s.Value()
		if !ok {
			return
		}
		d.sampleTally.Read++
		stack = stack[:0]
		good := raw[0] == '['
		for a := jsonscan.Array(raw); good; {
			v, ok := a.Next()
			if !ok {
				break
			}
			n, ok := frameNumber(v)
			good = ok
			stack = append(stack, n)
		}
		if !good {
			d.b.Warn("not-a-stack", decode.Byte(d.s.Offset()), "The element before byte %d is not a stack (a list of frame indices) and was left out", d.s.Offset())
			p.stacks.Append(noStack) // keeps weights aligned with stacks
			continue
		}
		p.stacks.Append(d.nodes.leaf(stack))
	}
}

// plainStack appends the frame numbers of a stack in the usual form, with at most one
// space before each. end is the index after the stack, 0 if it has another form.
func plainStack(b []byte, out []uint32) (stack []uint32, end int) {
	if len(b) == 0 || b[0] != '[' {
		return out, 0
	}
	for i := 1; i+2 < len(b); i++ {
		from := behind(b, i)
		i = digitsFrom(b, from)
		n, ok := frameNumber(b[from:i])
		if !ok || i == len(b) {
			return out, 0
		}
		if out = append(out, n); b[i] == ']' {
			return out, i + 1
		}
		if b[i] != ',' {
			return out, 0
		}
	}
	return out, 0
}
