package pprof

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// nameByComments names the locations of a profile in Go's text form (debug=1). The
// functions are in comments, which pprof's library skips: below each stack, one line per
// function, innermost first,
//
//	#	0x44ca73	main.main+0x33	/src/main.go:12
//
// An inlined function has the address of the function it is inlined into
// (printStackRecord in runtime/pprof). These are addresses of the call, one before the
// return address.
func nameByComments(content []byte, p *profile.Profile) {
	lines := map[uint64][]profile.Line{}
	functions := map[string]*profile.Function{}
	whole := map[uint64]bool{} // addresses whose lines are complete
	var last uint64
	for len(content) > 0 {
		l, rest, _ := bytes.Cut(content, []byte("\n"))
		content = rest
		addr, name, file, line, ok := commented(string(l))
		if addr != last {
			whole[last] = true
		}
		last = addr
		if !ok || whole[addr] {
			continue
		}
		fn := functions[name]
		if fn == nil {
			fn = &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name, Filename: file}
			functions[name] = fn
			p.Function = append(p.Function, fn)
		}
		lines[addr] = append(lines[addr], profile.Line{Function: fn, Line: line})
	}
	for _, l := range p.Location {
		if l.Address == ^uint64(0) {
			l.Address = 0 // there was no address, and the library subtracted 1
		}
		if len(l.Line) > 0 {
			continue
		}
		if l.Line = lines[l.Address]; l.Line == nil && l.Address > 0 {
			l.Line = lines[l.Address-1] // the library did not subtract 1 from the innermost address
		}
	}
}

// commented parses one line of a comment.
func commented(l string) (addr uint64, name, file string, line int64, ok bool) {
	if !strings.HasPrefix(l, "#\t0x") {
		return 0, "", "", 0, false
	}
	words := strings.FieldsFunc(l[2:], func(r rune) bool { return r == '\t' || r == '\r' })
	addr, err := strconv.ParseUint(words[0][2:], 16, 64)
	if err != nil || len(words) < 3 {
		return addr, "", "", 0, false
	}
	i, k := strings.LastIndex(words[1], "+0x"), strings.LastIndexByte(words[2], ':')
	if i <= 0 || k <= 0 {
		return addr, "", "", 0, false
	}
	line, err = strconv.ParseInt(words[2][k+1:], 10, 64)
	return addr, words[1][:i], words[2][:k], line, err == nil
}
