package convert

import (
	"encoding/binary"

	"ashlar/ingest/recording"
)

// Profiles have locations: an address with its function and those that were
// inlined into it.

// location is a group of frames, the innermost inlined one first.
type location []recording.FrameID

// locations takes stacks apart into locations and numbers them from 1.
type locations struct {
	rec   *recording.Recording
	index map[string]int
	all   []location
	// last is of the stack before: where its call's locations are.
	stacks map[recording.CallID][]int

	key    []byte
	frames []recording.FrameID
	// single counts inlined frames that became locations of their own,
	// because the one they lie in has another address.
	single int64
}

func newLocations(rec *recording.Recording) *locations {
	return &locations{rec: rec, index: map[string]int{}, stacks: map[recording.CallID][]int{}}
}

// stack is the numbers of a stack's locations, leaf first.
func (l *locations) stack(call recording.CallID) []int {
	if s, ok := l.stacks[call]; ok {
		return s
	}
	l.frames = l.frames[:0]
	for c := call; c != recording.NoCall; c = l.rec.Calls.Parent(c) {
		l.frames = append(l.frames, l.rec.Calls.Frame(c))
	}
	s := make([]int, 0, len(l.frames))
	for rest := l.frames; len(rest) > 0; {
		n := l.group(rest)
		s = append(s, l.number(rest[:n]))
		rest = rest[n:]
	}
	l.stacks[call] = s
	return s
}

// group is how many frames at the front of a stack, leaf first, are one
// location: inlined ones of falling depth and the function they all lie in.
func (l *locations) group(frames []recording.FrameID) int {
	f := l.rec.Frames.At(int(frames[0]))
	n := 1
	for ; f.Inlined && n < len(frames); n++ {
		outer := l.rec.Frames.At(int(frames[n]))
		if outer.Addr != f.Addr || outer.InlineDepth+1 != f.InlineDepth || l.module(&outer) != l.module(&f) || outer.BuildID != f.BuildID {
			break
		}
		f = outer
	}
	return n
}

func (l *locations) module(f *recording.Frame) string {
	return l.rec.Functions.At(int(f.Func)).Module
}

func (l *locations) number(frames []recording.FrameID) int {
	l.key = l.key[:0]
	for _, f := range frames {
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(f))
	}
	n, ok := l.index[string(l.key)]
	if !ok {
		l.all = append(l.all, append(location(nil), frames...))
		n = len(l.all)
		l.index[string(l.key)] = n
		if f := l.rec.Frames.At(int(frames[len(frames)-1])); f.Inlined {
			l.single++
		}
	}
	return n
}

// bare tells whether a location is only an address, for which no function is
// written: readers name it by its binary and address, as the recording does.
func (l *locations) bare(loc location) bool {
	f := l.rec.Frames.At(int(loc[0]))
	fn := l.rec.Functions.At(int(f.Func))
	if len(loc) > 1 || !fn.Unresolved || f.Addr == 0 || !isAddressName(&fn, f.Addr) {
		return false
	}
	return (fn.Module == "") == (fn.Name == hexText(f.Addr))
}

// mappingKey names a binary.
type mappingKey struct{ file, buildID string }

func (l *locations) mapping(loc location) mappingKey {
	f := l.rec.Frames.At(int(loc[0]))
	return mappingKey{l.module(&f), f.BuildID}
}
