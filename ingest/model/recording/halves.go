package recording

// Halves are two stack records of an event that show the same samples: one the user
// stack, the other the kernel stack. Recorders that walk the two stacks separately
// (DTrace's ustack() and kstack()) write such records.
type Halves struct {
	// User and Kernel are records of the event's Stacks.
	User, Kernel int
	// Joined is the call of the whole stack: the kernel's frames on top of the user
	// frames. No record in the file has this call.
	Joined CallID
}

// Halves lists which records belong together, in file order; nil for most
// recordings. A record may be half of several pairs.
func (s *Stacks) Halves() []Halves { return s.halves }

// Pairs returns the number of pairs of halves, over all events.
func (r *Recording) Pairs() (n int64) {
	for _, s := range r.Stacks {
		if s != nil {
			n += int64(len(s.halves))
		}
	}
	return n
}

// NameOf returns the name of the function of a call.
func (b *Builder) NameOf(c CallID) string { return b.rec.FuncName(c) }

// InCommon returns the weight that two halves share: the smaller of two positive values,
// the larger of two negative ones, and 0 if the signs differ. If one value is Missing, it
// returns the other.
func InCommon(a, b int64) int64 {
	switch {
	case a == Missing:
		return b
	case b == Missing:
		return a
	case a > 0 && b > 0:
		return min(a, b)
	case a < 0 && b < 0:
		return max(a, b)
	}
	return 0
}

// Join declares two stack records of an event to be halves of one stack. The weight they
// share counts once in totals. A record in several pairs gives its weight to them in the
// order of the calls to Join.
func (b *Builder) Join(event, user, kernel int) {
	s := b.rec.Stacks[event]
	joined := s.Call(user)
	for _, c := range b.rec.Calls.Path(nil, s.Call(kernel)) {
		joined = b.Call(joined, b.rec.Calls.Frame(c))
	}
	s.halves = append(s.halves, Halves{user, kernel, joined})
	u, k := b.halfLeft(event, user), b.halfLeft(event, kernel)
	ms := b.rec.Events[event].Metrics
	for m := range ms {
		if u[m] == Missing || k[m] == Missing {
			continue
		}
		v := InCommon(u[m], k[m])
		u[m] -= v
		k[m] -= v
		t := &b.totals[event][m]
		t.all.Add(-v)
		ms[m].Total = t.all.Limited()
	}
}

// halfLeft returns, by metric, the part of a record's weight that no pair has used yet.
func (b *Builder) halfLeft(event, row int) []int64 {
	key := [2]int{event, row}
	left, ok := b.left[key]
	if !ok {
		for m := range b.rec.Events[event].Metrics {
			left = append(left, b.rec.Stacks[event].Value(row, m))
		}
		if b.left == nil {
			b.left = map[[2]int][]int64{}
		}
		b.left[key] = left
	}
	return left
}
