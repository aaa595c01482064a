package encode

import (
	"encoding/binary"
	"strconv"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// Profiles have locations: an address with its function and the functions inlined into
// it.

// Location is a group of frames, the innermost inlined one first.
type Location []recording.FrameID

// Locations splits stacks into locations and numbers them from 1.
type Locations struct {
	rec   *recording.Recording
	index map[string]int
	All   []Location
	// stacks caches the location numbers of each stack, by its leaf call.
	stacks map[recording.CallID][]int

	key    []byte
	frames []recording.FrameID
	// Single counts locations whose outermost frame is an inlined one, because the frame of
	// the containing function is missing or has another address.
	Single int64
}

func NewLocations(rec *recording.Recording) *Locations {
	return &Locations{rec: rec, index: map[string]int{}, stacks: map[recording.CallID][]int{}}
}

// Stack returns the location numbers of a stack, leaf first.
func (l *Locations) Stack(call recording.CallID) []int {
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

// group returns how many frames at the front of a stack, leaf first, form one location:
// inlined frames of decreasing depth and the function that contains them.
func (l *Locations) group(frames []recording.FrameID) int {
	f := l.rec.Frames.At(int(frames[0]))
	n := 1
	for ; f.Inlined && n < len(frames); n++ {
		outer := l.rec.Frames.At(int(frames[n]))
		if outer.Addr != f.Addr || outer.InlineDepth+1 != f.InlineDepth || outer.Mapping != f.Mapping || outer.BuildID != f.BuildID || outer.Type != f.Type {
			break
		}
		if f.Mapping == 0 && l.module(&outer) != l.module(&f) {
			break
		}
		f = outer
	}
	return n
}

func (l *Locations) module(f *recording.Frame) string {
	return l.rec.Functions.At(int(f.Func)).Module
}

func (l *Locations) number(frames []recording.FrameID) int {
	l.key = l.key[:0]
	for _, f := range frames {
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(f))
	}
	n, ok := l.index[string(l.key)]
	if !ok {
		l.All = append(l.All, append(Location(nil), frames...))
		n = len(l.All)
		l.index[string(l.key)] = n
		if f := l.rec.Frames.At(int(frames[len(frames)-1])); f.Inlined {
			l.Single++
		}
	}
	return n
}

// Bare reports whether a location is only an address, which is written without a
// function. Readers name it by binary and address, as the recording does.
func (l *Locations) Bare(loc Location) bool {
	_, _, bare := l.address(loc)
	return bare
}

// address reports whether a location has no name except its address (bare). If the name
// is an offset in a binary (placed), start is the address at which the binary was loaded.
func (l *Locations) address(loc Location) (start uint64, placed, bare bool) {
	f := l.rec.Frames.At(int(loc[0]))
	fn := l.rec.Functions.At(int(f.Func))
	i := strings.LastIndex(fn.Name, "0x")
	if len(loc) > 1 || !fn.Unresolved || f.Addr == 0 || i < 0 {
		return 0, false, false
	}
	listed := l.rec.Source.MappingOf(&f) != nil // its start is known
	if i == 0 {
		return 0, false, fn.Name == HexText(f.Addr)
	}
	offset, err := strconv.ParseUint(fn.Name[i+2:], 16, 64)
	bare = err == nil && (listed || offset <= f.Addr) && fn.Name == funcname.OfAddress(fn.Module, f.Addr, offset)
	return f.Addr - offset, bare && !listed, bare
}

// MappingKey identifies a binary. If the recording lists its mapping, Listed is
// Frame.Mapping and all other fields are zero. If Placed is true, Start is the address at
// which the binary was loaded; locations without functions are identified by their offset
// from it.
type MappingKey struct {
	Listed        uint16
	File, BuildID string
	Start         uint64
	Placed        bool
}

// Mapping returns the binary of a location.
func (l *Locations) Mapping(loc Location) MappingKey {
	f := l.rec.Frames.At(int(loc[0]))
	if l.rec.Source.MappingOf(&f) != nil {
		return MappingKey{Listed: f.Mapping}
	}
	k := MappingKey{File: l.module(&f), BuildID: f.BuildID}
	if start, placed, _ := l.address(loc); placed {
		k.Start, k.Placed = start, true
	}
	return k
}

// SourceFile returns the file of a frame or, if that has none, of its function.
func SourceFile(fn *recording.Function, f *recording.Frame) string {
	if f.File != "" {
		return f.File
	}
	return fn.File
}

// HexText formats an address in hexadecimal; 0 becomes "".
func HexText(v uint64) string {
	if v == 0 {
		return ""
	}
	return "0x" + strconv.FormatUint(v, 16)
}
