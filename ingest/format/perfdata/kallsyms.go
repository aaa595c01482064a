package perfdata

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/input/source"
)

// kernelModule is perf's name for the kernel itself, as opposed to its modules.
const kernelModule = "[kernel.kallsyms]"

// kernelSymbols are the functions of a kernel and its modules, by address, as
// /proc/kallsyms lists them.
type kernelSymbols struct {
	list  []kernelSymbol
	marks map[string]uint64 // start of the kernel, by symbol that marks it
	moved uint64            // kernel's start during recording, less its start in the list
}

type kernelSymbol struct {
	at           uint64
	name, module string // module is "[name]", kernelModule for the kernel
}

// mostKallsyms is the maximum number of bytes to read from a list of symbols. The lists of
// the largest kernels have 20 MB.
const mostKallsyms = 64 << 20

// readKallsyms reads a list of symbols; it returns nil if the list has no addresses,
// which the kernel hides from most users.
func readKallsyms(r io.Reader) *kernelSymbols {
	k := &kernelSymbols{marks: map[string]uint64{}}
	lines := bufio.NewScanner(io.LimitReader(r, mostKallsyms))
	for lines.Scan() {
		address, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		kind, text, _ := bytes.Cut(rest, []byte(" "))
		at, err := strconv.ParseUint(string(address), 16, 64)
		if err != nil || at == 0 || len(kind) != 1 || !strings.Contains("tTwW", string(kind)) {
			continue
		}
		s := kernelSymbol{at: at, module: kernelModule}
		name, module, in := bytes.Cut(text, []byte("\t"))
		if s.name = string(name); in {
			s.module = kernelName(string(module))
		} else if s.name == "_text" || s.name == "_stext" {
			k.marks[s.name] = at
		}
		k.list = append(k.list, s)
	}
	if len(k.list) == 0 {
		return nil
	}
	slices.SortStableFunc(k.list, func(a, b kernelSymbol) int { return cmp.Compare(a.at, b.at) })
	return k
}

// Lookup returns the function of an address in the kernel or a module, and the function's
// start. If several functions start at the same address, it returns the last, as perf
// does. Functions of modules are found only if the kernel has not moved, because modules
// may be elsewhere after a reboot.
func (k *kernelSymbols) Lookup(ip uint64, module string) (name string, start uint64, ok bool) {
	if k == nil || module != kernelModule && k.moved != 0 {
		return "", 0, false
	}
	ip -= k.moved
	i := sort.Search(len(k.list), func(i int) bool { return k.list[i].at > ip }) - 1
	if i < 0 || k.list[i].module != module {
		return "", 0, false
	}
	return k.list[i].name, k.list[i].at + k.moved, true
}

// kernelSymbolsPart holds what a decoder knows of the kernel's symbols.
type kernelSymbolsPart struct {
	mark         string // symbol that marked the kernel's start
	marked       uint64 // address of that symbol
	symbols      *kernelSymbols
	symbolsTried bool
}

// besideRecording is the suffix of a copy of /proc/kallsyms from the recorded machine
// that a user put next to the recording.
const besideRecording = ".kallsyms"

// kernelSymbols returns the symbols of the recorded kernel, nil if not found. It tries a
// copy next to the recording, perf's copy by build id, and the running kernel.
func (d *decoder) kernelSymbols() *kernelSymbols {
	if d.symbolsTried {
		return d.symbols
	}
	d.symbolsTried = true
	paths := []string{d.path + besideRecording}
	if id := bytes.TrimRight(d.ids[kernelModule], "\x00"); len(id) > 1 { // all zeros means no build id
		if home, err := os.UserHomeDir(); err == nil {
			s := hex.EncodeToString(id)
			paths = append(paths, filepath.Join(home, ".debug/.build-id", s[:2], s[2:], "kallsyms"))
		}
		if notes, err := os.ReadFile("/sys/kernel/notes"); err == nil && program.SameID(id, noteID(notes)) {
			paths = append(paths, "/proc/kallsyms")
		}
	}
	for _, path := range paths {
		if real, err := source.Ordinary(path); err == nil {
			path = real
		} else if path != "/proc/kallsyms" {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		k := readKallsyms(f)
		f.Close()
		if k != nil && (d.mark == "" || k.marks[d.mark] != 0) {
			if d.mark != "" {
				k.moved = d.marked - k.marks[d.mark]
			}
			d.symbols = k
			break
		}
	}
	return d.symbols
}

// noteID returns the build id in a kernel's notes. Each note has the lengths of its owner
// and its content, its type, and then both, padded to four bytes (elf(5)).
func noteID(notes []byte) []byte {
	const kind = 3
	for len(notes) >= 12 {
		owner, size := le.Uint32(notes), le.Uint32(notes[4:])
		is := le.Uint32(notes[8:]) == kind
		notes = notes[12:]
		if owner > 256 || size > 1<<16 || int(owner+3)&^3 > len(notes) {
			return nil
		}
		is = is && string(notes[:owner]) == "GNU\x00"
		notes = notes[int(owner+3)&^3:]
		if int(size) > len(notes) {
			return nil
		}
		if is {
			return notes[:size]
		}
		notes = notes[min(len(notes), int(size+3)&^3):]
	}
	return nil
}
