package assembly

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// A module is a binary as the recording names it.
type module struct {
	file string
	id   string // build id in hexadecimal, "" if unknown
	hash bool   // id is an htlhash, not a linker's build id
}

// moduleOf returns the binary of a frame.
func moduleOf(rec *recording.Recording, f *recording.Frame) module {
	m := module{file: rec.Functions.Ref(int(f.Func)).Module, id: f.BuildID}
	if at := rec.Source.MappingOf(f); at != nil {
		if at.File != "" {
			m.file = at.File
		}
		if m.id == "" {
			m.id = at.BuildID
		}
	}
	m.id, m.hash = strings.CutPrefix(strings.ToLower(m.id), recording.HTLHash)
	return m
}

// A binary is a program found on this machine.
type binary struct {
	code *program.Program
	// symbols has the symbols and source lines: code itself, or a separate file.
	symbols *program.Program
	path    string
	id      []byte // its id of the recorded kind, nil if it has none
	kind    string // what id is
	// verified reports whether the build id is the recorded one. If not, doubt is a sentence that
	// says why.
	verified bool
	doubt    string
}

func (b *binary) close() {
	b.code.Close()
	if b.symbols != b.code {
		b.symbols.Close()
	}
}

// open finds the binary of a module: the file given by the user, the recorded path, a
// file beside the recording, or a copy that perf or debuggers keep. A file with another
// build id than the recorded one is not used.
func open(m module, o *Options) (*binary, error) {
	want, _ := hex.DecodeString(m.id)
	paths := candidates(m, o)
	var refused error
	var b *binary
	for _, path := range paths {
		p, err := program.OpenCode(path)
		switch {
		case err != nil && path == o.Exe:
			return nil, fmt.Errorf("%s %w", safetext.Short(path), err)
		case err != nil:
			continue
		case !p.HasCode():
			p.Close()
			continue
		}
		id := m.idOf(p, path)
		if len(want) > 0 && id != nil && !program.SameID(want, id) {
			p.Close()
			if refused == nil {
				refused = fmt.Errorf("%s is not the recorded binary (its %s is %s instead of %s). Give the recorded one with --exe", safetext.Short(path), m.kind(), short(hex.EncodeToString(id)), short(m.id))
			}
			continue
		}
		b = &binary{code: p, symbols: p, path: path, id: id, kind: m.kind()}
		break
	}
	if b == nil {
		return nil, errors.Join(refused, notFound(m, refused))
	}
	b.verify(want, o)
	if b.code.Stripped() {
		b.findSymbols(m)
	}
	return b, nil
}

// kind names the kind of the recorded id.
func (m *module) kind() string {
	if m.hash {
		return "htlhash"
	}
	return "build id"
}

// idOf returns the id of a binary that can be compared with the recorded one.
func (m *module) idOf(p *program.Program, path string) []byte {
	if !m.hash {
		return p.BuildID
	}
	id, err := program.HTLHash(path)
	if err != nil {
		return nil
	}
	return id
}

// notFound returns the error for a binary that is not on this machine, nil if there is
// a better one.
func notFound(m module, better error) error {
	switch {
	case better != nil:
		return nil
	case m.file == "":
		return errors.New("the recording does not name the function's binary. Give it with --exe")
	case program.IsKernel(m.file):
		return fmt.Errorf("the kernel's code is not available. Give the recorded vmlinux with --exe")
	case strings.HasSuffix(m.file, ".map") || strings.HasPrefix(m.file, "//") || strings.HasPrefix(m.file, "[JIT]"):
		return fmt.Errorf("the code in %s was generated at run time and is in no file. Record a jitdump and run perf inject --jit", safetext.Short(m.file))
	}
	return fmt.Errorf("%s is not on this machine. Give the recorded binary with --exe", safetext.Short(m.file))
}

// candidates returns the paths to look for a binary, in order.
func candidates(m module, o *Options) (paths []string) {
	if o.Exe != "" {
		return []string{o.Exe}
	}
	if filepath.IsAbs(m.file) && !strings.HasPrefix(m.file, "//") {
		paths = append(paths, m.file)
	}
	if base := filepath.Base(strings.ReplaceAll(m.file, `\`, "/")); o.Beside != "" && base != "." && base != "/" && m.file != "" {
		for _, p := range []string{filepath.Join(o.Beside, m.file), filepath.Join(o.Beside, base)} {
			if rest, err := filepath.Rel(o.Beside, p); err == nil && filepath.IsLocal(rest) {
				paths = append(paths, p)
			}
		}
	}
	if m.hash {
		return paths // the copies are named by the linker's build id
	}
	return append(paths, program.Copies(m.id)...)
}

// verify compares the binary with the recorded one.
func (b *binary) verify(want []byte, o *Options) {
	b.verified = len(want) > 0 && b.id != nil
	switch {
	case b.verified:
	case len(want) == 0:
		b.doubt = "not verified: the recording has no build id"
	default:
		b.doubt = "not verified: the binary has no " + b.kind
	}
	if b.verified || o.Recorded.IsZero() {
		return
	}
	if st, err := os.Stat(b.path); err == nil && st.ModTime().After(o.Recorded) {
		b.doubt += ", and the binary is newer than the recording"
	}
}

// findSymbols looks for the symbols of a stripped binary in separate files.
func (b *binary) findSymbols(m module) {
	id := hex.EncodeToString(b.code.BuildID)
	for _, path := range append(program.Copies(id), program.DebugFiles(b.path)...) {
		p, err := program.OpenCode(path)
		if err != nil {
			continue
		}
		if p.BuildID != nil && program.SameID(p.BuildID, b.code.BuildID) && !p.Stripped() {
			b.symbols = p
			return
		}
		p.Close()
	}
}

// short shortens a build id for a message.
func short(id string) string { return id[:min(len(id), 12)] }
