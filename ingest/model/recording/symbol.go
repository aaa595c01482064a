package recording

import (
	"maps"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Mangled names of C++ and Rust are demangled when functions are interned: once each,
// whatever the format, so that a function is the same in a file with its mangled name and
// in one with its readable name.

// The longest symbols to demangle, and the longest names to make of them (as a power of
// 2). Names of templates can grow without bound.
const (
	longestSymbol = 16 << 10
	longestName   = 14
)

// Demangled returns the readable form of a mangled name; ok is false if symbol is not
// one.
func Demangled(symbol string) (name string, ok bool) {
	s := symbol
	if strings.HasPrefix(s, "__Z") || strings.HasPrefix(s, "__R") {
		s = s[1:] // macOS adds one underscore
	}
	if len(s) < 4 || s[0] != '_' || s[1] != 'Z' && s[1] != 'R' || len(s) > longestSymbol {
		return "", false
	}
	defer func() {
		if recover() != nil { // the library panics on some invalid names
			name, ok = "", false
		}
	}()
	name, err := demangle.ToString(s, demangle.MaxLength(longestName))
	return name, err == nil && name != ""
}

// symbol returns f with its name demangled; false if the name is not mangled.
func (b *Builder) symbol(f Function) (Function, bool) {
	name, ok := Demangled(f.Name)
	if !ok {
		return f, false
	}
	f.Symbol, f.Name, f.Demangled = f.Name, name, true
	return f, true
}

// share records that a function has a further symbol: constructors have several, and so
// have the instances of Rust's generics.
func (b *Builder) share(id FuncID, symbol string) {
	if first := b.rec.Functions.At(int(id)).Symbol; symbol == first || symbol == "" {
		return
	}
	if b.shared == nil {
		b.shared = map[sharedSymbol]bool{}
	}
	if k := (sharedSymbol{id, symbol}); !b.shared[k] {
		b.shared[k] = true
		// Snapshots keep the old map.
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

// sharedSymbols counts further symbols by function.
type sharedSymbols map[FuncID]int

// NameInFile returns a function's name as in the file: the mangled name if it was
// demangled. If several symbols have the same readable name, it returns that, because the
// symbol of a given frame is not kept.
func (r *Recording) NameInFile(id FuncID) string {
	f := r.Functions.At(int(id))
	if f.Demangled && r.shared[id] == 0 {
		return f.Symbol
	}
	return f.Name
}

// SharedSymbols returns how many symbols were dropped because others have the same
// readable name.
func (r *Recording) SharedSymbols() (n int64) {
	for _, k := range r.shared {
		n += int64(k)
	}
	return n
}
