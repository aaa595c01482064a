package firefox

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// stacks converts a thread's stacks to calls.
type stacks struct {
	d *decoder
	p *profile
	*tables
	shift int64

	calls  []recording.CallID // calls of the stacks converted so far
	frames map[int]recording.FrameID
	mapped []lib // the binaries of a raw profile, by address
}

// call returns the call of a stack, NoCall for none.
func (x *stacks) call(i int) recording.CallID {
	frame := x.stack.col("frame")
	if i < 0 || i >= frame.len() {
		return recording.NoCall
	}
	prefix, offset := x.stack.col("prefix"), x.stack.col("prefixOffset")
	for n := len(x.calls); n <= i; n++ {
		parent := recording.NoCall
		above := prefix.index(n)
		if offset != nil {
			if above = n - offset.index(n); offset.index(n) <= 0 {
				above = -1
			}
		}
		switch {
		case above >= n || above < -1:
			x.d.b.Warn("stack-order", "", "The parent of stack %d comes after the stack, which is invalid; the stack is shown without callers", n)
		case above >= 0:
			parent = x.calls[above]
		}
		x.calls = append(x.calls, x.d.b.Call(parent, x.frameID(frame.index(n))))
	}
	return x.calls[i]
}

func (x *stacks) frameID(i int) recording.FrameID {
	f, ok := x.frames[i]
	if ok {
		return f
	}
	if x.frames == nil {
		x.frames = map[int]recording.FrameID{}
	}
	if loc := x.frame.col("location"); loc != nil {
		f = x.located(i, x.text(loc.index(i)))
	} else {
		f = x.newFrame(i)
	}
	x.frames[i] = f
	return f
}

// text returns a string by number, "" for none.
func (x *tables) text(i int) string {
	if i < 0 || i >= len(x.strings) {
		return ""
	}
	return x.strings[i]
}

// newFrame returns a frame for a row of a processed profile.
func (x *stacks) newFrame(i int) recording.FrameID {
	f := x.fn.col
	n := x.frame.col("func").index(i)
	fn := recording.Function{Name: x.text(f("name").index(n))}
	var fr recording.Frame
	if fn.Name == "" {
		fn.Name, fn.Unresolved = fmt.Sprintf("[function %d]", n), true
		if n < 0 || n >= f("name").len() {
			fn.Name = funcname.Unknown
			x.d.b.Warn("frame-missing", "", "Frame %d of a stack is missing or has no function; it is shown as %s", i, funcname.Unknown)
		}
	}
	if src := f("source"); src != nil {
		fn.File = x.text(x.sources.col("filename").index(src.index(n)))
	} else {
		fn.File = x.text(f("fileName").index(n))
	}
	if fr.Line = x.frame.col("line").line(i); fr.Line == 0 {
		fr.Line = f("lineNumber").line(n)
	}
	if fr.Column = x.frame.col("column").line(i); fr.Column == 0 {
		fr.Column = f("columnNumber").line(n)
	}
	// A source map gives the position in the original source.
	if o := x.frame.col("originalLocation").index(i); o >= 0 {
		fr.Line, fr.Column = x.locations.col("line").line(o), x.locations.col("column").line(o)
		if s := x.text(x.sources.col("filename").index(x.locations.col("source").index(o))); s != "" {
			fn.File = s
		}
	}
	if a := x.frame.col("address").index(i); a >= 0 {
		fr.Addr = uint64(a)
		if s := x.frame.col("nativeSymbol").index(i); s >= 0 {
			if sym := x.native.col("address").index(s); sym >= 0 && sym <= a {
				fr.Offset = uint64(a - sym)
			}
		}
	}
	if d := x.frame.col("inlineDepth").index(i); d > 0 {
		fr.Inlined, fr.InlineDepth = true, uint8(min(d, 255))
	}
	x.module(i, n, &fn, &fr)
	if js, ok := f("isJS").at(n); ok && js.Mantissa == 1 {
		fn.Kind = recording.KindManaged
	}
	fr.Kind = fn.Kind
	fr.Func = x.d.b.Function(fn)
	return x.d.b.Frame(fr)
}

// module sets the module of a function: its binary, else the origin of its script, else
// the category set by the program.
func (x *stacks) module(frame, n int, fn *recording.Function, fr *recording.Frame) {
	res := x.fn.col("resource").index(n)
	l := x.frame.col("lib").index(frame)
	if l < 0 {
		l = x.resource.col("lib").index(res)
	}
	libs := x.libs
	if l >= 0 && l < len(libs) {
		fn.Module, fr.BuildID = libs[l].name, libs[l].id
		fn.Kind = program.KindOf(fn.Module)
		if isAddress(fn.Name) {
			fn.Name, fn.Unresolved = funcname.OfAddress(fn.Module, fr.Addr, fr.Addr), true
		}
		return
	}
	if fn.Module = x.text(x.resource.col("name").index(res)); fn.Module == "" {
		fn.Module = x.p.meta.category(x.frame.col("category").index(frame))
	}
}

func isAddress(name string) bool {
	hex, ok := strings.CutPrefix(name, "0x")
	if !ok {
		return false
	}
	_, err := strconv.ParseUint(hex, 16, 64)
	return err == nil
}

// Forms of locations in raw profiles: a function of a binary, a function of a script, and
// a script itself.
var (
	inLib    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*) \(in ([^)]*)\)(?: \+ [0-9]+| \(.*:.*\))?$`) })
	inScript = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*) \((.+?):([0-9]+)(?::([0-9]+))?\)(?:\[\d+\])?$`)
	})
	ofScript = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^()(.+?):([0-9]+)(?::([0-9]+))?(?:\[\d+\])?$`) })
)

// located returns a frame for a location of a raw profile.
func (x *stacks) located(i int, place string) recording.FrameID {
	fn := recording.Function{Name: place}
	fr := recording.Frame{Line: x.frame.col("line").line(i), Column: x.frame.col("column").line(i)}
	category := x.p.meta.category(x.frame.col("category").index(i))
	switch {
	case place == "":
		fn.Name, fn.Unresolved = fmt.Sprintf("[frame %d]", i), true
	case isAddress(place):
		fr.Addr, _ = strconv.ParseUint(place[2:], 16, 64)
		fn.Unresolved = true
		if l := x.libAt(fr.Addr); l != nil {
			fn.Module, fr.BuildID, fn.Kind = l.name, l.id, program.KindOf(l.name)
			fn.Name = funcname.OfAddress(l.name, fr.Addr, fr.Addr-l.start)
		}
	default:
		if m := inLib().FindStringSubmatch(place); m != nil {
			fn.Name, fn.Module = m[1], base(m[2])
			fn.Kind = program.KindOf(fn.Module)
			break
		}
		m := inScript().FindStringSubmatch(place)
		if m == nil {
			m = ofScript().FindStringSubmatch(place)
		}
		if m == nil {
			fn.Module = category
			break
		}
		fn.Name, fn.File, fn.Kind = m[1], m[2], recording.KindManaged
		if j := strings.LastIndex(fn.File, " -> "); j >= 0 { // one script loaded by another
			fn.File = fn.File[j+4:]
		}
		if fn.Module = fn.File; fn.Name == "" {
			fn.Name = "(root scope) " + fn.File
		}
		if fr.Line == 0 {
			fr.Line, fr.Column = ordinal(m[3]), ordinal(m[4])
		}
	}
	fr.Kind = fn.Kind
	fr.Func = x.d.b.Function(fn)
	return x.d.b.Frame(fr)
}

func ordinal(s string) int32 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// libAt returns the binary mapped at an address, nil for none.
func (x *stacks) libAt(addr uint64) *lib {
	if x.mapped == nil {
		x.mapped = append([]lib{}, x.libs...)
		sort.SliceStable(x.mapped, func(i, j int) bool { return x.mapped[i].start < x.mapped[j].start })
	}
	i := sort.Search(len(x.mapped), func(i int) bool { return x.mapped[i].start > addr }) - 1
	if i < 0 || addr >= x.mapped[i].end {
		return nil
	}
	return &x.mapped[i]
}
