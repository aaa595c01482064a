package recording

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// HTLHash begins the build ids that are hashes of a file's head, tail and length, as
// OpenTelemetry's profiler makes for binaries without one of their own. All other build ids
// were written by a linker.
const HTLHash = "htlhash:"

// Mapping is a range of addresses at which a binary lay, as profiles list them.
type Mapping struct {
	Start, Limit uint64 // the range; both 0 when unknown
	Offset       uint64 // offset of Start in the binary's file
	File         string
	BuildID      string
	// Whether the names, files, lines and inlined frames of the functions in the range
	// are known.
	HasFunctions, HasFilenames, HasLineNumbers, HasInlineFrames bool
}

// Range formats the addresses, and the offset if it is not 0: "0x400000–0x500000 at
// 0x1000".
func (m *Mapping) Range() string {
	s := fmt.Sprintf("0x%x–0x%x", m.Start, m.Limit)
	if m.Offset != 0 {
		s += fmt.Sprintf(" at 0x%x", m.Offset)
	}
	return s
}

// Known lists what is known about the functions in the range: "functions, lines".
func (m *Mapping) Known() string {
	var all []string
	for _, k := range []struct {
		has  bool
		name string
	}{{m.HasFunctions, "functions"}, {m.HasFilenames, "files"}, {m.HasLineNumbers, "lines"}, {m.HasInlineFrames, "inlined frames"}} {
		if k.has {
			all = append(all, k.name)
		}
	}
	return strings.Join(all, ", ")
}

// MappingOf returns the mapping that a frame lies in, or nil if the file has none for it.
func (s *Source) MappingOf(f *Frame) *Mapping {
	if f.Mapping == 0 || int(f.Mapping) > len(s.Mappings) {
		return nil
	}
	return &s.Mappings[f.Mapping-1]
}

// TypeOf returns the type of a frame's code ("jvm"), "" if the file does not give it.
func (s *Source) TypeOf(f *Frame) string {
	if f.Type == 0 || int(f.Type) > len(s.FrameTypes) {
		return ""
	}
	return s.FrameTypes[f.Type-1]
}

// Mapping interns a mapping for Frame.Mapping. Beyond 65,535 mappings it returns 0.
func (b *Builder) Mapping(m Mapping) uint16 {
	n, ok := b.mappings[m]
	if ok {
		return n
	}
	if len(b.rec.Source.Mappings) == math.MaxUint16 {
		b.Usual("mappings", "", "Only the first 65,535 mappings of binaries are kept")
		return 0
	}
	b.rec.Source.Mappings = append(b.rec.Source.Mappings, m)
	if b.mappings == nil {
		b.mappings = map[Mapping]uint16{}
	}
	n = uint16(len(b.rec.Source.Mappings))
	b.mappings[m] = n
	return n
}

// FrameType interns a type of code for Frame.Type. Beyond 255 types it returns 0.
func (b *Builder) FrameType(name string) uint8 {
	src := &b.rec.Source
	i := slices.Index(src.FrameTypes, name)
	switch {
	case name == "":
		return 0
	case i >= 0:
		return uint8(i + 1)
	case len(src.FrameTypes) == math.MaxUint8:
		b.Usual("frame-types", "", "Only the first 255 types of frames are kept")
		return 0
	}
	src.FrameTypes = append(src.FrameTypes, name)
	return uint8(len(src.FrameTypes))
}
