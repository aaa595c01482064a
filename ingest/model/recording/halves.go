package recording

// Halves are two stack records of an event that are views of the same samples:
// what ran in user space, and what the kernel did for it. Recorders that walk
// the two stacks apart (DTrace's ustack() and kstack()) write them so.
type Halves struct {
	// User and Kernel are records of the event's Stacks.
	User, Kernel int
	// Joined is the call of the whole stack: the kernel's frames on top of those
	// of user space. No record ends there by itself.
	Joined CallID
}

// Halves lists which records belong together, in file order; nil for most
// recordings. A record may be half of several pairs.
func (s *Stacks) Halves() []Halves { return s.halves }

// Pairs is how many pairs of halves there are, of all events.
func (r *Recording) Pairs() (n int64) {
	for _, s := range r.Stacks {
		if s != nil {
			n += int64(len(s.halves))
		}
	}
	return n
}

// Join says that two stack records of an event are halves of one stack.
func (b *Builder) Join(event, user, kernel int) {
	s := b.rec.Stacks[event]
	joined := s.Call(user)
	for _, c := range b.rec.Calls.Path(nil, s.Call(kernel)) {
		joined = b.Call(joined, b.rec.Calls.Frame(c))
	}
	s.halves = append(s.halves, Halves{user, kernel, joined})
}
