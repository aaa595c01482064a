package perfscript

import (
	"bytes"
	"math"
	"path"
	"strconv"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// frame is one line of a stack:
//
//	ffffffffa4c7c5c6 native_write_msr+0x6 ([kernel.kallsyms])
//
// -F selects whether the address, the offset and the file in parentheses are printed. An
// inlined function has "(inlined)" in place of the file.
type frame struct {
	addr    uint64
	hasAddr bool
	sym     string // "" when not printed
	offset  uint64
	dso     string
	dsoff   uint64 // offset in dso, 0 when not printed
	inlined bool
	// file and line come from the separate line that -F srcline prints below a frame.
	file string
	line int32
	// whole is false for a line without the closing parenthesis, which may be truncated.
	whole bool

	// ids caches the recording's frames by depth of inlining and by module: the
	// function's own, or that of the function it is inlined into.
	ids map[frameKey]recording.FrameID
	// placed caches the same frame with a source line.
	placed map[string]*frame
}

type frameKey struct {
	module string
	depth  uint8
}

// parseFrame parses a trimmed line; it returns nil if the line is not a frame.
func parseFrame(body []byte) *frame {
	f := &frame{}
	rest := body
	end := bytes.IndexAny(body, " \t")
	if end < 0 {
		end = len(body)
	}
	if a, ok := hex(body[:end]); ok {
		f.addr, f.hasAddr = a, true
		rest = bytes.TrimSpace(body[end:])
	} else if body[len(body)-1] != ')' {
		return nil
	}
	s := string(rest)
	s, f.dso = splitDSO(s)
	f.whole = f.dso != "" && rest[len(rest)-1] == ')'
	if f.dso == "inlined" {
		f.dso, f.inlined = "", true
	}
	// -F symoff prints the offset with the symbol, -F dsoff with the file.
	f.sym, f.offset = splitOffset(s)
	f.dso, f.dsoff = splitOffset(f.dso)
	if !f.hasAddr && f.sym == "" {
		return nil
	}
	return f
}

// hex reads an address as perf prints it, without 0x.
func hex(w []byte) (uint64, bool) {
	if len(w) == 0 || len(w) > 16 {
		return 0, false
	}
	var n uint64
	for _, c := range w {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// splitDSO splits "symbol (file)". Both may contain spaces and parentheses. The file is
// in the last balanced pair of parentheses, unless an absolute path or a bracketed name
// begins in parentheses further left, or nothing balances.
func splitDSO(s string) (sym, dso string) {
	if !strings.HasSuffix(s, ")") {
		// The line was truncated, by perf or by hand. Take text that begins like a file
		// for the file.
		for _, begin := range []string{" (/", " (["} {
			if i := strings.LastIndex(s, begin); i > 0 {
				return strings.TrimRight(s[:i], " \t"), s[i+2:]
			}
		}
		return s, ""
	}
	depth, open := 0, -1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ')' {
			depth++
		} else if s[i] == '(' {
			if depth--; depth == 0 {
				open = i
				break
			}
		}
	}
	good := open == 0 || open > 0 && blank(s[open-1])
	if !good || s[open+1] != '/' && s[open+1] != '[' {
		if i := strings.LastIndex(s, "(/"); i == 0 || i > 0 && blank(s[i-1]) {
			open, good = i, true
		} else if i := strings.LastIndex(s, "(["); i == 0 || i > 0 && blank(s[i-1]) {
			open, good = i, true
		}
	}
	if !good {
		return s, "" // "operator()(int)": a symbol, and no file
	}
	return strings.TrimRight(s[:open], " \t"), s[open+1 : len(s)-1]
}

// splitOffset splits a suffix like "+0x1f" from a name.
func splitOffset(s string) (string, uint64) {
	i := strings.LastIndex(s, "+0x")
	if i <= 0 {
		return s, 0
	}
	n, err := strconv.ParseUint(s[i+3:], 16, 64)
	if err != nil {
		return s, 0
	}
	return s[:i], n
}

// sourceLine parses the line that -F srcline prints below a frame, like "file.c:12".
// Lines without a position are accepted too: the file and address again, as in
// "[kernel.kallsyms][ffffffff816df592]", and ":0".
func sourceLine(body []byte) (file string, line int32, ok bool) {
	s := string(body)
	if i := strings.LastIndexByte(s, '['); i > 0 && s[len(s)-1] == ']' {
		_, ok := hex(body[i+1 : len(s)-1])
		return "", 0, ok
	}
	i := strings.LastIndexByte(s, ':')
	if s == ":0" {
		return "", 0, true
	}
	if i <= 0 || strings.HasSuffix(s, ")") {
		return "", 0, false
	}
	n, err := strconv.ParseUint(s[i+1:], 10, 64)
	if err != nil {
		return "", 0, false
	}
	return s[:i], int32(min(n, math.MaxInt32)), true
}

// at returns the frame with a source line.
func (f *frame) at(file string, line int32) *frame {
	key := file + ":" + strconv.Itoa(int(line))
	g := f.placed[key]
	if g == nil {
		c := *f
		c.file, c.line, c.ids, c.placed = file, line, nil, nil
		if file == "??" {
			c.file = ""
		}
		g = &c
		if f.placed == nil {
			f.placed = map[string]*frame{}
		}
		f.placed[key] = g
	}
	return g
}

// id returns the recording's frame. module is the function's binary; depth is the number of
// functions that this one is inlined into.
func (f *frame) id(b *recording.Builder, module string, depth int) recording.FrameID {
	key := frameKey{module, uint8(min(depth, math.MaxUint8))}
	if id, ok := f.ids[key]; ok {
		return id
	}
	fn := recording.Function{Name: f.sym, Module: module, File: f.file, Kind: f.kind(module), Unresolved: f.sym == "[unknown]"}
	if f.sym == "" {
		fn.Name, fn.Unresolved = funcname.OfAddress(module, f.addr, f.dsoff), true
	}
	id := b.Frame(recording.Frame{
		Func: b.Function(fn), Addr: f.addr, Offset: f.offset, File: f.file, Line: f.line,
		Inlined: f.inlined, InlineDepth: key.depth, Kind: fn.Kind,
	})
	if f.ids == nil {
		f.ids = map[frameKey]recording.FrameID{}
	}
	f.ids[key] = id
	return id
}

// kernelSpace is the first kernel address on 64-bit x86 and ARM.
const kernelSpace = 0xffff_8000_0000_0000

func (f *frame) kind(module string) recording.Kind {
	base := path.Base(module)
	switch {
	case program.IsKernel(module), f.addr >= kernelSpace: // modules are printed as [ext4]
		return recording.KindKernel
	case strings.HasPrefix(base, "perf-") && strings.HasSuffix(base, ".map"), strings.HasPrefix(base, "jitted-"), strings.HasPrefix(module, "[JIT]"):
		return recording.KindManaged
	case module == "" || module == "[unknown]":
		return recording.KindUnknown
	}
	return recording.KindUser
}
