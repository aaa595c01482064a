package pairmap

import "ashlar/ingest/model/column"

// Children finds the children of a tree's nodes by a key: the calls below a call by their
// frame. Nodes are numbered in the order in which they are added, from 0, the root.
//
// Most nodes have few children, which are linked and looked through, the one found last
// and the one behind it first: a recording that is read again, or compared with itself,
// asks for them in that order. So most lookups touch memory near the parent, where a
// hash table waits for memory each time, and adding a node copies no others. Only what
// the first children of a node do not hold is in a table.
type Children struct {
	nodes column.Vec[childLink]
	wide  Table // children of nodes with more than mostLinked
}

// childLink is a node: its key, its first child, the next child of its parent, and the
// child found last. 0 stands for none, since no child is the root.
type childLink struct{ key, first, next, last uint32 }

// mostLinked is how many children of a node are linked.
const mostLinked = 8

// Len returns the number of nodes.
func (c *Children) Len() int { return c.nodes.Len() }

// Root adds the root. It must be called first.
func (c *Children) Root() { c.nodes.Append(childLink{}) }

// Get returns the child of a node with a key, 0 if there is none.
func (c *Children) Get(parent, key uint32) uint32 {
	child, _, _ := c.find(parent, key)
	return child
}

// Child returns the child of a node with a key, which it adds if there is none; it then
// has the number that Len returned before.
func (c *Children) Child(parent, key uint32) uint32 {
	child, tail, linked := c.find(parent, key)
	if child != 0 {
		return child
	}
	return c.add(parent, key, tail, linked)
}

// find looks for a child. If there is none, tail is the last of the linked children, of
// which there are linked.
func (c *Children) find(parent, key uint32) (child, tail uint32, linked int) {
	p := c.nodes.Ref(int(parent))
	if p.last != 0 {
		last := c.nodes.Ref(int(p.last))
		if last.key == key {
			return p.last, 0, 0
		}
		if n := last.next; n != 0 && c.nodes.Ref(int(n)).key == key {
			p.last = n
			return n, 0, 0
		}
	}
	for at := p.first; at != 0; {
		n := c.nodes.Ref(int(at))
		if n.key == key {
			p.last = at
			return at, 0, 0
		}
		tail, at = at, n.next
		linked++
	}
	if linked == mostLinked {
		if child = c.wide.Get(parent, key); child != 0 {
			p.last = child
		}
	}
	return child, tail, linked
}

func (c *Children) add(parent, key, tail uint32, linked int) uint32 {
	id := uint32(c.nodes.Len())
	c.nodes.Append(childLink{key: key})
	p := c.nodes.Ref(int(parent))
	p.last = id
	switch {
	case linked == 0:
		p.first = id
	case linked < mostLinked:
		c.nodes.Ref(int(tail)).next = id
	default:
		c.wide.Put(parent, key, id)
	}
	return id
}

// Chain adds nodes with the given keys, each the only child of the one before, below a
// node without children.
func Chain[K ~uint32](c *Children, parent uint32, keys []K) {
	for len(keys) > 0 {
		id := uint32(c.nodes.Len())
		links := c.nodes.More(len(keys))
		for i := range links {
			links[i] = childLink{key: uint32(keys[i]), first: id + uint32(i) + 1, last: id + uint32(i) + 1}
		}
		p := c.nodes.Ref(int(parent))
		p.first, p.last = id, id
		parent = id + uint32(len(links)) - 1
		last := c.nodes.Ref(int(parent))
		last.first, last.last = 0, 0
		keys = keys[len(links):]
	}
}
