package jfr

import (
	"cmp"
	"slices"
	"strings"

	"ashlar/ingest/recording"
)

// in has a value of a table visited, and what stood at the place before.
func (c *chunk) in(of *class, id int64, visit func(f *field)) {
	at, ok := c.pools[of.id][id]
	if !ok {
		return
	}
	before := c.at
	c.at = at
	for i := range of.fields {
		visit(&of.fields[i])
	}
	c.at = before
}

// string reads a text that a field has or refers to.
func (c *chunk) string(f *field) string {
	if f.pool {
		return c.pooled(f.of, c.number(8))
	}
	s, ref := c.text()
	if ref != 0 {
		return c.pooled(f.of, ref)
	}
	return s
}

func (c *chunk) pooled(of *class, id int64) string {
	at, ok := c.pools[of.id][id]
	if !ok {
		return ""
	}
	before := c.at
	c.at = at
	s, _ := c.text()
	c.at = before
	return s
}

// symbol reads a reference to a symbol, which has one text.
func (c *chunk) symbol(f *field) (s string) {
	if !f.pool || f.of == nil {
		c.skipField(f, 0)
		return ""
	}
	if f.of.kind == text {
		return c.pooled(f.of, c.number(8))
	}
	c.in(f.of, c.number(8), func(g *field) {
		if g.of != nil && g.of.kind == text && s == "" {
			s = c.string(g)
		} else {
			c.skipField(g, 0)
		}
	})
	return s
}

// className is the name of a class, as people write it.
func (c *chunk) className(id int64, of *class) (s string) {
	c.in(of, id, func(f *field) {
		if f.name == "name" {
			s = strings.ReplaceAll(c.symbol(f), "/", ".")
		} else {
			c.skipField(f, 0)
		}
	})
	return s
}

// thread is the track of a thread, nil for none.
func (c *chunk) thread(id int64) *recording.TrackBuilder {
	of := c.classes[c.ids.thread]
	if id == 0 || of == nil {
		return nil
	}
	t, ok := c.threads[id]
	if ok {
		return t
	}
	var os, java int64
	var osName, javaName string
	c.in(of, id, func(f *field) {
		switch {
		case f.of == nil || f.array || f.pool && f.of.kind != text:
			c.skipField(f, 0)
		case f.name == "osThreadId":
			os = c.number(8)
		case f.name == "javaThreadId":
			java = c.number(8)
		case f.name == "osName":
			osName = c.string(f)
		case f.name == "javaName":
			javaName = c.string(f)
		default:
			c.skipField(f, 0)
		}
	})
	if tid := cmp.Or(os, java, id); tid > recording.TextID {
		t = c.d.b.Track(recording.TrackKey{TID: tid})
		if name := cmp.Or(javaName, osName); name != "" {
			t.SetName(name)
		}
	}
	c.threads[id] = t
	return t
}

// frameKey identifies a frame by its method, line and type.
type frameKey struct{ method, line, kind int64 }

// small is a key as a number; ok says whether it has room there.
func (k *frameKey) small() (n uint64, ok bool) {
	return uint64(k.method)<<30 | uint64(k.line)<<6 | uint64(k.kind), uint64(k.method) < 1<<34 && uint64(k.line) < 1<<24 && uint64(k.kind) < 1<<6
}

// stack is the call of a stack, NoCall for none.
func (c *chunk) stack(id int64) recording.CallID {
	of := c.classes[c.ids.stack]
	if id == 0 || of == nil {
		return recording.NoCall
	}
	call, ok := c.stacks[id]
	if ok {
		return call
	}
	frames := c.d.leafFirst[:0]
	c.in(of, id, func(f *field) {
		if f.name != "frames" || !f.array || f.pool || f.of == nil {
			c.skipField(f, 0)
			return
		}
		for range c.count() {
			frames = append(frames, c.frame(f.of))
		}
	})
	c.d.leafFirst = frames
	slices.Reverse(frames)
	call = c.d.b.Stack(frames)
	c.stacks[id] = call
	return call
}

// frame reads a frame where it lies.
func (c *chunk) frame(of *class) recording.FrameID {
	var k frameKey
	var method, kind *class
	for i := range of.fields {
		switch f := &of.fields[i]; f.role {
		case isMethod:
			k.method, method = c.number(8), f.of
		case isLine:
			k.line = c.number(f.of.width)
		case isKind:
			k.kind, kind = c.number(8), f.of
		default:
			c.skipField(f, 0)
		}
	}
	small, isSmall := k.small()
	if isSmall {
		if f, ok := c.usual[small]; ok {
			return f
		}
	} else if f, ok := c.frames[k]; ok {
		return f
	}
	fn := recording.Function{Kind: recording.KindManaged}
	var class, name string
	if method != nil {
		c.in(method, k.method, func(f *field) {
			switch {
			case f.name == "type" && f.pool && f.of != nil:
				class = c.className(c.number(8), f.of)
			case f.name == "name":
				name = c.symbol(f)
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
		fn.Name, fn.Unresolved = cmp.Or(class, recording.UnknownName), true
	case fn.Kind == recording.KindManaged:
		fn.Name = strings.TrimPrefix(class+"."+name, ".")
	default: // async-profiler has the library where others have the class
		fn.Name, fn.Module = name, class
	}
	id := c.d.b.Frame(recording.Frame{Func: c.d.b.Function(fn), Line: int32(min(max(k.line, 0), 1<<31-1)), Kind: fn.Kind})
	if isSmall {
		c.usual[small] = id
	} else {
		c.frames[k] = id
	}
	return id
}
