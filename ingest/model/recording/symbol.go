package recording

import (
	"maps"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Mangled names of C++ and Rust are made readable where functions are interned:
// once for each, whatever the format, so that a function is the same one in a
// file that has it mangled and in one that has not.

// Longest symbols that are looked at, and longest names that are made of them
// (as a power of 2): those of templates can grow without bound.
const (
	longestSymbol = 16 << 10
	longestName   = 14
)

// demangled makes a symbol readable; ok is false for what is not a mangled name.
func demangled(symbol string) (name string, ok bool) {
	s := symbol
	if strings.HasPrefix(s, "__Z") || strings.HasPrefix(s, "__R") {
		s = s[1:] // macOS has one more
	}
	if len(s) < 4 || s[0] != '_' || s[1] != 'Z' && s[1] != 'R' || len(s) > longestSymbol {
		return "", false
	}
	defer func() {
		if recover() != nil { // the library trips over some names that are none
			name, ok = "", false
		}
	}()
	name, err := demangle.ToString(s, demangle.MaxLength(longestName))
	return name, err == nil && name != ""
}

// symbol interns a function whose name was not seen before and may be mangled.
func (b *Builder) symbol(f Function) (Function, bool) {
	name, ok := demangled(f.Name)
	if !ok {
		return f, false
	}
	f.Symbol, f.Name, f.Demangled = f.Name, name, true
	return f, true
}

// share notes that a function goes by another symbol too than the one that it
// has: constructors have several, and so have the instances of Rust's generics.
func (b *Builder) share(id FuncID, symbol string) {
	if first := b.rec.Functions.At(int(id)).Symbol; symbol == first || symbol == "" {
		return
	}
	if b.shared == nil {
		b.shared = map[sharedSymbol]bool{}
	}
	if k := (sharedSymbol{id, symbol}); !b.shared[k] {
		b.shared[k] = true
		// Snapshots keep theirs.
		m := maps.Clone(b.rec.shared)
		if m == nil {
			m = sharedSymbols{}
		}
		m[id]++
		b.rec.shared = m
	}
}

type sharedSymbol struct {
	id     FuncID
	symbol string
}

// sharedSymbols is a number by function.
type sharedSymbols map[FuncID]int

// NameInFile is a function's name as the file has it: mangled, where it was made
// readable. Where several symbols read the same it is the readable one, since
// nothing says which of them a frame had.
func (r *Recording) NameInFile(id FuncID) string {
	f := r.Functions.At(int(id))
	if f.Demangled && r.shared[id] == 0 {
		return f.Symbol
	}
	return f.Name
}

// SharedSymbols is how many symbols are not kept, because others read the same.
func (r *Recording) SharedSymbols() (n int64) {
	for _, k := range r.shared {
		n += int64(k)
	}
	return n
}
