package recording

// heap gives what was pushed in order, the first first.
type heap[T any] struct {
	items  []T
	before func(a, b T) bool
}

func (h *heap[T]) len() int { return len(h.items) }

// min is the next result of pop.
func (h *heap[T]) min() T { return h.items[0] }

func (h *heap[T]) push(x T) {
	i := len(h.items)
	h.items = append(h.items, x)
	for i > 0 {
		up := (i - 1) / 2
		if !h.before(x, h.items[up]) {
			break
		}
		h.items[i], i = h.items[up], up
	}
	h.items[i] = x
}

func (h *heap[T]) pop() T {
	out, last := h.items[0], len(h.items)-1
	x := h.items[last]
	h.items = h.items[:last]
	if last > 0 {
		h.items[0] = x
		h.fix()
	}
	return out
}

// fix puts the first item in its place after it has changed.
func (h *heap[T]) fix() {
	x, n, i := h.items[0], len(h.items), 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h.before(h.items[k+1], h.items[k]) {
			k++
		}
		if !h.before(h.items[k], x) {
			break
		}
		h.items[i], i = h.items[k], k
	}
	h.items[i] = x
}
