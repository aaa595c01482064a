package spaa

import "errors"

// ErrNoType is the error of a line that is a JSON object without a type.
var ErrNoType = errors.New(`the record has no "type" that is a string`)

// ErrNotObject is the error of a line that does not begin with a JSON object.
var ErrNotObject = errors.New("the line is not a JSON object")

// DefaultMaxDepth is how deep values may be nested where a [Parser] says
// nothing else. The records of the spec need five levels.
const DefaultMaxDepth = 256

// Parser parses single lines without allocating. The zero value is ready. A
// Parser is for one goroutine; several may work on the lines of one file.
type Parser struct {
	// MaxDepth bounds how deep JSON values may be nested; 0 means
	// [DefaultMaxDepth].
	MaxDepth int

	b       []byte // the line
	shape   shape
	side    []byte // decoded strings that had escapes
	err     error
	tooDeep bool
	dups    int
}

func (p *Parser) maxDepth() int {
	if p.MaxDepth > 0 {
		return p.MaxDepth
	}
	return DefaultMaxDepth
}

// Parse reads the one JSON object in line into l, with or without the line
// end. It checks that the line is strict JSON and that it has a type, and
// nothing else: a record may lack keys that the spec requires (see
// [Line.Missing]), and a known key whose value has the wrong JSON type goes to
// the Extra of its object.
//
// Keys may stand in any order. The error is a *[SyntaxError], [ErrNotObject]
// or [ErrNoType]; l is then undefined.
func (p *Parser) Parse(line []byte, l *Line) error {
	p.b, p.side, p.err, p.tooDeep, p.dups = line, p.side[:0], nil, false, 0
	l.reset(line)
	c, i := peek(line, 0)
	if c != '{' {
		return ErrNotObject
	}
	i = p.record(i, l)
	if i < 0 {
		return p.err
	}
	if _, i = peek(line, i); i < len(line) {
		p.fail(i, "more text behind the record")
		return p.err
	}
	l.Duplicates = p.dups
	if l.Type == nil {
		return ErrNoType
	}
	l.Kind = kindOf(l.Type)
	p.settle(l)
	return nil
}

// record reads the object at i, whatever its kind: the type is often the last
// key, and the keys of all kinds together have one meaning each, apart from
// those that settle sorts out.
func (p *Parser) record(i int, l *Line) int {
	c, i := peek(p.b, i+1)
	if c == '}' {
		return i + 1
	}
	var lost, again keySet // keys whose last value is of a wrong type; keys that stood twice
	for k := 0; ; k++ {
		bit, v := p.expect(k, i)
		var key []byte
		if bit == 0 {
			if key, v = p.key(i); v < 0 {
				return v
			}
			bit = keyBits[string(key)]
			p.remember(k, i, v, len(key), bit)
		}
		next := p.recordKey(bit, v, l)
		if (l.has|lost)&bit != 0 {
			again |= bit
			p.dups++
		}
		l.has |= bit
		lost &^= bit
		if next < 0 {
			if next == mismatch {
				if key == nil {
					key = p.b[i+1 : v-2 : v-2] // as expected
				}
				l.has &^= bit
				lost |= bit
				next = p.extra(&l.Extra, key, v, 1, uint64(bit))
			}
			if next < 0 {
				return next
			}
		}
		var more bool
		if more, i = p.more(next, '}'); !more {
			dropStale(&l.Extra, uint64(again&^lost))
			return i
		}
	}
}

// recordKey reads the value at v of one key of a record; 0 stands for a key that
// no record has.
func (p *Parser) recordKey(key keySet, v int, l *Line) int {
	switch key {
	case hasType:
		return p.text(v, &l.Type)
	case hasID:
		return p.id(v, &l.id)
	case hasContext:
		l.HasContext = true
		n := p.context(v, &l.Context)
		if n < 0 {
			l.HasContext = false
		}
		return n
	case hasPID:
		return p.optInt(v, &l.Sample.PID)
	case hasTID:
		return p.optInt(v, &l.Sample.TID)
	case hasCPU:
		return p.optInt(v, &l.Sample.CPU)
	case hasEvent:
		return p.text(v, &l.Sample.Event)
	case hasPeriod:
		return p.number(v, &l.Sample.Period)
	case hasStackID:
		return p.id(v, &l.Sample.StackID)
	case hasTimestamp:
		return p.number(v, &l.Sample.Timestamp)
	case hasFrames:
		return p.integers(v, &l.Stack.Frames)
	case hasWeights:
		return p.weights(v, &l.Stack.Weights)
	case hasExclusive:
		l.Stack.HasExclusive = true
		n := p.exclusive(v, &l.Stack.Exclusive)
		if n < 0 {
			l.Stack.HasExclusive = false
		}
		return n
	case hasStackType:
		return p.text(v, &l.Stack.StackType)
	case hasRelated:
		return p.ids(v, &l.Stack.Related)
	case hasComm:
		return p.text(v, &l.Thread.Comm)
	}
	return p.rareKey(key, v, l)
}

// rareKey is recordKey for the keys of dictionaries and windows.
func (p *Parser) rareKey(key keySet, v int, l *Line) int {
	switch key {
	case hasName:
		return p.text(v, &l.DSO.Name)
	case hasBuildID:
		return p.text(v, &l.DSO.BuildID)
	case hasIsKernel:
		return p.optBool(v, &l.DSO.IsKernel)
	case hasFunc:
		return p.text(v, &l.Frame.Func)
	case hasFuncResolved:
		return p.optBool(v, &l.Frame.FuncResolved)
	case hasDSO:
		return p.optInt(v, &l.Frame.DSO)
	case hasIP:
		return p.text(v, &l.Frame.IP)
	case hasSymOff:
		return p.text(v, &l.Frame.SymOff)
	case hasSrcLine:
		return p.text(v, &l.Frame.SrcLine)
	case hasSrcLineResolved:
		return p.optBool(v, &l.Frame.SrcLineResolved)
	case hasInlined:
		return p.optBool(v, &l.Frame.Inlined)
	case hasInlineDepth:
		return p.optInt(v, &l.Frame.InlineDepth)
	case hasKind:
		return p.text(v, &l.Frame.Kind)
	case hasStart:
		return p.number(v, &l.Window.Start)
	case hasEnd:
		return p.number(v, &l.Window.End)
	case hasUnit:
		return p.text(v, &l.Window.Unit)
	case hasByStack:
		return p.byStack(v, &l.Window.ByStack)
	}
	return mismatch
}

// settle gives the keys that several kinds share to the line's kind, and moves
// keys that this kind does not have to Extra.
func (p *Parser) settle(l *Line) {
	switch l.Kind {
	case KindHeader, KindUnknown:
		l.Extra = l.Extra[:0]
		return
	case KindStack:
		l.Stack.ID = l.id
	case KindWindow:
		l.Window.ID = l.id
	case KindThread:
		l.Thread.PID, l.Thread.TID = l.Sample.PID, l.Sample.TID
	case KindDSO:
		l.DSO.ID = p.intID(l)
	case KindFrame:
		l.Frame.ID = p.intID(l)
	}
	for i := range l.Extra {
		if f := &l.Extra[i]; keyBits[string(f.Key)]&kindKeys[l.Kind] == 0 {
			f.Mistyped = false // this kind has no such key, so no type for it
		}
	}
	if l.has&^kindKeys[l.Kind] != 0 {
		p.foreign(l)
	}
}

// intID is the id of a dso or frame, which the spec gives as integers.
func (p *Parser) intID(l *Line) Opt[int64] {
	if l.has&hasID == 0 {
		return Opt[int64]{}
	}
	if l.id.Number && isIntLiteral(l.id.Text) {
		if v, form := l.id.Key(); form == IDInt {
			return Some(int64(v))
		}
		if v, ok := toInt64(decimalOf(l.id.Text)); ok {
			return Some(v)
		}
	}
	p.eachKey(p.start(), func(key []byte, v int) int {
		end := p.skip(v, 1)
		if string(key) == "id" {
			l.Extra = append(l.Extra, RawField{Key: key, Value: p.b[v:end:end], Mistyped: true})
		}
		return end
	})
	return Opt[int64]{}
}

func (p *Parser) start() int {
	_, i := peek(p.b, 0)
	return i
}

// foreign walks the line again for keys that other kinds of record have, such
// as a comm on a stack. Here they are unknown keys.
func (p *Parser) foreign(l *Line) {
	p.eachKey(p.start(), func(key []byte, v int) int {
		end := p.skip(v, 1)
		if keyBits[string(key)]&^kindKeys[l.Kind]&l.has != 0 {
			l.Extra = append(l.Extra, RawField{Key: key, Value: p.b[v:end:end]})
		}
		return end
	})
}

// dropStale drops extras that are earlier values of a known key whose last
// value was good. bits are the keys that stood twice and ended well.
func dropStale(extra *[]RawField, bits uint64) {
	if bits == 0 {
		return
	}
	kept := (*extra)[:0]
	for _, f := range *extra {
		if f.bit&bits == 0 {
			kept = append(kept, f)
		}
	}
	*extra = kept
}

// extra keeps the value at v as it is. bit is that of a known key.
func (p *Parser) extra(dst *[]RawField, key []byte, v, depth int, bit uint64) int {
	end := p.skip(v, depth)
	if end >= 0 {
		*dst = append(*dst, RawField{Key: key, Value: p.b[v:end:end], Mistyped: bit != 0 && p.b[v] != 'n', bit: bit})
	}
	return end
}
