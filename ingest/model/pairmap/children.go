package pairmap

import "ashlar/ingest/model/column"

// Children finds the children of a tree's nodes by a key: the calls below a call by their
// frame. Nodes are numbered from 0, the root, in the order in which they are added. The
// column of their keys may belong to the caller.
//
// Most nodes have few children. They are linked in a ring, and a search begins at the child
// found last, because similar recordings ask for children in the same order. So most
// lookups touch memory near the parent, unlike lookups in a hash table, and adding a node
// copies no others. Only nodes with many children have them in a hash table.
type Children[K ~uint32] struct {
	keys  *column.Vec[K]
	nodes column.Vec[childLink]
	wide  Table // children of nodes with more than mostLinked
}

// childLink is a node: its child found last, and the next child of its parent. 0 stands
// for none, since no child is the root.
type childLink struct{ last, next uint32 }

// mostLinked is how many children of a node are linked. If a node has more, all are in the
// table, and last has the bit isWide.
const (
	mostLinked = 8
	isWide     = 1 << 31
)

// NewChildren returns a tree that has only the root. The keys of further nodes are appended
// to keys, which already has a key for the root; its value does not matter. If keys is nil,
// the tree makes its own column.
func NewChildren[K ~uint32](keys *column.Vec[K]) *Children[K] {
	c := &Children[K]{keys: keys}
	if keys == nil {
		c.keys = new(column.Vec[K])
		c.keys.Append(0)
	}
	c.nodes.Append(childLink{})
	return c
}

// Len returns the number of nodes.
func (c *Children[K]) Len() int { return c.nodes.Len() }

// Child returns the child of a node with a key. If there is none, it adds one, whose number
// is the former Len.
func (c *Children[K]) Child(parent uint32, key K) uint32 {
	child, others := c.Get(parent, key)
	if child != 0 {
		return child
	}
	return c.Add(parent, key, others)
}

// Get returns the child of a node with a key, 0 if there is none. In that case others is
// the number of the node's children, to be passed to Add; mostLinked+1 means that many or
// more.
func (c *Children[K]) Get(parent uint32, key K) (child uint32, others int) {
	p := c.nodes.Ref(int(parent))
	last := p.last &^ isWide
	if last == 0 {
		return 0, 0
	}
	if c.keys.At(int(last)) == key {
		return last, 0
	}
	if p.last != last {
		if child = c.wide.Get(parent, uint32(key)); child != 0 {
			p.last = child | isWide
		}
		return child, mostLinked + 1
	}
	others = 1
	for at := c.nodes.Ref(int(last)).next; at != last; at = c.nodes.Ref(int(at)).next {
		if c.keys.At(int(at)) == key {
			p.last = at
			return at, 0
		}
		others++
	}
	return 0, others
}

// Add adds a child that Get did not find, and returns its number; others is from Get.
func (c *Children[K]) Add(parent uint32, key K, others int) uint32 {
	id := uint32(c.nodes.Len())
	c.keys.Append(key)
	c.nodes.Append(childLink{next: id})
	p := c.nodes.Ref(int(parent))
	switch {
	case others == 0:
		p.last = id
		return id
	case others < mostLinked:
		before := c.nodes.Ref(int(p.last))
		c.nodes.Ref(int(id)).next = before.next
		before.next, p.last = id, id
		return id
	case others == mostLinked:
		for at := c.nodes.Ref(int(p.last)).next; ; at = c.nodes.Ref(int(at)).next {
			if c.wide.Put(parent, uint32(c.keys.At(int(at))), at); at == p.last {
				break
			}
		}
	}
	c.wide.Put(parent, uint32(key), id)
	p.last = id | isWide
	return id
}

// Chain adds nodes with the given keys, each the only child of the one before, below a
// node without children.
func (c *Children[K]) Chain(parent uint32, keys []K) {
	for len(keys) > 0 {
		id := uint32(c.nodes.Len())
		links := c.nodes.More(len(keys))
		for i := range links {
			links[i] = childLink{last: id + uint32(i) + 1, next: id + uint32(i)}
		}
		c.nodes.Ref(int(parent)).last = id
		parent = id + uint32(len(links)) - 1
		c.nodes.Ref(int(parent)).last = 0
		for rest := keys[:len(links)]; len(rest) > 0; {
			rest = rest[copy(c.keys.More(len(rest)), rest):]
		}
		keys = keys[len(links):]
	}
}
