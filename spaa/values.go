package spaa

// The values of known keys. Each reader takes the index of the value, fills
// dst and returns the index behind the value; where the value has another JSON
// type it clears dst and returns mismatch without having checked the value.

func (p *Parser) text(i int, dst *[]byte) int {
	if i >= len(p.b) || p.b[i] != '"' {
		*dst = nil
		return mismatch
	}
	*dst, i = p.str(i)
	return i
}

func (p *Parser) number(i int, dst *RawNumber) int {
	if i < len(p.b) && (p.b[i]-'0' <= 9 || p.b[i] == '-') {
		return p.num(i, dst)
	}
	*dst = RawNumber{}
	return mismatch
}

func (p *Parser) optInt(i int, dst *Opt[int64]) int {
	v, n := p.integer(i)
	*dst = Opt[int64]{v, n >= 0}
	return n
}

func (p *Parser) optBool(i int, dst *Opt[bool]) int {
	*dst = Opt[bool]{}
	if i < len(p.b) {
		switch p.b[i] {
		case 't':
			*dst = Some(true)
			return p.literal(i, "true")
		case 'f':
			*dst = Some(false)
			return p.literal(i, "false")
		}
	}
	return mismatch
}

func (p *Parser) id(i int, dst *RawID) int {
	dst.Number = false
	if i < len(p.b) && (p.b[i]-'0' <= 9 || p.b[i] == '-') {
		var n RawNumber
		i = p.num(i, &n)
		*dst = RawID{n.Text, true}
		return i
	}
	return p.text(i, &dst.Text)
}

// object reports whether an object starts at i.
func (p *Parser) object(i int) bool { return i < len(p.b) && p.b[i] == '{' }

func (p *Parser) raw(i int, dst *[]byte) int {
	*dst = nil
	if !p.object(i) {
		return mismatch
	}
	end := p.skip(i, 2)
	if end >= 0 {
		*dst = p.b[i:end:end]
	}
	return end
}

// integers is the hot loop of stacks: an array of frame ids.
func (p *Parser) integers(i int, dst *[]int64) int {
	b, out := p.b, (*dst)[:0]
	*dst = out
	if i >= len(b) || b[i] != '[' {
		return mismatch
	}
	c, i := peek(b, i+1)
	if c == ']' {
		return i + 1
	}
	for {
		var v int64
		first := i
		for i < len(b) && b[i]-'0' <= 9 {
			v = v*10 + int64(b[i]-'0')
			i++
		}
		// No digits, too many, a leading zero, or a fraction or exponent.
		if n := i - first; n == 0 || n > 18 || n > 1 && b[first] == '0' || i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
			if v, i = p.integer(first); i < 0 {
				return i
			}
		}
		out = append(out, v)
		if i < len(b) && b[i] == ',' {
			if i++; i < len(b) && b[i] > ' ' {
				continue
			}
			_, i = peekSlow(b, i)
			continue
		}
		more, next := p.more(i, ']')
		if !more {
			if next >= 0 {
				*dst = out
			}
			return next
		}
		i = next
	}
}

func (p *Parser) ids(i int, dst *[]RawID) int {
	*dst = (*dst)[:0]
	out := *dst
	n := p.array(i, func(i int) int {
		var id RawID
		n := p.id(i, &id)
		if n >= 0 {
			out = append(out, id)
		}
		return n
	})
	if n >= 0 {
		*dst = out
	}
	return n
}

// array walks the array at i, calling element with the index of each element.
func (p *Parser) array(i int, element func(i int) int) int {
	if i >= len(p.b) || p.b[i] != '[' {
		return mismatch
	}
	c, i := peek(p.b, i+1)
	if c == ']' {
		return i + 1
	}
	for {
		if i = element(i); i < 0 {
			return i
		}
		var more bool
		if more, i = p.more(i, ']'); !more {
			return i
		}
	}
}

func (p *Parser) weights(i int, dst *[]WeightLine) int {
	out := (*dst)[:0]
	*dst = out
	if i >= len(p.b) || p.b[i] != '[' {
		return mismatch
	}
	c, i := peek(p.b, i+1)
	if c == ']' {
		return i + 1
	}
	for {
		if len(out) < cap(out) {
			out = out[:len(out)+1] // keeps the element's Extra memory
		} else {
			out = append(out, WeightLine{})
		}
		if i = p.weight(i, &out[len(out)-1]); i < 0 {
			*dst = out[:0]
			return i
		}
		var more bool
		if more, i = p.more(i, ']'); !more {
			*dst = out
			return i
		}
	}
}

func (p *Parser) weight(i int, w *WeightLine) int {
	*w = WeightLine{Extra: w.Extra[:0]}
	if !p.object(i) {
		return mismatch
	}
	c, i := peek(p.b, i+1)
	if c == '}' {
		return i + 1
	}
	var has, lost, again uint8
	for {
		key, v := p.key(i)
		if v < 0 {
			return v
		}
		bit, next := uint8(0), mismatch
		switch string(key) {
		case "metric":
			bit, next = 1, p.text(v, &w.Metric)
		case "value":
			bit, next = 2, p.number(v, &w.Value)
		case "unit":
			bit, next = 4, p.text(v, &w.Unit)
		}
		if has&bit != 0 {
			again |= bit
			p.dups++
		}
		has |= bit
		lost &^= bit
		if next == mismatch {
			lost |= bit
			next = p.extra(&w.Extra, key, v, 3, uint64(bit))
		}
		if next < 0 {
			return next
		}
		var more bool
		if more, i = p.more(next, '}'); !more {
			dropStale(&w.Extra, uint64(again&^lost))
			return i
		}
	}
}

// fields walks the object at i. known returns a bit for a known key and what
// the value's reader returned; other keys and mismatches go to extra.
func (p *Parser) fields(i, depth int, extra *[]RawField, known func(key []byte, v int) (uint64, int)) int {
	if !p.object(i) {
		return mismatch
	}
	var has, lost, again uint64
	end := p.eachKey(i, func(key []byte, v int) int {
		bit, next := known(key, v)
		if has&bit != 0 {
			again |= bit
			p.dups++
		}
		has |= bit
		lost &^= bit
		if next == mismatch {
			lost |= bit
			next = p.extra(extra, key, v, depth, bit)
		}
		return next
	})
	dropStale(extra, again&^lost)
	return end
}

func (p *Parser) exclusive(i int, e *ExclusiveLine) int {
	*e = ExclusiveLine{Weights: e.Weights[:0], Extra: e.Extra[:0]}
	return p.fields(i, 2, &e.Extra, func(key []byte, v int) (uint64, int) {
		switch string(key) {
		case "frame":
			return 1, p.optInt(v, &e.Frame)
		case "weights":
			return 2, p.weights(v, &e.Weights)
		}
		return 0, mismatch
	})
}

func (p *Parser) context(i int, c *ContextLine) int {
	*c = ContextLine{Extra: c.Extra[:0]}
	return p.fields(i, 2, &c.Extra, func(key []byte, v int) (uint64, int) {
		switch string(key) {
		case "event":
			return 1, p.text(v, &c.Event)
		case "pid":
			return 2, p.optInt(v, &c.PID)
		case "tid":
			return 4, p.optInt(v, &c.TID)
		case "cpu":
			return 8, p.optInt(v, &c.CPU)
		case "comm":
			return 16, p.text(v, &c.Comm)
		case "execname":
			return 32, p.text(v, &c.ExecName)
		case "uid":
			return 64, p.optInt(v, &c.UID)
		case "zonename":
			return 128, p.text(v, &c.ZoneName)
		case "probe":
			return 256, p.raw(v, &c.Probe)
		case "trace_fields":
			return 512, p.raw(v, &c.TraceFields)
		}
		return 0, mismatch
	})
}

func (p *Parser) byStack(i int, dst *[]StackWeightsLine) int {
	out := (*dst)[:0]
	n := p.array(i, func(i int) int {
		if len(out) < cap(out) {
			out = out[:len(out)+1] // keeps the element's Weights memory
		} else {
			out = append(out, StackWeightsLine{})
		}
		return p.stackWeights(i, &out[len(out)-1])
	})
	if n < 0 {
		out = out[:0]
	}
	*dst = out
	return n
}

func (p *Parser) stackWeights(i int, s *StackWeightsLine) int {
	*s = StackWeightsLine{Weights: s.Weights[:0], Extra: s.Extra[:0]}
	return p.fields(i, 3, &s.Extra, func(key []byte, v int) (uint64, int) {
		switch string(key) {
		case "stack_id":
			return 1, p.id(v, &s.StackID)
		case "weights":
			return 2, p.weights(v, &s.Weights)
		}
		return 0, mismatch
	})
}
