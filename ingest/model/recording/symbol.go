package recording

import (
	"maps"

	"ashlar/ingest/model/funcname"
)

// symbol returns f with its name demangled; false if the name is not mangled. Functions are
// demangled when they are interned, so that a function is the same in a file with its mangled
// name and in one with its readable name.
func (b *Builder) symbol(f Function) (Function, bool) {
	name, ok := funcname.Demangled(f.Name)
	if !ok {
		return f, false
	}
	f.Symbol, f.Name, f.Demangled = f.Name, name, true
	return f, true
}

// share records that a function has another symbol: constructors have several, and so have
// the instances of Rust's generics.
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

// sharedSymbols counts the additional symbols of each function.
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
