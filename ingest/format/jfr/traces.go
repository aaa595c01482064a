package jfr

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// traces are the stacks of a chunk: the reader lists their distinct frames, and the
// decoder adds those used by events.
type traces struct {
	where    map[int64][2]int // by stack number: range of its frames in list
	list     []uint32         // leaf first: indices into frames
	usual    map[uint64]uint32
	rare     map[frameKey]uint32 // frames whose key does not fit in a uint64
	keys     []frameKey
	of       *class // class of frames
	numbered []recording.FrameID
	known    []bool // by frame: whether it has an id
}

func newTraces() traces {
	return traces{where: map[int64][2]int{}, usual: map[uint64]uint32{}, rare: map[frameKey]uint32{}}
}

// frameKey identifies a frame by its method, line and type.
type frameKey struct{ method, line, kind int64 }

// small packs a key into a number; ok is false if it does not fit.
func (k *frameKey) small() (n uint64, ok bool) {
	return uint64(k.method)<<30 | uint64(k.line)<<6 | uint64(k.kind), uint64(k.method) < 1<<34 && uint64(k.line) < 1<<24 && uint64(k.kind) < 1<<6
}

// trace lists the frames of the stack at the current position.
func (c *chunk) trace(cl *class, id int64) {
	from := len(c.list)
	for i := range cl.fields {
		f := &cl.fields[i]
		if f.name != "frames" || !f.array || f.pool || f.of == nil {
			c.skipField(f, 0)
			continue
		}
		c.of = f.of
		n := c.count()
		if c.steps += n; c.steps > 1<<20+8*len(c.b) {
			panic(errors.New("values are nested too deeply"))
		}
		for range n {
			c.list = append(c.list, c.frame(f.of))
		}
	}
	c.where[id] = [2]int{from, len(c.list)}
}

// frame reads the frame at the current position.
func (c *chunk) frame(of *class) uint32 {
	var k frameKey
	for i := range of.fields {
		switch f := &of.fields[i]; f.role {
		case isMethod:
			k.method = c.number(8)
		case isLine:
			k.line = c.number(f.of.width)
		case isKind:
			k.kind = c.number(8)
		default:
			c.skipField(f, 0)
		}
	}
	small, isSmall := k.small()
	if isSmall {
		if i, ok := c.usual[small]; ok {
			return i
		}
	} else if i, ok := c.rare[k]; ok {
		return i
	}
	i := uint32(len(c.keys))
	c.keys = append(c.keys, k)
	if isSmall {
		c.usual[small] = i
	} else {
		c.rare[k] = i
	}
	return i
}

// stack returns the call of a stack, NoCall for none.
func (c *chunk) stack(id int64) recording.CallID {
	if id == 0 || c.classes[c.ids.stack] == nil {
		return recording.NoCall
	}
	call, ok := c.stacks[id]
	if ok {
		return call
	}
	if c.numbered == nil {
		c.numbered = make([]recording.FrameID, len(c.keys))
		c.known = make([]bool, len(c.keys))
	}
	frames, at := c.d.leafFirst[:0], c.where[id]
	for _, i := range c.list[at[0]:at[1]] {
		if !c.known[i] {
			c.known[i], c.numbered[i] = true, c.addFrame(c.keys[i])
		}
		frames = append(frames, c.numbered[i])
	}
	c.d.leafFirst = frames
	slices.Reverse(frames)
	call = c.d.b.Stack(frames)
	c.stacks[id] = call
	return call
}

// noDescriptor is the descriptor that async-profiler gives functions of native libraries. It
// is invalid: methods have those of the Java Virtual Machine Specification, section 4.3.3.
const noDescriptor = "()L;"

// addFrame adds a frame to the recording.
func (c *chunk) addFrame(k frameKey) recording.FrameID {
	var method, kind *class
	for i := range c.of.fields {
		switch f := &c.of.fields[i]; f.role {
		case isMethod:
			method = f.of
		case isKind:
			kind = f.of
		}
	}
	fn := recording.Function{Kind: recording.KindManaged}
	var class, name, descriptor string
	if method != nil {
		c.in(method, k.method, func(f *field) {
			switch {
			case f.name == "type" && f.pool && f.of != nil:
				class = c.className(c.number(8), f.of)
			case f.name == "name":
				name = c.symbol(f)
			case f.name == "descriptor":
				descriptor = c.symbol(f)
			default:
				c.skipField(f, 0)
			}
		})
	}
	if kind != nil {
		c.in(kind, k.kind, func(f *field) {
			if f.of == nil || f.of.kind != text {
				c.skipField(f, 0)
				return
			}
			switch s := c.string(f); s {
			case "Kernel":
				fn.Kind = recording.KindKernel
			case "Native", "C++":
				fn.Kind = recording.KindUser
			}
		})
	}
	switch {
	case name == "":
		fn.Name, fn.Unresolved = cmp.Or(class, funcname.Unknown), true
	case fn.Kind == recording.KindManaged, descriptor != "" && descriptor != noDescriptor: // a method, even if it is native
		fn.Name, fn.Kind = strings.TrimPrefix(class+"."+name, "."), recording.KindManaged
	default: // async-profiler writes the library in place of the class
		fn.Name, fn.Module = name, class
	}
	line := k.line
	if line < 0 || line > math.MaxInt32 { // native methods have line -1, which has 32 bits
		line = 0
	}
	return c.d.b.Frame(recording.Frame{Func: c.d.b.Function(fn), Line: int32(line), Kind: fn.Kind})
}
