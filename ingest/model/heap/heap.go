// Package heap implements priority queues without the interface values and calls of
// container/heap.
package heap

// Heap is a priority queue: Pop returns its items in the order of Before.
type Heap[T any] struct {
	// Items are the items of the heap; the first is the minimum.
	Items  []T
	Before func(a, b T) bool
}

// Len returns the number of items.
func (h *Heap[T]) Len() int { return len(h.Items) }

// Min returns the next result of Pop.
func (h *Heap[T]) Min() T { return h.Items[0] }

// Push adds an item.
func (h *Heap[T]) Push(x T) {
	i := len(h.Items)
	h.Items = append(h.Items, x)
	for i > 0 {
		up := (i - 1) / 2
		if !h.Before(x, h.Items[up]) {
			break
		}
		h.Items[i], i = h.Items[up], up
	}
	h.Items[i] = x
}

// Pop removes and returns the first item.
func (h *Heap[T]) Pop() T {
	out, last := h.Items[0], len(h.Items)-1
	x := h.Items[last]
	h.Items = h.Items[:last]
	if last > 0 {
		h.Items[0] = x
		h.Fix()
	}
	return out
}

// Fix restores the order of the heap after its first item has changed.
func (h *Heap[T]) Fix() {
	x, n, i := h.Items[0], len(h.Items), 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h.Before(h.Items[k+1], h.Items[k]) {
			k++
		}
		if !h.Before(h.Items[k], x) {
			break
		}
		h.Items[i], i = h.Items[k], k
	}
	h.Items[i] = x
}
