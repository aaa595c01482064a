package lanes

import "sort"

// Search returns the first span that ends after t.
func (l *Lane) Search(t int64) int {
	return sort.Search(l.n, func(i int) bool { return l.End(i) > t })
}

// SearchNear is like Search. It is fast, and reads only nearby spans, if the result is near a
// span.
func (l *Lane) SearchNear(t int64, near int) int {
	from, to := 0, l.n
	if near < l.n && l.End(near) <= t {
		from = near + 1
		for step := 1; from+step < l.n; step *= 2 {
			if l.End(from+step) > t {
				to = from + step
				break
			}
			from += step + 1
		}
	} else {
		to = min(near, l.n)
		for step := 1; to >= step; step *= 2 {
			if l.End(to-step) <= t {
				from = to - step + 1
				break
			}
			to -= step
		}
	}
	return from + sort.Search(to-from, func(i int) bool { return l.End(from+i) > t })
}

// From finds the first span that begins at a time or later.
func (l *Lane) From(at int64) int {
	return sort.Search(l.n, func(i int) bool { return l.Start(i) >= at })
}
