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

	"ashlar/ingest/input/source"
)

// kernelModule is the name of the kernel itself, beside its modules, as perf writes it.
const kernelModule = "[kernel.kallsyms]"

// kernelSymbols are the functions of a kernel and its modules, by address, as
// /proc/kallsyms lists them.
type kernelSymbols struct {
	list  []kernelSymbol
	marks map[string]uint64 // where the kernel begins, by the name that says so
	moved uint64            // how much higher all was when it was recorded
}

type kernelSymbol struct {
	at           uint64
	name, module string // module is "[name]", kernelModule for the kernel
}

// mostKallsyms bounds what is read of a list: the largest kernels have 20 MB.
const mostKallsyms = 64 << 20

// readKallsyms reads a list of symbols; nil if it has no addresses, which the kernel
// shows to few.
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

// Lookup finds the function of the kernel or of a module that an address is in, and
// where it begins; of several at one address the last, as perf has it. A module may be elsewhere after the next start, and is known only as
// long as the kernel has not moved.
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

// kernelSymbolsPart is what a decoder knows of the kernel's symbols.
type kernelSymbolsPart struct {
	mark         string // a symbol at which the kernel began
	marked       uint64 // where that was
	symbols      *kernelSymbols
	symbolsTried bool
}

// besideRecording is what the name of a copy of /proc/kallsyms ends in that somebody put
// beside a recording, from the machine that recorded.
const besideRecording = ".kallsyms"

// kernelSymbols are those of the kernel that was recorded, nil if they are nowhere: a
// copy may be beside the recording, perf keeps one by the build id, and the kernel that
// runs has its own.
func (d *decoder) kernelSymbols() *kernelSymbols {
	if d.symbolsTried {
		return d.symbols
	}
	d.symbolsTried = true
	paths := []string{d.path + besideRecording}
	if id := bytes.TrimRight(d.ids[kernelModule], "\x00"); len(id) > 1 { // a kernel that has none has zeros
		if home, err := os.UserHomeDir(); err == nil {
			s := hex.EncodeToString(id)
			paths = append(paths, filepath.Join(home, ".debug/.build-id", s[:2], s[2:], "kallsyms"))
		}
		if notes, err := os.ReadFile("/sys/kernel/notes"); err == nil && sameID(id, noteID(notes)) {
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

// noteID is the build id among a kernel's notes: each has the lengths of its owner and
// of what it says, its kind, and both, filled up to four bytes (elf(5)).
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
