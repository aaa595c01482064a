package assembly

import (
	"slices"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// Formats write addresses as the processor had them, as offsets in the binary's file, as
// addresses in the binary, or as offsets from its start in memory. A reading converts an address of a frame to one in the
// binary.
type reading func(f *recording.Frame) (uint64, bool)

// resolver converts the addresses of a module's frames.
type resolver struct {
	rec  *recording.Recording
	b    *binary
	read reading
	// symbols are the starts of functions by name, 0 if several have the name.
	symbols map[string]uint64
}

// newResolver chooses the reading under which the most frames lie in the functions that
// the recording names.
func newResolver(rec *recording.Recording, b *binary, frames []recording.FrameID) *resolver {
	r := &resolver{rec: rec, b: b}
	r.names(frames)
	readings := r.readings(frames)
	const most = 4096 // frames to try
	best := -1
	for _, read := range readings {
		fits := 0
		for _, id := range frames[:min(len(frames), most)] {
			f := rec.Frames.Ref(int(id))
			at, ok := read(f)
			switch {
			case ok && r.fits(f, at):
				fits += most + 1
			case ok && r.b.code.Executable(at):
				fits++ // better than nothing: the binary has no symbols
			}
		}
		if fits > best {
			best, r.read = fits, read
		}
	}
	return r
}

// at returns the address of a frame in the binary.
func (r *resolver) at(f *recording.Frame) (uint64, bool) {
	at, ok := r.read(f)
	if ok && r.fits(f, at) {
		return at, true
	}
	// A library may be loaded at different addresses in different processes; then only the offset
	// in the function locates the frame.
	if start := r.symbols[r.symbol(f)]; start != 0 && f.Offset != 0 && !f.Inlined {
		return start + f.Offset, true
	}
	return at, ok && r.b.code.Executable(at)
}

// symbol returns the name that a frame's function has in the binary.
func (r *resolver) symbol(f *recording.Frame) string { return r.rec.NameInFile(f.Func) }

// names finds the symbols of the frames' functions.
func (r *resolver) names(frames []recording.FrameID) {
	r.symbols = map[string]uint64{}
	several := map[string]bool{}
	for _, id := range frames {
		r.symbols[r.symbol(r.rec.Frames.Ref(int(id)))] = 0
	}
	r.b.symbols.Functions(func(name string, low uint64) bool {
		if start, ok := r.symbols[name]; ok && !several[name] {
			if several[name] = start != 0 && start != low; several[name] {
				low = 0
			}
			r.symbols[name] = low
		}
		return true
	})
}

// fits reports whether an address lies in the function of a frame.
func (r *resolver) fits(f *recording.Frame, at uint64) bool {
	in, ok := r.function(at)
	if !ok {
		return false
	}
	if f.Offset != 0 && !f.Inlined {
		return at-in.Low == f.Offset
	}
	name := r.symbol(f)
	return in.Name == name || readable(in.Name) == r.rec.Functions.Ref(int(f.Func)).Name
}

// function returns the function at an address: of a symbol, or else of the unwind tables.
func (r *resolver) function(at uint64) (program.Function, bool) {
	if in, ok := r.b.symbols.FunctionAt(at); ok && in.Name != "" {
		return in, true
	}
	return r.b.code.FunctionAt(at)
}

// readings returns the possible readings, the most likely first.
func (r *resolver) readings(frames []recording.FrameID) []reading {
	mapped := func(f *recording.Frame) (uint64, bool) {
		m := r.rec.Source.MappingOf(f)
		if m == nil || f.Addr < m.Start || f.Addr >= m.Limit {
			return 0, false
		}
		return r.b.code.Address(f.Addr - m.Start + m.Offset)
	}
	offset := func(f *recording.Frame) (uint64, bool) { return r.b.code.Address(f.Addr) }
	linked := func(f *recording.Frame) (uint64, bool) { return f.Addr, r.b.code.Executable(f.Addr) }
	relative := func(f *recording.Frame) (uint64, bool) { return r.b.code.Relative(f.Addr) }
	all := []reading{mapped, offset, linked, relative}
	switch r.rec.Source.Format {
	case "otlp": // addresses are in the binary
		all = []reading{mapped, linked, offset}
	case "firefox":
		all = []reading{relative, linked, offset}
	}
	if r.b.code.Whole() {
		all = append([]reading{func(f *recording.Frame) (uint64, bool) {
			m := r.rec.Source.MappingOf(f)
			if m == nil || f.Addr < m.Start || f.Addr >= m.Limit {
				return 0, false
			}
			return r.b.code.Relative(f.Addr - m.Start + m.Offset)
		}}, all...)
	}
	if bias, ok := r.bias(frames); ok {
		all = append(all, func(f *recording.Frame) (uint64, bool) {
			return f.Addr + bias, r.b.code.Executable(f.Addr + bias)
		})
	}
	return all
}

// bias returns the number to add to recorded addresses to get addresses in the binary. For each
// frame that number follows from its function's symbol and its offset in the function; bias is the
// most frequent one.
func (r *resolver) bias(frames []recording.FrameID) (uint64, bool) {
	count := map[uint64]int{}
	for _, id := range frames {
		f := r.rec.Frames.Ref(int(id))
		if start := r.symbols[r.symbol(f)]; start != 0 && f.Offset != 0 && !f.Inlined {
			count[start+f.Offset-f.Addr]++
		}
	}
	var all []uint64
	for b := range count {
		all = append(all, b)
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return slices.MaxFunc(all, func(a, b uint64) int { return count[a] - count[b] }), true
}

// readable returns the form of a symbol that people read.
func readable(symbol string) string {
	if name, ok := funcname.Demangled(symbol); ok {
		return name
	}
	return symbol
}
