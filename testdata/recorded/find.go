//go:build !indexed

package main

// visitors holds all visitors so far.
type visitors struct {
	list []*visitor
}

func newVisitors() *visitors { return &visitors{} }

// find goes through all visitors.
//
//go:noinline
func (v *visitors) find(id uint64) *visitor {
	for _, at := range v.list {
		if at.id == id {
			return at
		}
	}
	at := &visitor{id: id}
	v.list = append(v.list, at)
	return at
}
