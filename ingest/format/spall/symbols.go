package spall

import (
	"fmt"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/recording"
)

// loaded is the recorded program and its load address.
type loaded struct {
	*program.Program
	module string
	slide  uint64 // runtime address - address in the file
}

// openProgram reads the symbols of the executable at path, which was loaded at
// base when it was recorded.
func openProgram(path string, base uint64) (*loaded, error) {
	p, err := program.Open(path)
	if err != nil {
		return nil, err
	}
	l := &loaded{Program: p, module: path}
	if p.Moves {
		l.slide = base
	}
	return l, nil
}

// lookup returns the function that contains an address.
func (l *loaded) lookup(addr uint64) (recording.Function, bool) {
	name, start, ok := l.Lookup(addr - l.slide)
	if !ok {
		return recording.Function{}, false
	}
	return recording.Function{Name: name, Module: l.module, File: l.File(start), Kind: recording.KindUser}, true
}

// symbols opens the program for resolving addresses of an automatic trace: the executable
// that the user names, else the recorded one. If it fails, why is the text of the
// warning.
func symbols(h header, exe string) (p *loaded, why string) {
	path := exe
	if path == "" {
		path = h.path
	}
	if path == "" {
		return nil, "the trace has only addresses and does not name its program; set it with --exe"
	}
	p, err := openProgram(path, h.base)
	if err != nil {
		return nil, fmt.Sprintf("the trace has only addresses, and its program %s %v; set it with --exe", path, err)
	}
	return p, ""
}
