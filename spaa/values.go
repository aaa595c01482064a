package spaa

import (
	"reflect"
	"unsafe"
)

// value reads the value at v into a field of obj and returns the index after it. If the
// value has another JSON type, the field is set to its zero value and the result is
// mismatch; the value itself has not been checked then.
func (p *Parser) value(f *field, v int, obj unsafe.Pointer, depth int) int {
	dst := f.at(obj)
	switch f.kind {
	case textField:
		return p.text(v, (*string)(dst))
	case numberField:
		return p.number(v, (*Number)(dst))
	case intField:
		n, end := p.integer(v)
		*(*int64)(dst) = n
		return end
	case optIntField:
		n, end := p.integer(v)
		*(*Opt[int64])(dst) = Opt[int64]{n, end >= 0}
		return end
	case idField:
		return p.stackID(v, (*ID)(dst))
	case intsField:
		return p.integers(v, (*[]int64)(dst))
	case contextField:
		return p.context(v, (**Context)(dst), depth)
	case weightsField:
		return readList(p, f, v, (*[]Weight)(dst), &p.weights, depth)
	case exclusiveField:
		return p.pointer(f, v, (*unsafe.Pointer)(dst), unsafe.Pointer(empty(p, &p.exclusive)), depth)
	case optBoolField:
		return p.optBool(v, (*Opt[bool])(dst))
	case typeField:
		return p.typeName(v)
	case idsField:
		return p.idList(v, (*[]ID)(dst))
	case rawField:
		return p.raw(v, (*[]byte)(dst), depth)
	case objectField:
		reflect.NewAt(f.of.typ, dst).Elem().SetZero()
		return p.object(v, f.of, dst, depth+1)
	case pointerField:
		return p.pointer(f, v, (*unsafe.Pointer)(dst), reflect.New(f.of.typ).UnsafePointer(), depth)
	case byStackField:
		return readList(p, f, v, (*[]StackWeights)(dst), &p.byStack, depth)
	}
	return readList(p, f, v, (*[]Event)(dst), new([]Event), depth)
}

// typeName reads the type of a record, which determines its kind.
func (p *Parser) typeName(i int) int {
	i = p.text(i, &p.typ)
	if p.hasType = i >= 0; !p.hasType || p.typ == kindNames[p.kind] && p.kind != KindUnknown {
		return i
	}
	assumed := p.kind
	if p.kind = kindOf(p.typ); p.kind != assumed && p.early {
		return otherKind
	}
	return i
}

func (p *Parser) text(i int, dst *string) int {
	if i >= len(p.b) || p.b[i] != '"' {
		*dst = ""
		return mismatch
	}
	*dst, i = p.str(i)
	return i
}

func (p *Parser) number(i int, dst *Number) int {
	*dst = ""
	if !p.isNumber(i) {
		return mismatch
	}
	end := p.num(i)
	if end >= 0 {
		*dst = Number(p.b[i:end])
	}
	return end
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

func (p *Parser) stackID(i int, dst *ID) int {
	var end int
	if *dst = (ID{}); p.isNumber(i) {
		end = p.num(i)
		dst.number = true
		dst.text = p.b[i:max(i, end)]
	} else {
		end = p.text(i, &dst.text)
	}
	dst.set = end >= 0
	return end
}

// isObject reports whether an object starts at i.
func (p *Parser) isObject(i int) bool { return i < len(p.b) && p.b[i] == '{' }

// isArray reports whether an array starts at i.
func (p *Parser) isArray(i int) bool { return i < len(p.b) && p.b[i] == '[' }

func (p *Parser) raw(i int, dst *[]byte, depth int) int {
	*dst = nil
	if !p.isObject(i) {
		return mismatch
	}
	end := p.skip(i, depth)
	if end >= 0 {
		*dst = appendCompact(nil, p.b[i:end])
	}
	return end
}

// pointer reads an object into obj and sets dst to point to it. If records keep extras,
// an object without its needed keys becomes an extra instead.
func (p *Parser) pointer(f *field, i int, dst *unsafe.Pointer, obj unsafe.Pointer, depth int) int {
	*dst = nil
	end := p.object(i, f.of, obj, depth+1)
	if end < 0 {
		return end
	}
	if p.own && p.lacks&f.of.needed != 0 {
		return mismatch
	}
	*dst = obj
	return end
}

// integers reads an array of frame ids; it is the hot loop of stacks.
func (p *Parser) integers(i int, dst *[]int64) int {
	*dst = nil
	if !p.isArray(i) {
		return mismatch
	}
	b, out := p.b, p.ints[:0]
	if p.own {
		out = []int64{}
	}
	c, i := peek(b, i+1)
	more := c != ']'
	if !more {
		i++
	}
	for more {
		v, end := p.integer(i)
		if end < 0 {
			return end
		}
		out = append(out, v)
		if i = end; i+1 < len(b) && b[i] == ',' && b[i+1] > ' ' {
			i++
			continue
		}
		more, i = p.more(i, ']')
	}
	p.ints, *dst = out, out
	return i
}

func (p *Parser) idList(i int, dst *[]ID) int {
	*dst = nil
	if !p.isArray(i) {
		return mismatch
	}
	out := p.ids[:0]
	if p.own {
		out = []ID{}
	}
	c, i := peek(p.b, i+1)
	more := c != ']'
	if !more {
		i++
	}
	for more {
		var id ID
		if i = p.stackID(i, &id); i < 0 {
			return i
		}
		out = append(out, id)
		more, i = p.more(i, ']')
	}
	p.ids, *dst = out, out
	return i
}

// readList reads an array of objects. Unless the caller owns the record, it appends them
// to all, after the objects of the record's other arrays.
func readList[T any](p *Parser, f *field, i int, dst, all *[]T, depth int) int {
	*dst = nil
	if !p.isArray(i) {
		return mismatch
	}
	if p.own {
		all = &[]T{}
	}
	from := len(*all)
	c, i := peek(p.b, i+1)
	more := c != ']'
	if !more {
		i++
	}
	for more {
		*all = append(*all, *new(T))
		if i = p.object(i, f.of, unsafe.Pointer(&(*all)[len(*all)-1]), depth+2); i < 0 {
			return i
		}
		more, i = p.more(i, ']')
	}
	*dst = (*all)[from:len(*all):len(*all)]
	return i
}
