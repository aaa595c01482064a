package program

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"sort"
)

// A Place is the source position of an instruction.
type Place struct {
	// Name is the name of an inlined function, its linkage name if the debug information
	// has it. It is "" for the function that contains the instruction, which has a
	// symbol.
	Name string
	File string
	Line int // 1-based, 0 when unknown
}

// Limits per program. mostWalked bytes of debug information hold some million entries and
// take seconds. Several entries may share a list of ranges or a line table, so that a small
// file can have any number of ranges and rows.
const (
	mostWalked = 64 << 20
	mostRanges = 4 << 20
	mostRows   = 16 << 20
	mostCalls  = 64 << 10 // inlined into one function
)

// units are the compile units of a program and the data read from them.
type units struct {
	ranges []within[*unit]
	walked int // bytes of entries
	listed int // ranges
	rows   int
	whole  *entries
}

// unit is a compile unit. Its rows and functions are read when they are first needed.
type unit struct {
	entry     *dwarf.Entry
	id        uint64 // of a split unit, 0 for others
	size      int
	read      bool
	files     []*dwarf.LineFile
	rows      []row
	functions []within[[]inlined]
}

// A row gives the source line of the addresses from at to the start of the next row.
type row struct {
	at         uint64
	file, line int32
}

// inlined is a call that was inlined into its caller.
type inlined struct {
	low, high  uint64
	depth      int
	name       string
	file, line int32 // position of the call
}

// within is a value for the addresses from low up to, but not including, high.
type within[T any] struct {
	low, high uint64
	is        T
}

// find returns the value of the range that contains an address. Ranges must be sorted and
// must not overlap.
func find[T any](in []within[T], at uint64) (is T, ok bool) {
	i := sort.Search(len(in), func(i int) bool { return in[i].high > at })
	if i == len(in) || in[i].low > at {
		return is, false
	}
	return in[i].is, true
}

func order[T any](in []within[T]) {
	slices.SortStableFunc(in, func(a, b within[T]) int { return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high)) })
}

// FindUnits prepares for Places, which then works even after Close. It finds the compile
// units, each of which begins with its length (DWARF 5, 7.5.1).
func (p *Program) FindUnits() {
	if p.lines == nil || p.info == nil {
		return
	}
	p.units = &units{whole: &entries{Data: p.lines, names: map[dwarf.Offset]string{}}}
	data := p.lines.Reader()
	for at := int64(0); at < int64(len(p.info)); {
		size, header, id := unitHeader(p.order, p.info[at:])
		if size == 0 {
			break
		}
		data.Seek(dwarf.Offset(at + header))
		if e, err := data.Next(); err == nil && e != nil && (e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagSkeletonUnit) {
			u := &unit{entry: e, size: int(min(size, mostWalked)), id: id}
			for _, r := range p.ranges(p.units.whole, e) {
				p.units.ranges = append(p.units.ranges, within[*unit]{r[0], r[1], u})
			}
		}
		if size > int64(len(p.info))-at {
			break
		}
		at += size
	}
	p.info = nil
	order(p.units.ranges)
}

// ranges returns the addresses of an entry.
func (p *Program) ranges(in *entries, e *dwarf.Entry) [][2]uint64 {
	if p.units.listed >= mostRanges {
		p.LeftOut = true
		return nil
	}
	all := in.rangesOf(e)
	p.units.listed += len(all)
	return all
}

// unitHeader returns the size of a unit, the offset of its first entry, and the id of a split
// unit, else 0. size is 0 after the last unit.
func unitHeader(order binary.ByteOrder, b []byte) (size, header int64, id uint64) {
	if len(b) < 24 {
		return 0, 0, 0
	}
	size, header, width := int64(order.Uint32(b))+4, 4, int64(4)
	if size-4 == 0xffffffff {
		size, header, width = int64(order.Uint64(b[4:]))+12, 12, 8
	}
	if size <= 0 || size < header+3+width {
		return 0, 0, 0
	}
	version, kind := order.Uint16(b[header:]), b[header+2]
	header += 2 + width + 1
	if version >= 5 {
		const skeleton, split, typed, splitTyped = 4, 5, 2, 6
		switch header++; kind {
		case skeleton, split:
			if int64(len(b)) >= header+8 {
				id = order.Uint64(b[header:])
			}
			header += 8
		case typed, splitTyped:
			header += 8 + width
		}
	}
	return size, header, id
}

// Places returns the source positions of the instruction at pc: inlined functions first,
// from the innermost outward, then the function that contains it. It returns nil if they
// are unknown or FindUnits was not called.
func (p *Program) Places(pc uint64) []Place {
	if p.units == nil {
		return nil
	}
	u, ok := find(p.units.ranges, pc)
	if !ok || !p.readUnit(u) {
		return nil
	}
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].at > pc }) - 1
	if i < 0 || u.rows[i].line < 0 {
		return nil
	}
	file, line := u.rows[i].file, u.rows[i].line
	var out []Place
	calls, _ := find(u.functions, pc)
	for k := len(calls) - 1; k >= 0; k-- { // the innermost have the greatest depth
		if c := &calls[k]; c.low <= pc && pc < c.high {
			out = append(out, Place{c.name, u.file(file), int(line)})
			file, line = c.file, c.line
		}
	}
	return append(out, Place{"", u.file(file), int(line)})
}

func (u *unit) file(i int32) string {
	if i < 0 || int(i) >= len(u.files) || u.files[i] == nil {
		return ""
	}
	return u.files[i].Name
}

// readUnit reads the rows and inlined functions of a unit; it reports whether there are
// some.
func (p *Program) readUnit(u *unit) bool {
	if !u.read {
		u.read = true
		if p.units.walked += u.size; p.units.walked > mostWalked {
			p.LeftOut = true
		} else {
			p.readRows(u)
			in, root := p.units.whole, u.entry.Offset
			if split := p.openSplit(u); split != nil {
				p.units.walked += len(split.info)
				in, root = split, split.root
			}
			if p.units.walked > mostWalked {
				p.LeftOut = true
			} else {
				p.readFunctions(u, in, root)
			}
		}
	}
	return len(u.rows) > 0
}

// ended is the line of a row that marks the end of a code sequence.
const ended = -1

func (p *Program) readRows(u *unit) {
	lines, err := p.lines.LineReader(u.entry)
	if err != nil || lines == nil {
		return
	}
	number := map[*dwarf.LineFile]int32{}
	var e dwarf.LineEntry
	for lines.Next(&e) == nil {
		if u.files == nil {
			u.files = lines.Files()
			for i, f := range u.files {
				number[f] = int32(i)
			}
		}
		r := row{at: e.Address, file: -1, line: int32(e.Line)}
		if i, ok := number[e.File]; ok {
			r.file = i
		}
		if e.EndSequence {
			r.line = ended
		}
		if p.units.rows++; p.units.rows > mostRows {
			p.LeftOut = true
			break
		}
		u.rows = append(u.rows, r)
	}
	// If code begins where another sequence ends, its row goes after the row that marks
	// the end.
	slices.SortStableFunc(u.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(min(a.line, 0), min(b.line, 0)))
	})
}

// function is a function whose entry readFunctions is walking.
type function struct {
	ranges [][2]uint64
	calls  []inlined
	depth  int // number of inlined functions around the next entry
}

// readFunctions walks the entries of a unit, from root on, and records its functions and the functions
// inlined into them.
func (p *Program) readFunctions(u *unit, entries *entries, root dwarf.Offset) {
	type level struct {
		around *function
		call   bool
	}
	var stack []level
	var in *function
	data := entries.Reader()
	for data.Seek(root); ; {
		e, err := data.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == 0 {
			l := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if l.around != in {
				u.keep(in)
				in = l.around
			} else if l.call {
				in.depth--
			}
		} else if around := in; e.Children {
			switch e.Tag {
			case dwarf.TagSubprogram:
				if ranges := p.ranges(entries, e); len(ranges) > 0 {
					in = &function{ranges: ranges}
				}
			case dwarf.TagInlinedSubroutine:
				p.inline(entries, in, e)
			}
			call := e.Tag == dwarf.TagInlinedSubroutine && in != nil
			if call {
				in.depth++
			}
			stack = append(stack, level{around, call})
		} else if e.Tag == dwarf.TagInlinedSubroutine {
			p.inline(entries, in, e)
		}
		if len(stack) == 0 {
			break
		}
	}
	order(u.functions)
}

// inline adds an inlined function from its entry.
func (p *Program) inline(entries *entries, in *function, e *dwarf.Entry) {
	if in == nil {
		return
	}
	if len(in.calls) > mostCalls {
		p.LeftOut = true
		return
	}
	ranges := p.ranges(entries, e)
	number := func(a dwarf.Attr) int32 { n, _ := e.Val(a).(int64); return int32(n) }
	c := inlined{depth: in.depth, name: entries.nameOf(e, 0), file: number(dwarf.AttrCallFile), line: number(dwarf.AttrCallLine)}
	for _, r := range ranges {
		c.low, c.high = r[0], r[1]
		in.calls = append(in.calls, c)
	}
}

// keep adds a function after the walk, with its inlined functions sorted by depth.
func (u *unit) keep(f *function) {
	if len(f.calls) == 0 {
		return
	}
	slices.SortStableFunc(f.calls, func(a, b inlined) int { return cmp.Compare(a.depth, b.depth) })
	for _, r := range f.ranges {
		u.functions = append(u.functions, within[[]inlined]{r[0], r[1], f.calls})
	}
}

// nameOf returns the name of a function's entry, or of the entry it refers to.
func (in *entries) nameOf(e *dwarf.Entry, hops int) string {
	for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, dwarf.AttrName} {
		if s, ok := e.Val(a).(string); ok && s != "" {
			return s
		}
	}
	const most = 8
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		at, ok := e.Val(a).(dwarf.Offset)
		if !ok || hops == most {
			continue
		}
		name, ok := in.names[at]
		if !ok {
			data := in.Reader()
			data.Seek(at)
			if origin, err := data.Next(); err == nil && origin != nil {
				name = in.nameOf(origin, hops+1)
			}
			in.names[at] = name
		}
		return name
	}
	return ""
}
