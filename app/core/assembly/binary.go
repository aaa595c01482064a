package assembly

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ashlar/ingest/fetch"
	"ashlar/ingest/format/program"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// A module is a binary as the recording names it.
type module struct {
	file string
	id   string // build id, "" if unknown
	hash bool   // id is an htlhash, not a linker's build id
	// written is when the binary was written, in nanoseconds since 1970, 0 if unknown. Go's
	// profiles of Windows have it instead of a build id.
	written int64
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
	if t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", strings.TrimPrefix(m.id, m.file)); err == nil {
		m.id, m.written = "", t.UnixNano()
	}
	m.id, m.hash = strings.CutPrefix(strings.ToLower(m.id), recording.HTLHash)
	if !program.IsID(m.id) {
		m.id = ""
	}
	return m
}

// A binary is a program found on this machine.
type binary struct {
	code *program.Program
	// symbols has the symbols and lines the source lines: code itself, or a separate file.
	symbols, lines *program.Program
	path           string
	id             string // its id of the recorded kind, "" if it has none
	kind           string // what id is
	// verified reports whether id is the recorded one. If not, doubt is a sentence that says why.
	verified bool
	doubt    string
}

func (b *binary) close() {
	b.code.Close()
	if b.symbols != b.code {
		b.symbols.Close()
	}
	if b.lines != b.code && b.lines != b.symbols {
		b.lines.Close()
	}
}

// open finds the binary of a module: the file given by the user, the recorded path, a
// file beside the recording, or a copy that perf or debuggers keep. A file with another
// build id than the recorded one is not used.
func open(ctx context.Context, m module, o *Options) (*binary, error) {
	paths := candidates(m, o)
	var refused error
	var b *binary
	for _, path := range paths {
		p, err := program.OpenSlice(path, m.id)
		switch {
		case err != nil && path == o.Exe:
			return nil, fmt.Errorf("%s %w", safetext.Short(path), err)
		case err != nil:
			continue
		case !p.HasCode():
			p.Close()
			continue
		}
		id, kind, same := m.compare(p, path)
		if m.id != "" && id != "" && !same {
			p.Close()
			if refused == nil {
				refused = fmt.Errorf("%s is not the recorded binary (its %s is %s instead of %s). Give the recorded one with --exe", safetext.Short(path), kind, short(id), short(m.id))
			}
			continue
		}
		b = &binary{code: p, symbols: p, lines: p, path: path, id: id, kind: kind}
		break
	}
	if b == nil && o.Download != nil && o.Exe == "" {
		var err error
		if b, err = download(ctx, m, o); err != nil {
			return nil, fmt.Errorf("%w; %w", cmp.Or(refused, notFound(m)), err)
		}
	}
	if b == nil {
		return nil, cmp.Or(refused, notFound(m))
	}
	b.verify(m, o)
	if b.code.Stripped() || !b.code.HasLines() {
		b.findSymbols(ctx, o)
	}
	return b, nil
}

// download takes the binary from the server that the user named.
func download(ctx context.Context, m module, o *Options) (*binary, error) {
	if m.id == "" || m.hash {
		return nil, errors.New("a debuginfod server cannot be asked, because the recording has no build id")
	}
	path, err := o.Download(ctx, m.id, fetch.Executable)
	if err != nil {
		return nil, err
	}
	p, err := program.OpenSlice(path, m.id)
	if err == nil {
		if id, kind, same := m.compare(p, path); same && p.HasCode() {
			return &binary{code: p, symbols: p, lines: p, path: path, id: id, kind: kind}, nil
		}
		p.Close()
	}
	_ = os.Remove(path)
	return nil, fmt.Errorf("the debuginfod server sent another file than the binary with the build id %s", short(m.id))
}

// compare compares a binary with the recorded one. own is its id, "" if it has none of the
// recorded kind.
func (m *module) compare(p *program.Program, path string) (own, kind string, same bool) {
	if !m.hash {
		return p.Compare(m.id)
	}
	if id, err := program.HTLHash(path); err == nil {
		own = hex.EncodeToString(id)
	}
	return own, "htlhash", own == m.id
}

// notFound returns the error for a binary that is not on this machine.
func notFound(m module) error {
	switch {
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

// verify says whether the binary is the recorded one.
func (b *binary) verify(m module, o *Options) {
	st, err := os.Stat(b.path)
	b.verified = m.id != "" && b.id != ""
	switch {
	case b.verified:
	case m.written != 0 && err == nil:
		const exact = 2 * time.Second // of archives
		recorded := time.Unix(0, m.written)
		if d := st.ModTime().Sub(recorded); max(d, -d) < exact {
			b.verified, b.kind = true, "modification time"
			break
		}
		const form = "2006-01-02 15:04:05"
		b.doubt = fmt.Sprintf("not verified: the recorded binary was written at %s UTC, this one at %s", recorded.UTC().Format(form), st.ModTime().UTC().Format(form))
		return
	case m.id == "":
		b.doubt = "not verified: the recording has no build id"
	default:
		b.doubt = "not verified: the binary has no " + b.kind
	}
	if !b.verified && err == nil && !o.Recorded.IsZero() && st.ModTime().After(o.Recorded) {
		b.doubt += ", and the binary is newer than the recording"
	}
}

// findSymbols looks for the symbols or source lines that a binary lacks in separate files, and
// then on the server that the user named.
func (b *binary) findSymbols(ctx context.Context, o *Options) {
	id := hex.EncodeToString(b.code.BuildID)
	for _, path := range slices.Concat(program.Copies(id), program.DebugFiles(b.path), b.code.LinkedFiles()) {
		b.take(path)
	}
	if o.Download == nil || id == "" || !b.symbols.Stripped() && (o.WithoutLines || b.lines.HasLines()) {
		return
	}
	if path, err := o.Download(ctx, id, fetch.DebugInfo); err == nil && !b.take(path) {
		_ = os.Remove(path) // of another binary, or without anything new
	}
}

// take uses a file for the symbols or source lines that a binary lacks.
func (b *binary) take(path string) (used bool) {
	p, err := program.OpenSlice(path, hex.EncodeToString(b.code.BuildID))
	if err != nil {
		return false
	}
	if p.Describes(b.code) {
		if b.symbols.Stripped() && !p.Stripped() {
			b.symbols, used = p, true
		}
		if !b.lines.HasLines() && p.HasLines() {
			b.lines, used = p, true
		}
	}
	if !used {
		p.Close()
	}
	return used
}

// short shortens a build id for a message.
func short(id string) string { return id[:min(len(id), 12)] }
