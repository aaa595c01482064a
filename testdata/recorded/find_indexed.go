//go:build indexed

package main

// visitors holds all visitors so far.
type visitors struct {
	list []*visitor
	byID map[uint64]*visitor
}

func newVisitors() *visitors { return &visitors{byID: map[uint64]*visitor{}} }

// find looks a visitor up.
//
//go:noinline
func (v *visitors) find(id uint64) *visitor {
	if at := v.byID[id]; at != nil {
		return at
	}
	at := &visitor{id: id}
	v.list = append(v.list, at)
	v.byID[id] = at
	return at
}
