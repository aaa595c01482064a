package jfr

import (
	"cmp"
	"strings"

	"ashlar/ingest/model/recording"
)

// in calls visit for the fields of a value in a table, at the value's position, and then
// returns to the current position.
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

// string reads a text that a field contains or refers to.
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

// symbol reads a reference to a symbol and returns its text.
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

// className returns the name of a class as in Java source code.
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

// thread returns the track of a thread, nil for none.
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
