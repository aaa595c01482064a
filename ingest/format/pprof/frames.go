package pprof

import (
	"math"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/program"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// location returns the frames of location number, outermost first.
//
// Like pprof, it treats all functions with the same name as one. A name found in a single
// binary gets that binary as its module; a name found in several gets none. Otherwise
// self and total of a function would differ from pprof's.
func (c *converter) location(number uint32) []recording.FrameID {
	if f := c.frames[number]; f != nil {
		return f
	}
	l := c.p.Location[number]
	n := len(l.Line)
	frames := make([]recording.FrameID, 0, max(1, n))
	for k := n - 1; k >= 0; k-- { // the last line is the outermost
		frames = append(frames, c.line(l, k))
	}
	if n == 0 {
		frames = append(frames, c.bare(l, ""))
	}
	c.frames[number] = frames
	return frames
}

// findModules maps each function name to its binary, or to "" if several binaries have
// the name.
func (c *converter) findModules() map[string]string {
	modules, several := map[string]string{}, map[string]bool{}
	for _, l := range c.p.Location {
		file := mappingFile(l)
		if file == "" {
			continue
		}
		for _, ln := range l.Line {
			fn := functionName(ln.Function)
			if fn == "" || several[fn] {
				continue
			}
			if m, ok := modules[fn]; ok && m != file {
				several[fn] = true
				modules[fn] = ""
			} else if !ok {
				modules[fn] = file
			}
		}
	}
	return modules
}

// line returns the frame of line k of a location.
func (c *converter) line(l *profile.Location, k int) recording.FrameID {
	ln := &l.Line[k]
	name := functionName(ln.Function)
	if name == "" {
		file := ""
		if ln.Function != nil {
			file = ln.Function.Filename
		}
		return c.bare(l, file)
	}
	kind := program.KindOf(mappingFile(l))
	symbol := ln.Function.SystemName
	if symbol == name {
		symbol = ""
	}
	id := c.b.Function(recording.Function{Name: name, Module: c.modules[name], File: ln.Function.Filename, Kind: kind, Symbol: symbol})
	f := recording.Frame{
		Func: id, Mapping: c.mapped[l.Mapping], Folded: l.IsFolded, Addr: l.Address, Line: small(ln.Line), Column: small(ln.Column),
		Kind: kind, StartLine: small(ln.Function.StartLine), BuildID: buildID(l),
	}
	if depth := len(l.Line) - 1 - k; depth > 0 {
		f.Inlined, f.InlineDepth = true, uint8(min(depth, math.MaxUint8))
	}
	if l.Mapping == nil && c.modules[name] != "" {
		c.b.Remark("function-mapping", "", "Function %s has a mapping in some places and none in others; copies give it %s everywhere", safetext.Short(name), safetext.Short(c.modules[name]))
	}
	switch file, ok := c.files[id]; {
	case !ok:
		c.files[id] = ln.Function.Filename
	case file != "" && ln.Function.Filename == "":
		c.b.Remark("function-file", "", "Function %s has a file in some places and none in others; copies give it %s everywhere", safetext.Short(name), safetext.Short(file))
	case file != ln.Function.Filename:
		f.File = ln.Function.Filename
	}
	return c.b.Frame(f)
}

// bare returns the frame of a location that has only an address.
func (c *converter) bare(l *profile.Location, source string) recording.FrameID {
	file := mappingFile(l)
	name := funcname.OfAddress(file, l.Address, offset(l))
	kind := program.KindOf(file)
	id := c.b.Function(recording.Function{Name: name, Module: file, File: source, Kind: kind, Unresolved: true})
	return c.b.Frame(recording.Frame{Func: id, Mapping: c.mapped[l.Mapping], Folded: l.IsFolded, Addr: l.Address, Kind: kind, BuildID: buildID(l)})
}

// offset returns the offset of an address in its binary's file, 0 if unknown. In a
// mapping that starts at 0, addresses are offsets already.
func offset(l *profile.Location) uint64 {
	m := l.Mapping
	if m == nil || l.Address < m.Start || l.Address >= m.Limit {
		return 0
	}
	return l.Address - m.Start + m.Offset
}

// functionName returns the human-readable name of a function, or else the linker's.
func functionName(f *profile.Function) string {
	switch {
	case f == nil:
		return ""
	case f.Name != "":
		return f.Name
	}
	return f.SystemName
}

func mappingFile(l *profile.Location) string {
	if l.Mapping == nil {
		return ""
	}
	return l.Mapping.File
}

func buildID(l *profile.Location) string {
	if l.Mapping == nil {
		return ""
	}
	return l.Mapping.BuildID
}

func small(n int64) int32 { return int32(max(0, min(n, math.MaxInt32))) }
