package recording

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestFunctionsAreFound compares the ids of functions with those of a map, for names that
// recur and many more names than the first table has room for.
func TestFunctionsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder()
	want := map[FuncName]FuncID{}
	for range 20_000 {
		k := FuncName{Name: strconv.Itoa(rng.IntN(4000))}
		if n := rng.IntN(3); n > 0 {
			k.Module = strconv.Itoa(n)
		}
		id := b.Function(Function{Name: k.Name, Module: k.Module})
		if _, known := want[k]; !known {
			want[k] = FuncID(len(want))
		}
		if id != want[k] {
			t.Fatalf("%v has id %d, want %d", k, id, want[k])
		}
	}
	if n := b.rec.Functions.Len(); n != len(want) {
		t.Errorf("%d functions, want %d", n, len(want))
	}
	for k, id := range want {
		if f := b.rec.Functions.At(int(id)); f.FuncName() != k {
			t.Errorf("function %d is %v, want %v", id, f.FuncName(), k)
		}
	}
}
